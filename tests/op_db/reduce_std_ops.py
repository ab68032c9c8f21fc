"""Rows of variances and standard deviations.

Mirrors: torch/testing/_internal/common_methods_invocations.py
Leaves out: complex inputs.
"""

from collections.abc import Iterator

import numpy as np

from tests.op_db.core import FLOATS, Apart, Inputs, Sample
from tests.op_db.samples.reduce import reduction


def spread(make: Inputs) -> Iterator[Sample]:
    for x in (make(7), make(301), make(3, 4), make(130, 3), make(3, 2, 5, layout="transposed")):
        for dim in (None, 0, -1):
            for correction in (None, 0, 1, 2.5):
                yield Sample((x,), {"dim": dim, "correction": correction})
    yield Sample((make(2, 3, 4), (0, 2)), {"keepdim": True})
    yield Sample((make(2, 3, 4), [1]), {"correction": 0})


def unbiased(make: Inputs) -> Iterator[Sample]:
    yield Sample((make(3, 4),))
    yield Sample((make(3, 4), False))
    yield Sample((make(3, 4), True))


def unbiased_dim(make: Inputs) -> Iterator[Sample]:
    yield Sample((make(3, 4), 0))
    yield Sample((make(3, 4), 1, False))
    yield Sample((make(3, 4), (0, 1), True, True))


def has_infinity(sample: Sample) -> bool:
    return bool(np.isinf(sample.args[0].values).any())


def has_equal_values(sample: Sample) -> bool:
    values = sample.args[0].values
    return values.ndim > 0 and bool((values.min(-1) == values.max(-1)).any() or (values.min(0) == values.max(0)).any())


RUNNING_MEAN = Apart("torch's running mean loses an infinity that other numbers follow", when=has_infinity)

FLAT = Apart("the slope of std at equal values is rounding", says="gradient of", when=has_equal_values)

ROWS = [
    reduction("var", ".correction", spread, dtypes=FLOATS),
    reduction("std", ".correction", spread, dtypes=FLOATS, apart=(FLAT,)),
    reduction("var", "", unbiased, dtypes=FLOATS),
    reduction("std", "", unbiased, dtypes=FLOATS, apart=(FLAT,)),
    reduction("var", ".dim var.out", unbiased_dim, dtypes=FLOATS),
    reduction("std", ".dim std.out", unbiased_dim, dtypes=FLOATS, apart=(FLAT,)),
    reduction("var_mean", ".correction", spread, dtypes=FLOATS, apart=(RUNNING_MEAN,)),
    reduction(
        "std_mean",
        ".correction",
        spread,
        dtypes=FLOATS,
        apart=(
            RUNNING_MEAN,
            FLAT,
        ),
    ),
    reduction("var_mean", "", unbiased, dtypes=FLOATS, apart=(RUNNING_MEAN,)),
    reduction(
        "std_mean",
        "",
        unbiased,
        dtypes=FLOATS,
        apart=(
            RUNNING_MEAN,
            FLAT,
        ),
    ),
    reduction("var_mean", ".dim", unbiased_dim, dtypes=FLOATS, apart=(RUNNING_MEAN,)),
    reduction(
        "std_mean",
        ".dim",
        unbiased_dim,
        dtypes=FLOATS,
        apart=(
            RUNNING_MEAN,
            FLAT,
        ),
    ),
]
