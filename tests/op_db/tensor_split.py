"""Rows of splitting a tensor.

Mirrors: torch/testing/_internal/common_methods_invocations.py
Leaves out: complex inputs.
"""

from tests.op_db.core import Sample
from tests.op_db.samples.shape import of, row

ROWS = [
    row("tensor_split.sections", of(5, 2, calls=((2,), (3, 1)))),
    row("tensor_split.indices", of(5, 2, calls=(((1, 3),), ((-1,), 1)))),
    row(
        "tensor_split.tensor_indices_or_sections",
        lambda make: [
            Sample((make(5, 2), make.of(1, 3, dtype="int64"))),
            Sample((make(5, 2), make.of(*[2], dtype="int64"), 1)),
        ],
    ),
    row("hsplit.int hsplit.array", of(2, 4, calls=((2,), ((1, 3),)))),
    row("vsplit.int vsplit.array", of(4, 2, calls=((2,), ((1, 3),)))),
    row("dsplit.int dsplit.array", of(1, 2, 4, calls=((2,), ((1, 3),)))),
    row("unsafe_split.Tensor", of(5, 2, calls=((2,), (1, 1)))),
    row("unsafe_split_with_sizes", of(5, 2, calls=(([2, 3],), ([1, 1], 1)))),
    row("unsafe_chunk", of(5, 2, calls=((2,), (3, 1)))),
]
