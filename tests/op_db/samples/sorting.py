"""Samples of distinct elements for ops that depend on an order.

Mirrors: torch/testing/_internal/common_methods_invocations.py
Leaves out: the samples that only one family draws, which stand in the file of the family.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np

from tests.op_db.core import DTYPES, FLOATS, INF, INTEGERS, NAN, Input, Inputs, OpInfo, Sample


def distinct(make: Inputs, *shape: int, layout: str = "contiguous") -> Input:
    """The numbers 0, 1, 2 ... in some order; a float's are halves and partly negative."""
    count = int(np.prod(shape))
    values = np.random.default_rng(count).permutation(count).reshape(shape)
    if make.dtype == "bool":
        return Input(values == 1, "bool", layout)  # two of them at most are distinct
    return Input(values / 2 - 1 if make.is_float else values, make.dtype, layout)


def dims_of(x: Input) -> range:
    return range(-1, max(x.values.ndim, 1))


def special_rows(make: Inputs) -> Iterator[Sample]:
    yield Sample((make.of([1, NAN, 2, NAN], [NAN, 5, NAN, NAN], [3, -INF, 7, INF], [0, 1, NAN, -1]), 1))
    yield Sample((make.of([NAN, 2], [1, NAN]), 0))


def row(ops: str, samples: Any, **options: Any) -> OpInfo:
    return OpInfo(ops, samples, **{"dtypes": DTYPES, **options})


NUMBERS = (*FLOATS, *INTEGERS)


def has_nan(sample: Sample) -> bool:
    return bool(np.isnan(sample.args[0].values).any())
