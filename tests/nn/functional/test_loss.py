"""Losses that are made of other ops.

Mirrors: test/test_nn.py
Leaves out: the functions that are not there.
"""

from collections.abc import Callable
from types import ModuleType

import pytest

import reftorch
from tests.nn.functions import PROBABILITIES, TARGETS, W, X, Y, check, check_error

# Each takes the library, its functional module, x with its gradient wanted, and a reduction.
LOSSES: dict[str, Callable] = {
    "l1": lambda lib, F, x, r: F.l1_loss(x, Y(lib), reduction=r),
    "l1 weighted": lambda lib, F, x, r: F.l1_loss(x, Y(lib), reduction=r, weight=W(lib)),
    "smooth_l1": lambda lib, F, x, r: F.smooth_l1_loss(x, Y(lib), reduction=r, beta=0.7),
    "smooth_l1 of beta 0": lambda lib, F, x, r: F.smooth_l1_loss(x, Y(lib), reduction=r, beta=0.0),
    "huber": lambda lib, F, x, r: F.huber_loss(x, Y(lib), reduction=r, delta=0.7),
    "huber weighted": lambda lib, F, x, r: F.huber_loss(x, Y(lib), reduction=r, weight=W(lib)),
    "bce": lambda lib, F, x, r: F.binary_cross_entropy(x.sigmoid(), TARGETS(lib), reduction=r),
    "bce weighted": lambda lib, F, x, r: F.binary_cross_entropy(x.sigmoid(), TARGETS(lib), W(lib)[0], reduction=r),
    "logits": lambda lib, F, x, r: F.binary_cross_entropy_with_logits(x * 30, TARGETS(lib), reduction=r),
    "logits weighted": lambda lib, F, x, r: F.binary_cross_entropy_with_logits(
        x, TARGETS(lib), W(lib)[0], reduction=r, pos_weight=W(lib)[1]
    ),
    "kl_div": lambda lib, F, x, r: F.kl_div(x, TARGETS(lib), reduction=r),
    "kl_div of logarithms": lambda lib, F, x, r: F.kl_div(x, Y(lib), reduction=r, log_target=True),
}

ERRORS: dict[str, Callable] = {
    "smooth_l1": lambda lib, F: F.smooth_l1_loss(X(lib), Y(lib), beta=-1.0),
    "huber": lambda lib, F: F.huber_loss(X(lib), Y(lib), delta=0.0),
    "weights": lambda lib, F: F.l1_loss(X(lib), Y(lib), weight=W(lib)[0]),
    "reduction": lambda lib, F: F.smooth_l1_loss(X(lib), Y(lib), reduction="other"),
    "bce size": lambda lib, F: F.binary_cross_entropy(PROBABILITIES(lib), TARGETS(lib)[0]),
    "bce range": lambda lib, F: F.binary_cross_entropy(PROBABILITIES(lib) + 1, TARGETS(lib)),
    "logits size": lambda lib, F: F.binary_cross_entropy_with_logits(X(lib), TARGETS(lib)[0]),
    "smooth_l1 of integers": lambda lib, F: F.smooth_l1_loss(X(lib, "int64"), Y(lib, "int32")),
    "huber of integers": lambda lib, F: F.huber_loss(X(lib, "int8"), Y(lib, "int16")),
    "huber of integers and floats": lambda lib, F: F.huber_loss(X(lib, "int64"), Y(lib)),
    "bce of integers": lambda lib, F: F.binary_cross_entropy(X(lib, "int64"), Y(lib, "int64")),
    "bce of two dtypes": lambda lib, F: F.binary_cross_entropy(PROBABILITIES(lib), TARGETS(lib, "float32")),
    "logits of integers": lambda lib, F: F.binary_cross_entropy_with_logits(X(lib, "int64"), Y(lib, "bool")),
    "logits, target of integers": lambda lib, F: F.binary_cross_entropy_with_logits(X(lib), Y(lib, "int64")),
    "kl_div of integers": lambda lib, F: F.kl_div(X(lib), TARGETS(lib, "int64"), reduction="sum"),
}


@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
@pytest.mark.parametrize("name", LOSSES)
def test_losses(name: str, reduction: str, real_torch: ModuleType) -> None:
    check(LOSSES[name], real_torch, reduction)


def test_kl_div_by_the_batch(real_torch: ModuleType) -> None:
    check(LOSSES["kl_div"], real_torch, "batchmean")
    with pytest.warns(UserWarning, match="divides the total loss by both"):
        reftorch.nn.functional.kl_div(X(reftorch), TARGETS(reftorch))


def test_bce_at_the_ends(real_torch: ModuleType) -> None:
    results = []
    for lib in (reftorch, real_torch):
        p = lib.tensor([0.0, 1.0, 0.0, 1.0], requires_grad=True)
        loss = lib.nn.functional.binary_cross_entropy(p, lib.tensor([0.0, 1.0, 1.0, 0.0]), reduction="none")
        results.append(loss.tolist())
    assert results[0] == results[1] == [0.0, 0.0, 100.0, 100.0]


# The dtype is that of what PyTorch writes the loss into: the promoted one, the input's, or the target's.
MIXED: dict[str, Callable] = {
    "smooth_l1": lambda lib, F: F.smooth_l1_loss(X(lib, "bfloat16"), Y(lib, "bool"), reduction="none"),
    "huber": lambda lib, F: F.huber_loss(X(lib, "bfloat16"), Y(lib), reduction="none"),
    "huber weighted": lambda lib, F: F.huber_loss(X(lib, "float32"), Y(lib), reduction="none", weight=W(lib)),
    "bce weighted": lambda lib, F: F.binary_cross_entropy(
        PROBABILITIES(lib, "float32"), TARGETS(lib, "float32"), W(lib), reduction="none"
    ),
    "logits": lambda lib, F: F.binary_cross_entropy_with_logits(X(lib), TARGETS(lib, "float16"), reduction="none"),
    "logits weighted": lambda lib, F: F.binary_cross_entropy_with_logits(
        X(lib, "bfloat16"), TARGETS(lib, "float32"), W(lib), pos_weight=W(lib)[0], reduction="none"
    ),
}


@pytest.mark.parametrize("name", MIXED)
def test_losses_of_two_dtypes(name: str, real_torch: ModuleType) -> None:
    ours, theirs = (MIXED[name](lib, lib.nn.functional) for lib in (reftorch, real_torch))
    assert str(ours.dtype) == str(theirs.dtype)
    assert ours.flatten().tolist() == pytest.approx(theirs.flatten().tolist(), rel=1e-2, abs=1e-2)


@pytest.mark.parametrize("case", ERRORS)
def test_errors_are_those_of_torch(case: str, real_torch: ModuleType) -> None:
    check_error(ERRORS[case], real_torch)


@pytest.mark.parametrize("reduction", ["none", "mean", "sum"])
@pytest.mark.parametrize("smoothing", [0.0, 0.2])
def test_cross_entropy_of_no_images(smoothing: float, reduction: str, real_torch: ModuleType) -> None:
    found = []
    for lib in (reftorch, real_torch):
        x = lib.ones(0, 3, 2, requires_grad=True)
        options = {"label_smoothing": smoothing, "reduction": reduction}
        loss = lib.nn.functional.cross_entropy(x, lib.zeros(0, 2, dtype=lib.int64), **options)
        loss.sum().backward()
        found.append([tuple(loss.shape), str(loss.sum().item()), tuple(x.grad.shape)])
    assert found[0] == found[1]
