"""Rows of grids, products and combinations of the elements of tensors.

Mirrors: torch/testing/_internal/common_methods_invocations.py
Leaves out: complex inputs.
"""

from tests.op_db.core import Apart
from tests.op_db.samples.shape import lists, of, row

ROWS = [
    row(
        "block_diag",
        lists((2, 3), (2,), ()),
        call=lambda lib, tensors: lib.block_diag(*tensors),
        out=False,
        apart=(
            Apart(
                "torch differentiates as if an empty vector took no row",
                says="gradient of",
                when=lambda sample: any(leaf.values.shape == (0,) for leaf in sample.args[0]),
            ),
        ),
    ),
    row("meshgrid meshgrid.indexing", lists((2,), (3,)), call=lambda lib, t: lib.meshgrid(*t, indexing="xy")),
    row("cartesian_prod", lists((2,), (3,)), call=lambda lib, tensors: lib.cartesian_prod(*tensors)),
    row("combinations", of(4, layouts=("contiguous",), calls=((), (3,), (2, True)))),
]
