"""Samples of tensors and dimensions for reductions and scans.

Mirrors: torch/testing/_internal/common_methods_invocations.py
Leaves out: the samples that only one family draws, which stand in the file of the family.
"""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from tests.op_db.core import DTYPES, INF, NAN, DType, Input, Inputs, OpInfo, Sample


def shapes(make: Inputs) -> Iterator[Input]:
    """Rows, columns, both, neither: every path of the kernel."""
    yield make()
    yield make(1)
    yield make(7)
    yield make(301)
    yield make(3, 4)
    yield make(2, 130)
    yield make(130, 3)
    yield make(2, 3, 4)
    yield make(3, 2, 5, layout="transposed")
    yield make(3, 4, layout="strided")
    yield make(4, 3, layout="expanded")


def everything(make: Inputs) -> Iterator[Sample]:
    for x in shapes(make):
        yield Sample((x,))


def dims_of(x: Input) -> Iterator[int]:
    yield from range(-1, max(x.values.ndim, 1))


def one_dim(make: Inputs) -> Iterator[Sample]:
    for x in shapes(make):
        for dim in dims_of(x):
            yield Sample((x, dim))
        yield Sample((x, 0), {"keepdim": True})
    yield Sample((make(2, 3), 2))
    yield Sample((make(0, 3), 1))
    yield Sample((make(0, 3), 0))


def several_dims(make: Inputs) -> Iterator[Sample]:
    yield from one_dim(make)
    for x in (make(2, 3, 4), make(3, 2, 5, layout="transposed")):
        for dim in ((0, 1), (0, 2), (1, 2), (-1, 0), (0, 1, 2), (1,), ()):
            yield Sample((x, dim))
            yield Sample((x, dim), {"keepdim": True})
    yield Sample((make(2, 3), (0, 0)))


def with_dtype(samples: Callable[[Inputs], Iterator[Sample]]) -> Callable[[Inputs], Iterator[Sample]]:
    def generate(make: Inputs) -> Iterator[Sample]:
        yield from samples(make)
        for sample in list(samples(make))[:3]:
            for dtype in ("float64", "float32", "int64", "int32"):
                yield Sample(sample.args, {**sample.kwargs, "dtype": DType(dtype)})

    return generate


def empty(make: Inputs) -> Iterator[Sample]:
    yield Sample((make(0),))
    yield Sample((make(2, 0),))


def everything_or_nothing(make: Inputs) -> Iterator[Sample]:
    yield from everything(make)
    yield from empty(make)


def special_values(make: Inputs) -> Iterator[Sample]:
    for row in ((1, NAN, 3), (NAN, NAN), (INF, -INF, 1), (-INF, -INF), (2, 5, 5, 1), (0, 0), (-0.0, 0.0), (7,)):
        yield Sample((make.of(*row),))
    yield Sample((make.of([1, NAN, 2], [NAN, 5, 2]),))


def special_rows(make: Inputs) -> Iterator[Sample]:
    for dim in (0, 1):
        yield Sample((make.of([1, NAN, 2, 2], [NAN, 5, 2, 0], [3, NAN, 7, 7]), dim))


def reduction(name: str, overload: str, samples: Any, **kwargs: Any) -> OpInfo:
    return OpInfo(name + overload, samples, **{"dtypes": DTYPES, **kwargs})


def over(function: Callable[..., Any]) -> Callable[..., Any]:
    """numpy's reduction with torch's dims: an empty list means all of them, and a 0-dim tensor has one."""

    def reference(x: np.ndarray, dim: Any = None) -> Any:
        return function(x, axis=None if dim == () or x.ndim == 0 else dim)

    return reference
