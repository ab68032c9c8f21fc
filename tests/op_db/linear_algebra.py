"""Rows of products of matrices.

Mirrors: torch/testing/_internal/common_methods_invocations.py
Leaves out: complex inputs.
"""

from tests.op_db.samples.linalg import of, row

ROWS = [
    row("mm", of(((2, 3), (3, 2)), ((1, 3), (3, 1)), ((2, 0), (0, 3)))),
    row("addmm", of(((2, 2), (2, 3), (3, 2)), ((2,), (2, 3), (3, 2)), beta=2, alpha=3)),
    row("bmm", of(((2, 3, 2), (2, 2, 3)))),
    row("baddbmm", of(((2, 3, 3), (2, 3, 2), (2, 2, 3)), ((3,), (2, 3, 2), (2, 2, 3)), beta=2, alpha=3)),
    row("addr", of(((3, 2), (3,), (2,)), ((2,), (3,), (2,)), beta=2, alpha=3)),
    row("addbmm", of(((3, 3), (2, 3, 2), (2, 2, 3)), ((3,), (2, 3, 2), (2, 2, 3)), beta=2, alpha=3)),
]
