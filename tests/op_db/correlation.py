"""Rows of covariances and correlations.

Mirrors: torch/testing/_internal/common_methods_invocations.py
Leaves out: complex inputs.
"""

from collections.abc import Iterator

import numpy as np

from tests.op_db.core import Apart, Input, Inputs, Sample
from tests.op_db.samples.reduce import reduction


def covariances(make: Inputs) -> Iterator[Sample]:
    counts = Input(np.array([1, 2, 3]), "int64")
    for x in (make(2, 3), make(3), make(3, 3, layout="transposed")):
        yield Sample((x,))
        yield Sample((x,), {"correction": 0})
        yield Sample((x,), {"fweights": counts})
        yield Sample((x,), {"aweights": make(3, low=0.5, high=2)})
        yield Sample((x,), {"fweights": counts, "aweights": make(3, low=0.5, high=2), "correction": 2})
    yield Sample((make(2, 2, 2),))
    yield Sample((make(2, 3),), {"fweights": Input(np.array([1, 2]), "int64")})


def correlations(make: Inputs) -> Iterator[Sample]:
    for x in (make(2, 4), make(3, 4, layout="transposed"), make(2, 1), make(2, 0)):
        yield Sample((x,))
    yield Sample((make(2, 2, 2),))


ROWS = [
    reduction(
        "cov",
        "",
        covariances,
        apart=(
            Apart("torch writes into a view of the leaf that it differentiates", says="used in an in-place operation"),
            Apart(
                "torch overwrites a single observation that has a weight, a NaN too, with 0",
                says="nan location mismatch",
                when=lambda sample: bool(sample.kwargs) and sample.args[0].values.shape[-1:] in ((), (1,)),
            ),
        ),
    ),
    reduction("corrcoef", "", correlations),
]
