"""Samples of a tensor and a number, and tables of special values.

Mirrors: torch/testing/_internal/common_methods_invocations.py
Leaves out: the samples that only one family draws, which stand in the file of the family.
"""

from collections.abc import Callable, Iterator

import numpy as np

from tests.op_db.core import Inputs, Sample


def with_number(make: Inputs) -> Iterator[Sample]:
    for number in (2, 2.5, -1, 0, True):
        yield Sample((make(2, 3), number))
        yield Sample((make(), number))


def number_first(make: Inputs) -> Iterator[Sample]:
    for number in (2, 2.5, 0):
        yield Sample((number, make(2, 3)))
        yield Sample((number, make(3, 4, layout="transposed")))


def table(*values: float) -> Callable[[Inputs], Iterator[Sample]]:
    """Every pair of the values."""

    def samples(make: Inputs) -> Iterator[Sample]:
        left, right = np.meshgrid(values, values)
        yield Sample((make.of(*left.ravel()), make.of(*right.ravel())))

    return samples
