"""Rows of distinct elements.

Mirrors: torch/testing/_internal/common_methods_invocations.py
Leaves out: complex inputs.
"""

from collections.abc import Iterator

from tests.op_db.core import NAN, Apart, Inputs, Sample
from tests.op_db.samples.sorting import has_nan, row


def uniques(make: Inputs) -> Iterator[Sample]:
    for x in (make(30), make(3, 4), make(3, 4, layout="transposed"), make(0), make(), make.of(NAN, 1, NAN, 0, -0.0)):
        yield Sample((x,))
        yield Sample((x, True, True, True))


def unique_rows(make: Inputs) -> Iterator[Sample]:
    x = make.of([1, 2, 1], [0, 2, 0], [1, 2, 1], [0, 1, 0])
    for dim in (0, 1, -1):
        yield Sample((x, dim))
        yield Sample((x, dim, True, True, True))
    yield Sample((make(2, 3, 2), 1, True, True, True))
    yield Sample((make(0, 2), 0, True, True, True))
    yield Sample((make(0, 2), 1))
    yield Sample((make.of([NAN, 1], [NAN, 1], [0, 0]), 0, True, True, True))


def unique_neighbours(make: Inputs) -> Iterator[Sample]:
    for x in (make.of(1, 1, 2, 1, NAN, NAN), make.of([1, 1], [1, 2]), make(0)):
        yield Sample((x,))
        yield Sample((x, True, True))
        yield Sample((x, True, True, 0))


def unique_neighbour_rows(make: Inputs) -> Iterator[Sample]:
    yield Sample((make.of([1, 2], [1, 2], [0, 1], [1, 2]), 0, True, True))


ROWS = [
    row("_unique2", uniques, gradcheck=False),
    row("_unique", lambda make: [Sample(s.args[:3]) for s in uniques(make)], gradcheck=False),
    row(
        "unique_dim",
        unique_rows,
        gradcheck=False,
        call=lambda lib, *args: lib._C._VariableFunctions.unique_dim(*args),
        apart=(Apart("torch gives slices with NaN no order", when=has_nan),),
    ),
    row(
        "unique_consecutive",
        unique_neighbours,
        gradcheck=False,
        out=False,
        call=lambda lib, *args: lib._C._VariableFunctions.unique_consecutive(*args),
    ),
    row(
        "unique_dim_consecutive",
        unique_neighbour_rows,
        gradcheck=False,
        call=lambda lib, *args: (
            lib.ops.aten if lib.__name__ == "torch" else lib._C._VariableFunctions
        ).unique_dim_consecutive(*args),
    ),
]
