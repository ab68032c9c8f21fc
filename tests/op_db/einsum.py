"""Rows of sums of products in Einstein's notation.

Mirrors: torch/testing/_internal/common_methods_invocations.py
Leaves out: complex inputs.
"""

from tests.op_db.core import Sample
from tests.op_db.samples.linalg import row

ROWS = [
    row(
        "einsum",
        lambda make: [
            Sample((equation, *(make(*shape) for shape in shapes)))
            for equation, shapes in (
                ("ij,jk->ik", ((2, 3), (3, 2))),
                ("bij,bjk->bki", ((2, 2, 3), (2, 3, 2))),
                ("ii->i", ((3, 3),)),
                ("i,j", ((2,), (3,))),
                ("...ij->...ji", ((2, 3, 2),)),
                ("ij,j,i->", ((2, 3), (3,), (2,))),
                ("...a,...a->...", ((2, 3), (3,))),
                ("bn,anm,bm->ba", ((2, 3), (4, 3, 2), (2, 2))),
                ("iij->j", ((2, 2, 3),)),
            )
        ],
        call=lambda lib, *args: lib.einsum(*args),
    ),
]
