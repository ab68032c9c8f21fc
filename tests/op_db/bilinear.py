"""Rows of products of two vectors with a matrix between them.

Mirrors: torch/testing/_internal/common_methods_invocations.py
Leaves out: complex inputs.
"""

from collections.abc import Iterator

from tests.op_db.core import FLOATS, Apart, Inputs, OpInfo, Sample


def two_inputs(make: Inputs) -> Iterator[Sample]:
    weight, bias = make(2, 2, 3), make(2)
    yield Sample((make(2), make(3), weight))
    yield Sample((make(2, 2), make(2, 3), weight, bias))
    yield Sample((make(2, 3, 2), make(2, 3, 3), weight, bias))


ROWS = [
    OpInfo(
        "bilinear",
        two_inputs,
        dtypes=FLOATS,
        apart=(Apart("torch can not divide nothing into rows of nothing", says="shape [-1, 0]"),),
    ),
]
