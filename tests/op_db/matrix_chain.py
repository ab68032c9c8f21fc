"""Rows of products of several matrices.

Mirrors: torch/testing/_internal/common_methods_invocations.py
Leaves out: complex inputs.
"""

from tests.op_db.core import Sample
from tests.op_db.samples.linalg import row

ROWS = [
    row(
        "chain_matmul",
        lambda make: [Sample(([make(2, 3), make(3, 4), make(4, 1)],))],
        call=lambda lib, matrices, **kwargs: lib.chain_matmul(*matrices, **kwargs),
    ),
    row(
        "linalg_multi_dot",
        lambda make: [Sample(([make(2, 3), make(3, 4), make(4, 1)],)), Sample(([make(3), make(3, 4), make(4)],))],
    ),
]
