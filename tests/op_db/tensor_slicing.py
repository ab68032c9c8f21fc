"""Rows of parts of a tensor: slices, diagonals, pieces.

Mirrors: torch/testing/_internal/common_methods_invocations.py
Leaves out: complex inputs.
"""

import numpy as np

from tests.op_db.core import Input, Sample
from tests.op_db.samples.shape import aten, of, row

ROWS = [
    # a part
    row("select.int", of(2, 3, 2, calls=((0, 1), (1, -1)))),
    row("slice.Tensor", of(5, 2, calls=((0, 1, 4), (0, None, None, 2), (1, -1), (0, 4, 2))), call=aten("slice")),
    row("narrow", of(5, 2, calls=((0, 1, 3), (1, -1, 1)))),
    row("narrow.Tensor", lambda make: [Sample((make(5, 2), 0, Input(np.array(2), "int64"), 2))]),
    row("diagonal", of(3, 4, calls=((), (1,), (-2,), (0, 1, 0)))),
    row("linalg_diagonal", lambda make: [*of(2, 3, 3)(make), *of(3, 3)(make)]),
    row("select_backward", of(2, 3, calls=(((2, 4, 3), 1, 2),)), call=aten("select_backward")),
    row("slice_backward", of(2, 3, calls=(((5, 3), 0, 1, 4, 2),)), call=aten("slice_backward")),
    row("diagonal_backward", of(3, calls=(((3, 4), 1, 0, 1),)), call=aten("diagonal_backward")),
    # several parts
    row("unbind.int", of(2, 3, calls=((), (1,)))),
    row("split.Tensor", of(5, 2, calls=((2,), (1, 1)))),
    row("split.sizes", of(5, 2, calls=(([1, 4],),)), call=lambda lib, x, sizes: x.split(sizes)),
    row("split_with_sizes", of(5, 2, calls=(([2, 3],), ([1, 1], 1)))),
    row("chunk", of(5, 2, calls=((2,), (4,), (3, 1)))),
]
