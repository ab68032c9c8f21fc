"""Rows of distances between vectors, and renorm.

Mirrors: torch/testing/_internal/common_methods_invocations.py
Leaves out: complex inputs.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np

from tests.op_db.core import FLOATS, INF, STRIDE_OF_ONE, Apart, Input, Inputs, OpInfo, Sample
from tests.op_db.samples.reduce import reduction
from tests.op_db.samples.unary import backward_op


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


def is_empty(sample: Sample) -> bool:
    return 0 in sample.args[0].values.shape


def are_one_point(sample: Sample) -> bool:
    """Whether the difference of two points is 0 in each coordinate; it may have none."""
    return not np.any(np.subtract(sample.args[0].values, sample.args[1].values))


NORM_OF_NOTHING = Apart("torch's second gradient of a norm of no elements is NaN", when=is_empty, says="nan location")


def has_near_points(sample: Sample) -> bool:
    """Whether a point of the first set is a point of the second, or near one for its distance from the origin."""
    one, other = (np.asarray(leaf.values, np.float64) for leaf in sample.args[:2])
    with np.errstate(all="ignore"):
        apart = np.linalg.norm(one[..., :, None, :] - other[..., None, :, :], axis=-1)
        return bool((apart <= 1e-3 * (1 + np.linalg.norm(one, axis=-1)[..., :, None])).any())


def differs_by_nan(sample: Sample) -> bool:
    """Whether NaN can be among the differences: infinities make it too."""
    return not all(np.isfinite(leaf.values).all() for leaf in sample.args if isinstance(leaf, Input))


NO_NAN = Apart("torch's largest difference leaves NaN out", says="nan location mismatch", when=differs_by_nan)


def shape_of(argument: Any) -> tuple[int, ...]:
    return argument.values.shape if isinstance(argument, Input) else ()


def has_other_cdist_gradient(sample: Sample) -> bool:
    """Whether the shape of the gradient is not that of the distances between two sets of points."""
    grad, one, other = (shape_of(argument) for argument in sample.args[:3])
    if len(one) < 2 or len(other) < 2:
        return False
    try:
        return grad != (*np.broadcast_shapes(one[:-2], other[:-2]), one[-2], other[-2])
    except ValueError:
        return False


def has_other_pdist_gradient(sample: Sample) -> bool:
    """Whether the gradient has not an element for each pair of points, or there are no points or coordinates."""
    grad, points = (shape_of(argument) for argument in sample.args[:2])
    return len(points) == 2 and (0 in points or grad != (points[0] * (points[0] - 1) // 2,))


def points(make: Inputs) -> Iterator[Sample]:
    yield Sample((make(3, 2), make(4, 2)))
    yield Sample((make(2, 3, 2, layout="transposed"), make(2, 4, 2)))


def rows_of_points(make: Inputs) -> Iterator[Sample]:
    for p in (2.0, 1.0, 3.0, INF, 0.0, 1.5):
        yield Sample((make(4, 3), p))
    yield Sample((make(1, 3), 2.0))
    yield Sample((make(4, 3, layout="transposed"), 2.0))


def cdist_backward(lib: Any, grad: Any, x1: Any, x2: Any, p: float) -> Any:
    distances = lib.cdist(x1, x2, p, compute_mode="donot_use_mm_for_euclid_dist")
    return backward_op(lib, "_cdist_backward")(grad, x1, x2, p, distances)


def pdist_backward(lib: Any, grad: Any, x: Any, p: float) -> Any:
    return backward_op(lib, "_pdist_backward")(grad, x, p, lib.pdist(x, p))


ROWS = [
    reduction(
        "cdist", " _cdist_forward", all_pairs, dtypes=("float64", "float32"), torch_gradient=False, apart=(NO_NAN,)
    ),
    reduction(
        "dist",
        "",
        two_points,
        dtypes=FLOATS,
        apart=(
            Apart("torch passes on a gradient that is not there", says="Expected a proper Tensor but got None"),
            Apart("torch's second gradient of a distance of 0 is NaN", when=are_one_point, says="nan location"),
        ),
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
    reduction(
        "_euclidean_dist",
        "",
        points,
        dtypes=("float64", "float32"),
        apart=(Apart("the root of a rounded 0 is far from 0", when=has_near_points), NO_NAN),
    ),
    OpInfo(
        "_pdist_forward",
        rows_of_points,
        dtypes=("float64", "float32"),
        call=lambda lib, *args: backward_op(lib, "_pdist_forward")(*args),
        torch_gradient=False,
        apart=(NO_NAN, Apart("torch divides by the number of coordinates", when=is_empty, crashes=True)),
    ),
    reduction("pairwise_distance", "", point_pairs, dtypes=FLOATS, apart=(NORM_OF_NOTHING,)),
    reduction("cosine_similarity", "", angles, dtypes=FLOATS),
    reduction("renorm", "", shortened, dtypes=FLOATS, apart=(STRIDE_OF_ONE,)),
]

# Values only.
SPECIAL = [
    reduction("dist", "", lambda make: [Sample((make.of(1, 2, 0), make.of(1, 0, 0), 0))], dtypes=FLOATS),
]

# As in torch, there are no second derivatives of the ops themselves.
VALUES = [
    OpInfo(
        "_cdist_backward",
        lambda make: [Sample((make(3, 4), make(3, 2), make(4, 2), p)) for p in (2.0, 1.0, 3.0, INF, 0.0, 1.5)],
        dtypes=("float64", "float32"),
        call=cdist_backward,
        gradient=False,
        apart=(
            NO_NAN,
            Apart("torch does not look at the gradient's shape", when=has_other_cdist_gradient, crashes=True),
        ),
    ),
    OpInfo(
        "_pdist_backward",
        lambda make: [Sample((make(6), make(4, 3), p)) for p in (2.0, 1.0, 3.0, INF, 0.0, 1.5)],
        dtypes=("float64", "float32"),
        call=pdist_backward,
        gradient=False,
        apart=(Apart("torch does not look at the shapes", when=has_other_pdist_gradient, crashes=True),),
    ),
]
