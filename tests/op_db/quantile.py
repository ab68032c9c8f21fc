"""Rows of quantiles.

Mirrors: torch/testing/_internal/common_methods_invocations.py
Leaves out: complex inputs.
"""

from collections.abc import Iterator

import numpy as np

from tests.op_db.core import Input, Inputs, Sample
from tests.op_db.samples.sorting import dims_of, distinct, row, special_rows


def quantiles(make: Inputs) -> Iterator[Sample]:
    points = Input(np.array([0.1, 0.3, 0.45, 0.9]), make.dtype)
    for x in (distinct(make, 7), distinct(make, 3, 4), distinct(make, 2, 3, 4, layout="transposed")):
        for method in ("linear", "lower", "higher", "midpoint", "nearest"):
            yield Sample((x, points), {"interpolation": method})
        for dim in dims_of(x):
            yield Sample((x, points, dim))
            yield Sample((x, points), {"dim": dim, "keepdim": True})
        yield Sample((x, Input(np.array(0.45), make.dtype)), {"keepdim": True})
    yield Sample((distinct(make, 3), Input(np.array([0.5, 2]), make.dtype)))
    yield Sample((make(0), points))
    yield Sample((distinct(make), points))


def quantiles_of_number(make: Inputs) -> Iterator[Sample]:
    for sample in quantiles(make):
        yield Sample((sample.args[0], 0.3, *sample.args[2:]), sample.kwargs)
    yield Sample((distinct(make, 3), 1.5))


def special_quantiles(make: Inputs) -> Iterator[Sample]:
    for sample in special_rows(make):
        yield Sample((sample.args[0], 0.6, sample.args[1]))
        yield Sample((sample.args[0], 0.6))
        yield Sample((sample.args[0], 0.0))
        yield Sample((sample.args[0], 1.0, sample.args[1]))


WIDE = ("float64", "float32")

ROWS = [
    row("quantile quantile.out", quantiles, dtypes=WIDE),
    row("quantile.scalar quantile.scalar_out", quantiles_of_number, dtypes=WIDE),
    row("nanquantile nanquantile.out", quantiles, dtypes=WIDE),
    row("nanquantile.scalar nanquantile.scalar_out", quantiles_of_number, dtypes=WIDE),
]

# Values only.
SPECIAL = [
    *(row(name, special_quantiles) for name in ("quantile.scalar", "nanquantile.scalar")),
]
