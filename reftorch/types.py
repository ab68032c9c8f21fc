"""Names for the types of ops' arguments, for annotations; ``_int`` and others serve where ``int`` is a dtype or method.

Mirrors: torch/types.py
Leaves out: symbolic ints, floats and bools; storages.
"""

import os
from builtins import bool as _bool
from builtins import float as _float
from builtins import int as _int
from collections.abc import Sequence
from typing import IO, TypeAlias

from reftorch import _C
from reftorch._tensor import Tensor

__all__ = ["Device", "FileLike", "Number"]

_device: TypeAlias = _C.device
_dtype: TypeAlias = _C.dtype
_layout: TypeAlias = _C.layout
_memory_format: TypeAlias = _C.memory_format

Number: TypeAlias = _int | _float | _bool
_Number = (_int, _float, _bool)  # for isinstance
# A description of a device; None means the default one.
Device: TypeAlias = _device | str | _int | None
FileLike: TypeAlias = str | os.PathLike[str] | IO[bytes]

_size: TypeAlias = _C.Size | list[_int] | tuple[_int, ...]
_TensorOrTensors: TypeAlias = Tensor | Sequence[Tensor]
