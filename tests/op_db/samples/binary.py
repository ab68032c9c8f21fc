"""Samples of two tensors that broadcast, in several layouts and dtypes.

Mirrors: torch/testing/_internal/common_methods_invocations.py
Leaves out: the samples that only one family draws, which stand in the file of the family.
"""

from collections.abc import Iterator

from tests.op_db.core import Inputs, Sample


def pairs(make: Inputs, low: float | None = None) -> Iterator[Sample]:
    """Shapes that broadcast, layouts, 0-dim tensors. ``low``: the least value of the second operand."""
    yield Sample((make(2, 3), make(2, 3, low=low)))
    yield Sample((make(), make(low=low)))
    yield Sample((make(301), make(301, low=low)))
    yield Sample((make(2, 3), make(low=low)))
    yield Sample((make(), make(2, 3, low=low)))
    yield Sample((make(4, 1, 3), make(2, 1, low=low)))
    yield Sample((make(0, 3), make(3, low=low)))
    yield Sample((make(3, 4, layout="transposed"), make(3, 4, layout="strided", low=low)))
    yield Sample((make(3, 4, layout="transposed"), make(3, 4, layout="transposed", low=low)))
    yield Sample((make(3, 4), make(3, 4, layout="expanded", low=low)))


def mixed_dtypes(make: Inputs, low: float | None = None, bools: bool = True) -> Iterator[Sample]:
    for dtype in ("float64", "float32", "float16", "int64", "uint8", *(["bool"] if bools else [])):
        yield Sample((make(2, 3), make(2, 3, dtype=dtype, low=low)))
        yield Sample((make(2, 3), make(dtype=dtype, low=low)))


def numbers(make: Inputs) -> Iterator[Sample]:
    for number in (2, 2.5, True):
        yield Sample((make(2, 3), number))
        yield Sample((make(), number))
