"""The numerical limits of a dtype.

Mirrors: torch/csrc/TypeInfo.cpp
"""

from __future__ import annotations

from typing import Any

from reftorch import _C

__all__ = ["finfo", "iinfo"]

# the number of mantissa bits (without the hidden one), the number of exponent bits, the decimal resolution
_FLOAT_LAYOUT = {
    "float16": (10, 5, 1e-3),
    "bfloat16": (7, 8, 1e-2),
    "float32": (23, 8, 1e-6),
    "float64": (52, 11, 1e-15),
}
# Floats of 8 bits spend the values that are infinities elsewhere on numbers: eps, the largest and the smallest number.
# They are only names here, but libraries ask for their limits when they are imported.
_FLOAT8_LIMITS = {
    "float8_e4m3fn": (0.125, 448.0, 2.0**-6),
    "float8_e4m3fnuz": (0.125, 240.0, 2.0**-7),
    "float8_e5m2": (0.25, 57344.0, 2.0**-14),
    "float8_e5m2fnuz": (0.125, 57344.0, 2.0**-15),
}


def _name(dtype: Any) -> str:
    return str(dtype).removeprefix("torch.")


class _TypeInfo:
    """The base class of finfo and iinfo: its objects are immutable, and equal for equal dtypes."""

    dtype: str
    bits: int

    def _set(self, **fields: Any) -> None:
        self.__dict__.update(fields)

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(f"attribute '{name}' of 'torch.{type(self).__name__}' objects is not writable")

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and self.dtype == other.dtype

    __hash__ = None  # type: ignore[assignment]


def _check_dtype(function: str, type: Any) -> None:
    if not isinstance(type, _C.dtype):
        raise TypeError(
            f"{function}(): argument 'type' (position 1) must be torch.dtype, not {type.__class__.__name__}"
        )


class finfo(_TypeInfo):
    """The limits of a floating-point dtype.

    Args:
        type: the dtype; the default dtype if none is given.

    Raises:
        TypeError: ``type`` is not a floating-point dtype.

    Example:
        >>> torch.finfo(torch.float32).eps
        1.1920928955078125e-07

    Mirrors torch/csrc/TypeInfo.cpp, ``THPFInfo``.
    """

    resolution: float
    eps: float
    max: float
    min: float
    smallest_normal: float
    tiny: float

    def __init__(self, type: Any = None) -> None:
        dtype: Any = _C.get_default_dtype() if type is None else type
        _check_dtype("finfo", dtype)
        if dtype.is_complex:
            dtype = dtype.to_real()
        if not dtype.is_floating_point:
            raise TypeError(
                "torch.finfo() requires a floating point input type. Use torch.iinfo to handle 'torch.finfo'"
            )
        name = _name(dtype)
        if name in _FLOAT8_LIMITS:
            resolution = 1.0
            eps, largest, smallest_normal = _FLOAT8_LIMITS[name]
        elif name in _FLOAT_LAYOUT:
            mantissa, exponent, resolution = _FLOAT_LAYOUT[name]
            bias = 2 ** (exponent - 1) - 1
            eps, largest, smallest_normal = 2.0**-mantissa, (2.0 - 2.0**-mantissa) * 2.0**bias, 2.0 ** (1 - bias)
        else:
            raise NotImplementedError(f"finfo: the limits of {dtype}, which is only a name here, are not known")
        self._set(
            dtype=name,
            bits=8 * dtype.itemsize,
            resolution=resolution,
            eps=eps,
            max=largest,
            min=-largest,
            smallest_normal=smallest_normal,
            tiny=smallest_normal,
        )

    def __repr__(self) -> str:
        return (
            f"finfo(resolution={self.resolution:g}, min={self.min:g}, max={self.max:g}, eps={self.eps:g}, "
            f"smallest_normal={self.smallest_normal:g}, tiny={self.tiny:g}, dtype={self.dtype})"
        )


class iinfo(_TypeInfo):
    """The limits of an integer dtype.

    Args:
        type: the dtype.

    Raises:
        TypeError: ``type`` is not an integer dtype.

    Example:
        >>> torch.iinfo(torch.uint8).max
        255

    Mirrors torch/csrc/TypeInfo.cpp, ``THPIInfo``.
    """

    max: int
    min: int

    def __init__(self, type: Any) -> None:
        _check_dtype("iinfo", type)
        if type.is_floating_point:
            raise TypeError("torch.iinfo() requires an integer input type. Use torch.finfo to handle 'torch.iinfo'")
        if type is _C.bool:
            raise TypeError("torch.bool is not supported by torch.iinfo")
        bits = 8 * type.itemsize
        lowest, largest = (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1) if type.is_signed else (0, 2**bits - 1)
        self._set(dtype=_name(type), bits=bits, min=lowest, max=largest)

    def __repr__(self) -> str:
        return f"iinfo(min={self.min:g}, max={self.max:g}, dtype={self.dtype})"
