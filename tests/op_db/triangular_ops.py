"""Rows of triangles and diagonals of matrices.

Mirrors: torch/testing/_internal/common_methods_invocations.py
Leaves out: complex inputs.
"""

from tests.op_db.samples.shape import of, row

ROWS = [
    # triangles and diagonals
    row("tril", of(3, 4, calls=((), (1,), (-1,)))),
    row("triu", of(2, 3, 2, calls=((), (1,), (-1,)))),
    row("diag diag.out", of(3, 4, layouts=("contiguous",), calls=((), (1,)))),
    row("diagflat", of(2, 3, calls=((), (1,)))),
    row("trace", of(2, 3)),
    row("diag_embed", of(2, 3, layouts=("contiguous",), calls=((), (1,), (0, 0, 2)))),
]
