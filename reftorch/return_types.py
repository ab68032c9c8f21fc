"""The named tuples that ops return, such as ``torch.return_types.max``.

Those of C++ ops come from the extension, which makes one for each op whose results have names, and another one for the
call with ``out=``. Those of the two histograms, which are Python functions, are defined here.

Mirrors: torch/return_types.py

``reftorch.utils._pytree`` takes any named tuple as a container.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from reftorch import _C
from reftorch._tensor import Tensor

if TYPE_CHECKING:
    from reftorch._C._return_types import *  # noqa: F403


def _show(result: Any) -> str:
    fields = ",\n".join(f"{name}={value!r}" for name, value in zip(result._fields, result, strict=True))
    return f"torch.return_types.{type(result).__name__}(\n{fields})"


class histogram(NamedTuple):
    """The result of :func:`reftorch.histogram`."""

    hist: Tensor
    bin_edges: Tensor

    def __repr__(self) -> str:
        return _show(self)


class histogramdd(NamedTuple):
    """The result of :func:`reftorch.histogramdd`."""

    hist: Tensor
    bin_edges: tuple[Tensor, ...]

    def __repr__(self) -> str:
        return _show(self)


_TYPES: dict[str, Any] = {name: kind for name, kind in vars(_C._return_types).items() if not name.startswith("__")}
globals().update(_TYPES)
_TYPES |= {"histogram": histogram, "histogramdd": histogramdd}

all_return_types = [kind for name, kind in _TYPES.items() if not name.startswith("_")]
__all__ = ["all_return_types", *(name for name in _TYPES if not name.startswith("_"))]
