"""Rows of the losses of numbers and of vectors.

Mirrors: torch/testing/_internal/common_methods_invocations.py
Leaves out: complex inputs.
"""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from tests.op_db.core import Apart, Input, Inputs, OpInfo, Sample
from tests.op_db.samples.loss import MEAN, NONE, SUM
from tests.op_db.samples.unary import backward_op


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


def broadcasts(sample: Sample) -> bool:
    """Whether input and target, the last two tensors, differ in shape, or the gradient before them from both."""
    *grad, x, y = (leaf.values.shape for leaf in sample.args if isinstance(leaf, Input))
    return x != y or any(shape not in ((), x) for shape in grad)


BROADCAST_MEAN = Apart("torch divides by the size of one tensor where two broadcast to a larger one", when=broadcasts)

ROWS = [
    OpInfo("mse_loss", squared, apart=(BROADCAST_MEAN,)),
    OpInfo(
        "mse_loss_backward",
        squared_backwards,
        call=lambda lib, *args: backward_op(lib, "mse_loss_backward")(*args),
        apart=(BROADCAST_MEAN,),
    ),
    OpInfo("smooth_l1_loss", with_width(squared, 1.0, 2.5, -1.0), apart=(BROADCAST_MEAN,)),
    OpInfo(
        "huber_loss",
        with_width(squared, 1.0, 2.5, 0.0),
        apart=(BROADCAST_MEAN,),
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
]


def unit(make: Inputs, *shape: int, **options: Any) -> Input:
    low, high = (0.1, 0.9) if make.is_float else (0, 1)
    return make(*shape, low=low, high=high, **options)


def weights(make: Inputs, *shape: int) -> Input:
    return make(*shape, low=0.1 if make.is_float else 1)


def probabilities(make: Inputs) -> Iterator[Sample]:
    for reduction in (NONE, MEAN, SUM):
        for weight in (None, weights(make, 3), weights(make, 2, 3)):
            x, y = (unit(make, 2, 3) for _ in range(2))
            yield Sample((x, y, weight, reduction))
        yield Sample((unit(make, 301), unit(make, 301), None, reduction))
        yield Sample((unit(make, 3, 4, layout="transposed"), unit(make, 3, 4), None, reduction))
    yield Sample((unit(make, 3), make.of(0.5, 1.0, 1.5), None, MEAN))
    yield Sample((make.of(0.5, 1.0, -0.5), unit(make, 3), None, MEAN))
    yield Sample((unit(make, 3), unit(make, 3, dtype="float64"), None, MEAN))


def probability_backwards(make: Inputs) -> Iterator[Sample]:
    for weight in (None, weights(make, 3)):
        x, y = (unit(make, 2, 3) for _ in range(2))
        yield Sample((make(2, 3), x, y, weight, NONE))
        yield Sample((make(), x, y, weight, MEAN))
        yield Sample((make(), x, y, weight, SUM))


def scores(make: Inputs) -> Iterator[Sample]:
    for reduction in (NONE, MEAN, SUM):
        for weight in (None, weights(make, 3)):
            for pos_weight in (None, weights(make, 2, 3)):
                yield Sample((make(2, 3), unit(make, 2, 3), weight, pos_weight, reduction))
        yield Sample((make(3, 4, layout="transposed"), unit(make, 3, 4), None, None, reduction))


ROWS += [
    OpInfo("binary_cross_entropy", probabilities, out=False),
    OpInfo(
        "binary_cross_entropy_backward",
        probability_backwards,
        call=lambda lib, *args: backward_op(lib, "binary_cross_entropy_backward")(*args),
        apart=(
            Apart(
                "torch returns its result of the input's shape, which is not the one it writes a broadcast result into",
                when=lambda sample: broadcasts(Sample(sample.args[1:4])),
            ),
            Apart(
                "torch keeps the denominator positive in the first derivative, but not in the second",
                says="gradient of",
                when=lambda sample: bool(((sample.args[1].values <= 0) | (sample.args[1].values >= 1)).any()),
            ),
        ),
    ),
    OpInfo(
        "binary_cross_entropy_with_logits",
        scores,
    ),
]


# --- soft margin, and the losses that are composed of other ops -------------------------------------------------------


def signs(make: Inputs, *shape: int) -> Input:
    """Targets that are 1 or -1."""
    values = np.where(np.arange(int(np.prod(shape))) % 3 == 1, 1, -1).reshape(shape)
    return Input(values, make.dtype if make.dtype not in ("uint8", "bool") else "int64")


def wanted(*shape: int) -> Input:
    """The same for an op that has no derivative with respect to its target."""
    return signs(Inputs("int64"), *shape)


def soft_margins(make: Inputs) -> Iterator[Sample]:
    for reduction in (NONE, MEAN, SUM):
        yield Sample((make(2, 3), wanted(2, 3), reduction))
        yield Sample((make(2, 3, layout="transposed"), wanted(3), reduction))
    yield Sample((make(3), wanted(2, 3), NONE))


def soft_margin_backwards(make: Inputs) -> Iterator[Sample]:
    yield Sample((make(2, 3), make(2, 3), wanted(2, 3), NONE))
    yield Sample((make(), make(2, 3), wanted(2, 3), MEAN))
    yield Sample((make(), make(2, 3), wanted(2, 3), SUM))


def differences(make: Inputs) -> Iterator[Sample]:
    for reduction in (NONE, MEAN, SUM, 3):
        yield Sample((make(2, 3), make(3), reduction))
        yield Sample((make(3, 4, layout="transposed"), make(3, 4), reduction))


def divergences(make: Inputs) -> Iterator[Sample]:
    for reduction in (NONE, MEAN, SUM, 3):
        for log_target in (False, True):
            yield Sample((make(2, 3), unit(make, 3), reduction), {"log_target": log_target})
    yield Sample((make(2, 3), unit(make, 2, 3)))
    yield Sample((make(2, 3), make(2, 3, dtype="int64"), MEAN))


def counts(make: Inputs) -> Iterator[Sample]:
    for reduction in (NONE, MEAN, SUM, 3):
        for log_input in (True, False):
            for full in (False, True):
                rates = make(2, 3) if log_input else make(2, 3, low=0.5)
                yield Sample((rates, make(2, 3, low=0.5), log_input, full, 1e-8, reduction))


def distances(make: Inputs) -> Iterator[Sample]:
    for reduction in (NONE, MEAN, SUM, 3):
        yield Sample((make(2, 3), signs(make, 2, 3), 0.7, reduction))
        yield Sample((make(2, 3), signs(make, 3), 0.7, reduction))
    yield Sample((make(2, 3), signs(make, 2, 3)))


def angles(make: Inputs) -> Iterator[Sample]:
    for reduction in (NONE, MEAN, SUM, 3):
        yield Sample((make(4, 3), make(4, 3), signs(make, 4), -0.2, reduction))
        yield Sample((make(3), make(3), signs(make), 0.3, reduction))
    yield Sample((make(4, 3), make(4, 3), signs(make, 4, 1)))
    yield Sample((make(4, 3), make(4, 3), signs(make)))
    yield Sample((make(3), make(3), signs(make, 3)))


def rankings(make: Inputs) -> Iterator[Sample]:
    for reduction in (NONE, MEAN, SUM, 3):
        yield Sample((make(2, 3), make(2, 3), signs(make, 2, 3), 0.5, reduction))
        yield Sample((make(2, 3), make(3), signs(make, 3), 0.5, reduction))
    yield Sample((make(2, 3), make(2, 3), signs(make, 2, 3)))


def triples(make: Inputs) -> Iterator[Sample]:
    for reduction in (NONE, MEAN, SUM, 3):
        yield Sample((make(4, 3), make(4, 3), make(4, 3), 2.0, 2, 1e-6, False, reduction))
        yield Sample((make(3), make(3), make(3), 1.0, 1, 1e-3, True, reduction))
    yield Sample((make(4, 3), make(4, 3), make(4, 3)))
    yield Sample((make(4, 3), make(3), make(4, 3)))


ROWS += [
    OpInfo(
        "soft_margin_loss",
        soft_margins,
        apart=(
            Apart(
                "torch keeps the first loss alone if the reduction does not exist",
                when=lambda s: s.args[2] not in (NONE, MEAN, SUM),
            ),
        ),
    ),
    OpInfo(
        "soft_margin_loss_backward",
        soft_margin_backwards,
        call=lambda lib, *args: backward_op(lib, "soft_margin_loss_backward")(*args),
    ),
    OpInfo("l1_loss", differences),
    OpInfo("kl_div", divergences),
    OpInfo("poisson_nll_loss", counts),
    OpInfo("hinge_embedding_loss", distances),
    OpInfo("cosine_embedding_loss", angles),
    OpInfo("margin_ranking_loss", rankings),
    OpInfo("triplet_margin_loss", triples),
]

# Values only.
SPECIAL = [
    OpInfo("mse_loss", squared_broadcast),
    OpInfo("smooth_l1_loss", with_width(squared_broadcast, 1.0)),
    OpInfo("smooth_l1_loss", with_width(squared, 0.0)),
    OpInfo("huber_loss", with_width(squared_broadcast, 1.0)),
]
