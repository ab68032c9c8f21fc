"""Samples of indices and masks, and reductions of elements that meet in one place.

Mirrors: torch/testing/_internal/common_methods_invocations.py
Leaves out: the samples that only one family draws, which stand in the file of the family.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np

from tests.op_db.core import DTYPES, INF, NAN, Apart, Input, Inputs, OpInfo, Sample

VIEW = Apart("torch asks for a view where only a copy can be", says="view size is not compatible")


def row(ops: str, samples: Any, **options: Any) -> OpInfo:
    return OpInfo(ops, samples, dtypes=DTYPES, **options)


def places(*values: Any) -> Input:
    return Input(np.array(values, dtype=np.int64), "int64")


def mask(make: Inputs, *shape: int) -> Input:
    return make(*shape, dtype="bool")


def any_tensor(make: Inputs) -> Iterator[Sample]:
    yield Sample((make(3, 4),))
    yield Sample((make(2, 3, layout="transposed"),))
    yield Sample((make(),))


REDUCTIONS = ("sum", "prod", "mean", "amax", "amin")


def tied(make: Inputs) -> Iterator[Sample]:
    for reduce in ("amax", "amin"):
        for include_self in (True, False):
            ties = make.of(3, 1, 3, 1, 2)
            yield Sample((make.of(3, 0, 1), 0, places(0, 0, 0, 2, 2), ties, reduce), {"include_self": include_self})


def special_reduced(make: Inputs) -> Iterator[Sample]:
    yield Sample((make.of(1, 2), 0, places(0, 0, 1), make.of(0, 0, 3), "prod"))
    for reduce in REDUCTIONS:
        for include_self in (True, False):
            values = make.of(NAN, 1, INF, -INF, 2, NAN)
            index = places(0, 0, 1, 1, 2, 2)
            yield Sample((make.of(1, NAN, 3, 4), 0, index, values, reduce), {"include_self": include_self})
