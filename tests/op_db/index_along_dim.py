"""Rows of reading and writing at the indices of one dimension.

Mirrors: torch/testing/_internal/common_methods_invocations.py
Leaves out: complex inputs.
"""

from collections.abc import Iterator

import numpy as np

from tests.op_db.core import Input, Inputs, Sample
from tests.op_db.samples.indexing import REDUCTIONS, VIEW, places, row, special_reduced, tied


def selected(make: Inputs) -> Iterator[Sample]:
    yield Sample((make(3, 4), 0, places(2, 0, 2)))
    yield Sample((make(3, 4, layout="transposed"), -1, places(3)))


def added(make: Inputs) -> Iterator[Sample]:
    yield Sample((make(3, 4), 0, places(2, 0, 2), make(3, 4)))
    yield Sample((make(3, 2), 1, places(1), make(3, 1)), {"alpha": 2})


def along(make: Inputs) -> Iterator[Sample]:
    yield Sample((make(3, 4), places([0], [3], [1]), 1))
    yield Sample((make(3, 2), places(4, 0)))


def reduced_slices(make: Inputs) -> Iterator[Sample]:
    for reduce in REDUCTIONS[1:]:
        for include_self in (True, False):
            options = {"include_self": include_self}
            yield Sample((make(3, 2), 0, places(0, 2, 0), make(3, 2), reduce), options)
            yield Sample((make(2, 4, layout="transposed"), -1, places(3, 3), make(2, 2), reduce), options)
            if reduce == "prod":
                yield Sample((make.of(1, 2, 0), 0, places(0, 0, 2, 2), make.of(0, 3, 1, 0), reduce), options)
    yield Sample((make(3), 0, places(0), make(1), "sum"))


def copied(make: Inputs) -> Iterator[Sample]:
    yield Sample((make(3, 4), 0, places(2, 0), make(2, 4)))
    yield Sample((make(3, 4, layout="transposed"), -1, places(1), make(3, 1)))
    yield Sample((make(3), 0, places(1), make(1)))
    yield Sample((make(3), 0, Input(np.array(1), "int64"), make()))
    yield Sample((make(), 0, places(0), make()))
    yield Sample((make(3, 0), 0, places(2, 0), make(2, 0)))
    yield Sample((make(3, 4), 0, places(2, 0), make(1, 4)))


def filled_slices(make: Inputs) -> Iterator[Sample]:
    yield Sample((make(3, 4), 0, places(2, -3), 1))
    yield Sample((make(3, 4, layout="transposed"), -1, places(1, 1), 2.5))
    yield Sample((make(3), 0, Input(np.array(1), "int64"), 3))
    yield Sample((make(), 0, places(0), 2))
    yield Sample((make(3), 0, places(), 2))


def filled_slices_tensor(make: Inputs) -> Iterator[Sample]:
    yield Sample((make(3, 4), 0, places(2, 0, 2), make()))
    yield Sample((make(3), 0, places(2), make(1)))


def taken(make: Inputs) -> Iterator[Sample]:
    yield Sample((make(3, 4), places([0, -1], [5, 5])))
    yield Sample((make(3, 2, layout="transposed"), places(1, 2, 1)))
    yield Sample((make(), Input(np.array(0), "int64")))
    yield Sample((make(0), places()))


def put_at(make: Inputs) -> Iterator[Sample]:
    for accumulate in (False, True):
        yield Sample((make(3, 4), places([0, -1], [5, 7]), make(2, 2), accumulate))
        yield Sample((make(3, 2, layout="transposed"), places(1, 2), make(2), accumulate))
    yield Sample((make(4), places(1, 1, 0), make(3), True))
    yield Sample((make(4), places(1), make(1)))


ROWS = [
    row("index_select", selected),
    row("index_add", added),
    row("index_reduce", reduced_slices),
    row("index_reduce", tied, gradcheck=False),
    row("index_copy", copied),
    row("index_fill.int_Scalar", filled_slices),
    row("index_fill.int_Tensor", filled_slices_tensor),
    row("take", taken),
    row("put", put_at),
    row("take_along_dim take_along_dim.out", along, apart=(VIEW,)),
]

# Values only.
SPECIAL = [
    row("index_reduce", lambda make: [s for s in special_reduced(make) if s.args[-1] != "sum"]),
]
