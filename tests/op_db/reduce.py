"""Reductions and running sums.

Mirrors: torch/testing/_internal/opinfo/core.py (ReductionOpInfo)
Leaves out: complex inputs.

A little over 500 lines long: what it draws from is one table.
"""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from tests.op_db.core import DTYPES, FLOATS, STRIDE_OF_ONE, Apart, DType, Input, Inputs, OpInfo, Sample

NAN, INF = float("nan"), float("inf")


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


def dim_or_none(make: Inputs) -> Iterator[Sample]:
    yield from everything(make)
    yield from one_dim(make)
    yield Sample((make(3, 4),), {"keepdim": True})
    yield Sample((make(0),))


def running(make: Inputs) -> Iterator[Sample]:
    for x in shapes(make):
        for dim in dims_of(x):
            yield Sample((x, dim))
    yield Sample((make(0, 3), 0))


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


def both_extremes(make: Inputs) -> Iterator[Sample]:
    for x in shapes(make):
        yield Sample((x,))
        for dim in dims_of(x):
            yield Sample((x,), {"dim": dim})
            yield Sample((x,), {"dim": dim, "keepdim": True})
    yield Sample((make(0),))
    yield Sample((make(0, 3),), {"dim": 0})
    yield Sample((make(0, 3),), {"dim": 1})


def tied_extremes(make: Inputs) -> Iterator[Sample]:
    yield Sample((make.of([1, 2, 2], [1, 1, 2]),))
    yield Sample((make.of([1, 2, 2], [1, 1, 2]),), {"dim": 1})


def with_nans(make: Inputs) -> Iterator[Sample]:
    for x in (make.of(1, NAN, 3), make.of([1, NAN, 2], [NAN, NAN, NAN]), make(3, 4), make(7), make(0), make()):
        yield Sample((x,))
        for dim in dims_of(x):
            yield Sample((x, dim))
        yield Sample((x, 0), {"keepdim": True})
    yield Sample((make.of([1, NAN, 2], [3, 4, NAN]), (0, 1)))


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


def norms_in(make: Inputs) -> Iterator[Sample]:
    for dtype in ("float64", "float32"):
        yield Sample((make(3, 4), 2), {"dtype": DType(dtype)})
        yield Sample((make(3), 1), {"dtype": DType(dtype)})


def norms_dim_in(make: Inputs) -> Iterator[Sample]:
    yield Sample((make(3, 4), 2, 1, False), {"dtype": DType("float64")})
    yield Sample((make(2, 3, 2), 3, (0, 2), True), {"dtype": DType("float64")})


def differences(make: Inputs) -> Iterator[Sample]:
    for x in (make(6), make(3, 4), make(2, 3, 2, layout="transposed")):
        for n in (0, 1, 2, 9):
            for dim in (0, -1):
                yield Sample((x, n, dim))
    yield Sample((make(2, 3),), {"prepend": make(2, 1), "append": make(2, 2)})
    yield Sample((make(2, 3),), {"append": make(1, 3), "dim": 0})
    yield Sample((make(),))
    yield Sample((make(3), -1))
    yield Sample((make(3),), {"prepend": make()})
    yield Sample((make(2, 3),), {"prepend": make(3, 1)})


def areas(make: Inputs) -> Iterator[Sample]:
    for x in (make(6), make(3, 4), make(2, 3, 2, layout="transposed")):
        yield Sample((x,))
        yield Sample((x,), {"dx": 2, "dim": 0})
        yield Sample((x,), {"dx": 0.5})
    yield Sample((make(2, 0),))
    yield Sample((make(2, 1),))


def areas_over(make: Inputs) -> Iterator[Sample]:
    yield Sample((make(3, 4), make(4)))
    yield Sample((make(3, 4), make(3, 4)))
    yield Sample((make(3, 4), make(3)), {"dim": 0})
    yield Sample((make(2, 3, 2), make(3, 2)), {"dim": 1})
    yield Sample((make(3, 4), make(3)))


def covariances(make: Inputs) -> Iterator[Sample]:
    counts = Input(np.array([1, 2, 3]), "int64")
    for x in (make(2, 3), make(3), make(3, 3, layout="transposed")):
        yield Sample((x,))
        yield Sample((x,), {"correction": 0})
        yield Sample((x,), {"fweights": counts})
        yield Sample((x,), {"aweights": make(3, low=0.5, high=2)})
        yield Sample((x,), {"fweights": counts, "aweights": make(3, low=0.5, high=2), "correction": 2})
    yield Sample((make(2, 2, 2),))
    yield Sample((make(2, 3),), {"fweights": Input(np.array([1, 2]), "int64")})


def correlations(make: Inputs) -> Iterator[Sample]:
    for x in (make(2, 4), make(3, 4, layout="transposed"), make(2, 1), make(2, 0)):
        yield Sample((x,))
    yield Sample((make(2, 2, 2),))


def all_pairs(make: Inputs) -> Iterator[Sample]:
    for p in (2.0, 1.0, 3.0, INF, 0.0, 1.5):
        yield Sample((make(3, 2), make(2, 2), p))
        yield Sample((make(2, 1, 2, 2), make(1, 3, 2), p))
    yield Sample((make(3, 2, layout="transposed"), make(4, 2)))
    yield Sample((make(2, 0), make(3, 0)))
    yield Sample((make(0, 3), make(2, 3)))
    yield Sample((make(3, 2), make(2, 3)))
    yield Sample((make(3), make(2, 3)))
    yield Sample((make(3, 2), make(2, 2), -1.0))


def two_points(make: Inputs) -> Iterator[Sample]:
    for p in (2, 1, INF, 3):
        yield Sample((make(3, 2), make(3, 2), p))
        yield Sample((make(3, 2), make(2), p))


def point_pairs(make: Inputs) -> Iterator[Sample]:
    for p in (2.0, 1.0, 3.0):
        yield Sample((make(3, 2), make(3, 2), p))
        yield Sample((make(3, 2), make(2), p), {"keepdim": True})


def angles(make: Inputs) -> Iterator[Sample]:
    yield Sample((make(3, 2), make(3, 2)))
    yield Sample((make(3, 2), make(3, 2), 0))
    yield Sample((make(2, 3, 2), make(3, 2)), {"dim": -1})
    yield Sample((make(3, 2), make(3, 2, dtype="int64")))
    yield Sample((make(3, 2, dtype="int64"), make(3, 2, dtype="int64")))


def shortened(make: Inputs) -> Iterator[Sample]:
    for p in (2, 1, 3, INF):
        for dim in (0, -1):
            yield Sample((make(3, 4), p, dim, 2.5))
    yield Sample((make(2, 3, 2, layout="transposed"), 2, 1, 1.0))
    yield Sample((make(3), 2, 0, 1))
    yield Sample((make(2, 2), 0, 0, 1))
    yield Sample((make(2, 2), 2, 0, -1))


def reduction(name: str, overload: str, samples: Any, **kwargs: Any) -> OpInfo:
    return OpInfo(name + overload, samples, **{"dtypes": DTYPES, **kwargs})


def has_infinity(sample: Sample) -> bool:
    return bool(np.isinf(sample.args[0].values).any())


def has_equal_values(sample: Sample) -> bool:
    values = sample.args[0].values
    return values.ndim > 0 and bool((values.min(-1) == values.max(-1)).any() or (values.min(0) == values.max(0)).any())


RUNNING_MEAN = Apart("torch's running mean loses an infinity that other numbers follow", when=has_infinity)
FLAT = Apart("the slope of std at equal values is rounding", says="gradient of", when=has_equal_values)


def is_empty(sample: Sample) -> bool:
    return 0 in sample.args[0].values.shape


def differs_by_nan(sample: Sample) -> bool:
    """Whether NaN can be among the differences: infinities make it too."""
    return not all(np.isfinite(leaf.values).all() for leaf in sample.args if isinstance(leaf, Input))


NO_NAN = Apart("torch's largest difference leaves NaN out", says="nan location mismatch", when=differs_by_nan)


def over(function: Callable[..., Any]) -> Callable[..., Any]:
    """numpy's reduction with torch's dims: an empty list means all of them, and a 0-dim tensor has one."""

    def reference(x: np.ndarray, dim: Any = None) -> Any:
        return function(x, axis=None if dim == () or x.ndim == 0 else dim)

    return reference


ROWS = [
    reduction("sum", "", with_dtype(everything_or_nothing), ref=over(np.sum)),
    reduction("sum", ".dim_IntList", with_dtype(several_dims)),
    reduction("mean", "", with_dtype(everything_or_nothing), dtypes=FLOATS),
    reduction("mean", ".dim", with_dtype(several_dims), dtypes=FLOATS),
    reduction("prod", "", with_dtype(everything_or_nothing), low=0.5, high=1.5, ref=over(np.prod)),
    reduction("prod", ".dim_int", with_dtype(one_dim), low=0.5, high=1.5, ref=over(np.prod)),
    reduction("prod", "", with_zeros, dtypes=FLOATS),
    reduction("prod", ".dim_int", with_zeros_dim, dtypes=FLOATS),
    reduction("max", "", everything_or_nothing),
    reduction("min", "", everything_or_nothing),
    reduction("max", ".dim", one_dim),
    reduction("min", ".dim", one_dim),
    reduction("amax", "", several_dims, ref=over(np.amax)),
    reduction("amin", "", several_dims, ref=over(np.amin)),
    reduction("argmax", "", dim_or_none),
    reduction("argmin", "", dim_or_none),
    reduction("all", "", everything_or_nothing, ref=over(np.all)),
    reduction("any", "", everything_or_nothing, ref=over(np.any)),
    reduction("all", ".dim", one_dim, ref=over(np.all)),
    reduction("any", ".dim", one_dim, ref=over(np.any)),
    reduction("all", ".dims", dims_or_none),
    reduction("any", ".dims", dims_or_none),
    reduction("aminmax", "", both_extremes),
    reduction("aminmax", "", tied_extremes, gradcheck=False),
    reduction("nansum", "", with_dtype(with_nans)),
    reduction("nanmean", " nanmean.out", with_nans, dtypes=FLOATS),
    reduction("count_nonzero", "", lambda make: [*everything(make), Sample((make(3, 4), 1))]),
    reduction("count_nonzero", ".dim_IntList", lambda make: [Sample((make(2, 3, 4), (0, 2)))]),
    reduction("var", ".correction", spread, dtypes=FLOATS),
    reduction("std", ".correction", spread, dtypes=FLOATS, apart=(FLAT,)),
    reduction("var", "", unbiased, dtypes=FLOATS),
    reduction("std", "", unbiased, dtypes=FLOATS, apart=(FLAT,)),
    reduction("var", ".dim var.out", unbiased_dim, dtypes=FLOATS),
    reduction("std", ".dim std.out", unbiased_dim, dtypes=FLOATS, apart=(FLAT,)),
    reduction("norm", ".Scalar", norms, dtypes=FLOATS),
    reduction("norm", ".ScalarOpt_dim", norms_dim, dtypes=FLOATS),
    reduction(
        "norm", ".ScalarOpt_dtype", norms_in, dtypes=FLOATS, call=lambda lib, x, p, **kwargs: lib.norm(x, p, **kwargs)
    ),
    reduction("norm", ".ScalarOpt_dim_dtype", norms_dim_in, dtypes=FLOATS),
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
    reduction("cumsum", "", with_dtype(running)),
    reduction("cumprod", "", with_dtype(products_so_far), low=0.5, high=1.5),
    reduction("cumprod", "", zeros_so_far, dtypes=FLOATS),
    reduction("cummax", "", scans),
    reduction("cummin", "", scans),
    reduction("logcumsumexp", "", log_sums_so_far, dtypes=FLOATS),
    reduction("logsumexp", "", log_sums, dtypes=FLOATS),
    reduction("diff", " diff.out", differences),
    reduction("trapezoid", ".dx", areas),
    reduction("trapezoid", ".x", areas_over),
    reduction("trapz", ".dx", areas),
    reduction("trapz", ".x", areas_over),
    reduction("cumulative_trapezoid", ".dx", areas),
    reduction("cumulative_trapezoid", ".x", areas_over),
    reduction(
        "cov",
        "",
        covariances,
        apart=(
            Apart("torch writes into a view of the leaf that it differentiates", says="used in an in-place operation"),
            Apart(
                "torch overwrites a single observation that has a weight, a NaN too, with 0",
                says="nan location mismatch",
                when=lambda sample: bool(sample.kwargs) and sample.args[0].values.shape[-1:] in ((), (1,)),
            ),
        ),
    ),
    reduction("corrcoef", "", correlations),
    reduction(
        "cdist", " _cdist_forward", all_pairs, dtypes=("float64", "float32"), torch_gradient=False, apart=(NO_NAN,)
    ),
    reduction(
        "dist",
        "",
        two_points,
        dtypes=FLOATS,
        apart=(Apart("torch passes on a gradient that is not there", says="Expected a proper Tensor but got None"),),
    ),
    reduction(
        "pdist",
        "",
        lambda make: [
            Sample((make(*shape), *p)) for shape in ((4, 3), (2, 5), (1, 3)) for p in ((), (1,), (3.0,), (0,))
        ],
        dtypes=("float64", "float32"),
        torch_gradient=False,
        apart=(NO_NAN, Apart("torch divides by the number of coordinates", when=is_empty, crashes=True)),
    ),
    reduction("pairwise_distance", "", point_pairs, dtypes=FLOATS),
    reduction("cosine_similarity", "", angles, dtypes=FLOATS),
    reduction("renorm", "", shortened, dtypes=FLOATS, apart=(STRIDE_OF_ONE,)),
]

# NaN, infinities and ties, without gradients.
SPECIAL = [
    *(
        reduction(name, "", special_values)
        for name in ("sum", "mean", "max", "min", "amax", "amin", "argmax", "argmin", "all", "any")
    ),
    *(reduction(n, ".dim", special_rows) for n in ("max", "min", "amax", "amin", "argmax", "argmin", "sum", "cumsum")),
    reduction("logsumexp", "", log_sums_special, dtypes=FLOATS),
    *(reduction(name, "", special_scans) for name in ("cummax", "cummin", "cumprod")),
    reduction("logcumsumexp", "", special_scans, dtypes=FLOATS),
    reduction("aminmax", "", special_values),
    reduction("dist", "", lambda make: [Sample((make.of(1, 2, 0), make.of(1, 0, 0), 0))], dtypes=FLOATS),
]
