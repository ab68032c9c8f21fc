"""Rows of copies, and conversions to another dtype or device.

Mirrors: torch/testing/_internal/common_methods_invocations.py
Leaves out: complex inputs.
"""

from collections.abc import Iterator

from tests.op_db.core import DTYPES, DType, Inputs, Sample
from tests.op_db.samples.factories import like, row


def converted(make: Inputs) -> Iterator[Sample]:
    for dtype in DTYPES:
        yield Sample((make(2, 3), DType(dtype)))
        yield Sample((make(3, 4, layout="transposed"), DType(dtype)))


def to_other(make: Inputs) -> Iterator[Sample]:
    for dtype in ("float64", "int32"):
        yield Sample((make(2, 3), make(1, dtype=dtype)))


def to_keywords(make: Inputs) -> Iterator[Sample]:
    yield Sample((make(2, 3),), {"dtype": DType("float64"), "copy": True})


def to_device(make: Inputs) -> Iterator[Sample]:
    yield Sample((make(2, 3), "cpu"))
    yield Sample((make(2, 3), "cpu", DType("float64")))


ROWS = [
    row("clone", like(dtype=False)),
    row("contiguous", like(dtype=False)),
    row("_to_copy", to_keywords, call=lambda lib, x, dtype, copy: x.to(dtype=dtype, copy=copy)),
    row("to.dtype", converted, gradcheck=False),  # the narrow floats round too much for differences
    row("to.dtype_layout", to_keywords),
    row("to.device", to_device),
    row("to.other", to_other),
    row("type_as", to_other),
]
