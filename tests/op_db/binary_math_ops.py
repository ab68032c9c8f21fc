"""Rows of mathematical functions of two tensors: angles, logarithms of sums, divisors.

Mirrors: torch/testing/_internal/common_methods_invocations.py
Leaves out: complex inputs.
"""

from collections.abc import Iterator

import numpy as np

from tests.op_db.core import DTYPES, FLOATS, INF, INTEGERS, NAN, NAN_OF_BFLOAT16, Apart, Inputs, OpInfo, Sample
from tests.op_db.samples.binary import mixed_dtypes, pairs
from tests.op_db.samples.binary_math import number_first, table, with_number


def exponents(make: Inputs) -> Iterator[Sample]:
    if make.dtype != "bool":
        yield from pairs(make)
    for dtype in ("int64", "int8", "uint8", "float32", "float64"):
        low = 0 if dtype in INTEGERS else None  # torch's gradient is 0 where a whole exponent is negative
        yield Sample((make(2, 3), make(2, 3, dtype=dtype, low=low)))
        if dtype in INTEGERS:
            yield Sample((make(2, 3), make(dtype=dtype, low=low)))


def far_exponents(make: Inputs) -> Iterator[Sample]:
    if make.is_float:
        small, large = (1e-4, 1e4) if make.dtype == "float16" else (1e-30, 1e30)
        yield Sample((make.of(small, large, 1.5, -large, INF, NAN), make.of(20, -20, 300, 3000, 2, 1, dtype="float64")))
        whole = make.of(0, 0, 0, 0, 0, 0, dtype="int64")
        whole.values[:] = (20, -20, 300, 3000, -5000, 1)
        yield Sample((make.of(small, large, 1.5, -large, 2, NAN), whole))


def steps(make: Inputs) -> Iterator[Sample]:
    yield Sample((make(2, 3), make(2, 3, dtype=make.dtype)))


def alike(make: Inputs) -> Iterator[Sample]:
    yield from pairs(make)
    yield Sample((make.of(-1, 0, 2, -0.0), make.of(0.5, 0.5, 0.5, 3)))
    yield Sample((make(2, 3), make(2, 3, dtype="float64")))


def whole(make: Inputs) -> Iterator[Sample]:
    yield from pairs(make)
    yield from mixed_dtypes(make)
    left, right = np.meshgrid([-12, -1, 0, 1, 5, 8, 18], [-12, -6, 0, 1, 4, 27])
    if make.dtype in INTEGERS:
        a, b = make(left.size), make(right.size)
        sign = 1 if make.dtype != "uint8" else 0
        for given, values in ((a, left), (b, right)):
            given.values[:] = values.ravel() if sign else np.abs(values.ravel())
        yield Sample((a, b))


def bases(make: Inputs) -> Iterator[Sample]:
    yield from pairs(make)
    yield from mixed_dtypes(make)


def numbers_only(make: Inputs) -> Iterator[Sample]:
    yield from pairs(make)
    yield from mixed_dtypes(make, bools=False)


# torch rounds the logarithm of a half to a half before it multiplies.
def no_halves(make: Inputs) -> Iterator[Sample]:
    yield from pairs(make)
    for dtype in ("float64", "float32", "int64", "uint8", "bool"):
        yield Sample((make(2, 3), make(2, 3, dtype=dtype)))
        yield Sample((make(2, 3), make(dtype=dtype)))


def powers(make: Inputs) -> Iterator[Sample]:
    yield from bases(make)
    yield Sample((make(2, 3, dtype="float64"), make(2, 3)))  # only a double can be raised in place


def base_and_number(make: Inputs) -> Iterator[Sample]:
    for exponent in (2, 0.5, -1, 0):
        yield Sample((make(2, 3), exponent))
        yield Sample((make(2, 3, dtype="float64"), exponent))


def exponent_of_number(make: Inputs) -> Iterator[Sample]:
    for base in (2, 2.5):
        yield Sample((base, make(2, 3)))


REAL = (-INF, -2.5, -1.0, -0.0, 0.0, 0.5, 2.0, INF, NAN)

ROWS = [
    OpInfo("atan2", bases, dtypes=DTYPES, low=0.2, ref=np.arctan2),
    OpInfo("arctan2", bases, dtypes=DTYPES, low=0.2, ref=np.arctan2),
    OpInfo("hypot", bases, low=0.2, ref=np.hypot),
    OpInfo("logaddexp", numbers_only, ref=np.logaddexp),
    OpInfo("logaddexp2", numbers_only, ref=np.logaddexp2),
    OpInfo("xlogy.Tensor", no_halves, dtypes=DTYPES, low=0.2),
    OpInfo("xlogy.Scalar_Self", number_first, dtypes=DTYPES, low=0.2),
    OpInfo("xlogy.Scalar_Other", with_number, dtypes=DTYPES, low=0.2),
    OpInfo("fmax", bases, dtypes=DTYPES, ref=np.fmax),
    OpInfo("fmin", bases, dtypes=DTYPES, ref=np.fmin),
    OpInfo("copysign.Tensor", bases, dtypes=DTYPES, low=0.2, ref=np.copysign, apart=(NAN_OF_BFLOAT16,)),
    OpInfo("copysign.Scalar", with_number, dtypes=DTYPES, low=0.2),
    OpInfo(
        "ldexp.Tensor",
        exponents,
        dtypes=DTYPES,
        apart=(Apart("torch resizes a result of its own where the exponents broadcast it", says="strides"),),
    ),
    OpInfo(
        "float_power.Tensor_Tensor float_power.Tensor_Tensor_out", powers, dtypes=DTYPES, low=0.2, ref=np.float_power
    ),
    OpInfo("float_power.Tensor_Scalar float_power.Tensor_Scalar_out", base_and_number, dtypes=DTYPES, low=0.2),
    OpInfo(
        "float_power.Scalar float_power.Scalar_out",
        exponent_of_number,
        dtypes=DTYPES,
        apart=(Apart("torch's second slope of 0^x is 0 times infinity", when=lambda sample: sample.args[0] == 0),),
    ),
    OpInfo("nextafter", steps, rtol=0),
    OpInfo("heaviside", alike, dtypes=DTYPES, gradcheck=False, ref=np.heaviside),
    OpInfo("gcd", whole, dtypes=INTEGERS, ref=np.gcd),
    OpInfo("lcm", whole, dtypes=INTEGERS, ref=np.lcm),
]

# Values only.
SPECIAL = [
    *(
        OpInfo(name, table(*REAL), dtypes=DTYPES)
        for name in (
            "atan2",
            "hypot",
            "logaddexp",
            "logaddexp2",
            "xlogy",
            "fmax",
            "fmin",
            "float_power",
            "heaviside",
        )
    ),
    OpInfo("copysign", table(*REAL[:-1]), dtypes=DTYPES),  # a NaN's sign is an accident
    OpInfo("nextafter", table(*REAL, 1e-6, 3.0, -65504.0), dtypes=FLOATS),
    OpInfo("ldexp", far_exponents, dtypes=FLOATS),
]
