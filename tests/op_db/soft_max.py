"""Rows of softmax and its logarithm.

Mirrors: torch/testing/_internal/common_methods_invocations.py
Leaves out: complex inputs.
"""

from collections.abc import Iterator

from tests.op_db.core import Apart, DType, Inputs, OpInfo, Sample
from tests.op_db.samples.unary import backward_op


def along_dims(make: Inputs) -> Iterator[Sample]:
    for x in (
        make(),
        make(5),
        make(301),
        make(3, 4),
        make(2, 130),
        make(3, 2, 5, layout="transposed"),
        make(0, 3),
        make(3, 0),
    ):
        for dim in range(-1, max(x.values.ndim, 1)):
            yield Sample((x, dim))
    yield Sample((make(2, 3), 2))
    yield Sample((make(2, 3), 1), {"dtype": DType("float64")})
    yield Sample((make(2, 3, dtype="int64"), 1), {"dtype": DType("float32")})


def along_dims_raw(make: Inputs) -> Iterator[Sample]:
    for sample in along_dims(make):
        if not sample.kwargs:
            yield Sample((*sample.args, False))


def large_scores(make: Inputs) -> Iterator[Sample]:
    inf, nan = float("inf"), float("nan")
    for dim in (0, 1):
        yield Sample((make.of([1000, 1001, -1000], [0, -inf, 1], [inf, 1, 2], [nan, 0, 0], [-inf, -inf, -inf]), dim))


def softmax_backwards(make: Inputs) -> Iterator[Sample]:
    for shape, dim in (((5,), 0), ((2, 130), 1), ((3, 4), 0), ((2, 3, 4), 1)):
        yield Sample((make(*shape), make(*shape), dim, DType(make.dtype)))


def one_is_empty(sample: Sample) -> bool:
    grad, output = (leaf.values for leaf in sample.args[:2])
    return grad.shape != output.shape and 0 in (grad.size, output.size)


DIVIDES_BY_NOTHING = Apart("torch divides by the size of an empty tensor", when=one_is_empty, crashes=True)

ROWS = [
    OpInfo("softmax.int softmax.int_out", along_dims),
    OpInfo("log_softmax.int log_softmax.int_out", along_dims),
    OpInfo("_softmax", along_dims_raw),
    OpInfo("_log_softmax", along_dims_raw),
    OpInfo(
        "_softmax_backward_data",
        softmax_backwards,
        call=lambda lib, *args: backward_op(lib, "_softmax_backward_data")(*args),
        out=False,
        rtol=2e-4,  # a number less a sum of 130 products, which the libraries add in other orders
        apart=(DIVIDES_BY_NOTHING,),
    ),
    OpInfo(
        "_log_softmax_backward_data",
        softmax_backwards,
        call=lambda lib, *args: backward_op(lib, "_log_softmax_backward_data")(*args),
        out=False,
        apart=(
            DIVIDES_BY_NOTHING,
            Apart("torch reads past the end of the smaller tensor", says="softmax backward: expected grad_output"),
        ),
    ),
]

# Values only.
SPECIAL = [
    OpInfo("softmax.int", large_scores),
    OpInfo("log_softmax.int", large_scores),
]
