"""Rows of draws from uniform, normal and Bernoulli distributions.

Mirrors: torch/testing/_internal/common_methods_invocations.py
Leaves out: complex inputs.
"""

from collections.abc import Iterator

from tests.op_db.core import FLOATS, Inputs, Sample
from tests.op_db.samples.factories import calls, like, row, seeded


def deviations(make: Inputs) -> Iterator[Sample]:
    yield Sample((make(5), make(5, low=0.5, high=2)))


# The results have no gradient: values only.
VALUES = [
    row("bernoulli", like(dtype=False), call=seeded("bernoulli"), dtypes=FLOATS, low=0, high=1),
    row("normal.float_float", calls((1.0, 2.0, (5,))), call=seeded("normal"), dtypes=FLOATS),
    row("normal.Tensor_float", like((2.0,), dtype=False), call=seeded("normal"), dtypes=FLOATS),
    row(
        "normal.float_Tensor",
        like(dtype=False),
        call=lambda lib, std: seeded("normal")(lib, 1.0, std),
        dtypes=FLOATS,
        low=0.5,
        high=2,
    ),
    row("bernoulli.p", like((0.0,), (1.0,), dtype=False), call=seeded("bernoulli"), gradient=False),
    row("normal.Tensor_Tensor", deviations, call=seeded("normal"), dtypes=FLOATS),
]
