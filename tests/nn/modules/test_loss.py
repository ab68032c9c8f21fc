"""Losses as modules.

Mirrors: test/test_nn.py
Leaves out: the losses that are not there.
"""

import random
from collections.abc import Callable
from types import ModuleType
from typing import Any

import pytest

import reftorch
from reftorch import nn
from reftorch.nn import functional as F
from tests.nn.modules.layers import batch, flat
from tests.nn.utils.both import compare, gradients, tried

SCORES = [[1.0, -2.0, 0.5], [0.0, 1.5, 2.0]]


@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
def test_module_is_its_function(reduction: str) -> None:
    scores, classes, weight = reftorch.tensor(SCORES), reftorch.tensor([2, 0]), reftorch.tensor([1.0, 2.0, 3.0])
    mse = nn.MSELoss(reduction=reduction)
    assert mse(scores, scores * 2).tolist() == F.mse_loss(scores, scores * 2, reduction=reduction).tolist()
    for module, function in ((nn.NLLLoss, F.nll_loss), (nn.CrossEntropyLoss, F.cross_entropy)):
        options = {"weight": weight, "ignore_index": 0, "reduction": reduction}
        assert module(**options)(scores, classes).tolist() == function(scores, classes, **options).tolist()
    smooth = nn.CrossEntropyLoss(label_smoothing=0.1, reduction=reduction)
    expected = F.cross_entropy(scores, classes, label_smoothing=0.1, reduction=reduction)
    assert smooth(scores, classes).tolist() == expected.tolist()


def test_the_weight_is_a_buffer() -> None:
    loss = nn.CrossEntropyLoss(weight=reftorch.ones(3))
    assert list(loss.state_dict()) == ["weight"]
    assert loss.double().weight.dtype is reftorch.float64
    assert not nn.CrossEntropyLoss().state_dict()


def test_the_gradient_of_cross_entropy_is_softmax_less_target() -> None:
    scores = reftorch.tensor(SCORES, requires_grad=True)
    nn.CrossEntropyLoss(reduction="sum")(scores, reftorch.tensor([2, 0])).backward()
    expected = scores.detach().softmax(1) - reftorch.tensor([[0.0, 0.0, 1.0], [1.0, 0.0, 0.0]])
    assert scores.grad.reshape(-1).tolist() == pytest.approx(expected.reshape(-1).tolist(), abs=1e-6)


def test_deprecated_flags() -> None:
    with pytest.warns(UserWarning, match="please use reduction='sum' instead"):
        assert nn.MSELoss(size_average=False).reduction == "sum"


LOSSES: dict[str, Callable] = {
    "L1Loss": lambda lib: lib.nn.L1Loss(),
    "SmoothL1Loss": lambda lib: lib.nn.SmoothL1Loss(reduction="sum", beta=0.5),
    "HuberLoss": lambda lib: lib.nn.HuberLoss("none", 0.5),
    "BCEWithLogitsLoss": lambda lib: lib.nn.BCEWithLogitsLoss(pos_weight=lib.tensor([1.0, 2.0, 3.0])),
    "BCELoss": lambda lib: lib.nn.BCELoss(weight=lib.tensor([1.0, 2.0, 3.0])),
    "KLDivLoss": lambda lib: lib.nn.KLDivLoss(reduction="batchmean", log_target=True),
}


@pytest.mark.parametrize("name", LOSSES)
def test_losses_are_those_of_torch(name: str, real_torch: ModuleType) -> None:
    results = []
    for lib in (reftorch, real_torch):
        loss = LOSSES[name](lib)
        x, y = batch(lib, 1).float().sigmoid(), batch(lib, 2).float().sigmoid()
        results.append((repr(loss), list(loss.state_dict()), flat(loss(x, y))))
    assert results[0][:2] == results[1][:2]
    assert results[0][2] == pytest.approx(results[1][2], rel=1e-5)


def ctc(lib: Any, seed: int) -> list[Any]:
    """A batch and options, drawn; some targets are too long for their steps."""
    rng = random.Random(seed)
    lib.manual_seed(seed)
    batch, steps = rng.randint(1, 3), rng.randint(1, 6)
    reduction, zero = rng.choice(("none", "mean", "sum")), rng.random() < 0.5
    blank = rng.choice((0, 3))
    scores = lib.randn(steps, batch, 4, dtype=lib.float64).requires_grad_(True)
    lengths = [rng.randint(0, 3) for _ in range(batch)]
    inputs = [rng.randint(1, steps) for _ in range(batch)]
    targets = lib.randint(1, 3, (batch, 3) if rng.random() < 0.5 else (sum(lengths),))
    sizes = (lib.tensor(inputs), lib.tensor(lengths)) if rng.random() < 0.5 else (tuple(inputs), tuple(lengths))
    loss = lib.nn.CTCLoss(blank, reduction, zero)
    if batch == 1 and rng.random() < 0.5:
        result = loss(scores[:, 0].log_softmax(-1), targets, *sizes)
    else:
        result = loss(scores.log_softmax(-1), targets, *sizes)
    (grad,) = lib.autograd.grad(result.sum(), [scores])
    return [repr(loss), result, grad]


@pytest.mark.parametrize("seed", range(24))
def test_ctc_is_that_of_torch(seed: int, real_torch: ModuleType) -> None:
    compare(lambda lib: tried(lambda: ctc(lib, seed)), real_torch)


def test_the_gradient_of_ctc_behind_log_softmax_is_its_derivative() -> None:
    reftorch.manual_seed(0)
    scores = reftorch.randn(4, 2, 3, dtype=reftorch.float64).requires_grad_(True)
    targets = reftorch.tensor([[1, 1], [2, 0]])

    def loss(scores: Any) -> Any:
        return reftorch.nn.functional.ctc_loss(scores.log_softmax(-1), targets, (4, 3), (2, 1))

    assert reftorch.autograd.gradcheck(loss, (scores,))


def last_layer(lib: Any, seed: int) -> list[Any]:
    rng = random.Random(seed)
    lib.manual_seed(seed)
    further = rng.choice(((), (), (2,)))
    options: dict[str, Any] = {"out_features": further, "bias": rng.random() < 0.5, "dtype": lib.float64}
    options |= {"reduction": rng.choice(("none", "mean", "sum")), "label_smoothing": rng.choice((0.0, 0.2))}
    options["weight"] = lib.rand(4, dtype=lib.float64) if rng.random() < 0.5 else None
    options["ignore_index"] = rng.choice((None, 1))
    loss = lib.nn.LinearCrossEntropyLoss(3, 4, **options)
    batch = () if rng.random() < 0.2 else (5,)
    x = lib.randn(*batch, rng.choice((3, 3, 3, 2)), dtype=lib.float64).requires_grad_(True)
    target = lib.randint(0, 4, (*batch, *further))
    if rng.random() < 0.3:
        target = lib.rand(*batch, 4, *further, dtype=lib.float64)
    result = loss(x, target)
    return [repr(loss), loss.state_dict(), result, *gradients(lib, result, [x, *loss.parameters()])]


@pytest.mark.parametrize("seed", range(16))
def test_the_last_layer_with_its_loss_is_that_of_torch(real_torch: ModuleType, seed: int) -> None:
    compare(lambda lib: tried(lambda: last_layer(lib, seed)), real_torch)


def test_errors_of_the_last_layer_are_those_of_torch(real_torch: ModuleType) -> None:
    def program(lib: Any) -> list[Any]:
        loss, one = lib.nn.LinearCrossEntropyLoss, lib.ones
        function, target = lib.nn.functional.linear_cross_entropy, lib.tensor([0])
        return [
            tried(lambda: loss(3, 4, weight=one(3))),
            tried(lambda: loss(3, 4, label_smoothing=1.5)),
            tried(lambda: function(one(1, 1, 3), one(4, 3), target)),
            tried(lambda: function(one(1, 3), one(3), target)),
            tried(lambda: function(one(1, 3), one(4, 3), target, linear_bias=one(3))),
        ]

    compare(program, real_torch)
