"""Reading and writing at places that indices and masks name.

Mirrors: torch/testing/_internal/common_methods_invocations.py
Leaves out: sparse gradients.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np

from tests.op_db.core import DTYPES, Apart, Input, Inputs, OpInfo, Sample

NAN, INF = float("nan"), float("inf")
VIEW = Apart("torch asks for a view where only a copy can be", says="view size is not compatible")


def row(ops: str, samples: Any, **options: Any) -> OpInfo:
    return OpInfo(ops, samples, dtypes=DTYPES, **options)


def places(*values: Any) -> Input:
    return Input(np.array(values, dtype=np.int64), "int64")


def mask(make: Inputs, *shape: int) -> Input:
    return make(*shape, dtype="bool")


def indexed(make: Inputs) -> Iterator[Sample]:
    yield Sample((make(4, 3), places(2, 0, -1)))
    yield Sample((make(4, 3), slice(None), places(2, 0)))
    yield Sample((make(4, 3, layout="transposed"), places([0, 1], [3, 3]), places(1, 2)))
    yield Sample((make(3, 2, 2), places(0, 2), slice(None), places(1, 1)))
    yield Sample((make(4, 3), mask(make, 4, 3)))


def put(make: Inputs) -> Iterator[Sample]:
    yield Sample((make(4, 3), (places(2, 0),), make(2, 3)))
    yield Sample((make(4, 3), (places(2, 0),), make(3)))
    yield Sample((make(4, 3), (places(1, 1, 2), places(0, 0, 2)), make(3), True))


def gathered(make: Inputs) -> Iterator[Sample]:
    yield Sample((make(3, 4), 0, places([0, 1, 2, 0], [2, 2, 1, 1])))
    yield Sample((make(3, 4, layout="transposed"), -1, places([0], [3], [1])))


def scattered(make: Inputs) -> Iterator[Sample]:
    yield Sample((make(3, 4), 0, places([0, 1, 2, 0]), make(1, 4)))
    yield Sample((make(3, 4, layout="transposed"), 1, places([0, 2], [3, 1], [1, 0]), make(3, 2)))


def scattered_value(make: Inputs) -> Iterator[Sample]:
    yield Sample((make(3, 4), 0, places([0, 1, 2, 0]), 2))


def selected(make: Inputs) -> Iterator[Sample]:
    yield Sample((make(3, 4), 0, places(2, 0, 2)))
    yield Sample((make(3, 4, layout="transposed"), -1, places(3)))


def added(make: Inputs) -> Iterator[Sample]:
    yield Sample((make(3, 4), 0, places(2, 0, 2), make(3, 4)))
    yield Sample((make(3, 2), 1, places(1), make(3, 1)), {"alpha": 2})


def filled(make: Inputs) -> Iterator[Sample]:
    yield Sample((make(2, 3), mask(make, 2, 3), 1))
    yield Sample((make(2, 3, layout="transposed"), mask(make, 3), 0))


def filled_tensor(make: Inputs) -> Iterator[Sample]:
    yield Sample((make(2, 3), mask(make, 2, 3), make()))


def masked(make: Inputs) -> Iterator[Sample]:
    yield Sample((make(2, 3), mask(make, 2, 3)))
    yield Sample((make(3), mask(make, 2, 3)))
    yield Sample((make(2, 3, layout="transposed"), mask(make, 3)))


def along(make: Inputs) -> Iterator[Sample]:
    yield Sample((make(3, 4), places([0], [3], [1]), 1))
    yield Sample((make(3, 2), places(4, 0)))


def any_tensor(make: Inputs) -> Iterator[Sample]:
    yield Sample((make(3, 4),))
    yield Sample((make(2, 3, layout="transposed"),))
    yield Sample((make(),))


def reduced_number(make: Inputs) -> Iterator[Sample]:
    for reduce in ("add", "multiply"):
        yield Sample((make(3, 4), 0, places([0, 1, 2, 0], [0, 1, 2, 1]), 2), {"reduce": reduce})


def reduced_older(make: Inputs) -> Iterator[Sample]:
    for reduce in ("add", "multiply", "sum"):
        yield Sample((make(3, 4), 0, places([0, 1, 2, 0], [0, 1, 2, 1]), make(2, 4)), {"reduce": reduce})


REDUCTIONS = ("sum", "prod", "mean", "amax", "amin")


def reduced(make: Inputs) -> Iterator[Sample]:
    for reduce in REDUCTIONS:
        for include_self in (True, False):
            options = {"include_self": include_self}
            yield Sample((make(3, 3), 0, places([0, 1, 2], [0, 1, 0], [0, 0, 0]), make(3, 3), reduce), options)
            yield Sample((make(2, 4, layout="transposed"), -1, places([3, 3], [0, 1]), make(2, 2), reduce), options)
            if reduce == "prod":
                zeros = make.of([2, 0, 3], [0, 1, 0])
                yield Sample((make.of([1, 2, 0]), 0, places([0, 0, 0], [0, 0, 0]), zeros, reduce), options)
    yield Sample((make(3), 0, places(), make(0), "sum"))
    yield Sample((make(), 0, Input(np.array(0), "int64"), make(), "prod"))


def reduced_slices(make: Inputs) -> Iterator[Sample]:
    for reduce in REDUCTIONS[1:]:
        for include_self in (True, False):
            options = {"include_self": include_self}
            yield Sample((make(3, 2), 0, places(0, 2, 0), make(3, 2), reduce), options)
            yield Sample((make(2, 4, layout="transposed"), -1, places(3, 3), make(2, 2), reduce), options)
            if reduce == "prod":
                yield Sample((make.of(1, 2, 0), 0, places(0, 0, 2, 2), make.of(0, 3, 1, 0), reduce), options)
    yield Sample((make(3), 0, places(0), make(1), "sum"))


def tied(make: Inputs) -> Iterator[Sample]:
    for reduce in ("amax", "amin"):
        for include_self in (True, False):
            ties = make.of(3, 1, 3, 1, 2)
            yield Sample((make.of(3, 0, 1), 0, places(0, 0, 0, 2, 2), ties, reduce), {"include_self": include_self})


def special_reduced(make: Inputs) -> Iterator[Sample]:
    yield Sample((make.of(1, 2), 0, places(0, 0, 1), make.of(0, 0, 3), "prod"))
    for reduce in REDUCTIONS:
        for include_self in (True, False):
            values = make.of(NAN, 1, INF, -INF, 2, NAN)
            index = places(0, 0, 1, 1, 2, 2)
            yield Sample((make.of(1, NAN, 3, 4), 0, index, values, reduce), {"include_self": include_self})


def copied(make: Inputs) -> Iterator[Sample]:
    yield Sample((make(3, 4), 0, places(2, 0), make(2, 4)))
    yield Sample((make(3, 4, layout="transposed"), -1, places(1), make(3, 1)))
    yield Sample((make(3), 0, places(1), make(1)))
    yield Sample((make(3), 0, Input(np.array(1), "int64"), make()))
    yield Sample((make(), 0, places(0), make()))
    yield Sample((make(3, 0), 0, places(2, 0), make(2, 0)))
    yield Sample((make(3, 4), 0, places(2, 0), make(1, 4)))


def filled_slices(make: Inputs) -> Iterator[Sample]:
    yield Sample((make(3, 4), 0, places(2, -3), 1))
    yield Sample((make(3, 4, layout="transposed"), -1, places(1, 1), 2.5))
    yield Sample((make(3), 0, Input(np.array(1), "int64"), 3))
    yield Sample((make(), 0, places(0), 2))
    yield Sample((make(3), 0, places(), 2))


def filled_slices_tensor(make: Inputs) -> Iterator[Sample]:
    yield Sample((make(3, 4), 0, places(2, 0, 2), make()))
    yield Sample((make(3), 0, places(2), make(1)))


def taken(make: Inputs) -> Iterator[Sample]:
    yield Sample((make(3, 4), places([0, -1], [5, 5])))
    yield Sample((make(3, 2, layout="transposed"), places(1, 2, 1)))
    yield Sample((make(), Input(np.array(0), "int64")))
    yield Sample((make(0), places()))


def put_at(make: Inputs) -> Iterator[Sample]:
    for accumulate in (False, True):
        yield Sample((make(3, 4), places([0, -1], [5, 7]), make(2, 2), accumulate))
        yield Sample((make(3, 2, layout="transposed"), places(1, 2), make(2), accumulate))
    yield Sample((make(4), places(1, 1, 0), make(3), True))
    yield Sample((make(4), places(1), make(1)))


def scattered_by_mask(make: Inputs) -> Iterator[Sample]:
    yield Sample((make(2, 3), mask(make, 2, 3), make(7)))
    yield Sample((make(2, 3, layout="transposed"), mask(make, 3), make(2, 3)))
    yield Sample((make(3), mask(make, 2, 3), make(6)))
    yield Sample((make(), mask(make), make(1)))


def sliced(make: Inputs) -> Iterator[Sample]:
    yield Sample((make(5, 2), make(3, 2), 0, 1, 4))
    yield Sample((make(4, 3, layout="transposed"), make(4, 2), -1, None, None, 2))
    yield Sample((make(3), make(2), 0, 1))
    yield Sample((make(3), make(2, dtype="float32"), 0, 1))
    yield Sample((make(3), make(1), 0, 1))


def selected_part(make: Inputs) -> Iterator[Sample]:
    yield Sample((make(3, 2), make(2), 0, -1))
    yield Sample((make(3, 2, layout="transposed"), make(3), 1, 0))
    yield Sample((make(3, 2), make(3), 0, 1))


def on_diagonal(make: Inputs) -> Iterator[Sample]:
    yield Sample((make(3, 4), make(3)))
    yield Sample((make(3, 3, layout="transposed"), make(2), 1))
    yield Sample((make(2, 3, 2), make(3, 2)), {"dim1": 0, "dim2": 2})
    yield Sample((make(2, 2), make(3)))


def by_strides(make: Inputs) -> Iterator[Sample]:
    yield Sample((make(3, 4), make(2), (2,), (4,), 1))
    yield Sample((make(3, 3, layout="transposed"), make(2, 2), (2, 2), (1, 3)))
    yield Sample((make(4), make(3), (2,), (1,)))


def narrowed(make: Inputs) -> Iterator[Sample]:
    yield Sample((make(5, 2), 0, 1, 3))
    yield Sample((make(5, 2, layout="transposed"), -1, 1, 1))
    yield Sample((make(3), 0, 2, 2))


def diagonals(make: Inputs) -> Iterator[Sample]:
    yield Sample((make(3, 3), 2))
    yield Sample((make(2, 4, layout="transposed"), 1.5))
    for height in (3, 4, 7, 8):
        yield Sample((make(height, 2), 1, True))
        yield Sample((make(height, 2), 1))
    yield Sample((make(2, 2, 2), 1))
    yield Sample((make(2, 2, 3), 1))
    yield Sample((make(2), 1))


def members(make: Inputs) -> Iterator[Sample]:
    for options in ({}, {"invert": True}, {"assume_unique": True}):
        yield Sample((make(3, 4), make(5)), options)
    yield Sample((make(3, 4, layout="transposed"), make(2, 2)))
    yield Sample((make(3), make(0)), {"invert": True})
    yield Sample((make(0), make(2)))
    yield Sample((make(), make(5)))
    yield Sample((make.of(NAN, 1), make.of(NAN, 1)))
    yield Sample((make(3), make(2, dtype="float64")))


def is_member(make: Inputs) -> Iterator[Sample]:
    yield Sample((make(3, 4), 1))
    yield Sample((make(3), 2.5), {"invert": True})


def has_member(make: Inputs) -> Iterator[Sample]:
    yield Sample((1, make(3, 4)))
    yield Sample((2.5, make(3)), {"invert": True})


def classes(make: Inputs) -> Iterator[Sample]:
    yield Sample((Input(np.array([0, 2, 1]), make.dtype),))
    yield Sample((Input(np.array([[0, 2], [1, 1]]), make.dtype), 4))
    yield Sample((Input(np.array([0, 2]), make.dtype), 2))
    yield Sample((Input(np.array([-1, 2]), make.dtype),))
    yield Sample((Input(np.array([]), make.dtype),))
    yield Sample((Input(np.array([]), make.dtype), 3))
    yield Sample((Input(np.array([0, 1]), make.dtype), -2))


def any_tensor_in_rows(make: Inputs) -> Iterator[Sample]:
    for size in (0, 2, 30):
        for sample in any_tensor(make):
            yield Sample(sample.args, {"size": size})
    yield Sample((make(2, 3),), {"size": 8, "fill_value": -7})


def overwritten(make: Inputs) -> Iterator[Sample]:
    for sample in any_tensor(make):
        yield Sample((*sample.args, 3))


def overwritten_by_tensor(make: Inputs) -> Iterator[Sample]:
    for sample in any_tensor(make):
        yield Sample((*sample.args, make()))


LARGER_SOURCE = Apart("torch broadcasts the slope of a source larger than its index", says="invalid gradient")

ROWS = [
    row("index.Tensor", indexed, call=lambda lib, x, *indices: x[indices]),
    row("index_put", put),
    row("gather", gathered),
    row("scatter.src", scattered),
    row("scatter.value", scattered_value),
    row("scatter.reduce", reduced_older, gradcheck=False),
    row("scatter.value_reduce", reduced_number, gradcheck=False),
    row("scatter_add", scattered),
    row("scatter_reduce.two", reduced, apart=(LARGER_SOURCE,)),
    row("scatter_reduce.two", tied, gradcheck=False, apart=(LARGER_SOURCE,)),
    row("index_select", selected),
    row("index_add", added),
    row("index_reduce", reduced_slices),
    row("index_reduce", tied, gradcheck=False),
    row("index_copy", copied),
    row("index_fill.int_Scalar", filled_slices),
    row("index_fill.int_Tensor", filled_slices_tensor),
    row("take", taken),
    row("put", put_at),
    row("take_along_dim take_along_dim.out", along, apart=(VIEW,)),
    row("masked_fill.Scalar", filled),
    row("masked_fill.Tensor", filled_tensor),
    row("masked_select", masked),
    row("masked_scatter", scattered_by_mask),
    row("nonzero", any_tensor),
    row("nonzero_static", any_tensor_in_rows),
    row("nonzero_numpy", any_tensor, call=lambda lib, x: lib.nonzero(x, as_tuple=True)),
    row("argwhere", any_tensor),
    row("where", any_tensor),
    row("fill.Scalar", overwritten),
    row("fill.Tensor", overwritten_by_tensor),
    # a copy with a part replaced
    row("slice_scatter", sliced),
    row("select_scatter", selected_part),
    row("diagonal_scatter", on_diagonal),
    row(
        "as_strided_scatter", by_strides, gradient=False, torch_gradient=False
    ),  # torch's formula for self differs from the differences
    row(
        "narrow_copy narrow_copy.out",
        narrowed,
        apart=(
            Apart(
                "torch slices the slope with a start that counts from the end",
                says="gradient of",
                when=lambda sample: sample.args[2] < 0,
            ),
        ),
    ),
    # membership
    row("isin.Tensor_Tensor", members, apart=(VIEW,)),
    row("isin.Tensor_Scalar", is_member, apart=(VIEW,)),
    row("isin.Scalar_Tensor isin.Scalar_Tensor_out", has_member, apart=(VIEW,)),
    OpInfo("one_hot", classes, dtypes=("int64",)),
]

# Only in place.
IN_PLACE = [
    row("fill_diagonal_", diagonals, call=lambda lib, x, *args: x.clone().fill_diagonal_(*args)),
]

# NaN, without gradients.
SPECIAL = [
    row("scatter_reduce.two", special_reduced),
    row("index_reduce", lambda make: [s for s in special_reduced(make) if s.args[-1] != "sum"]),
]
