"""Rows of convolutions.

Mirrors: torch/testing/_internal/common_methods_invocations.py
Leaves out: complex inputs.
"""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from tests.op_db.core import Apart, Inputs, OpInfo, Sample


def sizes(dims: int) -> list[tuple[int, ...]]:
    """The pixels of the inputs and of the kernels: of one, two or three dimensions."""
    return [(7, 6, 5)[:dims], (3, 2, 3)[:dims]]


def convs(dims: int) -> Callable[[Inputs], Iterator[Sample]]:
    def samples(make: Inputs) -> Iterator[Sample]:
        pixels, kernel = sizes(dims)
        for options in (
            {},
            {"stride": 2},
            {"padding": 1},
            {"dilation": 2},
            {"stride": 2, "padding": 2, "dilation": 2},
            {"stride": tuple(range(1, dims + 1)), "padding": (1,) * dims},
        ):
            if "dilation" in options and not make.is_float:  # torch has no kernel for some integers
                continue
            yield Sample((make(2, 4, *pixels), make(3, 4, *kernel), make(3)), options)
            yield Sample((make(2, 4, *pixels), make(4, 2, *kernel), None), {**options, "groups": 2})
            yield Sample((make(2, 3, *pixels), make(6, 1, *kernel), make(6)), {**options, "groups": 3})
        few = (2,) * (dims - 1)  # few enough elements for differences
        yield Sample(
            (make(1, 2, *few, 3 if dims < 3 else 1), make(2, 1, *few, 1), make(2)), {"groups": 2, "padding": 0}
        )
        yield Sample((make(4, *pixels), make(3, 4, *kernel), make(3)))
        yield Sample((make(2, 4, *pixels), make(3, 4, *(1,) * dims), make(3)))
        yield Sample((make(0, 4, *pixels), make(3, 4, *kernel), make(3)))
        yield Sample((make(2, 4, *pixels, layout="transposed"), make(3, 4, *kernel, layout="strided")))
        yield Sample((make(2, 3, *pixels), make(3, 4, *kernel)))
        yield Sample((make(2, 4, *pixels), make(3, 4, *kernel), make(2)))
        yield Sample((make(2, 4, *pixels), make(3, 4, *kernel)), {"groups": 0})
        yield Sample((make(2, 4, *pixels), make(3, 4, *kernel)), {"padding": -1})
        yield Sample((make(2, 4, *pixels), make(3, 4, *kernel)), {"stride": 0})
        yield Sample((make(2, 4, *(1,) * dims), make(3, 4, *kernel)))

    return samples


def padded_by_name(dims: int) -> Callable[[Inputs], Iterator[Sample]]:
    def samples(make: Inputs) -> Iterator[Sample]:
        pixels, _ = sizes(dims)
        for kernel in ((3,) * dims, (1,) * dims):
            for padding in ("same", "valid"):
                yield Sample((make(2, 4, *pixels), make(3, 4, *kernel), make(3)), {"padding": padding})
        few = (2,) * (dims - 1)
        yield Sample((make(1, 1, *few, 3), make(1, 1, *(1,) * (dims - 1), 3), make(1)), {"padding": "same"})
        if make.is_float:
            yield Sample((make(4, *pixels), make(4, 2, *(3,) * dims)), {"padding": "same", "dilation": 2, "groups": 2})
        yield Sample((make(2, 4, *pixels), make(3, 4, *(3,) * dims)), {"padding": "same", "stride": 2})
        yield Sample((make(2, 4, *pixels), make(3, 4, *(3,) * dims)), {"padding": "other"})

    return samples


def transposed(dims: int) -> Callable[[Inputs], Iterator[Sample]]:
    def samples(make: Inputs) -> Iterator[Sample]:
        pixels, kernel = (4, 3, 3)[:dims], (3, 2, 3)[:dims]
        for options in (
            {},
            {"stride": 2, "output_padding": 1},
            {"padding": 1},
            {"dilation": 2},
            {"stride": 3, "padding": 1, "output_padding": 2, "dilation": 2},
        ):
            yield Sample((make(2, 4, *pixels), make(4, 3, *kernel), make(3)), options)
            yield Sample((make(2, 4, *pixels), make(4, 2, *kernel), None), {**options, "groups": 2})
        few = (2,) * (dims - 1)
        yield Sample((make(1, 2, *few, 1), make(2, 1, *few, 1), make(1)), {"stride": 2})
        yield Sample((make(2, 3, *pixels), make(3, 1, *kernel), make(3)), {"groups": 3})
        yield Sample((make(4, *pixels), make(4, 3, *kernel), make(3)))
        yield Sample((make(0, 4, *pixels), make(4, 3, *kernel), make(3)))
        yield Sample((make(2, 3, *pixels), make(4, 3, *kernel)))
        yield Sample((make(2, 4, *pixels), make(4, 3, *kernel)), {"output_padding": 1})
        yield Sample((make(2, 4, *pixels), make(4, 3, *kernel)), {"padding": 9})

    return samples


def convolutions(make: Inputs) -> Iterator[Sample]:
    for dims in (1, 2, 3):
        pixels, kernel = sizes(dims)
        one, zero = [1] * dims, [0] * dims
        yield Sample((make(2, 4, *pixels), make(4, 2, *kernel), make(4), one, zero, one, False, zero, 2))
        yield Sample((make(2, 4, *pixels), make(4, 2, *kernel), make(4), [2], [1], [1], True, [1], 2))
    yield Sample((make(1, 2, 2, 3), make(2, 1, 2, 2), make(2), [1], [1], [1], False, [0], 2))
    yield Sample((make(1, 2, 2, 2), make(2, 1, 2, 2), make(2), [2], [0], [1], True, [1], 2))
    yield Sample((make(2, 4, 5), make(4, 2), None, [1], [0], [1], False, [0], 1))


def with_choices(make: Inputs) -> Iterator[Sample]:
    """The arguments of convolution, and four that choose among algorithms."""
    for sample in convolutions(make):
        yield Sample((*sample.args, False, False, True, False))


def backwards(make: Inputs) -> Iterator[Sample]:
    """grad_output, input, weight, bias_sizes, stride, padding, dilation, transposed, output_padding, groups, mask"""
    if not make.is_float:
        return
    mask = [True, True, True]
    yield Sample((make(1, 2, 1, 2), make(1, 2, 2, 3), make(2, 1, 2, 2), [2], [1], [0], [1], False, [0], 2, mask))
    yield Sample((make(1, 2, 4), make(1, 2, 2), make(2, 1, 2), [2], [2], [0], [1], True, [0], 2, mask))
    for mask in ([True, True, True], [True, False, False], [False, True, False]):
        yield Sample((make(2, 3, 3, 3), make(2, 2, 5, 5), make(3, 2, 3, 3), [3], [1], [0], [1], False, [0], 1, mask))
        yield Sample((make(2, 3, 7), make(2, 4, 3), make(4, 3, 3), [3], [2], [0], [1], True, [0], 1, mask))
        yield Sample((make(2, 4, 3, 3), make(2, 4, 5, 5), make(4, 1, 3, 3), [4], [2], [1], [1], False, [0], 4, mask))


def convolution_backward(lib: Any, *args: Any) -> Any:
    return [result for result in lib.ops.aten.convolution_backward(*args) if result is not None]


def times_first(make: Inputs) -> Iterator[Sample]:
    if not make.is_float:
        return
    yield Sample((make(5, 2, 3), make(2, 3, 4), make(4)))
    yield Sample((make(3, 1, 2), make(2, 2, 1), make(1)))
    yield Sample((make(5, 2, 3), make(3, 3, 4), make(4), 1))
    yield Sample((make(5, 2, 3), make(2, 3, 1), make(1), 2))
    yield Sample((make(5, 2), make(2, 3, 4), make(4)))
    yield Sample((make(5, 2, 3), make(2, 3), make(4)))
    yield Sample((make(5, 2, 3), make(2, 2, 4), make(4)))
    yield Sample((make(5, 2, 3), make(2, 3, 4), make(3)))
    yield Sample((make(5, 2, 3), make(2, 3, 4), make(4, 1)))


INFINITE_ON_PADDING = Apart(
    "an infinite weight on the padding is 0 times infinity, NaN, or no product: torch does both, by size and dtype",
    says="nan location mismatch",
    when=lambda sample: not np.isfinite(sample.args[1].values).all(),
)


def has_no_kernel(sample: Sample) -> bool:
    """Whether the kernel has no pixels, and the input no channels."""
    return sample.args[1].values.shape[1:2] == (0,) and 0 in sample.args[1].values.shape[2:]


NO_KERNEL = tuple(
    Apart("torch does not look at the kernel where there are no channels", says=words, when=has_no_kernel)
    for words in ("weight should have positive sizes", "kernel size should be greater than zero")
)

# The sums of many 32-bit products, which the libraries add in other orders.
TOLERANCE = {"rtol": 2e-4, "low": -1, "high": 1}

ROWS = [
    *(
        OpInfo(f"conv{dims}d", convs(dims), out=False, apart=(INFINITE_ON_PADDING, *NO_KERNEL), **TOLERANCE)
        for dims in (1, 2, 3)
    ),
    *(
        OpInfo(
            f"conv{dims}d.padding",
            padded_by_name(dims),
            out=False,
            apart=(INFINITE_ON_PADDING, *NO_KERNEL),
            **TOLERANCE,
        )
        for dims in (1, 2, 3)
    ),
    OpInfo("conv_transpose1d", transposed(1), out=False, **TOLERANCE),
    OpInfo("conv_transpose2d.input", transposed(2), out=False, **TOLERANCE),
    OpInfo("conv_transpose3d.input", transposed(3), out=False, **TOLERANCE),
    OpInfo(
        "conv_tbc",
        times_first,
        out=False,
        apart=(
            Apart("torch views some tensors that are not contiguous, which fails", says="view size is not compatible"),
        ),
        **TOLERANCE,
    ),
    OpInfo("_convolution", with_choices, out=False, apart=(INFINITE_ON_PADDING,), **TOLERANCE),
    OpInfo("convolution", convolutions, out=False, apart=(INFINITE_ON_PADDING,), **TOLERANCE),
    OpInfo("convolution_backward", backwards, call=convolution_backward, out=False, **TOLERANCE),
]
