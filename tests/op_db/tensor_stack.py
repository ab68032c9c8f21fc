"""Rows of stacking tensors, and tiles.

Mirrors: torch/testing/_internal/common_methods_invocations.py
Leaves out: complex inputs.
"""

from tests.op_db.samples.shape import lists, of, row

ROWS = [
    row("concat concat.out", lists((2, 3), (1, 3))),
    row("concatenate concatenate.out", lists((2, 3), (1, 3))),
    row("hstack hstack.out", lists((2, 3), (2, 1))),
    row("vstack vstack.out", lists((3,), (2, 3))),
    row("row_stack row_stack.out", lists((3,), (2, 3))),
    row("dstack dstack.out", lists((2, 3), (2, 3))),
    row("column_stack column_stack.out", lists((2,), (2, 3))),
    row("tile", of(2, 3, calls=(((2,),), ((2, 1, 2),)))),
]
