"""Samples of special values for comparisons and clamps.

Mirrors: torch/testing/_internal/common_methods_invocations.py
Leaves out: the samples that only one family draws, which stand in the file of the family.
"""

from collections.abc import Iterator

from tests.op_db.core import Inputs, Sample
from tests.op_db.samples.binary import mixed_dtypes, pairs


def extremes(make: Inputs) -> Iterator[Sample]:
    yield from pairs(make)
    yield from mixed_dtypes(make)
