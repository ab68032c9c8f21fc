"""Rows of membership, and classes as unit vectors.

Mirrors: torch/testing/_internal/common_methods_invocations.py
Leaves out: complex inputs.
"""

from collections.abc import Iterator

import numpy as np

from tests.op_db.core import NAN, Input, Inputs, OpInfo, Sample
from tests.op_db.samples.indexing import VIEW, row


def members(make: Inputs) -> Iterator[Sample]:
    for options in ({}, {"invert": True}, {"assume_unique": True}):
        yield Sample((make(3, 4), make(5)), options)
    yield Sample((make(3, 4, layout="transposed"), make(2, 2)))
    yield Sample((make(3), make(0)), {"invert": True})
    yield Sample((make(0), make(2)))
    yield Sample((make(), make(5)))
    yield Sample((make.of(NAN, 1), make.of(NAN, 1)))
    yield Sample((make(3), make(2, dtype="float64")))


def is_member(make: Inputs) -> Iterator[Sample]:
    yield Sample((make(3, 4), 1))
    yield Sample((make(3), 2.5), {"invert": True})


def has_member(make: Inputs) -> Iterator[Sample]:
    yield Sample((1, make(3, 4)))
    yield Sample((2.5, make(3)), {"invert": True})


def classes(make: Inputs) -> Iterator[Sample]:
    yield Sample((Input(np.array([0, 2, 1]), make.dtype),))
    yield Sample((Input(np.array([[0, 2], [1, 1]]), make.dtype), 4))
    yield Sample((Input(np.array([0, 2]), make.dtype), 2))
    yield Sample((Input(np.array([-1, 2]), make.dtype),))
    yield Sample((Input(np.array([]), make.dtype),))
    yield Sample((Input(np.array([]), make.dtype), 3))
    yield Sample((Input(np.array([0, 1]), make.dtype), -2))


ROWS = [
    # membership
    row("isin.Tensor_Tensor", members, apart=(VIEW,)),
    row("isin.Tensor_Scalar", is_member, apart=(VIEW,)),
    row("isin.Scalar_Tensor isin.Scalar_Tensor_out", has_member, apart=(VIEW,)),
    OpInfo("one_hot", classes, dtypes=("int64",)),
]
