"""Rows of ops that fill a tensor with one value.

Mirrors: torch/testing/_internal/common_methods_invocations.py
Leaves out: complex inputs.
"""

from collections.abc import Iterator

from tests.op_db.core import Inputs, Sample
from tests.op_db.samples.indexing import any_tensor, row


def overwritten(make: Inputs) -> Iterator[Sample]:
    for sample in any_tensor(make):
        yield Sample((*sample.args, 3))


def overwritten_by_tensor(make: Inputs) -> Iterator[Sample]:
    for sample in any_tensor(make):
        yield Sample((*sample.args, make()))


ROWS = [
    row("fill.Scalar", overwritten),
    row("fill.Tensor", overwritten_by_tensor),
]
