"""Rows of products of Householder reflections.

Mirrors: torch/testing/_internal/common_methods_invocations.py
Leaves out: complex inputs.
"""

from tests.op_db.core import Apart
from tests.op_db.samples.decompositions import NO_FULL_RANK, call_with, calls, row
from tests.op_db.samples.linalg import of

NO_REFLECTIONS = Apart(
    "torch has a node without gradients for a product of no reflections, a constant", says="gradient of",
    when=lambda sample: sample.args[0].values.size == 0 or sample.args[1].values.size == 0,
)  # fmt: skip

ROWS = [
    # products of reflections
    row("geqrf", of(((4, 2),), ((2, 3, 3),)), gradcheck=False, apart=(NO_FULL_RANK,)),
    row(
        "linalg_householder_product",
        of(((4, 2), (2,)), ((2, 3, 3), (2, 2)), ((4, 3), (1,))),
        low=-1,
        high=1,
        apart=(NO_REFLECTIONS,),
    ),
    row("orgqr", of(((4, 2), (2,))), low=-1, high=1, apart=(NO_REFLECTIONS,)),
    row(
        "ormqr",
        calls(
            of(((4, 2), (2,), (4, 3))),
            call_with((4, 2), (2,), (3, 4), left=False),
            call_with((4, 2), (2,), (4, 3), transpose=True),
        ),
        low=-1,
        high=1,
    ),
]
