"""Rows of reading an image at the places of a grid.

Mirrors: torch/testing/_internal/common_methods_invocations.py (sample_inputs_grid_sample)
Leaves out: 16-bit floats, which torch has on GPUs only.
"""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from tests.op_db.core import Apart, Inputs, OpInfo, Sample
from tests.op_db.samples.unary import backward_op

BILINEAR, NEAREST, BICUBIC = range(3)


def calls(dims: int) -> Callable[[Inputs], Iterator[Sample]]:
    image, places = (3, 4, 5)[-dims:], (2, 2, 3)[-dims:]

    def samples(make: Inputs) -> Iterator[Sample]:
        if make.dtype not in ("float64", "float32"):
            return
        for mode in (BILINEAR, NEAREST, BICUBIC):
            for padding in range(3):
                for corners in (False, True):
                    yield Sample((make(2, 2, *image), make(2, *places, dims), mode, padding, corners))
        yield Sample((make(1, 2, *(1, 2, 3)[-dims:]), make(1, *(1,) * (dims - 1), 2, dims), BILINEAR, 1, False))
        yield Sample((make(1, 1, *(1,) * dims), make(1, *places, dims), BILINEAR, 2, True))
        # On a pixel, the straight lines have a corner, so the differences are not the derivative.
        yield Sample(
            (make(1, 1, *(1, 1, 3)[-dims:]), make.of([[[0.0] * dims]] if dims == 2 else [[[[0.0] * dims]]]), 0, 0, True)
        )
        yield Sample((make(0, 2, *image), make(0, *places, dims), BILINEAR, 0, False))
        yield Sample((make(2, 2, *image), make(1, *places, dims), BILINEAR, 0, False))
        yield Sample((make(2, 2, *image), make(2, *places, dims + 1), BILINEAR, 0, False))
        yield Sample((make(2, 2, *image[1:], 0), make(2, *places, dims), BILINEAR, 0, False))

    return samples


def backwards(dims: int) -> Callable[[Inputs], Iterator[Sample]]:
    image, places = (3, 4, 5)[-dims:], (2, 2, 3)[-dims:]

    def samples(make: Inputs) -> Iterator[Sample]:
        if make.dtype not in ("float64", "float32"):
            return
        for mode in (BILINEAR, NEAREST, *((BICUBIC,) if dims == 2 else ())):
            options = (mode, mode, mode == NEAREST, [True, True])
            yield Sample((make(2, 2, *places), make(2, 2, *image), make(2, *places, dims), *options))

    return samples


def backward(name: str) -> Callable[..., Any]:
    def call(lib: Any, *args: Any) -> Any:
        values = [value.detach() if hasattr(value, "detach") else value for value in args]
        return backward_op(lib, name)(*values)  # type: ignore[operator]

    return call


def either(make: Inputs) -> Iterator[Sample]:
    for dims in (2, 3):
        yield from [*calls(dims)(make)][-7:]


def is_of_other_shape(sample: Sample) -> bool:
    grad, x, grid = (leaf.values.shape for leaf in sample.args[:3])
    return len(x) == len(grid) and grad != (*x[:2], *grid[1:-1])


OTHER_MODE = Apart("torch takes the numbers of no mode for one", says="expected interpolation_mode and padding_mode")
OTHER_SHAPE = Apart(
    "torch reads beyond a gradient of another shape than the result", when=is_of_other_shape, crashes=True
)

NO_PLACE = Apart(
    "torch turns a place that is no number into a pixel as the processor does",
    when=lambda sample: not np.isfinite(sample.args[2].values).all(),
)

# Values between -2 and 2 reach the inside, the border and the outside. There are no second derivatives, as in torch.
COMMON: dict[str, Any] = {
    "dtypes": ("float64", "float32"),
    "out": False,
    "low": -2,
    "high": 2,
    "gradcheck": False,
    "apart": (OTHER_MODE,),
}

ROWS = [
    *(OpInfo(f"grid_sampler_{dims}d", calls(dims), **COMMON) for dims in (2, 3)),
    OpInfo("grid_sampler", either, **COMMON),
]
VALUES = [
    OpInfo(
        f"grid_sampler_{dims}d_backward",
        backwards(dims),
        call=backward(f"grid_sampler_{dims}d_backward"),
        **{**COMMON, "apart": (OTHER_MODE, OTHER_SHAPE, NO_PLACE)},
    )
    for dims in (2, 3)
]
