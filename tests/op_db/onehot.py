"""Rows of classes as unit vectors.

Mirrors: torch/testing/_internal/common_methods_invocations.py
Leaves out: complex inputs.
"""

from collections.abc import Iterator

import numpy as np

from tests.op_db.core import Input, Inputs, OpInfo, Sample


def classes(make: Inputs) -> Iterator[Sample]:
    yield Sample((Input(np.array([0, 2, 1]), make.dtype),))
    yield Sample((Input(np.array([[0, 2], [1, 1]]), make.dtype), 4))
    yield Sample((Input(np.array([0, 2]), make.dtype), 2))
    yield Sample((Input(np.array([-1, 2]), make.dtype),))
    yield Sample((Input(np.array([]), make.dtype),))
    yield Sample((Input(np.array([]), make.dtype), 3))
    yield Sample((Input(np.array([0, 1]), make.dtype), -2))


ROWS = [
    OpInfo("one_hot", classes, dtypes=("int64",)),
]
