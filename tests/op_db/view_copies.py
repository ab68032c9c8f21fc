"""Rows of views whose results are copied.

Mirrors: torch/testing/_internal/common_methods_invocations.py
Leaves out: complex inputs.
"""

from tests.op_db.samples.shape import NEGATIVE_SIZE, of, only_dense, row

ROWS = [
    row("alias_copy", of(2, 3)),
    row("detach_copy", of(2, 3)),
    row(
        "as_strided_copy",
        only_dense(3, 4, calls=(((2, 3), (1, 2), 1), ((2, 2), (4, 1)))),
        apart=(NEGATIVE_SIZE,),
    ),
    row("diagonal_copy", of(3, 4, calls=((), (1,), (0, 1, 0)))),
    row("expand_copy", of(3, 1, calls=(((3, 4),), ((2, -1, 2),)))),
    row("permute_copy", of(2, 3, 2, calls=(((2, 0, 1),),))),
    row("select_copy.int", of(3, 4, calls=((0, 1), (1, -1)))),
    row("slice_copy.Tensor", of(3, 4, calls=((), (1, 1, 3), (1, 0, 4, 2)))),
    row("t_copy", of(2, 3)),
    row("transpose_copy.int", of(2, 3, 2, calls=((0, 2),))),
    row("unsqueeze_copy", of(2, 3, calls=((1,), (-1,)))),
    row("squeeze_copy", of(1, 3, 1)),
    row("squeeze_copy.dim", of(1, 3, 1, calls=((0,), (1,)))),
    row("squeeze_copy.dims", of(1, 3, 1, calls=(((0, 2),),))),
    row("unfold_copy", of(3, 4, calls=((1, 2, 1),))),
    row("view_copy", only_dense(2, 6, calls=(((3, 4),), ((-1,),)))),
    row("unbind_copy.int", of(2, 3, calls=((), (1,))), out=False),
    row("split_copy.Tensor", of(5, 2, calls=((2,), (1, 1))), out=False),
    row("split_with_sizes_copy", of(5, 2, calls=(([2, 3],), ([1, 1], 1))), out=False),
]
