"""Rows of functions of three tensors, element by element.

Mirrors: torch/testing/_internal/common_methods_invocations.py
Leaves out: complex inputs.
"""

from collections.abc import Callable, Iterator
from typing import Any

from tests.op_db.core import FLOATS, INTEGERS, Inputs, OpInfo, Sample


def triples(make: Inputs, low: float | None = None) -> Iterator[Sample]:
    yield Sample((make(2, 3), make(2, 3), make(2, 3, low=low)))
    yield Sample((make(301), make(301), make(301, low=low)))
    yield Sample((make(2, 3), make(3), make(2, 1, low=low)))
    yield Sample((make(3, 4, layout="transposed"), make(3, 4, layout="strided"), make(3, 4, low=low)))


def valued(samples: Callable[..., Any], low: float | None = None) -> Callable[[Inputs], Iterator[Sample]]:
    def generate(make: Inputs) -> Iterator[Sample]:
        for value in (1, 2, 0.5, -1.5) if make.is_float else (1, 2):
            for sample in samples(make, low):
                yield Sample(sample.args, {"value": value})

    return generate


def weighted_by_number(make: Inputs) -> Iterator[Sample]:
    for weight in (0, 0.3, 0.7, 1, -2):
        yield Sample((make(2, 3), make(2, 3), weight))
    yield Sample((make(2, 3), make(3), 0.25))
    yield Sample((make(2, 3), make(2, 3, dtype="float64"), 0.25))


ROWS = [
    OpInfo("addcmul", valued(triples), dtypes=(*FLOATS, *INTEGERS)),
    OpInfo("addcdiv", valued(triples, low=1)),
    OpInfo("lerp.Scalar", weighted_by_number),
    OpInfo("lerp.Tensor", triples),
]
