"""Rows of interpolation.

Mirrors: torch/testing/_internal/common_methods_invocations.py (sample_inputs_interpolate)
Leaves out: complex inputs.
"""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from tests.op_db.core import FLOATS, Apart, Inputs, OpInfo, Sample
from tests.op_db.samples.unary import backward_op

NEAREST = [f"{name}{dims}d" for name in ("upsample_nearest", "_upsample_nearest_exact") for dims in (1, 2, 3)]
SMOOTH = [
    "upsample_linear1d", "upsample_bilinear2d", "upsample_trilinear3d", "upsample_bicubic2d", "_upsample_bilinear2d_aa",
    "_upsample_bicubic2d_aa", "_upsample_lanczos2d_aa",
]  # fmt: skip


def dims_of(name: str) -> int:
    return next(dims for dims in (1, 2, 3) if f"{dims}d" in name)


def is_fit(name: str, make: Inputs) -> bool:
    """torch has the kernels of antialiasing for no 16-bit floats, and some of its curves round 16-bit floats twice."""
    return make.dtype in (FLOATS if name in NEAREST else FLOATS[:2])


# Where a scale contradicts the sizes, the kernels of torch disagree with each other, forward and backward too.
def calls(name: str) -> Callable[[Inputs], Iterator[Sample]]:
    dims, corners = dims_of(name), [()] if name in NEAREST else [(False,), (True,)]

    def samples(make: Inputs) -> Iterator[Sample]:
        if not is_fit(name, make):
            return
        shape = (2, 2, *(3, 4, 5)[-dims:])
        few = (1, 1, *(2, 3, 2)[-dims:])
        for corner in corners:
            if corner == (True,) and name.endswith("_aa"):
                continue
            for size in ((6, 8, 10), (2, 7, 3), (3, 4, 5)):
                yield Sample((make(*shape), size[-dims:], *corner))
            yield Sample((make(*few), (3, 5, 3)[-dims:], *corner, *(1.7,) * dims))
        yield Sample((make(*few, layout="rolled"), (2, 4, 4)[-dims:], *corners[0]))
        yield Sample((make(0, *shape[1:]), (2, 2, 2)[-dims:], *corners[0]))
        yield Sample((make(*shape), (2,) * (dims + 1), *corners[0]))
        yield Sample((make(*shape[1:]), (2,) * dims, *corners[0]))
        yield Sample((make(*shape), (0,) * dims, *corners[0]))

    return samples


def by_factor(name: str) -> Callable[[Inputs], Iterator[Sample]]:
    dims, corner = dims_of(name), () if name in NEAREST else (False,)

    def samples(make: Inputs) -> Iterator[Sample]:
        if is_fit(name, make):
            few = (1, 1, *(2, 3, 2)[-dims:])
            yield Sample((make(*few), None, *corner, [1.6, 1.7, 1.5][-dims:]))
            yield Sample((make(*few), [3, 4, 3][-dims:], *corner, None))
            yield Sample((make(*few), None, *corner, None))

    return samples


def backwards(name: str) -> Callable[[Inputs], Iterator[Sample]]:
    dims, corner = dims_of(name), () if name in NEAREST else (False,)

    def samples(make: Inputs) -> Iterator[Sample]:
        if is_fit(name, make) and make.dtype in FLOATS[:2]:
            for out in ((2, 3, 2), (3, 4, 6)):
                sizes = (list(out[-dims:]), [1, 1, *(1, 2, 3)[-dims:]])
                yield Sample((make(1, 1, *out[-dims:]), *sizes, *corner))
            yield Sample((make(1, 1, *(2, 2, 2)[-dims:]), *sizes, *corner))

    return samples


def backward(name: str) -> Callable[..., Any]:
    def call(lib: Any, *args: Any) -> Any:
        return backward_op(lib, f"{name}_backward")(*args)  # type: ignore[operator]

    return call


def images(name: str) -> Callable[[Inputs], Iterator[Sample]]:
    """uint8 images, which both libraries interpolate in integers."""

    def samples(make: Inputs) -> Iterator[Sample]:
        if make.dtype != "uint8":
            return
        for corner in (False,) if name.endswith("_aa") else (False, True):
            for size in ((3, 9), (5, 4), (2, 1), (13, 2)):
                yield Sample((make(2, 3, 5, 4), size, corner))
        yield Sample((make(1, 1, 17, 19), (6, 5), False))
        yield Sample((make(1, 1, 2, 3), (31, 40), False))
        yield Sample((make(1, 1, 5, 5), (8, 8), False, 1.7, 1.7))
        yield Sample((make(2, 3, 4, 5, layout="rolled"), (6, 3), False))

    return samples


def has_many_channels(sample: Sample) -> bool:
    return sample.args[0].values.ndim == 4 and sample.args[0].values.shape[1] > 4


def is_not_finite(sample: Sample) -> bool:
    return not np.isfinite(sample.args[0].values).all()


def contradicts(sample: Sample) -> bool:
    """Whether a size is given, and a scale that leads to another one."""
    x, sizes, *others = sample.args
    scales = [value for value in others if isinstance(value, float)]
    pixels = x.values.shape[-len(scales) :] if scales else ()
    return bool(sizes) and any(int(n * scale) != m for n, scale, m in zip(pixels, scales, sizes, strict=False))


# Of an infinity, 0 times infinity is NaN, where torch does not leave the product out: by layout, size and op.
NOT_FINITE = tuple(
    Apart("torch takes an infinity with a weight of 0 as NaN or leaves it out, by its algorithm", words, is_not_finite)
    for words in ("location mismatch", "inf values mismatch", "Mismatched elements")
)
SCALE = Apart("torch's kernels disagree where a scale contradicts the sizes", when=contradicts)
NO_DIMENSIONS = Apart("torch asks for a size before it counts the dimensions", says="but tensor has no dimensions")

# torch computes the weights of float32 in other steps.
COMMON: dict[str, Any] = {"dtypes": FLOATS[:2], "rtol": 1e-4, "apart": (*NOT_FINITE, SCALE, NO_DIMENSIONS)}

ROWS = [
    *(OpInfo(name, calls(name), **COMMON) for name in (*NEAREST, *SMOOTH)),
    *(OpInfo(f"{name}.vec", by_factor(name), **COMMON) for name in (*NEAREST, *SMOOTH)),
    *(
        OpInfo(f"{name}_backward", backwards(name), call=backward(name), out=False, **COMMON)
        for name in (*NEAREST, *SMOOTH)
    ),
]
VALUES = [
    OpInfo(
        name,
        images(name),
        dtypes=("uint8",),
        low=0,
        high=255,
        apart=(SCALE, NO_DIMENSIONS, Apart("torch mixes the pixels of more than 4 channels", when=has_many_channels)),
    )
    for name in SMOOTH
    if dims_of(name) == 2
]
