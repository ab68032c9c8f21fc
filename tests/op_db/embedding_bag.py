"""Rows of embeddings and of bags of them.

Mirrors: torch/testing/_internal/common_methods_invocations.py (sample_inputs_embedding_bag)
Leaves out: sparse gradients.
"""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from tests.op_db.core import FLOATS, Apart, Input, Inputs, OpInfo, Sample
from tests.op_db.samples.unary import backward_op

SUM, MEAN, MAX = range(3)


def ints(*values: int, dtype: str = "int64") -> Input:
    return Input(np.array(values, dtype="int64"), dtype)


def calls(make: Inputs) -> Iterator[Sample]:
    """weight, indices, offsets, scale_grad_by_freq, mode, sparse, per_sample_weights, include_last_offset, padding"""
    if not make.is_float:
        return
    for mode in (SUM, MEAN, MAX):
        bags = (ints(0, 2, 1, 1, 3), ints(0, 2, 2))  # the bags have 2, 0 and 3 rows
        yield Sample((make(4, 3), *bags, False, mode))
        yield Sample((make(4, 3), bags[0], ints(0, 2, 5), False, mode, False, None, True, 1))
        yield Sample((make(4, 3, layout="transposed"), ints(0, 3, dtype="int32"), ints(0, dtype="int32"), False, mode))
        yield Sample((make(4, 3), ints(), ints(0, 0), False, mode))
    yield Sample((make(4, 3), *bags, False, SUM, False, make(5)))
    yield Sample((make(4, 3), *bags, False, SUM, False, make(5), False, 1))
    yield Sample((make(4, 3), *bags, False, MEAN, False, make(5)))
    yield Sample((make(4, 3), *bags, False, SUM, False, make(5, dtype="int64")))
    yield Sample((make(4, 3), ints(0, 4), ints(0), False, SUM))
    yield Sample((make(4, 3), ints(0, 1), ints(1), False, SUM))
    yield Sample((make(4, 3), ints(0, 1), ints(0, 3), False, SUM))
    yield Sample((make(4, 3), ints(0, 1), ints(0, dtype="int32"), False, SUM))
    yield Sample((make(4, 3), make(2), ints(0), False, SUM))


def public_calls(make: Inputs) -> Iterator[Sample]:
    for sample in calls(make):
        whole = (*sample.args, False, None, False)[: max(8, len(sample.args))]
        yield Sample(whole if len(whole) == 9 else (*whole, None))
    if make.is_float:
        yield Sample((make(4, 3), ints(0, 2), ints(0), False, SUM, False, None, False, -4))
        yield Sample((make(4, 3), ints(0, 2), ints(0), False, SUM, False, None, False, 4))


def rows_of_bags(name: str) -> Callable[..., Any]:
    """The first result only: torch leaves others empty where its kernels do not need them."""

    def call(lib: Any, *args: Any) -> Any:
        return getattr(lib, name)(*args)[0]

    return call


def backward(name: str) -> Callable[..., Any]:
    def call(lib: Any, *args: Any) -> Any:
        return backward_op(lib, name)(*args)  # type: ignore[operator]

    return call


def dense_backwards(make: Inputs) -> Iterator[Sample]:
    """grad, indices, offset2bag, bag_size, maximum_indices, num_weights, scale_grad_by_freq, mode, weights, padding"""
    if not make.is_float:
        return
    bags = (ints(0, 2, 1, 1, 3), ints(0, 0, 1, 1, 1), ints(2, 3))
    places = Input(np.array([[0, 2, 0], [1, 3, 1]]), "int64")
    yield Sample((make(2, 3), *bags, places, 4, False, SUM, make(5)))
    yield Sample((make(2, 3), *bags, places, 4, False, MEAN, None, 1))
    yield Sample((make(2, 3), *bags, places, 4, False, MAX, None))


def samples_backwards(make: Inputs) -> Iterator[Sample]:
    """grad, weight, indices, offsets, offset2bag, mode, padding_idx"""
    if make.is_float:
        bags = (ints(0, 2, 1, 1, 3), ints(0, 2), ints(0, 0, 1, 1, 1))
        yield Sample((make(2, 3), make(4, 3), *bags, SUM))
        yield Sample((make(2, 3), make(4, 3), *bags, SUM, 1))


def backwards(make: Inputs) -> Iterator[Sample]:
    """The arguments of the dense form, with offsets in the third place and ``sparse`` in the tenth."""
    for sample in dense_backwards(make):
        args = sample.args
        yield Sample((*args[:2], ints(0, 2), *args[2:8], False, *args[8:]))


def rows(make: Inputs) -> Iterator[Sample]:
    """weight, indices, padding_idx, scale_grad_by_freq, sparse"""
    if not make.is_float:
        return
    yield Sample((make(4, 3), Input(np.array([[0, 2, 0], [1, 3, 0]]), "int64")))
    yield Sample((make(4, 3, layout="transposed"), ints(0, 2, 0, dtype="int32"), 0))
    yield Sample((make(4, 3), Input(np.array(2), "int64"), 1))
    yield Sample((make(4, 0), ints(1, 2), -1))
    yield Sample((make(4, 3), ints(0, 4)))
    yield Sample((make(4, 3), ints(-1)))
    yield Sample((make(4), ints(0)))
    yield Sample((make(4, 3), make(2)))


def row_gradients(make: Inputs) -> Iterator[Sample]:
    """grad_output, indices, num_weights, padding_idx, scale_grad_by_freq"""
    if make.is_float:
        indices = Input(np.array([[0, 2, 0], [1, 3, 0]]), "int64")
        yield Sample((make(2, 3, 2), indices, 4, -1, False))
        yield Sample((make(2, 3, 2, layout="transposed"), indices, 5, 0, False))


def more_row_gradients(make: Inputs) -> Iterator[Sample]:
    for sample in row_gradients(make):
        yield Sample((*sample.args, False))


def rows_by_frequency(make: Inputs) -> Iterator[Sample]:
    if make.is_float:
        yield Sample((make(4, 3), Input(np.array([[0, 2, 0], [1, 3, 0]]), "int64"), -1, True))
        yield Sample((make(4, 3), ints(0, 2, 2, 1), 0, True))


def renormed(make: Inputs) -> Iterator[Sample]:
    """self, indices, max_norm, norm_type"""
    if make.is_float:
        yield Sample((make(4, 3), ints(0, 2, 0), 1.0, 2.0))
        yield Sample((make(4, 3, layout="transposed"), ints(3, 1, dtype="int32"), 0.5, 1.0))
        yield Sample((make(4, 3), ints(), 0.5, 1.0))
        yield Sample((make(4), ints(0), 0.5, 1.0))


def rows_elsewhere(sample: Sample) -> bool:
    rows, count = sample.args[1].values, sample.args[2]
    return bool(((rows < 0) | (rows >= count)).any())


ROWS_ELSEWHERE = Apart(
    "torch passes over gradients of rows that the table does not have, and counts them beyond memory",
    when=rows_elsewhere,
    crashes=True,
)


NO_ROWS = Apart("torch's second derivative fails for no rows", says="cannot reshape tensor of 0 elements")
INTEGERS = Apart("torch adds integers, too, of which nothing has a gradient", says='"embedding_bag_backward" not')


def no_bags(sample: Sample) -> bool:
    weight, rows, begins, weights = (*(arg.values for arg in sample.args[:3]), sample.args[6:7])
    if weight.ndim != 2 or rows.ndim != 1 or begins.ndim != 1 or not begins.size:
        return True
    if any(arg.layout != "contiguous" for arg in sample.args[1:3]):
        return True  # whose strides torch passes over
    other = isinstance(weights[0], Input) and weights[0].values.shape != rows.shape if weights else False
    outside = ((rows < 0) | (rows >= len(weight))).any() or (begins < 0).any() or (begins > len(rows)).any()
    return bool(other or outside or (np.diff(begins) < 0).any() or (begins.size and begins[0] != 0))


NO_BAGS = Apart(
    "torch takes numbers that are no rows or no begins of bags for what lies in memory there",
    when=no_bags,
    crashes=True,
)


def other_bags(sample: Sample) -> bool:
    """Whether grad, indices, offset2bag, bag_size, maximum_indices, num_weights, ... are not of the same bags."""
    if any(arg.layout != "contiguous" for arg in sample.args[1:5]):
        return True
    grad, rows, bag_of, sizes, places = (arg.values for arg in sample.args[:5])
    count, weights = sample.args[5], sample.args[8]
    shapes = grad.ndim != 2 or rows.ndim != 1 or bag_of.shape != rows.shape or sizes.shape != grad.shape[:1]
    shapes = shapes or places.shape != grad.shape or (isinstance(weights, Input) and weights.values.shape != rows.shape)
    if shapes:
        return True
    outside = ((rows < 0) | (rows >= count)).any() or ((bag_of < 0) | (bag_of >= len(grad))).any()
    return bool(outside or ((places < 0) | (places >= count)).any())


def other_sample_bags(sample: Sample) -> bool:
    if any(arg.layout != "contiguous" for arg in sample.args[2:5]):
        return True
    grad, weight, rows, begins, bag_of = (arg.values for arg in sample.args[:5])
    if grad.ndim != 2 or weight.ndim != 2 or rows.ndim != 1 or bag_of.shape != rows.shape:
        return True
    if begins.ndim != 1:
        return True
    outside = ((rows < 0) | (rows >= len(weight))).any() or ((bag_of < 0) | (bag_of >= len(grad))).any()
    return bool(outside or grad.shape[1] != weight.shape[1])


def other_begins(sample: Sample) -> bool:
    begins = sample.args[2]
    return begins.values.ndim != 1 or begins.layout != "contiguous" or other_bags(of_dense(sample))


def of_dense(sample: Sample) -> Sample:
    return Sample((*sample.args[:2], *sample.args[3:9], *sample.args[10:]))


OTHER_BAGS = "torch reads and writes beyond memory where the arguments are not of the same bags"

# torch has no second derivatives of bags.
COMMON = {"dtypes": FLOATS, "out": False, "torch_gradient": False}

ROWS = [
    OpInfo("embedding", rows, gradcheck=False),  # differences see the row that padding_idx names
    OpInfo(
        "embedding_dense_backward",
        row_gradients,
        call=backward("embedding_dense_backward"),
        dtypes=FLOATS,
        out=False,
        apart=(ROWS_ELSEWHERE, INTEGERS, NO_ROWS),
    ),
    OpInfo(
        "embedding_backward",
        more_row_gradients,
        call=backward("embedding_backward"),
        dtypes=FLOATS,
        out=False,
        apart=(ROWS_ELSEWHERE, INTEGERS, NO_ROWS),
    ),
    OpInfo("_embedding_bag", calls, call=rows_of_bags("_embedding_bag"), apart=(NO_BAGS,), **COMMON),
    OpInfo(
        "embedding_bag.padding_idx embedding_bag",
        public_calls,
        call=rows_of_bags("embedding_bag"),
        apart=(NO_BAGS,),
        **COMMON,
    ),
]
VALUES = [
    OpInfo("embedding_renorm_", renormed, out=False),
    OpInfo("embedding_renorm", renormed, call=backward("embedding_renorm"), gradient=False),
    OpInfo(
        "_embedding_bag_forward_only",
        calls,
        call=rows_of_bags("_embedding_bag_forward_only"),
        apart=(NO_BAGS,),
        **COMMON,
    ),
    OpInfo(
        "_embedding_bag_dense_backward",
        dense_backwards,
        call=backward("_embedding_bag_dense_backward"),
        apart=(Apart(OTHER_BAGS, when=other_bags, crashes=True),),
        **COMMON,
    ),
    OpInfo(
        "_embedding_bag_per_sample_weights_backward",
        samples_backwards,
        call=backward("_embedding_bag_per_sample_weights_backward"),
        apart=(Apart(OTHER_BAGS, when=other_sample_bags, crashes=True),),
        **COMMON,
    ),
    OpInfo(
        "_embedding_bag_backward",
        backwards,
        call=backward("_embedding_bag_backward"),
        apart=(Apart(OTHER_BAGS, when=other_begins, crashes=True),),
        **COMMON,
    ),
]
