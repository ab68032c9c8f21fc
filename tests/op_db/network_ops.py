"""Borders, channels and pixels, and ops that have weights of their own.

Mirrors: torch/testing/_internal/common_methods_invocations.py
Leaves out: complex numbers.
"""

from collections.abc import Iterator

from tests.op_db.core import DTYPES, FLOATS, STRIDE_OF_ONE, Apart, Inputs, OpInfo, Sample


def borders(make: Inputs) -> Iterator[Sample]:
    for pad in ((1, 2), (0, 1, 2, 0), (-1, 2), (1, -1, -1, 0), (-1, -1), (), (1, 1, 0, 0, 2, 1)):
        yield Sample((make(2, 3, 4), pad))
        yield Sample((make(2, 3, 4, layout="transposed"), pad, 2))
    yield Sample((make(2, 3, 2, 2), (1, 1), 1))
    yield Sample((make(0, 3), (1, 1)))
    yield Sample((make(2), (-1, -1)))


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


def leaks(make: Inputs) -> Iterator[Sample]:
    for shape, weights in (((4,), (1,)), ((3, 4), (4,)), ((2, 3, 2), (3,)), ((2, 3), ()), ((), ())):
        yield Sample((make(*shape), make(*weights)))


def two_inputs(make: Inputs) -> Iterator[Sample]:
    weight, bias = make(2, 2, 3), make(2)
    yield Sample((make(2), make(3), weight))
    yield Sample((make(2, 2), make(2, 3), weight, bias))
    yield Sample((make(2, 3, 2), make(2, 3, 3), weight, bias))


ROWS = [
    OpInfo("constant_pad_nd", borders, dtypes=DTYPES),
    OpInfo("pixel_shuffle", shuffled, dtypes=DTYPES, apart=(NO_PIXELS,)),
    OpInfo("pixel_unshuffle", unshuffled, dtypes=DTYPES, apart=(NO_PIXELS,)),
    OpInfo(
        "channel_shuffle",
        grouped,
        dtypes=DTYPES,
        apart=(Apart("torch's gradient divides no channels in no groups", says="Value of groups:0"),),
    ),
    OpInfo(
        "prelu",
        leaks,
        dtypes=FLOATS,
        apart=(STRIDE_OF_ONE,),
    ),
    OpInfo(
        "bilinear",
        two_inputs,
        dtypes=FLOATS,
        apart=(Apart("torch can not divide nothing into rows of nothing", says="shape [-1, 0]"),),
    ),
]
