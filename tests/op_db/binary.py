"""Arithmetic of two and three tensors.

Mirrors: torch/testing/_internal/opinfo/core.py (BinaryUfuncInfo)
Leaves out: complex inputs.
"""

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from tests.op_db.core import DTYPES, FLOATS, INTEGERS, Apart, Inputs, OpInfo, Sample

NAN, INF = float("nan"), float("inf")


def pairs(make: Inputs, low: float | None = None) -> Iterator[Sample]:
    """Shapes that broadcast, layouts, 0-dim tensors. ``low``: the least value of the second operand."""
    yield Sample((make(2, 3), make(2, 3, low=low)))
    yield Sample((make(), make(low=low)))
    yield Sample((make(301), make(301, low=low)))
    yield Sample((make(2, 3), make(low=low)))
    yield Sample((make(), make(2, 3, low=low)))
    yield Sample((make(4, 1, 3), make(2, 1, low=low)))
    yield Sample((make(0, 3), make(3, low=low)))
    yield Sample((make(3, 4, layout="transposed"), make(3, 4, layout="strided", low=low)))
    yield Sample((make(3, 4, layout="transposed"), make(3, 4, layout="transposed", low=low)))
    yield Sample((make(3, 4), make(3, 4, layout="expanded", low=low)))


def mixed_dtypes(make: Inputs, low: float | None = None, bools: bool = True) -> Iterator[Sample]:
    for dtype in ("float64", "float32", "float16", "int64", "uint8", *(["bool"] if bools else [])):
        yield Sample((make(2, 3), make(2, 3, dtype=dtype, low=low)))
        yield Sample((make(2, 3), make(dtype=dtype, low=low)))


def numbers(make: Inputs) -> Iterator[Sample]:
    for number in (2, 2.5, True):
        yield Sample((make(2, 3), number))
        yield Sample((make(), number))


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


def powers(make: Inputs) -> Iterator[Sample]:
    yield from pairs(make)
    yield from mixed_dtypes(make, bools=False)


def powers_of_number(make: Inputs) -> Iterator[Sample]:
    for exponent in (0, 1, 2, 3, 0.5, -1, -0.5, 2.5, True):
        yield Sample((make(2, 3), exponent))
    yield Sample((make(3, 4, layout="transposed"), 2))
    yield Sample((make(), 2))
    yield Sample((make(0), 3))


def triples(make: Inputs, low: float | None = None) -> Iterator[Sample]:
    yield Sample((make(2, 3), make(2, 3), make(2, 3, low=low)))
    yield Sample((make(301), make(301), make(301, low=low)))
    yield Sample((make(2, 3), make(3), make(2, 1, low=low)))
    yield Sample((make(3, 4, layout="transposed"), make(3, 4, layout="strided"), make(3, 4, low=low)))


def valued(samples: Callable[..., Any], low: float | None = None) -> Callable[[Inputs], Iterator[Sample]]:
    def generate(make: Inputs) -> Iterator[Sample]:
        for value in (1, 2, 0.5, -1.5) if make.is_float else (1, 2):
            for sample in samples(make, low):
                yield Sample(sample.args, {"value": value})

    return generate


def weighted_by_number(make: Inputs) -> Iterator[Sample]:
    for weight in (0, 0.3, 0.7, 1, -2):
        yield Sample((make(2, 3), make(2, 3), weight))
    yield Sample((make(2, 3), make(3), 0.25))
    yield Sample((make(2, 3), make(2, 3, dtype="float64"), 0.25))


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
    OpInfo("pow.Tensor_Tensor", powers, low=0.5, dtypes=(*FLOATS, *INTEGERS), ref=np.power),
    OpInfo("pow.Tensor_Scalar", powers_of_number, low=0.5, dtypes=(*FLOATS, *INTEGERS)),
    OpInfo(
        "pow.Scalar",
        lambda make: [Sample((2, make(2, 3))), Sample((2.5, make(2, 3)))],
        low=0.5,
        dtypes=(*FLOATS, *INTEGERS),
        apart=(Apart("torch's second slope of 0^x is 0 times infinity", when=lambda sample: sample.args[0] == 0),),
    ),
    OpInfo("addcmul", valued(triples), dtypes=(*FLOATS, *INTEGERS)),
    OpInfo("addcdiv", valued(triples, low=1)),
    OpInfo("lerp.Scalar", weighted_by_number),
    OpInfo("lerp.Tensor", triples),
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

ROWS = [*BASIC, *ALIASES]

SPECIAL = [
    *(OpInfo(op, signed_extremes, dtypes=DTYPES) for op in ("remainder.Tensor", "fmod.Tensor")),
    OpInfo(
        "pow.Scalar",
        lambda make: [Sample((0, make.of(0, 1, -1, 2.5)))],
    ),
    OpInfo("pow.Tensor_Tensor", lambda make: [Sample((make.of(0, 0, 1, 2, 0), make.of(0, 2, 0, 2, 1)))], dtypes=FLOATS),
]
