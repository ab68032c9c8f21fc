"""Rows of packing and padding sequences.

Mirrors: torch/testing/_internal/common_methods_invocations.py
Leaves out: complex inputs.
"""

from collections.abc import Iterator

import numpy as np

from tests.op_db.core import DTYPES, Apart, Input, Inputs, OpInfo, Sample
from tests.op_db.samples.unary import backward_op


def lengths(*values: int, dtype: str = "int64") -> Input:
    return Input(np.array(values), dtype)


def packs(make: Inputs) -> Iterator[Sample]:
    yield Sample((make(4, 3, 2), lengths(4, 2, 1), False))
    yield Sample((make(3, 4, 2), lengths(4, 2, 2), True))
    yield Sample((make(4, 3, layout="transposed"), lengths(3, 3, 3), False))
    yield Sample((make(2, 2, 2, 2, layout="strided"), lengths(1, 1), False))
    yield Sample((make(4, 3, 2), lengths(2, 4, 1), False))
    yield Sample((make(4, 3, 2), lengths(2, 1), False))
    yield Sample((make(4, 3, 2), lengths(2, 1, 0), False))
    yield Sample((make(4, 3, 2), lengths(2, 1, 1, dtype="int32"), False))
    yield Sample((make(0, 3), lengths(2, 1, 1), False))


def is_too_long(sample: Sample) -> bool:
    """Whether the longest sequence has more time steps than the tensor."""
    steps, of, batch_first = sample.args
    return max(of.values.reshape(-1), default=0) > steps.values.shape[int(batch_first)]


def pack_backwards(make: Inputs) -> Iterator[Sample]:
    yield Sample((make(7, 2), [4, 3, 2], lengths(3, 2, 1, 1), False))
    yield Sample((make(7), [3, 4], lengths(3, 2, 1, 1), True))


def pads(make: Inputs) -> Iterator[Sample]:
    for total in (-1, 6):
        yield Sample((make(7, 2), lengths(3, 2, 1, 1), False, 0.0, total))
        yield Sample((make(7), lengths(3, 2, 1, 1), True, 1, total))
    yield Sample((make(7, 2), lengths(3, 2, 1, 1), False, 0.0, 3))
    yield Sample((make(6, 2), lengths(3, 3), False, 0.0, -1))


def has_other_batch_sizes(sample: Sample) -> bool:
    """Whether the batch sizes are not those of the packed rows: falling numbers, one row for each sequence and step."""
    data, of = sample.args[:2]
    if not (isinstance(data, Input) and isinstance(of, Input)):
        return False
    sizes = [int(size) for size in of.values.reshape(-1)]
    return sorted(sizes, reverse=True) != sizes or sizes[-1:] <= [0] or data.values.shape[:1] != (sum(sizes),)


def sequences(make: Inputs) -> Iterator[Sample]:
    for side in ("right", "left"):
        yield Sample(([make(3, 2), make(1, 2), make(2, 2)], False, 0.0, side))
        yield Sample(([make(3), make(2), make(0)], True, 1.0, side))
    yield Sample(([make(3, 2), make(1, 3)], True))
    yield Sample(([make(3)], False, 0.0, "middle"))
    yield Sample(([make(3, layout="strided")],))
    yield Sample(([make(), make(3)],))
    yield Sample(([make(3), make()], True))


ROWS = [
    OpInfo(
        "_pack_padded_sequence",
        packs,
        dtypes=DTYPES,
        apart=(Apart("torch packs fewer steps than the lengths say", when=is_too_long, says="at most the number of"),),
    ),
    OpInfo(
        "_pack_padded_sequence_backward",
        pack_backwards,
        call=lambda lib, *args: backward_op(lib, "_pack_padded_sequence_backward")(*args),
    ),
    OpInfo(
        "_pad_packed_sequence",
        pads,
        dtypes=DTYPES,
        apart=(Apart("torch does not look at the batch sizes", when=has_other_batch_sizes, crashes=True),),
    ),
    OpInfo("pad_sequence", sequences, dtypes=DTYPES),
]
