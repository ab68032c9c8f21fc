"""Rows of connectionist temporal classification.

Mirrors: torch/testing/_internal/common_methods_invocations.py (sample_inputs_ctc_loss)
Leaves out: half precision, which torch has on GPUs only.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np

from tests.op_db.core import Apart, Input, Inputs, OpInfo, Sample
from tests.op_db.samples.loss import MEAN, NONE, SUM
from tests.op_db.samples.unary import backward_op

PADDED = Input(np.array([[1, 1, 2], [2, 0, 0]]), "int64")
CONCATENATED = Input(np.array([1, 1, 2, 2]), "int64")


def calls(make: Inputs) -> Iterator[Sample]:
    """log_probs, targets, input_lengths, target_lengths, blank, zero_infinity"""
    if make.dtype not in ("float64", "float32"):
        return
    for targets in (PADDED, CONCATENATED):
        yield Sample((make(6, 2, 4), targets, [6, 3], [3, 1], 0, False))
        yield Sample((make(3, 2, 4), targets, [3, 2], [3, 1], 0, True))  # no path spells 1, 1, 2 in three steps
    yield Sample((make(4, 2, 3), PADDED, [4, 2], [0, 1], 0, False))
    yield Sample((make(2, 1, 2), Input(np.array([[0]]), "int32"), [2], [1], 1, False))
    for wrong in (
        (make(6, 2, 4), PADDED, [6, 3], [3, 1], 4, False),
        (make(6, 2, 4), PADDED, [6], [3, 1], 0, False),
        (make(6, 2, 4), PADDED, [6, 3], [3], 0, False),
        (make(6, 2, 4), PADDED, [7, 3], [3, 1], 0, False),
        (make(6, 2, 4), PADDED, [6, -1], [3, 1], 0, False),
        (make(6, 2, 4), PADDED, [6, 3], [4, 1], 0, False),
        (make(6, 2, 4), PADDED, [6, 3], [3, -1], 0, False),
        (make(6, 2, 4), CONCATENATED, [6, 3], [3, 2], 0, False),
        (make(6, 3, 4), PADDED, [6, 3, 3], [3, 1, 1], 0, False),
        (make(0, 2, 4), PADDED, [6, 3], [3, 1], 0, False),
        (make(6, 2, 4), make(2, 3), [6, 3], [3, 1], 0, False),
    ):
        yield Sample(wrong)


def reduced_calls(make: Inputs) -> Iterator[Sample]:
    for sample, reduction in zip(calls(make), (NONE, MEAN, SUM, NONE, MEAN, SUM), strict=False):
        *args, zero_infinity = sample.args
        yield Sample((*args, reduction, zero_infinity))
    if make.dtype in ("float64", "float32"):
        for dtype in ("int32", "int16", "int8", "uint8", "float32"):
            yield Sample((make(6, 2, 4), Input(PADDED.values, dtype), [6, 3], [3, 1], 0, NONE, False))
        target = Input(np.array([1, 2]), "int64")
        yield Sample((make(4, 3), target, [4], [2], 0, NONE, False))
        yield Sample((make(4, 3), target, [4], [2], 0, MEAN, False))


def tensor_calls(make: Inputs) -> Iterator[Sample]:
    for sample in [*reduced_calls(make)][:6]:
        log_probs, targets, inputs, lengths, *others = sample.args
        for dtypes in (("int64", "int32"), ("int32", "uint8"), ("bool", "float32")):
            yield Sample((log_probs, targets, *map(Input, map(np.array, (inputs, lengths)), dtypes), *others))
        yield Sample((log_probs, targets, Input(np.array(inputs), "int64"), make(2), *others))


def _ctc_loss(lib: Any, *args: Any) -> Any:
    return lib._ctc_loss(*args)[0]  # torch does not fill the end of log_alpha


def _ctc_loss_backward(lib: Any, scores: Any, targets: Any, inputs: Any, lengths: Any, blank: Any, zero: Any) -> Any:
    log_probs = scores.detach().log_softmax(-1)
    loss, log_alpha = lib._ctc_loss(log_probs, targets, inputs, lengths, blank, zero)
    op: Any = backward_op(lib, "_ctc_loss_backward")
    return op(lib.ones_like(loss), log_probs, targets, inputs, lengths, loss, log_alpha, blank, zero)


def ends_in_a_blank(sample: Sample) -> bool:
    """Whether the last label of a target is the blank."""
    targets, lengths, blank = sample.args[1].values, sample.args[3], sample.args[4]
    lengths = lengths.values.reshape(-1) if isinstance(lengths, Input) else np.array(lengths)
    if targets.ndim == 2:
        last = [row[n - 1] for row, n in zip(targets, lengths.astype(int), strict=False) if 0 < n <= len(row)]
    else:
        ends = np.cumsum(lengths.astype(int))
        last = [targets[n - 1] for n in ends if 0 < n <= targets.size]
    return blank in last


LAST_BLANK = "torch overwrites a part of the last step's gradient where the last label is the blank"

# The gradient is that behind log_softmax, which the differences of the op alone are not; see Note [CTC].
COMMON: dict[str, Any] = {
    "dtypes": ("float64", "float32"),
    "out": False,
    "apart": (
        Apart(LAST_BLANK, says="gradient of", when=ends_in_a_blank),
        Apart("torch reads beyond the classes that there are", says="expected labels from"),
        Apart(
            "what infinities cancel to depends on the order of the steps",
            says="location mismatch",
            when=lambda sample: not np.isfinite(sample.args[0].values).all(),
        ),
    ),
}

ROWS = [
    OpInfo("_ctc_loss", calls, call=_ctc_loss, gradcheck=False, **COMMON),
    OpInfo("ctc_loss.IntList", reduced_calls, gradcheck=False, **COMMON),
    OpInfo("ctc_loss.Tensor _ctc_loss.Tensor", tensor_calls, gradcheck=False, **COMMON),
]
BACKWARD = {**COMMON, "apart": (*COMMON["apart"], Apart(LAST_BLANK, says="Mismatch", when=ends_in_a_blank))}
VALUES = [OpInfo("_ctc_loss_backward", calls, call=_ctc_loss_backward, **BACKWARD)]
