"""Rows of normalization of groups of channels.

Mirrors: torch/testing/_internal/common_methods_invocations.py (sample_inputs_group_norm)
Leaves out: complex numbers.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np

from tests.op_db.core import FLOATS, Apart, Input, Inputs, OpInfo, Sample
from tests.op_db.samples.unary import backward_op


def calls(make: Inputs) -> Iterator[Sample]:
    """input, num_groups, weight, bias, eps"""
    if not make.is_float:
        return
    yield Sample((make(2, 4, 3), 2, make(4), make(4), 0.1))
    yield Sample((make(2, 4, 3, 2), 4, None, None, 0.1))
    yield Sample((make(2, 3), 1, make(3), None, 0.1))
    yield Sample((make(1, 2, 3), 2, make(2), make(2), 0.1))
    yield Sample((make(2, 4, 3), 1, make(4), None, 0.1))
    yield Sample((make(2, 4, 3), 3))
    yield Sample((make(2, 4, 3), 0))
    yield Sample((make(2, 4, 3), 2, make(3)))
    yield Sample((make(2, 4, 3), 2, None, make(3)))


def native_calls(make: Inputs) -> Iterator[Sample]:
    for sample in [*calls(make)][:5]:
        input, groups, weight, bias, eps = sample.args
        N, C = input.values.shape[:2]
        yield Sample((input, weight, bias, N, C, input.values.size // (N * C), groups, eps))


def backwards(make: Inputs) -> Iterator[Sample]:
    """grad_out, input, weight, N, C, HxW, group, output_mask"""
    if make.is_float:
        yield Sample((make(2, 4, 3), make(2, 4, 3), make(4), 2, 4, 3, 2, [True, True, True]))
        yield Sample((make(2, 4, 3), make(2, 4, 3), None, 2, 4, 3, 1, [True, False, False]))


def native_group_norm_backward(lib: Any, grad: Any, x: Any, weight: Any, *args: Any) -> Any:
    *sizes, mask = args
    _, mean, rstd = lib.native_group_norm(x.detach(), None, None, *sizes, 0.1)
    op: Any = backward_op(lib, "native_group_norm_backward")
    return [result for result in op(grad.detach(), x.detach(), mean, rstd, weight, *sizes, mask) if result is not None]


def is_not_finite(sample: Sample) -> bool:
    return not np.isfinite(sample.args[0].values).all()


NOT_FINITE = Apart(
    "torch multiplies the weight into the deviation's reciprocal first: of infinities comes NaN at other places",
    says="location mismatch",
    when=is_not_finite,
)
NOT_CONTIGUOUS = Apart(
    "torch's backward takes an input or a gradient that is not contiguous from its own layers only",
    says="is_contiguous(memory_format)",
)
OTHER_LAYOUT = Apart(
    "torch's backward reads what is not contiguous in the order of its memory",
    says="Mismatched elements",
    when=lambda sample: any(isinstance(t, Input) and t.layout != "contiguous" for t in sample.args),
)

# 16-bit floats are computed in float32 and rounded at other places than in torch.
COMMON: dict[str, Any] = {"dtypes": FLOATS, "out": False, "rtol": 2e-4}

ROWS = [
    OpInfo("group_norm", calls, apart=(NOT_FINITE,), **COMMON),
    # In torch its mean and rstd have gradients too.
    OpInfo("native_group_norm", native_calls, gradient=False, apart=(NOT_FINITE,), **COMMON),
]
VALUES = [
    OpInfo(
        "native_group_norm_backward",
        backwards,
        call=native_group_norm_backward,
        apart=(
            NOT_FINITE,
            NOT_CONTIGUOUS,
            OTHER_LAYOUT,
            Apart("of nothing, any dtype of a gradient will do here", says="scalar types of X and dY"),
            Apart(
                "of nothing, any dtype of a weight will do here",
                says="no error; torch raises RuntimeError: expected scalar",
            ),
        ),
        **COMMON,
    )
]
