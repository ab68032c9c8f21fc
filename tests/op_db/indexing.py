"""Reading and writing at places that indices and masks name.

Mirrors: torch/testing/_internal/common_methods_invocations.py
Leaves out: sparse gradients.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np

from tests.op_db.core import DTYPES, Input, Inputs, OpInfo, Sample


def row(ops: str, samples: Any, **options: Any) -> OpInfo:
    return OpInfo(ops, samples, dtypes=DTYPES, **{"out": False, **options})


def places(*values: Any) -> Input:
    return Input(np.array(values, dtype=np.int64), "int64")


def mask(make: Inputs, *shape: int) -> Input:
    return make(*shape, dtype="bool")


def indexed(make: Inputs) -> Iterator[Sample]:
    yield Sample((make(4, 3), places(2, 0, -1)))
    yield Sample((make(4, 3), slice(None), places(2, 0)))
    yield Sample((make(4, 3, layout="transposed"), places([0, 1], [3, 3]), places(1, 2)))
    yield Sample((make(3, 2, 2), places(0, 2), slice(None), places(1, 1)))
    yield Sample((make(4, 3), mask(make, 4, 3)))


def put(make: Inputs) -> Iterator[Sample]:
    yield Sample((make(4, 3), (places(2, 0),), make(2, 3)))
    yield Sample((make(4, 3), (places(2, 0),), make(3)))
    yield Sample((make(4, 3), (places(1, 1, 2), places(0, 0, 2)), make(3), True))


def gathered(make: Inputs) -> Iterator[Sample]:
    yield Sample((make(3, 4), 0, places([0, 1, 2, 0], [2, 2, 1, 1])))
    yield Sample((make(3, 4, layout="transposed"), -1, places([0], [3], [1])))


def scattered(make: Inputs) -> Iterator[Sample]:
    yield Sample((make(3, 4), 0, places([0, 1, 2, 0]), make(1, 4)))
    yield Sample((make(3, 4, layout="transposed"), 1, places([0, 2], [3, 1], [1, 0]), make(3, 2)))


def scattered_value(make: Inputs) -> Iterator[Sample]:
    yield Sample((make(3, 4), 0, places([0, 1, 2, 0]), 2))


def selected(make: Inputs) -> Iterator[Sample]:
    yield Sample((make(3, 4), 0, places(2, 0, 2)))
    yield Sample((make(3, 4, layout="transposed"), -1, places(3)))


def added(make: Inputs) -> Iterator[Sample]:
    yield Sample((make(3, 4), 0, places(2, 0, 2), make(3, 4)))
    yield Sample((make(3, 2), 1, places(1), make(3, 1)), {"alpha": 2})


def filled(make: Inputs) -> Iterator[Sample]:
    yield Sample((make(2, 3), mask(make, 2, 3), 1))
    yield Sample((make(2, 3, layout="transposed"), mask(make, 3), 0))


def filled_tensor(make: Inputs) -> Iterator[Sample]:
    yield Sample((make(2, 3), mask(make, 2, 3), make()))


def masked(make: Inputs) -> Iterator[Sample]:
    yield Sample((make(2, 3), mask(make, 2, 3)))
    yield Sample((make(3), mask(make, 2, 3)))
    yield Sample((make(2, 3, layout="transposed"), mask(make, 3)))


def along(make: Inputs) -> Iterator[Sample]:
    yield Sample((make(3, 4), places([0], [3], [1]), 1))
    yield Sample((make(3, 2), places(4, 0)))


def any_tensor(make: Inputs) -> Iterator[Sample]:
    yield Sample((make(3, 4),))
    yield Sample((make(2, 3, layout="transposed"),))
    yield Sample((make(),))


ROWS = [
    row("index.Tensor", indexed, call=lambda lib, x, *indices: x[indices]),
    row("index_put", put),
    row("gather", gathered),
    row("scatter.src", scattered),
    row("scatter.value", scattered_value),
    row("scatter_add", scattered),
    row("index_select", selected),
    row("index_add", added),
    row("take_along_dim", along),
    row("masked_fill.Scalar", filled),
    row("masked_fill.Tensor", filled_tensor),
    row("masked_select", masked),
    row("nonzero", any_tensor),
]
