"""Rows of arithmetic of two tensors, or of a tensor and a number.

Mirrors: torch/testing/_internal/common_methods_invocations.py
Leaves out: complex inputs.
"""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from tests.op_db.core import DTYPES, FLOATS, INF, INTEGERS, NAN, Inputs, OpInfo, Sample
from tests.op_db.samples.binary import mixed_dtypes, numbers, pairs
from tests.op_db.samples.compare import extremes
from tests.op_db.samples.unary import backward_op, two_alike


def arithmetic(make: Inputs) -> Iterator[Sample]:
    yield from pairs(make)
    yield from mixed_dtypes(make)
    yield from numbers(make)
    yield Sample((make(2, 3), make(2, 4)))


def with_alpha(make: Inputs) -> Iterator[Sample]:
    yield from arithmetic(make)
    for alpha in (2, -3, 0.5, True):
        yield Sample((make(2, 3), make(2, 3)), {"alpha": alpha})


# Divisors stay away from zero, where integers raise and gradients explode.
def quotients(make: Inputs) -> Iterator[Sample]:
    yield from pairs(make, low=1)
    yield from mixed_dtypes(make, low=1)
    yield from numbers(make)


def rounded_quotients(make: Inputs) -> Iterator[Sample]:
    for mode in (None, "trunc", "floor", "up"):
        for sample in pairs(make, low=1):
            yield Sample(sample.args, {"rounding_mode": mode})
    if not make.is_float:
        yield Sample((make(3), make.of(0, 1, 2)), {"rounding_mode": "floor"})


def signed(make: Inputs) -> Iterator[Sample]:
    """All combinations of signs, halves and zeros."""
    left, right = np.meshgrid([-3, -2.5, -1, 0, 0.5, 1, 3], [-3, -1.5, -1, 0.3, 2])
    yield Sample((make.of(*left.ravel()), make.of(*np.where(right == 0.3, 1, right).ravel())))
    yield from numbers(make)


def signed_by_number(make: Inputs) -> Iterator[Sample]:
    values = make.of(-3, -2.5, -1, 0, 0.5, 1, 3)
    for divisor in (2, -2, 1.5, -1.5):
        yield Sample((values, divisor))
        yield Sample((make(3, 4, layout="transposed"), divisor))
        yield Sample((make(), divisor))
    yield Sample((values, 0))


def signed_extremes(make: Inputs) -> Iterator[Sample]:
    left, right = np.meshgrid([-INF, -1, -0.0, 0.0, 2, INF, NAN], [-INF, -0.0, 0.0, 2, INF, NAN])
    if make.is_float:
        yield Sample((make.of(*left.ravel()), make.of(*right.ravel())))
    yield Sample((make.of(1, -2, 3), make.of(1, 0, 2)))


def number_minus(make: Inputs) -> Iterator[Sample]:
    for number in (2, 2.5):
        yield Sample((make(2, 3), number))
        yield Sample((make(), number))
    yield Sample((make(2, 3), 2, 3))


def with_ties_and_nan(make: Inputs) -> Iterator[Sample]:
    yield from extremes(make)
    yield Sample((make.of(1, 2, NAN, 3, NAN, -INF), make.of(1, 3, 0, NAN, NAN, 5)))


BASIC = [
    OpInfo("add.Tensor", with_alpha, dtypes=DTYPES, ref=np.add),
    OpInfo("sub.Tensor", with_alpha, dtypes=(*FLOATS, *INTEGERS), ref=np.subtract),
    OpInfo("rsub.Tensor", with_alpha, dtypes=(*FLOATS, *INTEGERS)),
    OpInfo("rsub.Scalar", number_minus, dtypes=(*FLOATS, *INTEGERS)),
    OpInfo("mul.Tensor", arithmetic, dtypes=DTYPES, ref=np.multiply),
    OpInfo("div.Tensor", quotients, dtypes=DTYPES, ref=np.true_divide),
    OpInfo("true_divide.Tensor true_divide.out", quotients, dtypes=DTYPES, ref=np.true_divide),
    OpInfo("div.Tensor_mode", rounded_quotients, dtypes=(*FLOATS, *INTEGERS)),
    OpInfo("floor_divide", signed, gradcheck=False, dtypes=(*FLOATS, *INTEGERS), ref=np.floor_divide),
    OpInfo("remainder.Tensor", signed, dtypes=(*FLOATS, *INTEGERS), ref=np.remainder),
    OpInfo("remainder.Scalar", signed_by_number, gradcheck=False, dtypes=(*FLOATS, *INTEGERS)),
    OpInfo("fmod.Tensor", signed, dtypes=(*FLOATS, *INTEGERS), ref=np.fmod),
    OpInfo("fmod.Scalar", signed_by_number, gradcheck=False, dtypes=(*FLOATS, *INTEGERS)),
    OpInfo(
        "remainder.Scalar_Tensor",
        lambda make: [Sample((7, make(2, 3))), Sample((-7.5, make(2, 3)))],
        low=1,
        dtypes=(*FLOATS, *INTEGERS),
        torch_gradient=False,
    ),
]

ALIASES = [
    replace(row, ops=alias)
    for alias, name in {
        "subtract.Tensor": "sub.Tensor", "multiply.Tensor": "mul.Tensor", "divide.Tensor": "div.Tensor",
        "divide.Tensor_mode": "div.Tensor_mode",
    }.items()
    for row in BASIC
    if row.ops == name
]  # fmt: skip

ROWS = [
    *BASIC,
    *ALIASES,
    OpInfo("maximum", extremes, dtypes=DTYPES, ref=np.maximum),
    OpInfo("minimum", extremes, dtypes=DTYPES, ref=np.minimum),
    OpInfo("tanh_backward", two_alike, call=lambda lib, g, y: backward_op(lib, "tanh_backward")(g, y)),
    OpInfo("sigmoid_backward", two_alike, call=lambda lib, g, y: backward_op(lib, "sigmoid_backward")(g, y)),
]

# Values only.
SPECIAL = [
    *(OpInfo(op, signed_extremes, dtypes=DTYPES) for op in ("remainder.Tensor", "fmod.Tensor")),
    OpInfo("maximum", with_ties_and_nan, dtypes=FLOATS),
    OpInfo("minimum", with_ties_and_nan, dtypes=FLOATS),
]
