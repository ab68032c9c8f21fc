"""Rows of new tensors of random numbers.

Mirrors: torch/testing/_internal/common_methods_invocations.py
Leaves out: complex inputs.
"""

from tests.op_db.core import FLOATS
from tests.op_db.samples.factories import calls, like, row, seeded

# The results have no gradient: values only.
VALUES = [
    row("rand", calls(((3, 4),)), call=seeded("rand"), dtypes=FLOATS),
    row("randn", calls(((3, 4),), ((3, 7),)), call=seeded("randn"), dtypes=FLOATS),
    row("randint", calls((10, (5,))), call=seeded("randint")),
    row("randint.low", calls((3, 10, (5,))), call=seeded("randint")),
    row("randperm", calls((20,)), call=seeded("randperm")),
    row("rand_like", like(), call=seeded("rand_like"), dtypes=FLOATS),
    row("randn_like", like(), call=seeded("randn_like"), dtypes=FLOATS),
    row("randint_like", like((7,)), call=seeded("randint_like")),
    row("randint_like.low_dtype", like((3, 7)), call=seeded("randint_like")),
]
