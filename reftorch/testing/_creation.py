"""Tensors of random numbers for tests.

Mirrors: torch/testing/_creation.py
Leaves out: complex and 8-bit floats.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import reftorch._C as _C
from reftorch import _VF
from reftorch._tensor import Tensor
from reftorch._type_info import finfo, iinfo
from reftorch._warnings import warn

__all__ = ["make_tensor"]


def _bounds(
    dtype: _C.dtype, low: float | None, high: float | None, default: tuple[float, float], limits: tuple[float, float]
) -> tuple[float, float]:
    """Return the interval to draw from, within the range of the dtype."""
    low = default[0] if low is None else low
    high = default[1] if high is None else high
    if math.isnan(low) or math.isnan(high):
        raise ValueError(f"`low` and `high` cannot be NaN, but got {low=} and {high=}")
    if low == high and dtype.is_floating_point:
        warn(
            "Passing `low==high` to make_tensor is deprecated for floating types. Hint: torch.full makes such a one.",
            FutureWarning,
        )
    elif low >= high:
        raise ValueError(f"`low` must be less than `high`, but got {low} >= {high}")
    elif high < limits[0] or low >= limits[1]:
        raise ValueError(
            f"The value interval specified by `low` and `high` is [{low}, {high}), "
            f"but {dtype} only supports [{limits[0]}, {limits[1]})"
        )
    return min(max(low, limits[0]), limits[1]), min(max(high, limits[0]), limits[1])


def _random_floats(
    shape: tuple[int, ...], dtype: _C.dtype, device: Any, low: float | None, high: float | None
) -> Tensor:
    kind = finfo(dtype)
    low, high = _bounds(dtype, low, high, (-9, 9), (kind.min, kind.max))
    result = _VF.empty(shape, device=device, dtype=dtype)
    if high - low >= kind.max:  # uniform_ refuses intervals wider than the largest number
        return result.uniform_(low / 2, high / 2).mul_(2)
    return result.uniform_(low, high)


def _random_integers(
    shape: tuple[int, ...], dtype: _C.dtype, device: Any, low: float | None, high: float | None
) -> Tensor:
    if dtype == _C.bool:
        low, high = _bounds(dtype, low, high, (0, 2), (0, 2))
    else:
        kind = iinfo(dtype)
        last = kind.max + (dtype != _C.int64)  # the end of the interval must be an int64
        low, high = _bounds(dtype, low, high, (-9, 10), (kind.min, last))
    return _VF.randint(math.ceil(low), math.ceil(high), shape, device=device, dtype=dtype)


def make_tensor(
    *shape: Any,
    dtype: _C.dtype,
    device: Any,
    low: float | None = None,
    high: float | None = None,
    requires_grad: bool = False,
    noncontiguous: bool = False,
    exclude_zero: bool = False,
    memory_format: _C.memory_format | None = None,
) -> Tensor:
    """Return a tensor of uniform random numbers in ``[low, high)``; equal seeds give the same numbers as torch.

    Args:
        shape: the sizes, as one sequence or as several arguments.
        dtype: the dtype of the result.
        device: the device of the result.
        low: the lower bound; by default 0 for bool and uint8, -9 for other dtypes.
        high: the upper bound, which is excluded; by default 2 for bool, 9 for floats, 10 for integers.
        requires_grad: whether the result requires a gradient.
        noncontiguous: return every other element of a tensor that is twice as long.
        exclude_zero: replace each 0 by 1 or by the smallest normal float.
        memory_format: the memory format of the result.

    Raises:
        ValueError: ``low`` is not below ``high``, or is NaN, or the dtype has no number between them; an integer dtype
            comes with ``requires_grad``; or both ``noncontiguous`` and ``memory_format`` are given.

    Example:
        >>> _ = torch.manual_seed(0)
        >>> torch.testing.make_tensor(3, dtype=torch.int64, device="cpu")
        tensor([ 6, -5, -9])

    Mirrors torch/testing/_creation.py, ``make_tensor``.
    """
    if len(shape) == 1 and isinstance(shape[0], Sequence):
        shape = tuple(shape[0])
    if noncontiguous and memory_format is not None:
        raise ValueError(
            f"The parameters `noncontiguous` and `memory_format` are mutually exclusive, "
            f"but got {noncontiguous=} and {memory_format=}"
        )
    if requires_grad and not dtype.is_floating_point:
        raise ValueError(f"`requires_grad=True` is not supported for boolean and integral dtypes, but got {dtype=}")
    noncontiguous = noncontiguous and math.prod(shape) > 1
    drawn = (*shape[:-1], 2 * shape[-1]) if noncontiguous else shape
    make = _random_floats if dtype.is_floating_point else _random_integers
    result = make(drawn, dtype, device, low, high)
    if noncontiguous:
        result = result[..., 1::2]  # a nonzero offset reveals code that forgets the offset
    elif memory_format is not None:
        result = result.clone(memory_format=memory_format)
    if exclude_zero:
        result[result == 0] = finfo(dtype).tiny if dtype.is_floating_point else 1
    if requires_grad:
        result.requires_grad = True
    return result
