"""Rows of powers.

Mirrors: torch/testing/_internal/common_methods_invocations.py
Leaves out: complex inputs.
"""

from collections.abc import Iterator

import numpy as np

from tests.op_db.core import FLOATS, INTEGERS, Apart, Inputs, OpInfo, Sample
from tests.op_db.samples.binary import mixed_dtypes, pairs


def powers(make: Inputs) -> Iterator[Sample]:
    yield from pairs(make)
    yield from mixed_dtypes(make, bools=False)


def powers_of_number(make: Inputs) -> Iterator[Sample]:
    for exponent in (0, 1, 2, 3, 0.5, -1, -0.5, 2.5, True):
        yield Sample((make(2, 3), exponent))
    yield Sample((make(3, 4, layout="transposed"), 2))
    yield Sample((make(), 2))
    yield Sample((make(0), 3))


ROWS = [
    OpInfo("pow.Tensor_Tensor", powers, low=0.5, dtypes=(*FLOATS, *INTEGERS), ref=np.power),
    OpInfo("pow.Tensor_Scalar", powers_of_number, low=0.5, dtypes=(*FLOATS, *INTEGERS)),
    OpInfo(
        "pow.Scalar",
        lambda make: [Sample((2, make(2, 3))), Sample((2.5, make(2, 3)))],
        low=0.5,
        dtypes=(*FLOATS, *INTEGERS),
        apart=(Apart("torch's second slope of 0^x is 0 times infinity", when=lambda sample: sample.args[0] == 0),),
    ),
]

# Values only.
SPECIAL = [
    OpInfo(
        "pow.Scalar",
        lambda make: [Sample((0, make.of(0, 1, -1, 2.5)))],
    ),
    OpInfo("pow.Tensor_Tensor", lambda make: [Sample((make.of(0, 0, 1, 2, 0), make.of(0, 2, 0, 2, 1)))], dtypes=FLOATS),
]
