"""Rows of the means of windows.

Mirrors: torch/testing/_internal/common_methods_invocations.py
Leaves out: complex inputs.
"""

from collections.abc import Callable, Iterator
from typing import Any

from tests.op_db.core import Apart, Inputs, OpInfo, Sample
from tests.op_db.max_pooling import PIXELS, adaptive, at_op

# kernel_size, stride, padding, ceil_mode, count_include_pad
WINDOWS: tuple[tuple[Any, ...], ...] = (
    (2,),
    (3, 2, 1),
    (3, 2, 1, False, False),
    (3, 1, 1, True),
    (2, 3, 0, True),
    (2, [], 1, True, False),
)
BAD: tuple[tuple[Any, ...], ...] = ((0,), (2, 0), (2, 1, 2), (2, 1, -1), (40,), ((1, 1, 1, 1),))


def means(dims: int) -> Callable[[Inputs], Iterator[Sample]]:
    def samples(make: Inputs) -> Iterator[Sample]:
        if dims == 3 and make.dtype in ("float16", "bfloat16"):  # torch has no kernel
            return
        pixels = PIXELS[dims]
        for window in WINDOWS:
            yield Sample((make(2, 3, *pixels), *window))
            yield Sample((make(2, 3, *pixels, layout="transposed"), *window))
        if dims > 1:
            yield Sample((make(2, 3, *pixels), 2, 2, 1, False, True, 3))
            yield Sample((make(2, 3, *pixels), 2, 2, 1, False, True, 0))
        yield Sample((make(1, 1, *(2,) * (dims - 1), 3), (1,) * (dims - 1) + (2,), 1))
        yield Sample((make(3, *pixels), 2))
        yield Sample((make(0, 3, *pixels), 2))
        for window in BAD:
            yield Sample((make(2, 3, *pixels), *window))
        yield Sample((make(4), 2))

    return samples


def backwards(dims: int) -> Callable[[Inputs], Iterator[Sample]]:
    def samples(make: Inputs) -> Iterator[Sample]:
        if dims == 3 and make.dtype in ("float16", "bfloat16"):  # torch has no kernel
            return
        small, large = (2,) * dims, (4,) * dims
        window = ((2,) * dims, (2,) * dims, (0,) * dims)
        yield Sample((make(2, 3, *small), make(2, 3, *large), *window, False, True, None))
        yield Sample((make(2, 3, *small), make(2, 3, *large), *window, True, False, 5))
        yield Sample((make(1, 1, *(1,) * dims), make(1, 1, *(2,) * dims), *window, False, True, None))

    return samples


def adaptive_backwards(dims: int) -> Callable[[Inputs], Iterator[Sample]]:
    def samples(make: Inputs) -> Iterator[Sample]:
        for size in (2, 3, 6):
            yield Sample((make(2, 3, *(size,) * dims), make(2, 3, *(4,) * dims)))
        yield Sample((make(1, 1, *(1,) * dims), make(1, 1, *(2,) * dims)))

    return samples


def other_planes(dims: int) -> Apart:
    def when(sample: Sample) -> bool:
        grad, x = (arg.values.shape for arg in sample.args)
        return len(grad) > dims + 2 or len(x) > dims + 2 or grad[:-dims] != x[:-dims]

    return Apart(
        "torch takes gradients of other planes than the input has, and reads and writes beyond memory",
        when=when,
        crashes=True,
    )


def adaptive_means(dims: int) -> Callable[[Inputs], Iterator[Sample]]:
    return lambda make: adaptive(dims)(make) if make.is_float else iter(())


ROWS = [
    *(
        row
        for dims in (2, 3)
        for row in (
            OpInfo(f"avg_pool{dims}d", means(dims)),
            OpInfo(f"adaptive_avg_pool{dims}d", adaptive_means(dims)),
            OpInfo(
                f"_adaptive_avg_pool{dims}d",
                adaptive_means(dims),
                out=False,
                apart=(Apart("torch makes a tensor of a negative size", says="tensor with negative dimension"),),
            ),
            OpInfo(f"avg_pool{dims}d_backward", backwards(dims), call=at_op(f"avg_pool{dims}d_backward"), out=False),
            OpInfo(
                f"_adaptive_avg_pool{dims}d_backward",
                adaptive_backwards(dims),
                call=at_op(f"_adaptive_avg_pool{dims}d_backward"),
                out=False,
                apart=(other_planes(dims),),
            ),
        )
    ),
    OpInfo("avg_pool1d", means(1), out=False),
    OpInfo("adaptive_avg_pool1d", adaptive_means(1), out=False),
]
