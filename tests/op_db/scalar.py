"""Rows of reading the value of a tensor as a number.

Mirrors: torch/testing/_internal/common_methods_invocations.py
Leaves out: complex inputs.
"""

from tests.op_db.core import DTYPES, OpInfo, Sample

ROWS = [
    OpInfo(
        "_local_scalar_dense",
        lambda make: [Sample((make(1),)), Sample((make(),)), Sample((make(1, 1, layout="transposed"),))],
        dtypes=DTYPES,
        call=lambda lib, self: lib.ops.aten._local_scalar_dense(self),
    ),
]
