"""Gradients of functions that are known on a grid; coordinates from flat indices.

Mirrors: aten/src/ATen/native/ReduceOps.cpp (gradient), torch/functional.py (unravel_index)
Leaves out: complex numbers.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from reftorch import _C, _VF
from reftorch._tensor import Tensor
from reftorch._torch_function import overridable, overridable_as_called

__all__ = ["gradient", "unravel_index"]


def _along(values: Tensor, points: Tensor, dim: int, edge_order: int) -> Tensor:
    """Return the slope along ``dim`` of a function with ``values`` at the coordinates ``points`` (n).

    In the middle, the slope is that of the parabola through three neighbours. At both ends, it is the slope of a line
    (``edge_order`` 1) or of the parabola (``edge_order`` 2).
    """
    n = values.shape[dim]
    steps = points.diff().reshape([-1 if d == dim else 1 for d in range(values.dim())])

    def f(start: int, count: int) -> Tensor:
        return values.narrow(dim, start, count)

    def h(start: int, count: int) -> Tensor:
        return steps.narrow(dim, start, count)

    slopes = (f(1, n - 1) - f(0, n - 1)) / steps
    middle = slopes.narrow(dim, 0, n - 2) * h(1, n - 2) + slopes.narrow(dim, 1, n - 2) * h(0, n - 2)
    middle = middle / (h(0, n - 2) + h(1, n - 2))
    first, last = slopes.narrow(dim, 0, 1), slopes.narrow(dim, n - 2, 1)
    if edge_order == 2:
        inner, outer = slopes.narrow(dim, 1, 1), slopes.narrow(dim, n - 3, 1)
        first = first + (first - inner) * h(0, 1) / (h(0, 1) + h(1, 1))
        last = last + (last - outer) * h(n - 2, 1) / (h(n - 2, 1) + h(n - 3, 1))
    return _VF.cat([first, middle, last], dim)


@overridable_as_called
def gradient(
    input: Tensor,
    *,
    spacing: Any = 1,
    dim: int | Sequence[int] | None = None,
    edge_order: int = 1,
) -> tuple[Tensor, ...]:
    r"""Estimate the gradient of a function from its values on a grid, by differences of second order.

    In the middle of a row with equal steps, the estimate is :math:`(f_{i+1} - f_{i-1}) / 2h`.

    Args:
        input: the values.
        spacing: the step, one for each dimension, or a vector of coordinates for each dimension.
        dim: the dimensions along which to differentiate; None means all of them.
        edge_order: the estimate at both ends takes two values if this is 1, three values if this is 2.

    Returns:
        A tensor of input's shape for each dimension.

    Raises:
        RuntimeError: a dimension is too short or named twice, or there are more or fewer spacings than dimensions.

    Example:
        >>> torch.gradient(torch.tensor([1.0, 2.0, 4.0, 8.0]))
        (tensor([1.0000, 1.5000, 3.0000, 4.0000]),)

    Mirrors aten/src/ATen/native/ReduceOps.cpp, ``gradient``.
    """
    if input.dtype == _C.uint8:
        raise RuntimeError("torch.gradient does not support uint8 input.")
    if edge_order not in (1, 2):
        raise RuntimeError("torch.gradient only supports edge_order=1 and edge_order=2.")
    given = range(input.dim()) if dim is None else [dim] if isinstance(dim, int) else dim
    dims = []
    for d in given:
        if not -input.dim() <= d < input.dim():
            raise IndexError(
                f"Dimension out of range (expected to be in range of [{-input.dim()}, {input.dim() - 1}], but got {d})"
            )
        dims.append(d % input.dim())
        if dims.count(dims[-1]) > 1:
            raise RuntimeError(f"dim {dims[-1]} appears multiple times in the list of dims")
    spacing = 1 if spacing is None else spacing
    spacings = list(spacing) if isinstance(spacing, (list, tuple)) else [spacing] * len(dims)
    if len(spacings) != len(dims):
        raise RuntimeError(
            "torch.gradient expected spacing to be unspecified, a scalar, or a list of one for each of the "
            f"{len(dims)} dimensions, but got a list of length {len(spacings)}"
        )
    if any(input.shape[d] < edge_order + 1 for d in dims):
        raise RuntimeError("torch.gradient expected each dimension size to be at least edge_order+1")
    if input.dtype is _C.bool:
        raise RuntimeError(
            "Subtraction, the `-` operator, with two bool tensors is not supported. "
            "Use the `^` or `logical_xor()` operator instead."
        )
    values = input if input.is_floating_point() else input.to(_C.get_default_dtype())
    results = []
    for d, step in zip(dims, spacings, strict=True):
        n = input.shape[d]
        is_points = isinstance(step, Tensor) and step.dim() > 0
        points = step.to(values.dtype) if is_points else _VF.arange(n, dtype=values.dtype) * step
        if len(points) != n:
            raise RuntimeError(f"torch.gradient expected {n} coordinates for dimension {d}, but got {len(points)}")
        results.append(_along(values, points, d, edge_order))
    return tuple(results)


@overridable
def unravel_index(indices: Tensor, shape: int | Sequence[int]) -> tuple[Tensor, ...]:
    """Turn flat indices (which count the elements row by row) into coordinates.

    Args:
        indices: integers of any shape.
        shape: the shape of the tensor that is indexed; an int means one dimension.

    Returns:
        A tensor of the shape of ``indices`` for each dimension. An index past the end wraps around.

    Raises:
        TypeError: the indices or the sizes are not integers.
        ValueError: a size is negative.

    Example:
        >>> torch.unravel_index(torch.tensor([4, 1]), (3, 2))
        (tensor([2, 0]), tensor([0, 1]))

    Mirrors torch/functional.py, ``unravel_index``.
    """
    if indices.is_floating_point() or indices.dtype == _C.bool:
        raise TypeError(f"expected 'indices' to be integer dtype, but got {indices.dtype}")
    if not isinstance(shape, (int, list, tuple)):
        raise TypeError(f"expected 'shape' to be int or sequence of ints, but got {type(shape)}")
    sizes = [shape] if isinstance(shape, int) else list(shape)
    for size in sizes:
        if not isinstance(size, int):
            raise TypeError(f"expected 'shape' sequence to only contain ints, but got {type(size)}")
    if any(size < 0 for size in sizes):
        raise ValueError(f"'shape' cannot have negative values, but got {tuple(sizes)}")
    if not sizes:
        return ()
    steps = [math.prod(sizes[d + 1 :]) for d in range(len(sizes))]
    places = indices.unsqueeze(-1).div(_C.tensor(steps), rounding_mode="floor")  # always int64
    return tuple((places % _C.tensor(sizes)).unbind(-1))
