"""Averages of the parameters over the training.

Mirrors: test/optim/test_swa_utils.py
"""

import random
from types import ModuleType
from typing import Any

import pytest

import reftorch
from tests.optim.rules import assert_close, errors, plain
from tests.optim.test_lr_scheduler import groups_of, optimizer_of


def model_of(lib: ModuleType, seed: str) -> Any:
    """A network with parameters and buffers, floating-point and integer ones, whose values come from the seed."""
    nn = lib.nn
    model = nn.Sequential(nn.Linear(2, 3), nn.BatchNorm1d(3), nn.ReLU(), nn.Linear(3, 1)).double()
    change(lib, model, seed)
    return model


def change(lib: ModuleType, model: Any, seed: str) -> None:
    rng = random.Random(seed)
    with lib.no_grad():
        for tensor in [*model.parameters(), *model.buffers()]:
            values = [rng.uniform(-1.0, 1.0) for _ in range(max(tensor.numel(), 1))]
            integer = not tensor.is_floating_point()
            tensor.copy_(
                lib.tensor([round(10 * v) for v in values] if integer else values).reshape(tuple(tensor.shape))
            )


def numbers(model: Any) -> Any:
    return {name: plain(value) for name, value in model.state_dict().items()}


WAYS: dict[str, Any] = {
    "default": lambda swa: {},
    "swa": lambda swa: {"avg_fn": swa.get_swa_avg_fn()},
    "swa, lists": lambda swa: {"multi_avg_fn": swa.get_swa_multi_avg_fn()},
    "ema": lambda swa: {"avg_fn": swa.get_ema_avg_fn(0.7)},
    "ema, lists": lambda swa: {"multi_avg_fn": swa.get_ema_multi_avg_fn(0.7)},
    "own": lambda swa: {"avg_fn": lambda average, value, count: 0.5 * average + 0.25 * value + count},
}


# torch divides by the number of models in place, which it cannot for a buffer of integers, such as a count of batches.
CASES = [
    (way, use_buffers) for way in WAYS for use_buffers in (False, True) if (way, use_buffers) != ("swa, lists", True)
]


@pytest.mark.parametrize(("way", "use_buffers"), CASES)
def test_averages_are_those_of_torch(real_torch: ModuleType, way: str, use_buffers: bool) -> None:
    found = []
    for lib in (reftorch, real_torch):
        swa = lib.optim.swa_utils
        model = model_of(lib, "start")
        averaged = swa.AveragedModel(model, use_buffers=use_buffers, **WAYS[way](swa))
        path = [numbers(averaged)]
        for step in range(5):
            change(lib, model, str(step))
            averaged.update_parameters(model)
            path.append(numbers(averaged))
        found.append(path)
    assert_close(found[0], found[1], 1e-6)


def test_an_averaged_model_is_called_like_the_model() -> None:
    model = model_of(reftorch, "start")
    averaged = reftorch.optim.swa_utils.AveragedModel(model)
    x = reftorch.arange(8.0, dtype=reftorch.float64).reshape(4, 2)
    assert reftorch.equal(averaged(x), model(x))
    change(reftorch, model, "other")
    assert not reftorch.equal(averaged(x), model(x)), "the averaged model shares memory with the model"


def test_a_saved_average_goes_on(real_torch: ModuleType) -> None:
    found = []
    for lib in (reftorch, real_torch):
        swa = lib.optim.swa_utils
        model = model_of(lib, "start")
        first = swa.AveragedModel(model)
        first.update_parameters(model)
        second = swa.AveragedModel(model_of(lib, "elsewhere"))
        second.load_state_dict(first.state_dict())
        change(lib, model, "next")
        second.update_parameters(model)
        found.append(numbers(second))
    assert_close(found[0], found[1], 1e-9)


@pytest.mark.parametrize("in_pairs", [False, True])
def test_update_bn_is_torchs(real_torch: ModuleType, in_pairs: bool) -> None:
    found = []
    for lib in (reftorch, real_torch):
        model = model_of(lib, "start").eval()
        model[1].momentum = 0.3
        rng = random.Random("data")
        batches = [
            lib.tensor([[rng.gauss(0, 1), rng.gauss(1, 2)] for _ in range(5)], dtype=lib.float64) for _ in range(4)
        ]
        lib.optim.swa_utils.update_bn([(b, 0) for b in batches] if in_pairs else batches, model, device="cpu")
        assert model[1].momentum == 0.3
        assert not model.training
        found.append(numbers(model))
    assert_close(found[0], found[1], 1e-9)


def test_update_bn_leaves_a_model_without_statistics_alone() -> None:
    def batches() -> Any:
        raise AssertionError("the data was read")
        yield

    reftorch.optim.swa_utils.update_bn(batches(), reftorch.nn.Linear(1, 1))


@pytest.mark.parametrize("strategy", ["cos", "linear"])
@pytest.mark.parametrize("epochs", [0, 1, 4])
def test_learning_rates_are_those_of_torch(real_torch: ModuleType, strategy: str, epochs: int) -> None:
    found = []
    for lib in (reftorch, real_torch):
        optimizer = optimizer_of(lib, "swalr")
        first = lib.optim.lr_scheduler.ExponentialLR(optimizer, 0.9)
        options = {"swa_lr": [0.05, 0.5], "anneal_epochs": epochs, "anneal_strategy": strategy}
        scheduler = lib.optim.swa_utils.SWALR(optimizer, **options)
        path = []
        for step in range(12):
            optimizer.step()
            (first if step < 3 else scheduler).step()
            path.append(groups_of(optimizer))
        state = scheduler.state_dict()
        again = lib.optim.swa_utils.SWALR(optimizer, swa_lr=0.1, anneal_strategy="linear")
        again.load_state_dict(state)
        assert again.state_dict() == state
        again.step()
        found.append((path, plain(state), again.get_last_lr()))
    assert_close(found[0], found[1], 1e-9)


ERRORS: dict[str, Any] = {
    "decay": lambda lib, swa: swa.get_ema_avg_fn(1.5),
    "decay of lists": lambda lib, swa: swa.get_ema_multi_avg_fn(-0.5),
    "both": lambda lib, swa: swa.AveragedModel(lib.nn.Linear(1, 1), avg_fn=max, multi_avg_fn=max),
    "strategy": lambda lib, swa: swa.SWALR(optimizer_of(lib, "e"), 0.1, anneal_strategy="square"),
    "epochs": lambda lib, swa: swa.SWALR(optimizer_of(lib, "e"), 0.1, anneal_epochs=-1),
    "learning rates": lambda lib, swa: swa.SWALR(optimizer_of(lib, "e"), [0.1]),
}


@pytest.mark.parametrize("case", ERRORS)
def test_errors_are_those_of_torch(real_torch: ModuleType, case: str) -> None:
    ours, theirs = errors(real_torch, lambda lib: ERRORS[case](lib, lib.optim.swa_utils))
    assert ours == theirs
