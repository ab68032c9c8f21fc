"""Rows of scans: each result depends on its element and on all elements before it.

Mirrors: torch/testing/_internal/common_methods_invocations.py
Leaves out: complex inputs.
"""

from collections.abc import Iterator

from tests.op_db.core import FLOATS, INF, NAN, Inputs, Sample
from tests.op_db.samples.reduce import dims_of, reduction, shapes, special_rows, with_dtype


def running(make: Inputs) -> Iterator[Sample]:
    for x in shapes(make):
        for dim in dims_of(x):
            yield Sample((x, dim))
    yield Sample((make(0, 3), 0))


def scans(make: Inputs) -> Iterator[Sample]:
    for x in shapes(make):
        for dim in dims_of(x):
            yield Sample((x, dim))
    yield Sample((make(0, 3), 0))
    yield Sample((make(2, 3), 2))


def products_so_far(make: Inputs) -> Iterator[Sample]:
    for x in (make(), make(1), make(7), make(3, 4), make(3, 2, 2, layout="transposed"), make(0, 3)):
        for dim in dims_of(x):
            yield Sample((x, dim))


def zeros_so_far(make: Inputs) -> Iterator[Sample]:
    for dim in (0, 1):
        yield Sample((make.of([2, 0, 3], [1, 2, 3], [0, 0, 2]), dim))


def special_scans(make: Inputs) -> Iterator[Sample]:
    for row in ((1, NAN, 3, NAN, 5), (1, 1, 2, 2, 1), (-INF, -INF, 1), (INF, INF, -INF), (NAN,), (3, 2, 2, 1, 0, 0)):
        yield Sample((make.of(*row), 0))


def log_sums_so_far(make: Inputs) -> Iterator[Sample]:
    for x in (make(), make(5), make(3, 4), make(3, 2, 2, layout="transposed")):
        for dim in dims_of(x):
            yield Sample((x, dim))


ROWS = [
    reduction("cumsum", "", with_dtype(running)),
    reduction("cumprod", "", with_dtype(products_so_far), low=0.5, high=1.5),
    reduction("cumprod", "", zeros_so_far, dtypes=FLOATS),
    reduction("cummax", "", scans),
    reduction("cummin", "", scans),
    reduction("logcumsumexp", "", log_sums_so_far, dtypes=FLOATS),
]

# Values only.
SPECIAL = [
    reduction("cumsum", ".dim", special_rows),
    *(reduction(name, "", special_scans) for name in ("cummax", "cummin", "cumprod")),
    reduction("logcumsumexp", "", special_scans, dtypes=FLOATS),
]
