"""Histograms of one variable and of several.

Mirrors: aten/src/ATen/native/Histogram.cpp, torch/functional.py (histogramdd)
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from reftorch import _C, _VF, return_types
from reftorch._tensor import Tensor
from reftorch._torch_function import overridable
from reftorch._utils import not_implemented

__all__ = ["histogram", "histogramdd"]


def _even_edges(values: Tensor, bins: int, bounds: Sequence[float] | None, d: int) -> Tensor:
    """Return ``bins`` + 1 edges with equal steps over the given range, or over the range of the data."""
    if bounds is not None:
        low, high = bounds
    elif values.numel() == 0:
        low, high = 0.0, 1.0
    else:
        low, high = values.min().item(), values.max().item()
    if not (math.isfinite(low) and math.isfinite(high)):
        raise RuntimeError(f"torch.histogramdd: dimension {d}'s range [{low:g}, {high:g}] is not finite")
    if low > high:
        raise RuntimeError(
            f"torch.histogramdd: min should not exceed max, but got min {low:g} max {high:g} for dimension {d}"
        )
    if low == high:
        low, high = low - 0.5, high + 0.5
    return _VF.linspace(low, high, bins + 1, dtype=values.dtype)


def _check_bin_count(bins: int, d: int) -> None:
    if bins <= 0:
        raise RuntimeError(f"torch.histogram(): bins must be > 0, but got {bins} for dimension {d}")


def _check_edges(points: Tensor, edges: Tensor, d: int) -> None:
    if edges.dtype != points.dtype:
        raise RuntimeError(
            "torch.histogramdd: input tensor and bins tensors should have the same dtype, but got input with dtype "
            f"{points.dtype} and bins for dimension {d} with dtype {edges.dtype}"
        )
    if edges.dim() != 1:
        raise RuntimeError(
            f"torch.histogramdd: bins tensor should have one dimension, but got {edges.dim()} dimensions in the bins "
            f"tensor for dimension {d}"
        )
    if edges.numel() == 0:
        raise RuntimeError(
            "torch.histogramdd: bins tensor should have at least 1 element, but got 0 elements in the bins tensor for "
            f"dimension {d}"
        )


def _count(points: Tensor, edges: list[Tensor], weight: Tensor | None, density: bool) -> Tensor:
    """Count the points (N, D) in each cell. The last cell of a dimension includes its right edge."""
    shape = [len(e) - 1 for e in edges]
    cell = _VF.zeros(len(points), dtype=_C.int64)
    inside = _VF.ones(len(points), dtype=_C.bool)
    for d, (edge, n) in enumerate(zip(edges, shape, strict=True)):
        x = points[:, d].contiguous()
        place = _VF.searchsorted(edge.contiguous(), x, right=True) - 1
        place = _VF.where(x == edge[-1], n - 1, place)
        inside = inside.logical_and((x >= edge[0]).logical_and(x <= edge[-1]))
        cell = cell * n + place
    amount = _VF.ones(len(points), dtype=points.dtype) if weight is None else weight
    total = math.prod(shape)
    hist = _VF.zeros(total, dtype=points.dtype).index_add(0, cell[inside], amount[inside]).reshape(shape)
    if density:
        hist = hist / hist.sum()
        for d, edge in enumerate(edges):
            widths = edge.diff()
            hist = hist / widths.reshape([-1 if i == d else 1 for i in range(len(shape))])
    return hist


def _check_weight(points: Tensor, weight: Tensor | None) -> None:
    if weight is None:
        return
    if weight.dtype != points.dtype:
        raise RuntimeError(
            "torch.histogramdd: if weight tensor is provided, input tensor and weight tensor should have the same "
            f"dtype, but got input({points.dtype}), and weight({weight.dtype})"
        )
    if weight.shape != points.shape[:-1]:
        raise RuntimeError(
            "torch.histogramdd: if weight tensor is provided it should have the same shape as the input tensor "
            f"excluding its innermost dimension, but got input with shape {list(points.shape)} and weight with "
            f"shape {list(weight.shape)}"
        )


def _edges(points: Tensor, bins: Sequence[int | Tensor], range: Sequence[float] | None, weight: Any) -> list[Tensor]:
    """Return the edges in each coordinate of the points (*, D), after all checks."""
    given = [each for each in bins if isinstance(each, Tensor)]
    for d, each in enumerate(given):
        _check_edges(points, each, d)
    if given:
        _check_weight(points, weight)
    for d, either in enumerate(bins):
        _check_bin_count(len(either) - 1 if isinstance(either, Tensor) else either, d)
    if given:
        if not points.is_floating_point():
            raise not_implemented("histogram_cpu", points)
        return given
    if points.dtype not in (_C.float32, _C.float64):
        raise not_implemented("histogramdd", points)
    rows = points.reshape(-1, points.shape[-1])
    edges = [
        _even_edges(rows[:, d], n, None if range is None else range[2 * d : 2 * d + 2], d)  # type: ignore[arg-type]
        for d, n in enumerate(bins)
    ]
    _check_weight(points, weight)
    return edges


@overridable
def histogram(
    input: Tensor,
    bins: int | Tensor = 100,
    *,
    range: Sequence[float] | None = None,
    weight: Tensor | None = None,
    density: bool = False,
    out: Sequence[Tensor] | None = None,
) -> Any:
    r"""Count the elements of ``input`` in each bin.

    Bin i holds :math:`e_i \le x < e_{i+1}`; the last bin includes its right edge. Elements outside all bins are not
    counted.

    Args:
        input: float32 or float64, of any shape.
        bins: the number of bins of equal width; or a vector of edges in ascending order.
        range: the outermost edges; None means the smallest and the largest element.
        weight: a tensor of the shape of ``input``: each element counts with its weight instead of 1.
        density: divide by the sum and by the widths of the bins, so that the integral of the histogram is 1.
        out: two tensors, which receive the counts and the edges.

    Returns:
        A named tuple (hist, bin_edges).

    Raises:
        RuntimeError: the range is empty or not finite, or dtypes or shapes do not match.
        TypeError: both a vector of edges and a range are given.

    Example:
        >>> torch.histogram(torch.tensor([1.0, 2.0, 1.0, 9.0]), bins=4).hist
        tensor([3., 0., 0., 1.])

    Mirrors aten/src/ATen/native/Histogram.cpp, ``histogram``.
    """
    points = input.reshape(-1, 1)
    weights = None if weight is None else weight.reshape(-1)
    if isinstance(bins, Tensor) and range is not None:
        raise TypeError("histogram() takes a range with a number of bins, not with their edges")
    (edges,) = _edges(points, [bins], range, weights)
    counts = _count(points, [edges], weights, density)
    if out is None:
        return return_types.histogram(counts, edges)
    for place, result in zip(out, (counts, edges), strict=True):
        if place.dtype != result.dtype:
            raise RuntimeError(
                "torch.histogram: input tensor and hist and bin_edges tensors should have the same dtype, but got "
                f"input {result.dtype} and {place.dtype}"
            )
        place.resize_(result.shape).copy_(result)
    return return_types.histogram(*out)


# histogram is a method too. The package _tensor is imported before this file, so this file adds the method.
Tensor.histogram = histogram  # type: ignore[attr-defined]


@overridable
def histogramdd(
    input: Tensor,
    bins: int | Sequence[int] | Sequence[Tensor],
    range: Sequence[float] | None = None,
    weight: Tensor | None = None,
    density: bool = False,
) -> Any:
    """Count points of several coordinates in the cells of a grid.

    Args:
        input: points of shape (*, D), float32 or float64.
        bins: the number of bins for each coordinate, or one number for all; or a list of D vectors of edges.
        range: the outermost edges, two for each coordinate in turn; None means the range of the data.
        weight: the weight of each point, of shape (*).
        density: divide by the sum and by the volumes of the cells.

    Returns:
        A named tuple (hist, bin_edges): a tensor of D dimensions, and a tuple of D vectors.

    Raises:
        RuntimeError: shapes, dtypes or ranges do not match.

    Example:
        >>> x = torch.tensor([[0.0, 1.0], [1.0, 0.0], [2.0, 0.0], [2.0, 2.0]])
        >>> torch.histogramdd(x, [2, 2]).hist
        tensor([[0., 1.],
                [2., 1.]])

    Mirrors torch/functional.py, ``histogramdd``.
    """
    if input.dim() < 2:
        raise RuntimeError("torch.histogramdd: input tensor should have at least 2 dimensions")
    n_dims = input.shape[-1]
    each: list[int | Tensor] = [bins] * n_dims if isinstance(bins, int) else list(bins)
    if len(each) != n_dims:
        raise RuntimeError("histogramdd: The size of bins must be equal to the innermost dimension of the input.")
    if range is not None and len(range) != 2 * n_dims:
        raise RuntimeError(
            f"torch.histogramdd: for a {n_dims}-dimensional histogram range should have {2 * n_dims} elements, but got "
            f"{len(range)}"
        )
    edges = _edges(input, each, range, weight)
    weights = None if weight is None else weight.reshape(-1)
    return return_types.histogramdd(_count(input.reshape(-1, n_dims), edges, weights, density), tuple(edges))
