"""Rows of shuffles of pixels and channels.

Mirrors: torch/testing/_internal/common_methods_invocations.py
Leaves out: complex inputs.
"""

from collections.abc import Iterator

from tests.op_db.core import DTYPES, Apart, Inputs, OpInfo, Sample


def shuffled(make: Inputs) -> Iterator[Sample]:
    for shape in ((4, 1, 2), (2, 8, 1, 2), (1, 2, 4, 2, 2)):
        yield Sample((make(*shape), 2))
    yield Sample((make(2, 9, 2, 2, layout="transposed"), 3))


def unshuffled(make: Inputs) -> Iterator[Sample]:
    for shape in ((1, 4, 2), (2, 2, 2, 4), (1, 2, 1, 2, 2)):
        yield Sample((make(*shape), 2))
    yield Sample((make(2, 1, 3, 6, layout="transposed"), 3))


def is_empty(sample: Sample) -> bool:
    return 0 in sample.args[0].values.shape


NO_PIXELS = Apart("torch gives an empty image no other shape", when=is_empty)


def grouped(make: Inputs) -> Iterator[Sample]:
    for shape, groups in (((1, 4, 2), 2), ((2, 6, 2, 2), 3), ((2, 6, 1), 1)):
        yield Sample((make(*shape), groups))


ROWS = [
    OpInfo("pixel_shuffle", shuffled, dtypes=DTYPES, apart=(NO_PIXELS,)),
    OpInfo("pixel_unshuffle", unshuffled, dtypes=DTYPES, apart=(NO_PIXELS,)),
    OpInfo(
        "channel_shuffle",
        grouped,
        dtypes=DTYPES,
        apart=(Apart("torch's gradient divides no channels in no groups", says="Value of groups:0"),),
    ),
]
# In torch as here, the kernel for CPUs has no gradient.
VALUES = [OpInfo("native_channel_shuffle", grouped, dtypes=DTYPES, out=False, gradient=False)]
