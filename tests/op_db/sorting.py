"""Order: sorted rows, elements by rank, distinct elements, where numbers belong.

Mirrors: torch/testing/_internal/common_methods_invocations.py
Leaves out: histogram, histogramdd.

Which of equal elements comes first is left open where ``stable`` is not asked for: there the samples have none.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np

from tests.op_db.core import DTYPES, FLOATS, INTEGERS, Apart, Input, Inputs, OpInfo, Sample

NAN, INF = float("nan"), float("inf")


def distinct(make: Inputs, *shape: int, layout: str = "contiguous") -> Input:
    """The numbers 0, 1, 2 ... in some order; a float's are halves and partly negative."""
    count = int(np.prod(shape))
    values = np.random.default_rng(count).permutation(count).reshape(shape)
    if make.dtype == "bool":
        return Input(values == 1, "bool", layout)  # two of them at most are distinct
    return Input(values / 2 - 1 if make.is_float else values, make.dtype, layout)


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


def dims_of(x: Input) -> range:
    return range(-1, max(x.values.ndim, 1))


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


def special_rows(make: Inputs) -> Iterator[Sample]:
    yield Sample((make.of([1, NAN, 2, NAN], [NAN, 5, NAN, NAN], [3, -INF, 7, INF], [0, 1, NAN, -1]), 1))
    yield Sample((make.of([NAN, 2], [1, NAN]), 0))


def special_all(make: Inputs) -> Iterator[Sample]:
    for row in ((1, NAN, 2), (NAN, NAN), (INF, -INF, 1, 1), (2, 2, 2, 1), ()):
        yield Sample((make.of(*row),))


def special_ranks(make: Inputs) -> Iterator[Sample]:
    for sample in special_rows(make):
        for k in (1, 2):
            yield Sample((sample.args[0], k, sample.args[1]))


def quantiles(make: Inputs) -> Iterator[Sample]:
    points = Input(np.array([0.1, 0.3, 0.45, 0.9]), make.dtype)
    for x in (distinct(make, 7), distinct(make, 3, 4), distinct(make, 2, 3, 4, layout="transposed")):
        for method in ("linear", "lower", "higher", "midpoint", "nearest"):
            yield Sample((x, points), {"interpolation": method})
        for dim in dims_of(x):
            yield Sample((x, points, dim))
            yield Sample((x, points), {"dim": dim, "keepdim": True})
        yield Sample((x, Input(np.array(0.45), make.dtype)), {"keepdim": True})
    yield Sample((distinct(make, 3), Input(np.array([0.5, 2]), make.dtype)))
    yield Sample((make(0), points))
    yield Sample((distinct(make), points))


def quantiles_of_number(make: Inputs) -> Iterator[Sample]:
    for sample in quantiles(make):
        yield Sample((sample.args[0], 0.3, *sample.args[2:]), sample.kwargs)
    yield Sample((distinct(make, 3), 1.5))


def special_quantiles(make: Inputs) -> Iterator[Sample]:
    for sample in special_rows(make):
        yield Sample((sample.args[0], 0.6, sample.args[1]))
        yield Sample((sample.args[0], 0.6))
        yield Sample((sample.args[0], 0.0))
        yield Sample((sample.args[0], 1.0, sample.args[1]))


def uniques(make: Inputs) -> Iterator[Sample]:
    for x in (make(30), make(3, 4), make(3, 4, layout="transposed"), make(0), make(), make.of(NAN, 1, NAN, 0, -0.0)):
        yield Sample((x,))
        yield Sample((x, True, True, True))


def unique_rows(make: Inputs) -> Iterator[Sample]:
    x = make.of([1, 2, 1], [0, 2, 0], [1, 2, 1], [0, 1, 0])
    for dim in (0, 1, -1):
        yield Sample((x, dim))
        yield Sample((x, dim, True, True, True))
    yield Sample((make(2, 3, 2), 1, True, True, True))
    yield Sample((make(0, 2), 0, True, True, True))
    yield Sample((make(0, 2), 1))
    yield Sample((make.of([NAN, 1], [NAN, 1], [0, 0]), 0, True, True, True))


def unique_neighbours(make: Inputs) -> Iterator[Sample]:
    for x in (make.of(1, 1, 2, 1, NAN, NAN), make.of([1, 1], [1, 2]), make(0)):
        yield Sample((x,))
        yield Sample((x, True, True))
        yield Sample((x, True, True, 0))


def unique_neighbour_rows(make: Inputs) -> Iterator[Sample]:
    yield Sample((make.of([1, 2], [1, 2], [0, 1], [1, 2]), 0, True, True))


def searches(make: Inputs) -> Iterator[Sample]:
    boundaries = make.of(-2, 0, 0, 1, 3)
    for options in ({}, {"right": True}, {"side": "right"}, {"side": "left", "out_int32": True}):
        yield Sample((boundaries, make(3, 4)), options)
        yield Sample((make.of([-2, 0, 1], [0, 0, 3]), make(2, 5)), options)
        yield Sample((boundaries, make()), options)
    yield Sample((boundaries, make(3, 4, layout="transposed")))
    yield Sample((boundaries, make.of(NAN, INF, -INF)))
    yield Sample((make.of(1, -2, 0), make(4)), {"sorter": Input(np.array([1, 2, 0]), "int64")})
    yield Sample((boundaries, make(3, dtype="float64")))
    yield Sample((boundaries, make(0)))
    yield Sample((make(0), make(3)))
    yield Sample((boundaries, make(3)), {"side": "left", "right": True})


def searches_of_number(make: Inputs) -> Iterator[Sample]:
    for value in (0, 1, 2.5):
        yield Sample((make.of(-2, 0, 0, 1, 3), value))
        yield Sample((make.of(-2, 0, 0, 1, 3), value), {"right": True})
    yield Sample((make.of([1, 2]), 1))


def buckets(make: Inputs) -> Iterator[Sample]:
    for right in (False, True):
        yield Sample((make(3, 4), make.of(-2, 0, 0, 1, 3)), {"right": right})
    yield Sample((make(3), make(2, 2)))
    yield Sample((make(3), make.of(0, 1)), {"out_int32": True})


def buckets_of_number(make: Inputs) -> Iterator[Sample]:
    yield Sample((1, make.of(-2, 0, 0, 1, 3)))
    yield Sample((0.5, make.of(-2, 0, 0, 1, 3)), {"right": True, "out_int32": True})


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


def row(ops: str, samples: Any, **options: Any) -> OpInfo:
    return OpInfo(ops, samples, **{"dtypes": DTYPES, **options})


NUMBERS = (*FLOATS, *INTEGERS)
WIDE = ("float64", "float32")


def has_nan(sample: Sample) -> bool:
    return bool(np.isnan(sample.args[0].values).any())


def is_unsorted(boundaries: Input, sorter: Input | None = None) -> bool:
    values = boundaries.values
    if sorter is not None and sorter.values.shape == values.shape:
        values = np.take_along_axis(values, sorter.values % max(values.shape[-1], 1), -1)
    return bool((values.ndim > 0) and not (values[..., :-1] <= values[..., 1:]).all())


UNSORTED = "a search among numbers that are not sorted depends on how it goes"
UNSORTED_FIRST = Apart(UNSORTED, when=lambda sample: is_unsorted(sample.args[0], sample.kwargs.get("sorter")))
UNSORTED_SECOND = Apart(UNSORTED, when=lambda sample: is_unsorted(sample.args[1]))
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
    row("quantile quantile.out", quantiles, dtypes=WIDE),
    row("quantile.scalar quantile.scalar_out", quantiles_of_number, dtypes=WIDE),
    row("nanquantile nanquantile.out", quantiles, dtypes=WIDE),
    row("nanquantile.scalar nanquantile.scalar_out", quantiles_of_number, dtypes=WIDE),
    row("_unique2", uniques, gradcheck=False),
    row("_unique", lambda make: [Sample(s.args[:3]) for s in uniques(make)], gradcheck=False),
    row("unique_dim", unique_rows, gradcheck=False, call=lambda lib, *args: lib._C._VariableFunctions.unique_dim(*args),
        apart=(Apart("torch gives slices with NaN no order", when=has_nan),)),
    row("unique_consecutive", unique_neighbours,
        gradcheck=False, out=False, call=lambda lib, *args: lib._C._VariableFunctions.unique_consecutive(*args)),
    row("unique_dim_consecutive", unique_neighbour_rows, gradcheck=False,
        call=lambda lib, *args: (lib.ops.aten if lib.__name__ == "torch" else
                                 lib._C._VariableFunctions).unique_dim_consecutive(*args)),
    row("searchsorted.Tensor", searches, dtypes=NUMBERS, apart=(UNSORTED_FIRST,)),
    row("searchsorted.Scalar", searches_of_number, dtypes=NUMBERS, apart=(UNSORTED_FIRST,)),
    row("bucketize.Tensor", buckets, dtypes=NUMBERS, apart=(UNSORTED_SECOND,)),
    row("bucketize.Scalar", buckets_of_number, dtypes=NUMBERS, out=False, apart=(UNSORTED_SECOND,)),
    row("bincount", counts, dtypes=INTEGERS),
    row("histc", histograms, dtypes=FLOATS,
        apart=(Apart("torch looks at the bounds of an integer dtype before it refuses it", says="histogram_cpu"),)),
]  # fmt: skip

# NaN, infinities and ties, without gradients.
SPECIAL = [
    *(row(name, special_rows) for name in ("median.dim", "nanmedian.dim")),
    *(row(name, special_all) for name in ("median", "nanmedian")),
    *(row(name, special_ranks) for name in ("kthvalue", "topk")),
    *(row(name, special_quantiles) for name in ("quantile.scalar", "nanquantile.scalar")),
]
