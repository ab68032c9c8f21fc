"""Rows of normalization to mean 0 and variance 1.

Mirrors: torch/testing/_internal/common_methods_invocations.py
Leaves out: complex inputs.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np

from tests.op_db.core import Apart, Input, Inputs, OpInfo, Sample
from tests.op_db.samples.unary import backward_op


def rows(make: Inputs) -> Iterator[tuple[Any, ...]]:
    """input, normalized_shape, weight, bias"""
    yield make(4, 3), (3,), make(3), make(3)
    yield make(4, 3), (3,), None, None
    yield make(4, 3), (3,), make(3), None
    yield make(4, 3), (3,), None, make(3)
    yield make(3), (3,), make(3), make(3)
    yield make(2, 2, 3), (2, 3), make(2, 3), make(2, 3)
    yield make(2, 130), (130,), make(130), make(130)
    yield make(140, 5), (5,), make(5), make(5)
    yield make(4, 3, layout="transposed"), (3,), make(3, layout="strided"), make(3)
    yield make(0, 3), (3,), make(3), make(3)


def native_calls(make: Inputs) -> Iterator[Sample]:
    for row in rows(make):
        yield Sample((*row, 1e-5))
    if make.dtype in ("float16", "bfloat16"):  # their parameters may be of float32
        yield Sample((make(4, 3), (3,), make(3, dtype="float32"), make(3, dtype="float32"), 0.1))
        yield Sample((make(4, 3), (3,), make(3, dtype="float32"), make(3), 0.1))
        yield Sample((make(4, 3), (3,), make(3, dtype="float64"), None, 0.1))
    yield Sample((make(4, 3), (3,), make(3, dtype="float16"), None, 0.1))


def calls(make: Inputs) -> Iterator[Sample]:
    yield from native_calls(make)
    yield Sample((make(4, 3), (3,)))
    yield Sample((make(4, 3), (4,)))
    yield Sample((make(4, 3), ()))
    yield Sample((make(4, 3), (3,), make(4)))
    yield Sample((make(4, 3), (3,), None, make(1)))
    yield Sample((make(3), (4, 3)))


def backwards(make: Inputs) -> Iterator[Sample]:
    """grad_out, input, normalized_shape, weight, bias, output_mask"""
    exact = make.dtype in ("float64", "float32")  # torch sums many rows of 16 bits in 16 bits
    for shape, normalized in (((4, 3), (3,)), ((2, 2, 3), (2, 3)), ((140 if exact else 2, 5), (5,))):
        weight, bias = make(*normalized), make(*normalized)
        yield Sample((make(*shape), make(*shape), normalized, weight, bias, [True, True, True]))
        yield Sample((make(*shape), make(*shape), normalized, None, None, [True, False, False]))


def native_layer_norm_backward(lib: Any, grad_out: Any, x: Any, shape: Any, weight: Any, bias: Any, mask: Any) -> Any:
    _, mean, rstd = lib.native_layer_norm(x.detach(), shape, None, None, 0.1)
    results = backward_op(lib, "native_layer_norm_backward")(grad_out, x, shape, mean, rstd, weight, bias, mask)
    return [result for result in results if result is not None]


def rms_calls(make: Inputs) -> Iterator[Sample]:
    """input, normalized_shape, weight, eps"""
    if not make.is_float:
        return
    yield Sample((make(4, 3), (3,), make(3), 0.1))
    yield Sample((make(2, 2, 3), (2, 3), None, None))
    yield Sample((make(2, 3, layout="transposed"), (3,), make(3), None))


def checked_rms_calls(make: Inputs) -> Iterator[Sample]:
    yield from rms_calls(make)
    if not make.is_float:
        return
    yield Sample((make(4, 3), (4,), None, None))
    yield Sample((make(4, 3), (3,), make(4), None))
    yield Sample((make(4, 3), (), None, None))


def has_infinity_or_nan(sample: Sample) -> bool:
    return any(isinstance(a, Input) and not bool(np.isfinite(a.values).all()) for a in sample.args)


INFINITIES = Apart("what infinities cancel to depends on the order of the steps", when=has_infinity_or_nan)


def shapes_differ(sample: Sample) -> bool:
    return bool(sample.args[0].values.shape != sample.args[1].values.shape)


ROWS = [
    # With a bias and no weight torch has no second derivative.
    OpInfo("layer_norm", calls, torch_gradient=False),
    # In torch its mean and rstd seem to have gradients, which are zero.
    OpInfo(
        "native_layer_norm",
        native_calls,
        out=False,
        gradient=False,
        apart=(
            Apart("torch calls the mean of no elements 0", when=lambda sample: 0 in sample.args[0].values.shape),
            INFINITIES,
        ),
    ),
    # torch takes the gradient of grad_weight out of a mean that it belongs into; gradcheck is what holds ours.
    OpInfo(
        "native_layer_norm_backward",
        backwards,
        call=native_layer_norm_backward,
        gradient=False,
        apart=(
            Apart("torch reads past the end of the smaller tensor", when=shapes_differ, crashes=True),
            INFINITIES,
        ),
    ),
    OpInfo("rms_norm", checked_rms_calls),
    OpInfo("_fused_rms_norm", rms_calls),
]
