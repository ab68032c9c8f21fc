"""Rows of repetitions of elements.

Mirrors: torch/testing/_internal/common_methods_invocations.py
Leaves out: complex inputs.
"""

from tests.op_db.core import OpInfo, Sample
from tests.op_db.samples.shape import of, row

ROWS = [
    row("repeat_interleave.self_int", of(2, 3, calls=((2,), (2, 1)))),
    row(
        "repeat_interleave.self_Tensor",
        lambda make: [
            Sample((make(2, 3), make.of(2, 1, dtype="int64"), 0)),
            Sample((make(2, 3), make.of(2, dtype="int32"))),
        ],
    ),
    OpInfo("repeat_interleave.Tensor", lambda make: [Sample((make(4, low=0),))], dtypes=("int64", "int32"), low=0),
]
