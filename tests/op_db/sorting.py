"""Rows of sorting and order statistics.

Which of equal elements comes first is left open where ``stable`` is not asked for: there the samples have none.

Mirrors: torch/testing/_internal/common_methods_invocations.py
Leaves out: complex inputs.
"""

from collections.abc import Iterator

from tests.op_db.core import INF, NAN, Apart, Input, Inputs, Sample
from tests.op_db.samples.sorting import NUMBERS, dims_of, distinct, has_nan, row, special_rows


def rows(make: Inputs) -> Iterator[Input]:
    if make.dtype == "bool":
        yield distinct(make, 2)
        yield distinct(make, 1)
        return
    yield distinct(make)
    yield distinct(make, 1)
    yield distinct(make, 7)
    yield distinct(make, 100)
    yield distinct(make, 3, 4)
    yield distinct(make, 4, 3, layout="transposed")
    yield distinct(make, 2, 3, 4)
    yield distinct(make, 3, 4, layout="strided")
    yield distinct(make, 0, 3)


def sorts(make: Inputs) -> Iterator[Sample]:
    for x in rows(make):
        yield Sample((x,))
        for dim in dims_of(x):
            yield Sample((x, dim))
            yield Sample((x, dim, True))
    yield Sample((make(2, 3), 2))


def stable_sorts(make: Inputs) -> Iterator[Sample]:
    for x in (make(30), make(4, 30), make(2, 1100), make(3, 4, layout="transposed"), make.of(0, -0.0, 1, NAN, -INF)):
        for descending in (False, True):
            yield Sample((x,), {"stable": True, "descending": descending})
            yield Sample((x,), {"stable": True, "dim": 0, "descending": descending})


def of_rows(make: Inputs) -> Iterator[Sample]:
    for x in rows(make):
        yield Sample((x,))


def largest(make: Inputs) -> Iterator[Sample]:
    for x in rows(make):
        for dim in dims_of(x):
            size = x.values.shape[dim] if x.values.ndim else 1
            for k in sorted({0, 1, size // 2, size}):
                yield Sample((x, k, dim))
                yield Sample((x, k), {"dim": dim, "largest": False})
    yield Sample((distinct(make, 5), 6))
    yield Sample((make(70, 3), 1, 0))
    yield Sample((make(5, 9), 4))


def kths(make: Inputs) -> Iterator[Sample]:
    for x in rows(make):
        for dim in dims_of(x):
            size = x.values.shape[dim] if x.values.ndim else 1
            for k in sorted({1, size // 2 + 1, size}):
                yield Sample((x, k, dim))
                yield Sample((x, k), {"dim": dim, "keepdim": True})
    yield Sample((make(30), 7))
    yield Sample((distinct(make, 5), 0))


def rows_with_dim(make: Inputs) -> Iterator[Sample]:
    for x in (*rows(make), make(30), make(5, 9)):
        for dim in dims_of(x):
            yield Sample((x, dim))
            yield Sample((x, dim), {"keepdim": True})


def special_all(make: Inputs) -> Iterator[Sample]:
    for values in ((1, NAN, 2), (NAN, NAN), (INF, -INF, 1, 1), (2, 2, 2, 1), ()):
        yield Sample((make.of(*values),))


def special_ranks(make: Inputs) -> Iterator[Sample]:
    for sample in special_rows(make):
        for k in (1, 2):
            yield Sample((sample.args[0], k, sample.args[1]))


NAN_IN_A_MODE = Apart("torch sorts numbers with NaN by an order that puts NaN nowhere", when=has_nan)

PAST_AN_EXPANDED = Apart(
    "torch reads past the memory of an expanded tensor",
    when=lambda sample: sample.args[0].layout == "expanded" and sample.args[0].values.size > 1,
)

# torch's own is stable for 16 numbers and less.
UNSTABLE = Apart("who does not ask for it gets equals in any order", when=lambda s: s.args[0].values.size > 16)

ROWS = [
    row("sort", sorts, apart=(UNSTABLE,)),
    row("sort.stable", stable_sorts),
    row("argsort", sorts, apart=(UNSTABLE,)),
    row("argsort.stable argsort.stable_out", stable_sorts),
    row("msort msort.out", of_rows),
    row("topk", largest, dtypes=NUMBERS),
    row("kthvalue", kths, dtypes=NUMBERS),
    row("median", of_rows, dtypes=NUMBERS),
    row("median.dim", rows_with_dim, dtypes=NUMBERS, apart=(PAST_AN_EXPANDED,)),
    row("nanmedian", of_rows, dtypes=NUMBERS),
    row("nanmedian.dim", rows_with_dim, dtypes=NUMBERS, apart=(PAST_AN_EXPANDED,)),
    row("mode", rows_with_dim, apart=(NAN_IN_A_MODE,)),
]

# Values only.
SPECIAL = [
    *(row(name, special_rows) for name in ("median.dim", "nanmedian.dim")),
    *(row(name, special_all) for name in ("median", "nanmedian")),
    *(row(name, special_ranks) for name in ("kthvalue", "topk")),
]
