"""Rows of products of matrices and vectors with any number of dimensions.

Mirrors: torch/testing/_internal/common_methods_invocations.py
Leaves out: complex inputs.
"""

from tests.op_db.samples.linalg import of, row

ROWS = [
    row("outer", of(((4,), (3,)))),
    row("ger", of(((4,), (3,)))),
    row("linalg_matmul", of(((2, 3), (3, 2)), ((2, 2, 3), (3, 2)))),
    row(
        "matmul",
        of(
            ((2, 3), (3, 2)),
            ((3,), (3, 2)),
            ((2, 3), (3,)),
            ((3,), (3,)),
            ((2, 2, 3), (3, 2)),
            ((2, 3), (2, 3, 2)),
            ((2, 1, 3), (1, 3, 2)),
            ((3, 1, 2, 3), (2, 3, 2)),
            ((3,), (2, 3, 2)),
            ((2, 0, 3), (3, 2)),
            ((2, 3), (0, 3, 2)),
            ((2, 2, 0), (2, 0, 3)),
        ),
    ),
    row(
        "linear",
        of(((2, 3), (4, 3), (4,)), ((2, 3), (4, 3)), ((3,), (2, 3), (2,)), ((2, 2, 3), (2, 3), (2,))),
    ),
]
