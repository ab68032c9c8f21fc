"""The numerical limits of a dtype.

Mirrors: torch/csrc/TypeInfo.cpp
Leaves out: nothing.
"""

from __future__ import annotations

from typing import Any

from reftorch import _C

__all__ = ["finfo", "iinfo"]

# mantissa bits (without the hidden one), exponent bits, decimal digits that survive
_FLOAT_LAYOUT = {
    "float16": (10, 5, 1e-3),
    "bfloat16": (7, 8, 1e-2),
    "float32": (23, 8, 1e-6),
    "float64": (52, 11, 1e-15),
}


def _name(dtype: Any) -> str:
    return str(dtype).removeprefix("torch.")


class finfo:
    """The limits of a floating-point dtype.

    Args:
        type: the dtype; the default dtype if none is given.

    Raises:
        TypeError: ``type`` is not a floating-point dtype.

    Example:
        >>> import reftorch as torch
        >>> torch.finfo(torch.float32).eps
        1.1920928955078125e-07

    Mirrors torch/csrc/TypeInfo.cpp, ``THPFInfo``.
    """

    def __init__(self, type: Any = None) -> None:
        dtype = _C.get_default_dtype() if type is None else type
        if not dtype.is_floating_point:
            raise TypeError(
                "torch.finfo() requires a floating point input type. Use torch.iinfo to handle 'torch.finfo'"
            )
        mantissa, exponent, self.resolution = _FLOAT_LAYOUT[_name(dtype)]
        bias = 2 ** (exponent - 1) - 1
        self.dtype = _name(dtype)
        self.bits = 8 * dtype.itemsize
        self.eps = 2.0**-mantissa
        self.max = (2.0 - 2.0**-mantissa) * 2.0**bias
        self.min = -self.max
        self.tiny = self.smallest_normal = 2.0 ** (1 - bias)

    def __repr__(self) -> str:
        return (
            f"finfo(resolution={self.resolution:g}, min={self.min:g}, max={self.max:g}, eps={self.eps:g}, "
            f"smallest_normal={self.smallest_normal:g}, tiny={self.tiny:g}, dtype={self.dtype})"
        )


class iinfo:
    """The limits of an integer dtype.

    Args:
        type: the dtype.

    Raises:
        TypeError: ``type`` is not an integer dtype.

    Example:
        >>> import reftorch as torch
        >>> torch.iinfo(torch.uint8).max
        255

    Mirrors torch/csrc/TypeInfo.cpp, ``THPIInfo``.
    """

    def __init__(self, type: Any) -> None:
        if type.is_floating_point or type is _C.bool:
            raise TypeError(f"torch.{_name(type)} is not supported by torch.iinfo")
        self.dtype = _name(type)
        self.bits = 8 * type.itemsize
        self.min = -(2 ** (self.bits - 1)) if type.is_signed else 0
        self.max = 2 ** (self.bits - 1) - 1 if type.is_signed else 2**self.bits - 1

    def __repr__(self) -> str:
        return f"iinfo(min={self.min:g}, max={self.max:g}, dtype={self.dtype})"
