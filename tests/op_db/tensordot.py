"""Rows of inner, Kronecker and cross products, and Vandermonde matrices.

Mirrors: torch/testing/_internal/common_methods_invocations.py
Leaves out: complex inputs.
"""

from tests.op_db.core import Sample
from tests.op_db.samples.linalg import of, row

ROWS = [
    row("inner", of(((2, 3), (4, 3)), ((3,), (3,)), ((2, 3), (3,)), ((), (2, 3)))),
    row("kron", of(((2, 3), (3, 2)), ((3,), (2, 2)), ((), (2,)))),
    row(
        "tensordot",
        lambda make: (
            [Sample((make(2, 3, 4), make(4, 3, 2)), {"dims": dims}) for dims in (1, ([1, 2], [1, 0]), ([-1], [0]), 0)]
            + [Sample((make(2, 3), make(3, 2)), {"dims": 1})]
        ),
    ),
    row("linalg_vecdot", of(((2, 3), (2, 3)), ((3,), (3,)), ((2, 3), (3,)))),
    row("linalg_cross", of(((2, 3), (2, 3)), ((1, 3), (2, 3)))),
    row(
        "cross",
        lambda make: [
            Sample((make(2, 3), make(2, 3)), {"dim": 1}),
            Sample((make(3, 2), make(3, 1)), {"dim": 0}),
            Sample((make(2, 3), make(1, 3)), {"dim": -1}),
            Sample((make(3, 3, layout="transposed"), make(3, 3), 0)),
            Sample((make(2, 3), make(3), 1)),
            Sample((make(2, 3), make(2, 3), 0)),
        ],
    ),
    row("linalg_vander", of(((3,),), ((2, 3),))),
    row(
        "vander",
        lambda make: [
            Sample((make(3),)),
            Sample((make(3),), {"N": 2, "increasing": True}),
            Sample((make(4), 2)),
            Sample((make(3), 4, True)),
            Sample((make(0),)),
        ],
        torch_gradient=False,
    ),
]
