"""Samples of matrices and vectors for products.

Mirrors: torch/testing/_internal/common_methods_invocations.py
Leaves out: the samples that only one family draws, which stand in the file of the family.
"""

from collections.abc import Iterator
from typing import Any

from tests.op_db.core import DTYPES, Inputs, OpInfo, Sample

Shapes = tuple[tuple[int, ...], ...]


def of(*calls: Shapes, **kwargs: Any) -> Any:
    def samples(make: Inputs) -> Iterator[Sample]:
        for shapes in calls:
            yield Sample(tuple(make(*shape) for shape in shapes))
            layouts = [make(*shape, layout="transposed" if len(shape) > 1 else "contiguous") for shape in shapes]
            yield Sample(tuple(layouts), kwargs)

    return samples


def row(ops: str, samples: Any, **options: Any) -> OpInfo:
    return OpInfo(ops, samples, dtypes=tuple(d for d in DTYPES if d != "bool"), rtol=1e-5, **options)
