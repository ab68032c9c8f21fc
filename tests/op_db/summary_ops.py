"""Rows of counts.

Mirrors: torch/testing/_internal/common_methods_invocations.py
Leaves out: complex inputs.
"""

from collections.abc import Iterator

import numpy as np

from tests.op_db.core import FLOATS, INTEGERS, NAN, Apart, Input, Inputs, Sample
from tests.op_db.samples.sorting import row


def counts(make: Inputs) -> Iterator[Sample]:
    x = Input(np.array([0, 2, 2, 1]), "int64")
    yield Sample((Input(np.array([0, 2, 2, 1]), make.dtype),))
    yield Sample((x,), {"minlength": 5})
    yield Sample((x, make(4)))
    yield Sample((x, make(4)), {"minlength": 2})
    yield Sample((x, make(3)))
    yield Sample((Input(np.array([], dtype=np.int64), "int64"),), {"minlength": 2})
    yield Sample((make.of(-1, 0),))
    yield Sample((x,), {"minlength": -1})


def histograms(make: Inputs) -> Iterator[Sample]:
    for x in (make(50), make(3, 4, layout="transposed"), *((make(0),) if make.is_float else ()), make.of(1, 1)):
        yield Sample((x,), {"bins": 4})
        yield Sample((x, 5, 0, 2))
    yield Sample((make(3), 0))
    yield Sample((make.of(*np.linspace(-2.9, 2.7, 50)), 7))  # two at a bin's edge
    yield Sample((make(3), 3, 2, 1))
    yield Sample((make.of(NAN, 1), 3))


ROWS = [
    row("bincount", counts, dtypes=INTEGERS),
    row(
        "histc",
        histograms,
        dtypes=FLOATS,
        apart=(Apart("torch looks at the bounds of an integer dtype before it refuses it", says="histogram_cpu"),),
    ),
]
