"""The options of :func:`reftorch.save` and :func:`reftorch.load` that hold for the whole process.

Mirrors: torch/utils/serialization/config.py
Leaves out: offsets that are computed instead of read, and pinned memory for copies from devices; ``patch``.

Example:
    >>> from reftorch.utils.serialization import config
    >>> config.save.compute_crc32
    True
"""

from __future__ import annotations

import mmap as _mmap
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from reftorch.serialization.options import LoadEndianness

__all__ = ["load", "save"]


class load:
    """The options of :func:`reftorch.load`.

    ``mmap`` is the default of the argument of this name; ``endianness`` is the byte order of files that do not record
    one; ``mmap_flags`` are the flags of the map.
    """

    mmap: bool = False
    endianness: LoadEndianness | None = None
    mmap_flags: int = getattr(_mmap, "MAP_PRIVATE", 2)


class save:
    """The options of :func:`reftorch.save`.

    ``compute_crc32`` says whether records get a checksum; storages begin at multiples of ``storage_alignment`` bytes.
    """

    compute_crc32: bool = True
    storage_alignment: int = 64
