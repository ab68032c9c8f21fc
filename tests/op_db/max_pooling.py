"""Rows of the largest elements of windows.

Mirrors: torch/testing/_internal/common_methods_invocations.py
Leaves out: complex inputs.
"""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from tests.op_db.core import NAN, Apart, Input, Inputs, OpInfo, Sample

# kernel_size, stride, padding, dilation, ceil_mode
WINDOWS: tuple[tuple[Any, ...], ...] = (
    (2,),
    (3, 2, 1),
    (3, 1, 1, 1, True),
    (2, 3, 0, 1, True),
    (3, 2, 1, 2),
    (2, [], 1, 1, True),
)
BAD: tuple[tuple[Any, ...], ...] = ((0,), (2, 0), (2, 1, 2), (2, 1, -1), (2, 1, 0, 0), (40,), ((1, 1, 1, 1),))
PIXELS = {1: (9,), 2: (7, 6), 3: (5, 4, 5)}


def pools(dims: int, windows: tuple[tuple[Any, ...], ...] = WINDOWS) -> Callable[[Inputs], Iterator[Sample]]:
    def samples(make: Inputs) -> Iterator[Sample]:
        pixels = PIXELS[dims]
        for window in windows:
            yield Sample((make(2, 3, *pixels), *window))
            yield Sample((make(2, 3, *pixels, layout="transposed"), *window))
        yield Sample((make(1, 1, *(2,) * (dims - 1), 3), (1,) * (dims - 1) + (2,), 1))
        yield Sample((make(3, *pixels), 2))
        yield Sample((make(0, 3, *pixels), 2))
        for window in BAD:
            yield Sample((make(2, 3, *pixels), *window))
        yield Sample((make(2, 0, *pixels), 2))

    return samples


def special(make: Inputs) -> Iterator[Sample]:
    yield Sample((make.of([[1, NAN, 2, 0], [3, 1, NAN, NAN]]), 2, 1))


def adaptive(dims: int) -> Callable[[Inputs], Iterator[Sample]]:
    def samples(make: Inputs) -> Iterator[Sample]:
        pixels = PIXELS[dims]
        for size in ([1] * dims, [2] * dims, list(pixels), [3, 2, 4][:dims], [11] * dims):
            yield Sample((make(2, 3, *pixels), size))
            yield Sample((make(3, *pixels, layout="transposed"), size))
        yield Sample((make(1, 1, *(2,) * (dims - 1), 3), [1] * (dims - 1) + [2]))
        yield Sample((make(0, 3, *pixels), [2] * dims))
        yield Sample((make(2, 3, *(0,) * dims), [2] * dims))
        yield Sample((make(4), [2] * dims))

    return samples


def places(shape: tuple[int, ...], pixels: int) -> Input:
    """Indices into planes of so many pixels, all different within a plane."""
    random = np.random.default_rng(5)
    planes = [random.permutation(pixels)[: int(np.prod(shape[2:]))] for _ in range(shape[0] * shape[1])]
    return Input(np.array(planes).reshape(shape), "int64")


def unpools(dims: int) -> Callable[[Inputs], Iterator[Sample]]:
    rest = ((2,) * dims, (0,) * dims) if dims == 3 else ()

    def samples(make: Inputs) -> Iterator[Sample]:
        if not make.is_float:
            return
        small, large = (2, 3, 2)[:dims], (4, 6, 4)[:dims]
        yield Sample((make(1, 1, *(2,) * dims), places((1, 1, *(2,) * dims), 3**dims), (3,) * dims, *rest))
        at = places((2, 3, *small), int(np.prod(large)))
        yield Sample((make(2, 3, *small), at, large, *rest))
        yield Sample((make(2, 3, *small, layout="transposed"), at, large, *rest))
        yield Sample((make(2, 3, *small), at, small, *rest))
        yield Sample((make(2, 3, *large), at, large, *rest))
        yield Sample((make(2, 3, *small), Input(at.values, "int32"), large, *rest))

    return samples


def backwards(dims: int) -> Callable[[Inputs], Iterator[Sample]]:
    def samples(make: Inputs) -> Iterator[Sample]:
        if not make.is_float:
            return
        small, large = (2,) * dims, (4,) * dims
        at = places((2, 3, *small), 4**dims)
        window = ((2,) * dims, (2,) * dims, (0,) * dims, (1,) * dims, False)
        yield Sample((make(2, 3, *small), make(2, 3, *large), *window, at))
        one, two = (1,) * dims, (2,) * dims
        yield Sample((make(1, 1, *one), make(1, 1, *two), *window, places((1, 1, *one), 2**dims)))

    return samples


def adaptive_backwards(dims: int) -> Callable[[Inputs], Iterator[Sample]]:
    def samples(make: Inputs) -> Iterator[Sample]:
        if not make.is_float:
            return
        at = places((2, 3, *(2,) * dims), 4**dims)
        yield Sample((make(2, 3, *(2,) * dims), make(2, 3, *(4,) * dims), at))
        one, two = (1,) * dims, (2,) * dims
        yield Sample((make(1, 1, *one), make(1, 1, *two), places((1, 1, *one), 2**dims)))

    return samples


def fractional(dims: int) -> Callable[[Inputs], Iterator[Sample]]:
    def samples(make: Inputs) -> Iterator[Sample]:
        draws = make(2, 3, dims, low=0.0, high=0.99)
        for size in ((3,) * dims, (1,) * dims, (2, 3, 2)[:dims]):
            yield Sample((make(2, 3, *(5,) * dims), [2] * dims, list(size), Input(draws.values, draws.dtype)))
        yield Sample((make(1, 1, *(2,) * dims), [1] * dims, [1] * dims, make(1, 1, dims, low=0.0, high=0.99)))
        yield Sample((make(2, 3, *(5,) * dims), [2] * dims, [5] * dims, draws))
        yield Sample((make(2, 3, *(5,) * dims), [2] * dims, [2] * dims, make(2, 3, dims + 1, low=0.0, high=0.99)))
        yield Sample((make(2, 3, *(5,) * dims), [2] * dims, [2] * dims, make(2, 3, low=0.0, high=0.99)))

    return samples


def with_samples(dims: int) -> Callable[..., Any]:
    """The op refuses samples that require a gradient, in both libraries."""

    def call(lib: Any, x: Any, kernel_size: Any, output_size: Any, samples: Any) -> Any:
        return getattr(lib._C._nn, f"fractional_max_pool{dims}d")(x, kernel_size, output_size, samples.detach())

    return call


NO_WINDOWS = tuple(
    Apart("torch's backward takes windows that do not fit, which its forward refuses", says=words)
    for words in (
        "too large relative to input",
        "kernel_size should be greater than zero",
        "Output size is too small",
        "non-zero size for non-batch dimensions",
        "expected grad_output and indices of shape",
        "pad must be non-negative",
    )
)
OTHER_LAYOUT = (
    Apart("torch's second derivative with places that are not contiguous fails", says="view size is not compatible"),
    Apart(
        "torch's backward reads places that are not contiguous in the order of their memory",
        when=lambda sample: sample.args[-1].layout != "contiguous",
        crashes=True,
    ),
)
EMPTY_WINDOW = Apart(
    "torch takes windows without elements, which have no largest one", says="kernel_size should be greater than zero"
)


def fractional_backwards(dims: int) -> Callable[[Inputs], Iterator[Sample]]:
    def samples(make: Inputs) -> Iterator[Sample]:
        if not make.is_float:
            return
        at = places((2, 3, *(2,) * dims), 4**dims)
        yield Sample((make(2, 3, *(2,) * dims), make(2, 3, *(4,) * dims), [2] * dims, [2] * dims, at))
        one, two = (1,) * dims, (2,) * dims
        yield Sample((make(1, 1, *one), make(1, 1, *two), two, one, places((1, 1, *one), 2**dims)))

    return samples


def places_of(dims: int) -> Apart:
    """For a gradient, an input, and as the last argument the places that the elements came from."""

    def when(sample: Sample) -> bool:
        grad, x, at = sample.args[0].values, sample.args[1].values, sample.args[-1].values
        if x.ndim not in (dims + 1, dims + 2):
            return bool(grad.ndim > 1 or x.ndim > 1)
        pixels = int(np.prod(x.shape[-dims:]))
        return bool(
            grad.shape != at.shape or grad.shape[:-dims] != x.shape[:-dims] or ((at < 0) | (at >= pixels)).any()
        )

    return Apart("torch writes beyond memory where the places are not those of the input", when=when, crashes=True)


def at_op(name: str) -> Callable[..., Any]:
    """An op without a public name in either library."""
    return lambda lib, *args: getattr(lib.ops.aten, name)(*args)


ROWS = [
    *(
        row
        for dims in (2, 3)
        for row in (
            OpInfo(f"max_pool{dims}d_with_indices", pools(dims)),
            OpInfo(f"max_pool{dims}d", pools(dims), out=False),
            OpInfo(f"adaptive_max_pool{dims}d", adaptive(dims)),
            OpInfo(
                f"fractional_max_pool{dims}d",
                fractional(dims),
                call=with_samples(dims),
                out=False,
                apart=(EMPTY_WINDOW,),
            ),
            OpInfo(
                f"max_unpool{dims}d",
                unpools(dims),
                apart=(Apart("torch's gradient of a transposed input fails", says="view size is not compatible"),),
            ),
            OpInfo(
                f"max_pool{dims}d_with_indices_backward",
                backwards(dims),
                call=at_op(f"max_pool{dims}d_with_indices_backward"),
                out=False,
                apart=(places_of(dims), *NO_WINDOWS, *OTHER_LAYOUT),
            ),
            OpInfo(
                f"adaptive_max_pool{dims}d_backward",
                adaptive_backwards(dims),
                call=at_op(f"adaptive_max_pool{dims}d_backward"),
                out=False,
                apart=(places_of(dims), *NO_WINDOWS, *OTHER_LAYOUT),
            ),
            OpInfo(
                f"fractional_max_pool{dims}d_backward",
                fractional_backwards(dims),
                call=at_op(f"fractional_max_pool{dims}d_backward"),
                out=False,
                apart=(places_of(dims), *NO_WINDOWS, *OTHER_LAYOUT),
                torch_gradient=False,
            ),
        )
    ),
    OpInfo("max_pool1d_with_indices", pools(1), out=False),
    OpInfo("max_pool1d", lambda make: pools(1)(make) if make.is_float else iter(()), out=False),
    OpInfo("adaptive_max_pool1d", adaptive(1), out=False),
]

SPECIAL = [OpInfo("max_pool1d_with_indices", special)]
