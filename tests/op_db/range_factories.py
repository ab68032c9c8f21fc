"""Rows of new tensors of evenly spaced numbers.

Mirrors: torch/testing/_internal/common_methods_invocations.py
Leaves out: complex inputs.
"""

import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from tests.op_db.core import DType, Input, Inputs, Library, Sample
from tests.op_db.samples.factories import calls, row


def between(*are_tensors: bool) -> Any:
    """From 1 to 3, each given as a number or as a tensor of no dimensions."""

    def samples(make: Inputs) -> Iterator[Sample]:
        ends = [
            Input(np.asarray(number, dtype=float), "float32") if is_tensor else number
            for number, is_tensor in zip((1, 3), are_tensors, strict=True)
        ]
        for steps in (5, 1, 0):
            yield Sample((*ends, steps), {"dtype": DType(make.dtype)})
            yield Sample((*ends, steps))
        yield Sample((*(make(2) if is_tensor else 1 for is_tensor in are_tensors), 3))  # no numbers

    return samples


def closed_ranges(make: Inputs) -> Iterator[Sample]:
    yield from calls((0, 3), (5, 0, -2))(make)
    if make.is_float:  # of integers the step would be 0, by which torch divides: the process ends
        yield from calls((0, 1, 0.25))(make)


def quietly(name: str) -> Callable[..., Any]:
    def call(lib: Library, *args: Any, **kwargs: Any) -> Any:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # deprecated
            return getattr(lib, name)(*args, **kwargs)

    return call


# The results have no gradient: values only.
VALUES = [
    row("arange", calls((5,))),
    row("arange.start", calls((1, 5))),
    row("arange.start_step", calls((1, 9, 3))),
    row("linspace", calls((0, 10, 5), (0, 1, 1))),
    row("logspace", calls((0, 2, 3), (0, 6, 7, 2.0), (0, 1, 1), (0, 1, 0))),
    *(
        row(f"{space}.{ends}", between(*args))
        for space in ("linspace", "logspace")
        for ends, args in (
            ("Tensor_Tensor", (True, True)),
            ("Tensor_Scalar", (True, False)),
            ("Scalar_Tensor", (False, True)),
        )
    ),
    row("range.step", closed_ranges, call=quietly("range")),
]
