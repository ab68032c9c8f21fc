"""Rows of functions of one number.

Mirrors: torch/testing/_internal/common_methods_invocations.py
Leaves out: complex inputs.
"""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from tests.op_db.core import DTYPES, FLOATS, INF, INTEGERS, NAN, Inputs, OpInfo, Sample
from tests.op_db.samples.unary import elementwise, smooth, special_points, with_specials


def sigmoid_ref(x: np.ndarray) -> np.ndarray:
    return 1 / (1 + np.exp(-x))


def to_digits(make: Inputs) -> Iterator[Sample]:
    for decimals in (0, 1, 3, -1, -2):
        for sample in (Sample((make(2, 3),)), Sample((make(301),)), Sample((make(3, 5, layout="strided"),))):
            yield Sample(sample.args, {"decimals": decimals})


def to_digits_extremes(make: Inputs) -> Iterator[Sample]:
    for decimals in (2, -2, 40, -40):
        yield Sample((make.of(0.0, -0.0, 0.125, 2.5, 1234.5678, INF, -INF, NAN, 30000, 60000),), {"decimals": decimals})


def without_nan(make: Inputs) -> Iterator[Sample]:
    values = make.of(1.5, NAN, INF, -INF, -0.0, 2)
    for replacements in ({}, {"nan": 2.0}, {"posinf": 1.0, "neginf": -1.0}, {"nan": 0.5, "neginf": 7.0}):
        yield Sample((values,), replacements)
        yield Sample((make(3, 4, layout="transposed"),), replacements)
    yield Sample((values, 1.0, 2.0, 3.0))


def mantissas(make: Inputs) -> Iterator[Sample]:
    yield from elementwise(make)
    yield Sample(
        (make.of(0.0, -0.0, 1, -1, 0.5, 3, 1e-30, 60000, -7.5),)
    )  # of NaN and infinity C leaves the exponent open


def with_signs(make: Inputs) -> Iterator[Sample]:
    yield from elementwise(make)
    yield Sample((make.of(0.0, -0.0, 1, -1, INF, -INF, -1e-30),))  # a NaN's sign is an accident


SMOOTH = [
    smooth("neg", ref=np.negative),
    smooth("abs", ref=np.abs),
    smooth("sign", ref=np.sign),
    smooth("angle", ref=np.angle),
    smooth("sgn", ref=np.sign),
    smooth("square square.out", ref=np.square),
    smooth("positive", ref=np.positive),
    smooth("exp", ref=np.exp),
    smooth("expm1", ref=np.expm1),
    smooth("exp2", ref=np.exp2),
    smooth("log", low=0.1, ref=np.log),
    smooth("log2", low=0.1, ref=np.log2),
    smooth("log10", low=0.1, ref=np.log10),
    smooth("log1p", low=-0.9, ref=np.log1p),
    smooth("sqrt", low=0.1, ref=np.sqrt),
    smooth("rsqrt", low=0.1, ref=lambda x: 1 / np.sqrt(x)),
    smooth("reciprocal", low=0.5, ref=np.reciprocal),
    smooth("sin", ref=np.sin),
    smooth("cos", ref=np.cos),
    smooth("tan", low=-1.5, high=1.5, ref=np.tan),
    smooth("asin", low=-0.9, high=0.9, ref=np.arcsin),
    smooth("acos", low=-0.9, high=0.9, ref=np.arccos),
    smooth("atan", ref=np.arctan),
    smooth("sinh", ref=np.sinh),
    smooth("cosh", ref=np.cosh),
    smooth("tanh", ref=np.tanh),
    smooth("asinh", ref=np.arcsinh),
    smooth("acosh", low=1.1, ref=np.arccosh),
    smooth("atanh", low=-0.9, high=0.9, ref=np.arctanh),
    smooth("deg2rad", ref=np.deg2rad),
    smooth("rad2deg", ref=np.rad2deg),
    smooth("sigmoid", ref=sigmoid_ref),
    smooth("floor", ref=np.floor),
    smooth("ceil", ref=np.ceil),
    smooth("round", ref=np.round),
    smooth("trunc", ref=np.trunc),
    smooth("frac", ref=lambda x: x - np.trunc(x)),
]

ALIASES = [
    replace(row, ops=alias)
    for alias, name in {
        "negative": "neg", "absolute": "abs", "fix": "trunc", "arcsin": "asin", "arccos": "acos", "arctan": "atan",
        "arcsinh": "asinh", "arccosh": "acosh", "arctanh": "atanh",
    }.items()
    for row in SMOOTH
    if row.ops == name
]  # fmt: skip

ROWS = [
    *SMOOTH,
    *ALIASES,
    OpInfo("round.decimals", to_digits, dtypes=FLOATS),
    OpInfo("nan_to_num", without_nan, dtypes=DTYPES),
    OpInfo("frexp.Tensor", mantissas, dtypes=FLOATS, gradcheck=False),
    OpInfo("signbit", with_signs, dtypes=DTYPES, ref=np.signbit),
    OpInfo("logical_not", with_specials, dtypes=DTYPES, ref=np.logical_not),
    OpInfo("bitwise_not", elementwise, dtypes=(*INTEGERS, "bool"), ref=np.invert),
    OpInfo("real", elementwise, dtypes=DTYPES),
    OpInfo("conj", elementwise, dtypes=DTYPES),
    OpInfo("conj_physical conj_physical.out", elementwise, dtypes=DTYPES),
    OpInfo("resolve_conj", elementwise, dtypes=DTYPES),
    OpInfo("resolve_neg", elementwise, dtypes=DTYPES),
]

# Values only.
SPECIAL = [
    *(OpInfo(row.ops, special_points, dtypes=DTYPES, rtol=row.rtol) for row in SMOOTH),
    OpInfo("round.decimals", to_digits_extremes, dtypes=FLOATS),
]
