"""Rows of reductions: sums, means, products, norms, all and any.

Mirrors: torch/testing/_internal/common_methods_invocations.py
Leaves out: complex inputs.
"""

from collections.abc import Iterator

import numpy as np

from tests.op_db.core import FLOATS, INF, NAN, Apart, DType, Inputs, Sample
from tests.op_db.samples.reduce import (
    dims_of,
    everything,
    everything_or_nothing,
    one_dim,
    over,
    reduction,
    several_dims,
    special_rows,
    special_values,
    with_dtype,
)


def norms(make: Inputs) -> Iterator[Sample]:
    for p in (2, 1, 3, 2.5, INF, -INF, 0):
        yield Sample((make(7), p))
        yield Sample((make(3, 4, layout="transposed"), p))


def norms_dim(make: Inputs) -> Iterator[Sample]:
    for p in (None, 2, 1, 3, INF):
        yield Sample((make(3, 4), p, 0))
        yield Sample((make(2, 3, 4), p, (0, 2)), {"keepdim": True})


def with_zeros(make: Inputs) -> Iterator[Sample]:
    yield Sample((make.of(2, 0, 3),))
    yield Sample((make.of(0, 0, 3),))
    yield Sample((make.of([2, 0, 3], [1, 2, 3]),))


def with_zeros_dim(make: Inputs) -> Iterator[Sample]:
    for dim in (0, 1):
        yield Sample((make.of([2, 0, 3], [1, 2, 3], [0, 0, 2]), dim))


def log_sums(make: Inputs) -> Iterator[Sample]:
    for x in (make(7), make(3, 4), make(3, 2, 5, layout="transposed")):
        yield Sample((x, 0))
        yield Sample((x, -1), {"keepdim": True})
    yield Sample((make(2, 3, 4), (0, 2)))


def log_sums_special(make: Inputs) -> Iterator[Sample]:
    yield Sample((make.of(1000, 1000.5, -1000), 0))
    yield Sample((make(2, 0), 0))
    yield Sample((make(2, 0), 1), {"keepdim": True})
    yield Sample((make.of([INF, 1], [-INF, -INF], [NAN, 0], [-INF, 1]), 1))


def dims_or_none(make: Inputs) -> Iterator[Sample]:
    yield from everything_or_nothing(make)
    for x in (make(2, 3, 4), make(3, 2, 5, layout="transposed"), make(3, 4)):
        for dim in ((0, 1), (-1,), (), None):
            yield Sample((x, dim))
            yield Sample((x, dim), {"keepdim": True})
    yield Sample((make(2, 3), (0, 0)))
    yield Sample((make(2, 3), (2,)))


def with_nans(make: Inputs) -> Iterator[Sample]:
    for x in (make.of(1, NAN, 3), make.of([1, NAN, 2], [NAN, NAN, NAN]), make(3, 4), make(7), make(0), make()):
        yield Sample((x,))
        for dim in dims_of(x):
            yield Sample((x, dim))
        yield Sample((x, 0), {"keepdim": True})
    yield Sample((make.of([1, NAN, 2], [3, 4, NAN]), (0, 1)))


def norms_in(make: Inputs) -> Iterator[Sample]:
    for dtype in ("float64", "float32"):
        yield Sample((make(3, 4), 2), {"dtype": DType(dtype)})
        yield Sample((make(3), 1), {"dtype": DType(dtype)})


def norms_dim_in(make: Inputs) -> Iterator[Sample]:
    yield Sample((make(3, 4), 2, 1, False), {"dtype": DType("float64")})
    yield Sample((make(2, 3, 2), 3, (0, 2), True), {"dtype": DType("float64")})


def spread(make: Inputs) -> Iterator[Sample]:
    for x in (make(7), make(301), make(3, 4), make(130, 3), make(3, 2, 5, layout="transposed")):
        for dim in (None, 0, -1):
            for correction in (None, 0, 1, 2.5):
                yield Sample((x,), {"dim": dim, "correction": correction})
    yield Sample((make(2, 3, 4), (0, 2)), {"keepdim": True})
    yield Sample((make(2, 3, 4), [1]), {"correction": 0})


def unbiased(make: Inputs) -> Iterator[Sample]:
    yield Sample((make(3, 4),))
    yield Sample((make(3, 4), False))
    yield Sample((make(3, 4), True))


def unbiased_dim(make: Inputs) -> Iterator[Sample]:
    yield Sample((make(3, 4), 0))
    yield Sample((make(3, 4), 1, False))
    yield Sample((make(3, 4), (0, 1), True, True))


def has_infinity(sample: Sample) -> bool:
    return bool(np.isinf(sample.args[0].values).any())


def has_equal_values(sample: Sample) -> bool:
    values = sample.args[0].values
    return values.ndim > 0 and bool((values.min(-1) == values.max(-1)).any() or (values.min(0) == values.max(0)).any())


RUNNING_MEAN = Apart("torch's running mean loses an infinity that other numbers follow", when=has_infinity)

FLAT = Apart("the slope of std at equal values is rounding", says="gradient of", when=has_equal_values)


ROWS = [
    reduction("sum", "", with_dtype(everything_or_nothing), ref=over(np.sum)),
    reduction("sum", ".dim_IntList", with_dtype(several_dims)),
    reduction("mean", "", with_dtype(everything_or_nothing), dtypes=FLOATS),
    reduction("mean", ".dim", with_dtype(several_dims), dtypes=FLOATS),
    reduction("prod", "", with_dtype(everything_or_nothing), low=0.5, high=1.5, ref=over(np.prod)),
    reduction("prod", ".dim_int", with_dtype(one_dim), low=0.5, high=1.5, ref=over(np.prod)),
    reduction("prod", "", with_zeros, dtypes=FLOATS),
    reduction("prod", ".dim_int", with_zeros_dim, dtypes=FLOATS),
    reduction("all", "", everything_or_nothing, ref=over(np.all)),
    reduction("any", "", everything_or_nothing, ref=over(np.any)),
    reduction("all", ".dim", one_dim, ref=over(np.all)),
    reduction("any", ".dim", one_dim, ref=over(np.any)),
    reduction("all", ".dims", dims_or_none),
    reduction("any", ".dims", dims_or_none),
    reduction("nansum", "", with_dtype(with_nans)),
    reduction("nanmean", " nanmean.out", with_nans, dtypes=FLOATS),
    reduction("count_nonzero", "", lambda make: [*everything(make), Sample((make(3, 4), 1))]),
    reduction("count_nonzero", ".dim_IntList", lambda make: [Sample((make(2, 3, 4), (0, 2)))]),
    reduction("norm", ".Scalar", norms, dtypes=FLOATS),
    reduction("norm", ".ScalarOpt_dim", norms_dim, dtypes=FLOATS),
    reduction(
        "norm", ".ScalarOpt_dtype", norms_in, dtypes=FLOATS, call=lambda lib, x, p, **kwargs: lib.norm(x, p, **kwargs)
    ),
    reduction("norm", ".ScalarOpt_dim_dtype", norms_dim_in, dtypes=FLOATS),
    reduction("logsumexp", "", log_sums, dtypes=FLOATS),
    reduction("var", ".correction", spread, dtypes=FLOATS),
    reduction("std", ".correction", spread, dtypes=FLOATS, apart=(FLAT,)),
    reduction("var", "", unbiased, dtypes=FLOATS),
    reduction("std", "", unbiased, dtypes=FLOATS, apart=(FLAT,)),
    reduction("var", ".dim var.out", unbiased_dim, dtypes=FLOATS),
    reduction("std", ".dim std.out", unbiased_dim, dtypes=FLOATS, apart=(FLAT,)),
    reduction("var_mean", ".correction", spread, dtypes=FLOATS, apart=(RUNNING_MEAN,)),
    reduction(
        "std_mean",
        ".correction",
        spread,
        dtypes=FLOATS,
        apart=(
            RUNNING_MEAN,
            FLAT,
        ),
    ),
    reduction("var_mean", "", unbiased, dtypes=FLOATS, apart=(RUNNING_MEAN,)),
    reduction(
        "std_mean",
        "",
        unbiased,
        dtypes=FLOATS,
        apart=(
            RUNNING_MEAN,
            FLAT,
        ),
    ),
    reduction("var_mean", ".dim", unbiased_dim, dtypes=FLOATS, apart=(RUNNING_MEAN,)),
    reduction(
        "std_mean",
        ".dim",
        unbiased_dim,
        dtypes=FLOATS,
        apart=(
            RUNNING_MEAN,
            FLAT,
        ),
    ),
]

# Values only.
SPECIAL = [
    *(reduction(name, "", special_values) for name in ("sum", "mean", "all", "any")),
    reduction("sum", ".dim", special_rows),
    reduction("logsumexp", "", log_sums_special, dtypes=FLOATS),
]
