"""Rows of views: the same elements in another shape.

Mirrors: torch/testing/_internal/common_methods_invocations.py
Leaves out: complex inputs.
"""

from tests.op_db.core import NAN_OF_BFLOAT16, DType
from tests.op_db.samples.shape import NEGATIVE_SIZE, aten, of, only_dense, row, with_another

ROWS = [
    # the same elements in another shape
    row("view", only_dense(2, 6, calls=(((3, 4),), ((-1,),), ((2, 3, 2),)))),
    row("_unsafe_view", only_dense(2, 6, calls=(((3, 4),), ((-1,),))), call=aten("_unsafe_view")),
    row("reshape", of(2, 6, calls=(((3, 4),), ((-1,),), ((2, 3, 2),)))),
    row("view_as", with_another((2, 3), (6,))),
    row("reshape_as", with_another((2, 3), (3, 2))),
    row("squeeze", of(1, 3, 1)),
    row("squeeze.dim", of(1, 3, 1, calls=((0,), (1,), (-1,)))),
    row("squeeze.dims", of(1, 3, 1, calls=(((0, 1),), ((0, -1),)))),
    row("unsqueeze", of(2, 3, calls=((0,), (1,), (-1,)))),
    row("expand", of(3, 1, calls=(((3, 4),), ((2, -1, 2),)))),
    row("expand_as", with_another((3, 1), (2, 3, 2))),
    row("broadcast_to", of(3, 1, calls=(((2, 3, 2),),))),
    row(
        "as_strided",
        only_dense(3, 4, calls=(((2, 3), (1, 2), 1), ((2, 2), (4, 1)), ((5, 3), (1, 1), 2))),
        apart=(NEGATIVE_SIZE,),
    ),
    row("detach", of(2, 3)),
    row("alias", of(2, 3), call=aten("alias")),
    row("lift_fresh", of(2, 3), call=aten("lift_fresh")),
    row(
        "view.dtype",
        only_dense(2, 4, calls=((DType("uint8"),), (DType("int8"),), (DType("float32"),))),
        call=lambda lib, x, dtype: x.view(dtype),
        apart=(NAN_OF_BFLOAT16,),
    ),
    row("is_set_to", with_another((3, 1), (3, 1))),
    # another order of dimensions
    row("permute", of(2, 3, 2, calls=(((2, 0, 1),), ((0, -1, 1),)))),
    row("transpose.int", of(2, 3, 2, calls=((0, 1), (-1, 0)))),
    row("t", of(2, 3)),
]
