"""Derivatives of reading an image at the places of a grid.

Mirrors: tools/autograd/derivatives.yaml (grid_sampler_2d, grid_sampler_3d)
Leaves out: kernels of their own for second derivatives, which are made of other ops here.

A result is a sum over taps, the pixels around a place: out = sum_k W_k x_k. The weight W_k is a product of one weight
for each dimension, a function of the place's coordinate c_d in pixels, and c_d is a function of the grid. With G, the
gradient of out, the gradients of the image and of the grid are A = sum_k W_k G (added to pixel k) and
B_d = c_d' sum_k (dW_k / dc_d) x_k G. Second derivatives are those of <A, U> + <B, V>, for any U and V; with the change
of a weight in the direction V, D_k = sum_d (dW_k / dc_d) c_d' V_d, this number is sum_k G (W_k u_k + D_k x_k).
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from typing import Any, NamedTuple

from reftorch import _C
from reftorch.autograd.derivatives import derivative

_nn = _C._nn
_VF = _C._VariableFunctions

_BILINEAR, _NEAREST, _BICUBIC = range(3)
_ZEROS, _BORDER, _REFLECTION = range(3)


def _register(op: str) -> None:
    backward = getattr(_nn, f"{op}_backward")

    @derivative(op, inputs=["input", "grid"])
    def grid_sampler(
        grad: Any, input: Any, grid: Any, interpolation_mode: Any, padding_mode: Any, align_corners: Any,
        needs_input_grad: Any,
    ) -> Any:  # fmt: skip
        return backward(grad, input, grid, interpolation_mode, padding_mode, align_corners, list(needs_input_grad))

    forward = getattr(_VF, op)

    @derivative(f"{op}_backward", inputs=["grad_output", "input", "grid"])
    def grid_sampler_backward(
        grads: Any, grad_output: Any, input: Any, grid: Any, interpolation_mode: Any, padding_mode: Any,
        align_corners: Any,
    ) -> Any:  # fmt: skip
        U, V = grads
        options = interpolation_mode, padding_mode, align_corners
        if interpolation_mode == _NEAREST:  # the weights do not change with the grid
            return None if U is None else forward(U, grid, *options), None, None
        return _double_backward(U, V, grad_output, input, grid, *options)


class _Tap(NamedTuple):
    """One of the weights of a dimension, with its first and second derivative, and the pixel to which it belongs."""

    weight: Any
    first: Any
    second: Any
    pixel: Any
    is_inside: Any


def _reflected(c: Any, low: float, high: float) -> tuple[Any, Any]:
    """Reflect coordinates at low / 2 and high / 2; return the sign of the change too."""
    if low == high:
        return c * 0, c * 0
    start, span = low / 2, (high - low) / 2
    c = c - start
    sign, c = (c >= 0).to(c.dtype) * 2 - 1, c.abs()
    turns = (c / span).detach().floor()
    rest, is_odd = c - turns * span, turns.remainder(2)
    return rest + is_odd * (span - 2 * rest) + start, sign * (1 - 2 * is_odd)


def _on_the_image(c: Any, size: int, padding_mode: int, align_corners: bool) -> tuple[Any, Any]:
    """Bring coordinates to the image as the padding mode asks; return the derivative of this step too."""
    slope = _VF.ones_like(c)
    if padding_mode == _REFLECTION:
        c, slope = _reflected(c, *((0, 2 * (size - 1)) if align_corners else (-1, 2 * size - 1)))
    if padding_mode != _ZEROS:
        slope = slope * ((c > 0) & (c < size - 1)).to(c.dtype)
        c = c.clamp(0, size - 1)
    return c, slope


def _cubic(x: Any, is_outer: bool) -> tuple[Any, Any, Any]:
    """The cubic convolution kernel with A = -0.75 at a distance x: below 1, or from 1 to 2; and its derivatives."""
    a = -0.75
    if is_outer:
        return ((a * x - 5 * a) * x + 8 * a) * x - 4 * a, (3 * a * x - 10 * a) * x + 8 * a, 6 * a * x - 10 * a
    return ((a + 2) * x - (a + 3)) * x * x + 1, (3 * (a + 2) * x - 2 * (a + 3)) * x, 6 * (a + 2) * x - 2 * (a + 3)


def _taps_of_dimension(
    place: Any, size: int, interpolation_mode: int, padding_mode: int, align_corners: bool
) -> tuple[list[_Tap], Any]:
    """The taps along one dimension, (N, P) each, for the grid's numbers; and the derivative of the coordinate."""
    scale = (size - 1) / 2 if align_corners else size / 2
    c = (place + 1) * scale - (0 if align_corners else 0.5)
    slope: Any = scale
    if interpolation_mode == _BILINEAR:
        c, factor = _on_the_image(c, size, padding_mode, align_corners)
        slope = factor * scale
    low = c.detach().floor()
    f, one, zero = c - low, _VF.ones_like(c), _VF.zeros_like(c)
    if interpolation_mode == _BILINEAR:
        weights = [(0, 1 - f, -one, zero), (1, f, one, zero)]
    else:
        weights = []
        for step, x, direction in ((-1, f + 1, 1), (0, f, 1), (1, 1 - f, -1), (2, 2 - f, -1)):
            value, first, second = _cubic(x, is_outer=step in (-1, 2))
            weights.append((step, value, first * direction, second))
    taps = []
    for step, value, first, second in weights:
        pixel = low + step
        if interpolation_mode == _BICUBIC:
            pixel = _on_the_image(pixel, size, padding_mode, align_corners)[0]
        is_inside = (pixel >= 0) & (pixel < size)
        taps.append(_Tap(value, first, second, pixel.clamp(0, size - 1).to(_C.int64), is_inside))
    return taps, slope


def _product(factors: list[Any]) -> Any:
    return math.prod(factors[1:], start=factors[0])


def _corners(taps: list[list[_Tap]], sizes: list[int]) -> Iterator[tuple[Any, list[Any], list[list[Any]], Any]]:
    """For each combination of taps: the weight, its first and second derivatives, and the pixel, counted row by row."""
    for corner in itertools.product(*taps):
        inside = _product([tap.is_inside for tap in corner]).to(corner[0].weight.dtype)
        index = 0
        for tap, size in zip(corner, sizes, strict=True):
            index = index * size + tap.pixel

        def of(orders: list[int], corner: Any = corner, inside: Any = inside) -> Any:
            """The derivative with these orders in the dimensions."""
            return _product([tap[order] for tap, order in zip(corner, orders, strict=True)]) * inside

        each = range(len(corner))
        first = [of([int(d == e) for e in each]) for d in each]
        second = [[of([int(d == i) + int(e == i) for i in each]) for e in each] for d in each]
        yield of([0] * len(corner)), first, second, index


def _double_backward(
    U: Any, V: Any, G: Any, input: Any, grid: Any, interpolation_mode: int, padding_mode: int, align_corners: bool
) -> tuple[Any, Any, Any]:
    sizes, dims = list(input.shape[2:]), range(grid.shape[-1])
    # The grid's last dimension begins with the width, the image's ends with it.
    places = grid.flatten(1, -2).flip(-1).unbind(-1)
    made = [
        _taps_of_dimension(place, size, interpolation_mode, padding_mode, align_corners)
        for place, size in zip(places, sizes, strict=True)
    ]
    taps, slopes = [each[0] for each in made], [each[1] for each in made]
    directions = (
        None if V is None else [v * s for v, s in zip(V.flatten(1, -2).flip(-1).unbind(-1), slopes, strict=True)]
    )
    pixels, rows = input.flatten(2), G.flatten(2)
    of_G, of_input, of_grid = _VF.zeros_like(rows), _VF.zeros_like(pixels), [_VF.zeros_like(p) for p in places]
    for weight, first, second, index in _corners(taps, sizes):
        where = index.unsqueeze(1).expand_as(rows)
        if U is not None:
            u = U.flatten(2).gather(2, where)
            of_G = of_G + weight.unsqueeze(1) * u
            Gu = (rows * u).sum(1)
            of_grid = [g + first[d] * Gu for d, g in enumerate(of_grid)]
        if directions is not None:
            x = pixels.gather(2, where)
            change = _total([first[d] * directions[d] for d in dims]).unsqueeze(1)
            of_G = of_G + change * x
            of_input = of_input.scatter_add(2, where, change * rows)
            Gx = (rows * x).sum(1)
            of_grid = [g + _total([second[d][e] * directions[e] for e in dims]) * Gx for d, g in enumerate(of_grid)]
    grads = [g * s for g, s in zip(of_grid, slopes, strict=True)]
    return of_G.reshape(G.shape), of_input.reshape(input.shape), _VF.stack(grads[::-1], -1).reshape(grid.shape)


def _total(terms: list[Any]) -> Any:
    return sum(terms[1:], start=terms[0])


_register("grid_sampler_2d")
_register("grid_sampler_3d")
