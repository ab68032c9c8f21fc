"""Products of matrices and vectors.

Mirrors: torch/testing/_internal/opinfo/definitions/linalg.py
Leaves out: decompositions.
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


ROWS = [
    row("mm", of(((2, 3), (3, 2)), ((1, 3), (3, 1)), ((2, 0), (0, 3)))),
    row("addmm", of(((2, 2), (2, 3), (3, 2)), ((2,), (2, 3), (3, 2)), beta=2, alpha=3)),
    row("bmm", of(((2, 3, 2), (2, 2, 3)))),
    row("baddbmm", of(((2, 3, 3), (2, 3, 2), (2, 2, 3)), ((3,), (2, 3, 2), (2, 2, 3)), beta=2, alpha=3)),
    row("mv", of(((3, 4), (4,)))),
    row("addmv", of(((3,), (3, 4), (4,)), beta=2, alpha=3)),
    row("dot", of(((4,), (4,))), out=False),
    row("outer", of(((4,), (3,))), out=False),
    row("matmul", of(((2, 3), (3, 2)), ((3,), (3, 2)), ((2, 3), (3,)), ((3,), (3,)), ((2, 2, 3), (3, 2)),
                     ((2, 3), (2, 3, 2)),
                     ((2, 1, 3), (1, 3, 2))), out=False),
    row("linear", of(((2, 3), (4, 3), (4,)), ((2, 3), (4, 3)), ((3,), (2, 3), (2,)), ((2, 2, 3), (2, 3), (2,))),
        out=False),
]  # fmt: skip
