"""Rows of changes of shape that consist of other views.

Mirrors: torch/testing/_internal/common_methods_invocations.py
Leaves out: complex inputs.
"""

from tests.op_db.samples.shape import of, row, with_another

ROWS = [
    row("flatten.using_ints", of(2, 3, 2, calls=((), (1,), (0, 1)))),
    row("unflatten.int", of(2, 6, calls=((1, (2, -1)), (0, (2, 1))))),
    row("ravel", of(2, 3)),
    row("atleast_1d atleast_1d.Sequence", of(calls=((),), layouts=("contiguous",))),
    row("atleast_2d atleast_2d.Sequence", of(3, layouts=("contiguous",))),
    row("atleast_3d atleast_3d.Sequence", of(3, 2)),
    row("broadcast_tensors", with_another((3, 1), (2, 3, 2))),
    row("sum_to_size", of(2, 3, calls=(((3,),), ((2, 1),), ((1,),)))),
    row("is_same_size", with_another((3, 1), (3, 1))),
    row("swapaxes", of(2, 3, calls=((0, 1),))),
    row("swapdims", of(2, 3, calls=((0, -1),))),
    row("numpy_T", of(2, 3), call=lambda lib, x: x.T),
    row("mT", of(2, 3, 2), call=lambda lib, x: x.mT),
    row("movedim.int", of(2, 3, 2, calls=((0, 2), (-1, 0)))),
    row("mH", of(2, 3, 2), call=lambda lib, x: x.mH),
    row("matrix_H", of(2, 3), call=lambda lib, x: x.H),
    row("adjoint", of(2, 3, 2)),
    row("moveaxis.int", of(2, 3, 2, calls=((0, 2), (-1, 0)))),
    row("moveaxis.intlist", of(2, 3, 2, calls=(((0, 1), (2, 0)),))),
    row("movedim.intlist", of(2, 3, 2, calls=(((0, 1), (2, 0)),))),
]
