"""Rows of borders that repeat elements.

Mirrors: torch/testing/_internal/common_methods_invocations.py
Leaves out: complex inputs.
"""

from collections.abc import Callable, Iterator

from tests.op_db.core import DTYPES, FLOATS, Apart, Inputs, OpInfo, Sample
from tests.op_db.max_pooling import at_op

PIXELS = {1: (4,), 2: (3, 4), 3: (2, 3, 4)}
PADDINGS: dict[int, tuple[tuple[int, ...], ...]] = {
    1: ((1, 2), (0, 3), (-1, 2), (2, -2), (0, 0), (-1, -1)),
    2: ((1, 2, 2, 0), (-1, 1, 0, -1), (0, 0, 1, 1)),
    3: ((1, 2, 2, 0, 1, 1), (-1, 0, 1, 1, 0, -1)),
}

FEW = {dims: (1, *(0,) * (2 * dims - 1)) for dims in (1, 2, 3)}  # for gradcheck


def borders(dims: int) -> Callable[[Inputs], Iterator[Sample]]:
    def samples(make: Inputs) -> Iterator[Sample]:
        pixels = PIXELS[dims]
        for padding in PADDINGS[dims]:
            yield Sample((make(1, 2, *pixels), padding))
        yield Sample((make(1, 1, *(2,) * dims), FEW[dims]))
        padding = PADDINGS[dims][0]
        yield Sample((make(2, *pixels), padding))
        yield Sample((make(0, 2, *pixels), padding))
        for layout in ("transposed", "sliced", "rolled"):
            yield Sample((make(2, 3, *pixels, layout=layout), padding))
        for wrong in ((1,) * (2 * dims + 1), (-9,) * (2 * dims), (*padding[:-2], 9, 0)):
            yield Sample((make(1, 2, *pixels), wrong))
        yield Sample((make(*pixels), padding))
        yield Sample((make(1, 2, *pixels[:-1], 0), padding))

    return samples


def backwards(dims: int) -> Callable[[Inputs], Iterator[Sample]]:
    def samples(make: Inputs) -> Iterator[Sample]:
        if not make.is_float:
            return
        pixels = PIXELS[dims]
        for padding in PADDINGS[dims]:
            padded = [n + sum(padding[2 * (dims - 1 - i) :][:2]) for i, n in enumerate(pixels)]
            yield Sample((make(1, 2, *padded), make(1, 2, *pixels), padding))
            yield Sample((make(2, *padded), make(2, *pixels), padding))
        yield Sample((make(1, 1, *(2,) * (dims - 1), 3), make(1, 1, *(2,) * dims), FEW[dims]))
        yield Sample((make(2, 3, *padded, layout="rolled"), make(2, 3, *pixels, layout="rolled"), padding))
        for wrong in range(dims):
            sizes = [n + (i == wrong) for i, n in enumerate(padded)]
            yield Sample((make(1, 2, *sizes), make(1, 2, *pixels), padding))

    return samples


def other_planes(sample: Sample) -> bool:
    grad, x, padding = sample.args
    dims = len(padding) // 2
    return grad.values.shape[:-dims] != x.values.shape[:-dims]


def reaches_past(sample: Sample) -> bool:
    """Whether a reflection needs more elements than a dimension has"""
    _, x, padding = sample.args
    sizes = x.values.shape[::-1]  # the padding begins with the last dimension
    return any(padding[2 * i] >= n or padding[2 * i + 1] >= n for i, n in enumerate(sizes[: len(padding) // 2]))


APART = (
    Apart("torch multiplies negative sizes", says="integer multiplication overflow"),
    Apart("torch words a negative size in another way", says="negative dimension"),
)
REACHES_PAST = Apart(
    "torch's gradient writes beyond memory where the op itself raises", when=reaches_past, crashes=True
)
APART_BACKWARD = (
    Apart("torch takes gradients of other planes, and reads beyond memory", when=other_planes, crashes=True),
    Apart("torch counts the dimensions of a gradient later than those of the input", says="Expected"),
)

ROWS = [
    row
    for kind in ("reflection", "replication")
    for dims in (1, 2, 3)
    for row in (
        OpInfo(f"{kind}_pad{dims}d", borders(dims), dtypes=DTYPES, apart=APART),
        OpInfo(
            f"{kind}_pad{dims}d_backward",
            backwards(dims),
            call=at_op(f"{kind}_pad{dims}d_backward"),
            dtypes=FLOATS,
            out=False,
            apart=APART_BACKWARD + ((REACHES_PAST,) if kind == "reflection" else ()),
        ),
    )
]
