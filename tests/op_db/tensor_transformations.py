"""Rows of reversing, rolling and rotating.

Mirrors: torch/testing/_internal/common_methods_invocations.py
Leaves out: complex inputs.
"""

from tests.op_db.samples.shape import of, row

ROWS = [
    row("roll", of(2, 3, calls=((1,), (-2, 1), ((1, 2), (0, 1))))),
    row("rot90", of(2, 3, calls=((), (2,), (-1,), (1, (1, 0))))),
    row("fliplr", of(2, 3)),
    row("flipud", of(2, 3)),
    row("flip", of(2, 3, 2, calls=(((0,),), ((1, 2),), ((),)))),
]
