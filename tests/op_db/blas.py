"""Rows of products of a vector with a matrix or a vector.

Mirrors: torch/testing/_internal/common_methods_invocations.py
Leaves out: complex inputs.
"""

from tests.op_db.core import Apart
from tests.op_db.samples.linalg import of, row

ROWS = [
    row("mv", of(((3, 4), (4,)))),
    row(
        "addmv",
        of(((3,), (3, 4), (4,)), beta=2, alpha=3),
        apart=(Apart("torch stumbles over its own message", says="Dimension specified as 0"),),
    ),
    row("dot", of(((4,), (4,)), ((0,), (0,)))),
    row("vdot", of(((4,), (4,)))),
]
