"""Layers that are made of other ops: they start, compute, learn and print as torch's.

Mirrors: test/test_nn.py
Leaves out: the layers that are not there.
"""

from collections.abc import Callable
from types import ModuleType
from typing import Any

import pytest

import reftorch

LAYERS: dict[str, Callable] = {
    "LayerNorm": lambda lib: lib.nn.LayerNorm(3),
    "LayerNorm of two": lambda lib: lib.nn.LayerNorm([4, 3], eps=1e-3, bias=False),
    "LayerNorm plain": lambda lib: lib.nn.LayerNorm(3, elementwise_affine=False),
    "RMSNorm": lambda lib: lib.nn.RMSNorm(3),
    "RMSNorm plain": lambda lib: lib.nn.RMSNorm([4, 3], eps=1e-3, elementwise_affine=False),
    "BatchNorm1d": lambda lib: lib.nn.BatchNorm1d(4),
    "BatchNorm1d plain": lambda lib: lib.nn.BatchNorm1d(4, affine=False, momentum=0.3),
    "BatchNorm1d averaging": lambda lib: lib.nn.BatchNorm1d(4, momentum=None, bias=False),
    "BatchNorm1d forgetful": lambda lib: lib.nn.BatchNorm1d(4, track_running_stats=False),
    "Dropout": lambda lib: lib.nn.Dropout(0.25),
}


def batch(lib: ModuleType, seed: int) -> Any:
    return ((lib.arange(24, dtype=lib.float64) * (seed + 0.7)).sin() * 3 + seed).reshape(2, 4, 3)


def flat(tensor: Any) -> list[float]:
    return tensor.detach().double().reshape(-1).tolist()


def trained(lib: ModuleType, make: Callable) -> tuple[str, list[str], list[float]]:
    """Two steps of training, one of evaluation: the text, the names of the state, all numbers that come out."""
    lib.manual_seed(7)
    layer = make(lib).double()
    optimizer_lr, numbers = 0.1, []
    for seed in (1, 2):
        x = batch(lib, seed).requires_grad_(True)
        y = layer(x)
        (y * batch(lib, 3)).sum().backward()
        numbers += flat(y) + flat(x.grad)
        with lib.no_grad():
            for p in layer.parameters():
                p -= optimizer_lr * p.grad
                p.grad = None
    layer.eval()
    numbers += flat(layer(batch(lib, 4)))
    state = layer.state_dict()
    return repr(layer), list(state), numbers + [n for tensor in state.values() for n in flat(tensor)]


@pytest.mark.parametrize("name", LAYERS)
def test_layers(name: str, real_torch: ModuleType) -> None:
    ours, theirs = trained(reftorch, LAYERS[name]), trained(real_torch, LAYERS[name])
    assert ours[:2] == theirs[:2]
    assert ours[2] == pytest.approx(theirs[2], rel=1e-10, abs=1e-10)


def test_batches_of_images_and_volumes(real_torch: ModuleType) -> None:
    for name, shape in (("BatchNorm2d", (2, 4, 3, 1)), ("BatchNorm3d", (1, 4, 3, 2, 1))):
        results = [
            flat(getattr(lib.nn, name)(4).double()(batch(lib, 1).reshape(shape))) for lib in (reftorch, real_torch)
        ]
        assert results[0] == pytest.approx(results[1], rel=1e-12)


def test_a_state_of_before_batches_were_counted() -> None:
    layer = reftorch.nn.BatchNorm1d(2)
    state = {name: tensor for name, tensor in layer.state_dict().items() if name != "num_batches_tracked"}
    assert str(layer.load_state_dict(state)) == "<All keys matched successfully>"


EMBEDDINGS: dict[str, Callable] = {
    "plain": lambda lib: lib.nn.Embedding(5, 3),
    "padding": lambda lib: lib.nn.Embedding(5, 3, padding_idx=-2),
    "norm": lambda lib: lib.nn.Embedding(5, 3, max_norm=1.0, norm_type=1.0),
    "frozen": lambda lib: lib.nn.Embedding.from_pretrained(lib.arange(15.0).reshape(5, 3), padding_idx=0),
}


@pytest.mark.parametrize("name", EMBEDDINGS)
def test_embedding(name: str, real_torch: ModuleType) -> None:
    results = []
    for lib in (reftorch, real_torch):
        lib.manual_seed(11)
        layer = EMBEDDINGS[name](lib)
        y = layer(lib.tensor([[0, 3], [3, 4]]))
        if layer.weight.requires_grad:
            (y * lib.arange(12).reshape(2, 2, 3)).sum().backward()
        grad = [] if layer.weight.grad is None else flat(layer.weight.grad)
        results.append((repr(layer), tuple(y.shape), flat(y) + grad + flat(layer.weight)))
    assert results[0][:2] == results[1][:2]
    assert results[0][2] == pytest.approx(results[1][2], rel=1e-5, abs=1e-6)


LOSSES: dict[str, Callable] = {
    "L1Loss": lambda lib: lib.nn.L1Loss(),
    "SmoothL1Loss": lambda lib: lib.nn.SmoothL1Loss(reduction="sum", beta=0.5),
    "HuberLoss": lambda lib: lib.nn.HuberLoss("none", 0.5),
    "BCEWithLogitsLoss": lambda lib: lib.nn.BCEWithLogitsLoss(pos_weight=lib.tensor([1.0, 2.0, 3.0])),
    "BCELoss": lambda lib: lib.nn.BCELoss(weight=lib.tensor([1.0, 2.0, 3.0])),
    "KLDivLoss": lambda lib: lib.nn.KLDivLoss(reduction="batchmean", log_target=True),
}


@pytest.mark.parametrize("name", LOSSES)
def test_losses(name: str, real_torch: ModuleType) -> None:
    results = []
    for lib in (reftorch, real_torch):
        loss = LOSSES[name](lib)
        x, y = batch(lib, 1).float().sigmoid(), batch(lib, 2).float().sigmoid()
        results.append((repr(loss), list(loss.state_dict()), flat(loss(x, y))))
    assert results[0][:2] == results[1][:2]
    assert results[0][2] == pytest.approx(results[1][2], rel=1e-5)


ERRORS: dict[str, Callable] = {
    "BatchNorm1d": lambda lib: lib.nn.BatchNorm1d(3)(lib.ones(3)),
    "BatchNorm2d": lambda lib: lib.nn.BatchNorm2d(3)(lib.ones(3)),
    "BatchNorm3d": lambda lib: lib.nn.BatchNorm3d(3)(lib.ones(2, 3)),
    "Dropout": lambda lib: lib.nn.Dropout(2.0),
    "padding": lambda lib: lib.nn.Embedding(3, 2, padding_idx=3),
    "weight": lambda lib: lib.nn.Embedding(3, 2, _weight=lib.ones(2, 2)),
    "pretrained": lambda lib: lib.nn.Embedding.from_pretrained(lib.ones(2)),
}


@pytest.mark.parametrize("case", ERRORS)
def test_errors_are_those_of_torch(case: str, real_torch: ModuleType) -> None:
    raised = []
    for lib in (reftorch, real_torch):
        with pytest.raises((ValueError, AssertionError)) as caught:
            ERRORS[case](lib)
        raised.append((type(caught.value), str(caught.value)))
    assert raised[0] == raised[1]


def test_dropout_is_off_in_evaluation() -> None:
    x = reftorch.ones(10)
    layer = reftorch.nn.Dropout(0.9)
    assert layer.eval()(x) is x and layer.train()(x) is not x
