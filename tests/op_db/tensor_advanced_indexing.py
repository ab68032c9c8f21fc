"""Rows of reading and writing at the positions that tensors of indices select.

Mirrors: torch/testing/_internal/common_methods_invocations.py
Leaves out: complex inputs.
"""

from collections.abc import Iterator

from tests.op_db.core import Inputs, Sample
from tests.op_db.samples.indexing import any_tensor, mask, places, row


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


def any_tensor_in_rows(make: Inputs) -> Iterator[Sample]:
    for size in (0, 2, 30):
        for sample in any_tensor(make):
            yield Sample(sample.args, {"size": size})
    yield Sample((make(2, 3),), {"size": 8, "fill_value": -7})


ROWS = [
    row("index.Tensor", indexed, call=lambda lib, x, *indices: x[indices]),
    row("index_put", put),
    row("nonzero", any_tensor),
    row("nonzero_static", any_tensor_in_rows),
    row("nonzero_numpy", any_tensor, call=lambda lib, x: lib.nonzero(x, as_tuple=True)),
    row("argwhere", any_tensor),
    row("where", any_tensor),
]
