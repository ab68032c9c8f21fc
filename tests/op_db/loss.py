"""Softmax and losses.

Mirrors: torch/testing/_internal/common_methods_invocations.py
Leaves out: targets of images.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from tests.op_db.core import Apart, DType, Input, Inputs, OpInfo, Sample
from tests.op_db.unary import backward_op

NONE, MEAN, SUM = 0, 1, 2


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


def classes(*values: int, dtype: str = "int64") -> Input:
    return Input(np.array(values), dtype)


def nll(make: Inputs) -> Iterator[Sample]:
    for reduction in (NONE, MEAN, SUM):
        for weight in (None, make(3, low=0.1)):
            yield Sample((make(4, 3), classes(0, 2, 1, 2), weight, reduction, -100))
            yield Sample((make(4, 3, layout="transposed"), classes(0, 2, 1, 2), weight, reduction, 2))
            yield Sample((make(3), Input(np.array(1), "int64"), weight, reduction, -100))
            yield Sample((make(2, 3), classes(-100, -100), weight, reduction, -100))
            yield Sample((make(0, 3), classes(), weight, reduction, -100))
            yield Sample((make(2, 3), classes(0, 1, dtype="uint8"), weight, reduction, -100))
    yield Sample((make(2, 3), classes(0, 3), None, MEAN, -100))
    yield Sample((make(2, 3), classes(0, -1), None, MEAN, -100))
    yield Sample((make(2, 3), classes(0, 1, 2), None, MEAN, -100))
    yield Sample((make(2, 3), classes(0, 1, dtype="int32"), None, MEAN, -100))
    yield Sample((make(2, 3), classes(0, 1), make(2), MEAN, -100))
    yield Sample((make(2, 3, 4, 5), classes(0, 1), None, MEAN, -100))


def targets_out_of_range(sample: Sample) -> bool:
    _, scores, targets, _, _, ignored, _ = sample.args
    known = targets.values[targets.values != ignored]
    n_classes = scores.values.shape[-1] if scores.values.ndim else 0
    return bool(((known < 0) | (known >= n_classes)).any())


def nll_backward(lib: Any, *args: Any) -> Any:
    return backward_op(lib, "nll_loss_backward")(*args)


def nll_backwards(make: Inputs) -> Iterator[Sample]:
    total = make.of(1.7)
    for weight in (None, make(3, low=0.1)):
        yield Sample((make(4), make(4, 3), classes(0, 2, 1, 2), weight, NONE, 1, Input(total.values[0], total.dtype)))
        yield Sample((make(), make(4, 3), classes(0, 2, 1, 2), weight, MEAN, 1, Input(total.values[0], total.dtype)))


def squared(make: Inputs) -> Iterator[Sample]:
    for reduction in (NONE, MEAN, SUM):
        yield Sample((make(2, 3), make(2, 3), reduction))
        yield Sample((make(301), make(301), reduction))
        yield Sample((make(2, 3), make(2, 3, dtype="float64"), reduction))
        yield Sample((make(3, 4, layout="transposed"), make(3, 4, layout="strided"), reduction))


def squared_broadcast(make: Inputs) -> Iterator[Sample]:
    """torch divides the target's gradient by the wrong number of elements here: values only."""
    for reduction in (NONE, MEAN, SUM):
        yield Sample((make(2, 3), make(3), reduction))


def squared_backwards(make: Inputs) -> Iterator[Sample]:
    yield Sample((make(2, 3), make(2, 3), make(2, 3), NONE))
    yield Sample((make(), make(2, 3), make(2, 3), MEAN))
    yield Sample((make(), make(2, 3), make(2, 3), SUM))


def with_width(samples: Callable[[Inputs], Iterator[Sample]], *widths: float) -> Callable[[Inputs], Iterator[Sample]]:
    """Where the squared error becomes straight."""

    def samples_with_width(make: Inputs) -> Iterator[Sample]:
        for sample in samples(make):
            for width in widths:
                yield Sample((*sample.args, width))

    return samples_with_width


def cross_entropies(make: Inputs) -> Iterator[Sample]:
    for reduction in (NONE, MEAN, SUM):
        for weight in (None, make(3, low=0.1)):
            for smoothing in (0.0, 0.2):
                yield Sample((make(4, 3), classes(0, 2, 1, 2), weight, reduction, -100, smoothing))
                yield Sample((make(4, 3), classes(0, 2, 1, 2), weight, reduction, 2, smoothing))
                yield Sample((make(3), Input(np.array(1), "int64"), weight, reduction, -100, smoothing))
                yield Sample((make(4, 3), make(4, 3, low=0, high=1), weight, reduction, -100, smoothing))
                yield Sample((make(3), make(3, low=0, high=1), weight, reduction, -100, smoothing))
    yield Sample((make(2, 3, 4), make(2, 3, 4, low=0, high=1), make(3, low=0.1), MEAN, -100, 0.1))
    yield Sample((make(0, 3), make(0, 3), make(3, low=0.1), MEAN, -100, 0.1))
    yield Sample((make(2, 3), make(2, 3), None, MEAN, 5, 0.0))
    yield Sample((make(2, 3), make(2, 3, dtype="int64"), None, MEAN, -100, 0.0))
    yield Sample((make(2, 3), classes(0, 1), None, MEAN, -100, 1.5))


def broadcasts(sample: Sample) -> bool:
    """Whether input and target, the last two tensors, differ in shape, or the gradient before them from both."""
    *grad, x, y = (leaf.values.shape for leaf in sample.args if isinstance(leaf, Input))
    return x != y or any(shape not in ((), x) for shape in grad)


BROADCAST_MEAN = Apart("torch divides by the size of one tensor where two broadcast to a larger one", when=broadcasts)


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
    OpInfo("nll_loss", nll, out=False),
    OpInfo(
        "nll_loss_forward",
        nll,
        gradient=False,
        call=lambda lib, *args: backward_op(lib, "nll_loss_forward")(*args),
    ),
    # Its formula counts the total weight anew, which is not the one given: the differences see the one given.
    OpInfo(
        "nll_loss_backward",
        nll_backwards,
        torch_gradient=False,
        gradcheck=False,
        call=nll_backward,
        apart=(Apart("torch writes where no class is", when=targets_out_of_range, crashes=True),),
    ),
    OpInfo("mse_loss", squared, out=False, apart=(BROADCAST_MEAN,)),
    OpInfo(
        "mse_loss_backward",
        squared_backwards,
        call=lambda lib, *args: backward_op(lib, "mse_loss_backward")(*args),
        apart=(BROADCAST_MEAN,),
    ),
    OpInfo("smooth_l1_loss", with_width(squared, 1.0, 2.5, -1.0), out=False, apart=(BROADCAST_MEAN,)),
    OpInfo(
        "huber_loss",
        with_width(squared, 1.0, 2.5, 0.0),
        out=False,
        apart=(
            BROADCAST_MEAN,
            Apart("a reduction that does not exist is the sum here", when=lambda s: s.args[2] not in (NONE, MEAN, SUM)),
        ),
    ),
    OpInfo(
        "smooth_l1_loss_backward",
        lambda make: (
            with_width(squared_backwards, 1.0, 2.5)(make) if make.is_float else ()
        ),  # torch takes integers here
        call=lambda lib, *args: backward_op(lib, "smooth_l1_loss_backward")(*args),
        apart=(
            BROADCAST_MEAN,
            Apart("torch has this loss of integers backward only", says='"smooth_l1_backward_cpu_out" not implemented'),
        ),
    ),
    OpInfo(
        "huber_loss_backward",
        with_width(squared_backwards, 1.0, 2.5),
        call=lambda lib, *args: backward_op(lib, "huber_loss_backward")(*args),
        apart=(BROADCAST_MEAN,),
    ),
    OpInfo(
        "cross_entropy_loss",
        cross_entropies,
        call=lambda lib, *args: lib._C._nn.cross_entropy_loss(*args),
        apart=(
            Apart("the check is in nn.functional", says="Expected input batch_size"),
            Apart("a reduction that does not exist is the sum here", says="Invalid reduction type"),
            Apart("torch keeps the target's dimension in one of two terms", says="doesn't match the broadcast shape"),
            Apart("nn.functional flattens images to rows", says="input tensor should be 1D or 2D"),
        ),
    ),
]

SPECIAL = [
    OpInfo("mse_loss", squared_broadcast),
    OpInfo("smooth_l1_loss", with_width(squared_broadcast, 1.0)),
    OpInfo("smooth_l1_loss", with_width(squared, 0.0)),
    OpInfo("huber_loss", with_width(squared_broadcast, 1.0)),
    OpInfo("softmax.int", large_scores),
    OpInfo("log_softmax.int", large_scores),
]
