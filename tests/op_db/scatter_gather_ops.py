"""Rows of reading and writing at an index for each element.

Mirrors: torch/testing/_internal/common_methods_invocations.py
Leaves out: complex inputs.
"""

from collections.abc import Iterator

import numpy as np

from tests.op_db.core import Apart, Input, Inputs, Sample
from tests.op_db.samples.indexing import REDUCTIONS, places, row, special_reduced, tied


def gathered(make: Inputs) -> Iterator[Sample]:
    yield Sample((make(3, 4), 0, places([0, 1, 2, 0], [2, 2, 1, 1])))
    yield Sample((make(3, 4, layout="transposed"), -1, places([0], [3], [1])))


def scattered(make: Inputs) -> Iterator[Sample]:
    yield Sample((make(3, 4), 0, places([0, 1, 2, 0]), make(1, 4)))
    yield Sample((make(3, 4, layout="transposed"), 1, places([0, 2], [3, 1], [1, 0]), make(3, 2)))


def scattered_value(make: Inputs) -> Iterator[Sample]:
    yield Sample((make(3, 4), 0, places([0, 1, 2, 0]), 2))


def reduced_number(make: Inputs) -> Iterator[Sample]:
    for reduce in ("add", "multiply"):
        yield Sample((make(3, 4), 0, places([0, 1, 2, 0], [0, 1, 2, 1]), 2), {"reduce": reduce})


def reduced_older(make: Inputs) -> Iterator[Sample]:
    for reduce in ("add", "multiply", "sum"):
        yield Sample((make(3, 4), 0, places([0, 1, 2, 0], [0, 1, 2, 1]), make(2, 4)), {"reduce": reduce})


def reduced(make: Inputs) -> Iterator[Sample]:
    for reduce in REDUCTIONS:
        for include_self in (True, False):
            options = {"include_self": include_self}
            yield Sample((make(3, 3), 0, places([0, 1, 2], [0, 1, 0], [0, 0, 0]), make(3, 3), reduce), options)
            yield Sample((make(2, 4, layout="transposed"), -1, places([3, 3], [0, 1]), make(2, 2), reduce), options)
            if reduce == "prod":
                zeros = make.of([2, 0, 3], [0, 1, 0])
                yield Sample((make.of([1, 2, 0]), 0, places([0, 0, 0], [0, 0, 0]), zeros, reduce), options)
    yield Sample((make(3), 0, places(), make(0), "sum"))
    yield Sample((make(), 0, Input(np.array(0), "int64"), make(), "prod"))


LARGER_SOURCE = Apart("torch broadcasts the slope of a source larger than its index", says="invalid gradient")

ROWS = [
    row("gather", gathered),
    row("scatter.src", scattered),
    row("scatter.value", scattered_value),
    row("scatter.reduce", reduced_older, gradcheck=False),
    row("scatter.value_reduce", reduced_number, gradcheck=False),
    row("scatter_add", scattered),
    row("scatter_reduce.two", reduced, apart=(LARGER_SOURCE,)),
    row("scatter_reduce.two", tied, gradcheck=False, apart=(LARGER_SOURCE,)),
]

# Values only.
SPECIAL = [
    row("scatter_reduce.two", special_reduced),
]
