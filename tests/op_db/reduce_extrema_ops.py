"""Rows of reductions to the largest and the smallest element.

Mirrors: torch/testing/_internal/common_methods_invocations.py
Leaves out: complex inputs.
"""

from collections.abc import Iterator

import numpy as np

from tests.op_db.core import DTYPES, Inputs, OpInfo, Sample
from tests.op_db.samples.compare import extremes
from tests.op_db.samples.reduce import (
    dims_of,
    everything,
    everything_or_nothing,
    one_dim,
    over,
    reduction,
    several_dims,
    shapes,
    special_rows,
    special_values,
)


def dim_or_none(make: Inputs) -> Iterator[Sample]:
    yield from everything(make)
    yield from one_dim(make)
    yield Sample((make(3, 4),), {"keepdim": True})
    yield Sample((make(0),))


def both_extremes(make: Inputs) -> Iterator[Sample]:
    for x in shapes(make):
        yield Sample((x,))
        for dim in dims_of(x):
            yield Sample((x,), {"dim": dim})
            yield Sample((x,), {"dim": dim, "keepdim": True})
    yield Sample((make(0),))
    yield Sample((make(0, 3),), {"dim": 0})
    yield Sample((make(0, 3),), {"dim": 1})


def tied_extremes(make: Inputs) -> Iterator[Sample]:
    yield Sample((make.of([1, 2, 2], [1, 1, 2]),))
    yield Sample((make.of([1, 2, 2], [1, 1, 2]),), {"dim": 1})


ROWS = [
    OpInfo("max.other max.other_out", extremes, dtypes=DTYPES, ref=np.maximum),
    OpInfo("min.other min.other_out", extremes, dtypes=DTYPES, ref=np.minimum),
    reduction("max", "", everything_or_nothing),
    reduction("min", "", everything_or_nothing),
    reduction("max", ".dim", one_dim),
    reduction("min", ".dim", one_dim),
    reduction("amax", "", several_dims, ref=over(np.amax)),
    reduction("amin", "", several_dims, ref=over(np.amin)),
    reduction("argmax", "", dim_or_none),
    reduction("argmin", "", dim_or_none),
    reduction("aminmax", "", both_extremes),
    reduction("aminmax", "", tied_extremes, gradcheck=False),
]

# Values only.
SPECIAL = [
    *(reduction(name, "", special_values) for name in ("max", "min", "amax", "amin", "argmax", "argmin")),
    *(reduction(name, ".dim", special_rows) for name in ("max", "min", "amax", "amin", "argmax", "argmin")),
    reduction("aminmax", "", special_values),
]
