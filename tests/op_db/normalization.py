"""Rows of the normalization of channels over a batch.

Mirrors: torch/testing/_internal/common_methods_invocations.py
Leaves out: complex inputs.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np

from tests.op_db.core import FLOATS, Apart, Inputs, OpInfo, Sample

SHAPES = ((4, 3), (4, 3, 5), (2, 3, 4, 2), (2, 3, 2, 2, 2), (40, 3))


def positive(make: Inputs, size: int) -> Any:
    return make(size, low=0.5, high=2.0)


def batches(make: Inputs) -> Iterator[Sample]:
    """input, weight, bias, running_mean, running_var, training, momentum, eps

    The inputs are contiguous, because torch writes wrong numbers into out= for other inputs of native_batch_norm.
    """
    for shape in SHAPES:
        channels = shape[1]
        for training in (True, False):
            yield Sample(
                (
                    make(*shape),
                    make(channels),
                    make(channels),
                    make(channels),
                    positive(make, channels),
                    training,
                    0.3,
                    0.1,
                )
            )
        yield Sample((make(*shape), None, None, None, None, True, 0.1, 0.1))


def batch_norms(make: Inputs) -> Iterator[Sample]:
    for sample in batches(make):
        yield Sample((*sample.args, False))
    for shape in SHAPES if make.is_float else ():  # for other dtypes torch's error depends on the order in memory
        transposed = make(*shape, layout="transposed")
        yield Sample((transposed, make(shape[1]), None, None, None, True, 0.1, 0.1, False))
    yield Sample((make(0, 3, 4), make(3), make(3), None, None, True, 0.1, 0.1, False))
    yield Sample((make(2, 3, 4), None, None, None, None, False, 0.1, 0.1, False))
    yield Sample((make(2, 3, 4), make(4), None, None, None, True, 0.1, 0.1, False))
    yield Sample((make(2, 3, 4), make(3), make(2), None, None, True, 0.1, 0.1, False))


def instances(make: Inputs) -> Iterator[Sample]:
    for shape in SHAPES[1:4]:
        channels = shape[1]
        for training in (True, False):
            yield Sample(
                (
                    make(*shape), make(channels), make(channels), make(channels), positive(make, channels), training,
                    0.3, 0.1, False,
                )
            )  # fmt: skip
        yield Sample((make(*shape), None, None, None, None, True, 0.1, 0.1, False))
    yield Sample((make(1, 2, 3), make(2), make(2), None, None, True, 0.1, 0.1, False))
    yield Sample((make(2, 3, 4), None, None, None, None, False, 0.1, 0.1, False))


def backwards(make: Inputs) -> Iterator[Sample]:
    """grad_out, input, weight, has_running, train, eps, output_mask"""
    for shape in SHAPES[:4]:
        channels = shape[1]
        for mask in ([True, True, True], [True, False, False], [False, True, True]):
            for train in (True, False):
                yield Sample((make(*shape), make(*shape), make(channels), True, train, 0.1, mask))
        yield Sample((make(*shape), make(*shape), None, False, True, 0.1, [True, True, True]))


def native_batch_norm_backward(
    lib: Any, grad: Any, x: Any, weight: Any, has_running: Any, train: Any, eps: Any, mask: Any
) -> Any:
    """Take the saved statistics from the forward op, on which the gradient of the input depends."""
    mean = lib.arange(x.shape[1], dtype=x.dtype) if has_running else None
    var = lib.arange(x.shape[1], dtype=x.dtype) + 0.5 if has_running else None
    copies = [None if t is None else t.clone() for t in (mean, var)]
    _, saved, invstd = lib.native_batch_norm(x.detach(), None, None, *copies, train, 0.1, eps)
    results = lib.ops.aten.native_batch_norm_backward(grad, x, weight, mean, var, saved, invstd, train, eps, mask)
    return [result for result in results if result is not None]


def has_other_channels(sample: Sample) -> bool:
    """Whether weight, bias or a statistic has not one element for each channel of the input."""
    x, *vectors = sample.args[:5]
    channels = x.values.shape[1] if x.values.ndim > 1 else -1
    return any(v is not None and v.values.shape != (channels,) for v in vectors)


def is_empty(sample: Sample) -> bool:
    return sample.args[0].values.size == 0


def has_strided_weight(sample: Sample) -> bool:
    weight = sample.args[1]
    return weight is not None and weight.layout != "contiguous"


OTHER_CHANNELS = Apart(
    "torch reads beyond the vectors that are not as long as there are channels", when=has_other_channels, crashes=True
)
# Other dtypes than floats are refused in all cases.
OTHER_DTYPE = Apart(
    "torch computes a mean before it looks at the dtype, by layout", says="could not infer output dtype"
)
OTHER_DTYPE_OF_NOTHING = Apart(
    "of two mistakes, torch tells about the dtype first", says='"batch_norm" not implemented', when=is_empty
)
NO_CHANNELS = Apart(
    "of two mistakes, torch tells about the channels of an input that has none as it likes",
    when=lambda sample: sample.args[0].values.ndim < 2,
    says="elements not",
)
NOT_FINITE = Apart(
    "what infinities cancel to depends on the order of the steps, and torch's depends on the layout",
    says="location mismatch",
    when=lambda sample: not np.isfinite(sample.args[0].values).all(),
)
STRIDED_WEIGHT = Apart(
    "torch's gradient of the input reads a weight with strides as if it had none",
    when=has_strided_weight,
    says="gradient of",
)
EMPTY = (
    Apart(
        "torch multiplies an empty result by the first of no weights, for the graph's sake",
        says="select(): index 0 out of range",
        when=is_empty,
    ),
    Apart("torch looks at no vector where the input is empty", when=is_empty, says="should contain"),
    Apart("torch looks at no vector where the input is empty", when=is_empty, says="must match the size of tensor"),
)

ROWS = [
    OpInfo("native_batch_norm", batches, rtol=1e-4, apart=(OTHER_CHANNELS, OTHER_DTYPE, OTHER_DTYPE_OF_NOTHING)),
    OpInfo(
        "batch_norm",
        batch_norms,
        out=False,
        rtol=1e-4,
        apart=(*EMPTY, OTHER_DTYPE, NO_CHANNELS, NOT_FINITE, STRIDED_WEIGHT),
    ),
    OpInfo("instance_norm", instances, out=False, rtol=1e-4, apart=(*EMPTY, OTHER_DTYPE, NOT_FINITE)),
    # torch's third derivative takes the saved statistics for constants; gradcheck is what holds ours.
    OpInfo(
        "native_batch_norm_backward",
        backwards,
        call=native_batch_norm_backward,
        out=False,
        apart=(
            Apart(
                "torch reads beyond gradients and weights of other shapes than the input's, or divides by 0 channels",
                when=lambda s: (
                    s.args[0].values.shape != s.args[1].values.shape
                    or 0 in s.args[1].values.shape[:2]
                    or s.args[1].values.ndim < 2
                    or (s.args[2] is not None and s.args[2].values.shape != s.args[1].values.shape[1:2])
                ),
                crashes=True,
            ),
            OTHER_DTYPE,
            Apart(
                "torch rounds sums to 16 bits in the steps between",
                says="Mismatched elements",
                when=lambda s: s.args[1].dtype in FLOATS[2:],
            ),
        ),
        gradient=False,
        rtol=1e-4,
    ),
]
