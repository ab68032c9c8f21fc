"""The scaler of gradients against torch's.

Mirrors: test/test_torch.py (test_grad_scaling_*)
Leaves out: CUDA, sparse gradients.
"""

from __future__ import annotations

import copy
import pickle
import random
import warnings
from types import ModuleType
from typing import Any

import pytest

import reftorch
from tests.nn.utils.both import compare, tried


def steps(lib: Any, seed: int) -> list[Any]:
    """Drawn training steps, some with gradients that are infinite or NaN, some unscaled by hand."""
    rng = random.Random(seed)
    weights = [lib.nn.Parameter(lib.ones(3)), lib.nn.Parameter(lib.ones(2, dtype=lib.float64))]
    optimizers = [lib.optim.SGD([w], lr=0.1) for w in weights]
    scaler = lib.amp.GradScaler(
        "cpu", init_scale=rng.choice((4.0, 1024.0)), growth_interval=rng.randint(1, 3), growth_factor=1.5,
        backoff_factor=0.25,
    )  # fmt: skip
    found: list[Any] = [scaler.get_scale(), scaler.state_dict(), scaler.is_enabled()]
    for _ in range(8):
        bad = rng.choice((None, None, float("inf"), float("nan")))
        losses = []
        for w, optimizer in zip(weights, optimizers, strict=True):
            optimizer.zero_grad()
            losses.append((w * w).sum() * (1.0 if bad is None or rng.random() < 0.5 else bad))
        for loss in scaler.scale(losses if rng.random() < 0.5 else tuple(losses)):
            loss.backward()
        for optimizer, w in zip(optimizers, weights, strict=True):
            if rng.random() < 0.3:
                scaler.unscale_(optimizer)
                found.append([w.grad])
            found.append(scaler.step(optimizer))
        scaler.update(rng.choice((None, None, None, 8.0)))
        found += [scaler.state_dict(), *(w.detach().clone() for w in weights)]
        if rng.random() < 0.2:
            scaler = rng.choice((pickle.loads(pickle.dumps(scaler)), copy.deepcopy(scaler)))
    fresh = lib.amp.GradScaler("cpu")
    fresh.load_state_dict(scaler.state_dict())
    return [*found, fresh.state_dict()]


@pytest.mark.parametrize("seed", range(20))
def test_scalers_are_those_of_torch(real_torch: ModuleType, seed: int) -> None:
    compare(lambda lib: tried(lambda: steps(lib, seed)), real_torch)


def wrong_uses(lib: Any) -> list[Any]:
    def scaled(dtype: Any = None) -> tuple[Any, Any, Any]:
        w = lib.nn.Parameter(lib.ones(2, dtype=dtype or lib.float32))
        scaler, optimizer = lib.amp.GradScaler("cpu", init_scale=2.0), lib.optim.SGD([w], lr=0.1)
        scaler.scale(w.sum()).backward()
        return scaler, optimizer, w

    def twice(first: str, second: str) -> Any:
        scaler, optimizer, _ = scaled()
        getattr(scaler, first)(optimizer)
        return getattr(scaler, second)(optimizer)

    def without_gradients() -> Any:
        scaler, optimizer, w = scaled()
        w.grad = None
        return scaler.step(optimizer)

    def pickled_too_early() -> Any:
        scaler, optimizer, _ = scaled()
        scaler.unscale_(optimizer)
        return pickle.dumps(scaler)

    def in_float16() -> Any:
        scaler, optimizer, _ = scaled(lib.float16)
        return scaler.unscale_(optimizer)

    scaler = lib.amp.GradScaler
    calls = (
        lambda: scaler("cpu", growth_factor=1.0),
        lambda: scaler("cpu", backoff_factor=1.0),
        lambda: scaler("cpu").update(),
        lambda: scaler("cpu").step(None),
        lambda: scaler("cpu").unscale_(None),
        lambda: scaler("cpu").scale(3),
        lambda: scaler("cpu").load_state_dict({}),
        lambda: scaler("cpu").step(None, closure=3),
        lambda: scaled()[0].update(),
        lambda: scaled()[0].update(lib.ones(2)),
        lambda: twice("unscale_", "unscale_"),
        lambda: twice("step", "unscale_"),
        lambda: twice("step", "step"),
        without_gradients,
        pickled_too_early,
        in_float16,
    )
    return [tried(call) for call in calls]


def test_errors_are_those_of_torch(real_torch: ModuleType) -> None:
    compare(wrong_uses, real_torch)


def settings(lib: Any) -> list[Any]:
    scaler = lib.amp.GradScaler("cpu")
    scaler.set_growth_factor(3.0)
    scaler.set_backoff_factor(0.1)
    scaler.set_growth_interval(7)
    off = lib.amp.GradScaler("cpu", enabled=False)
    w = lib.nn.Parameter(lib.ones(2))
    optimizer = lib.optim.SGD([w], lr=0.5)
    off.scale(w.sum()).backward()
    off.unscale_(optimizer)
    off.step(optimizer)
    off.update()
    off.load_state_dict({})
    return [
        scaler.get_growth_factor(), scaler.get_backoff_factor(), scaler.get_growth_interval(), scaler.get_scale(),
        scaler.state_dict(), off.state_dict(), off.get_scale(), off.is_enabled(), w.detach(),
    ]  # fmt: skip


def test_settings_are_those_of_torch(real_torch: ModuleType) -> None:
    compare(settings, real_torch)


def test_without_cuda_a_scaler_for_it_is_disabled(real_torch: ModuleType) -> None:
    for lib in (reftorch, real_torch):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            scaler = lib.amp.GradScaler()
        assert not scaler.is_enabled()
        assert [str(w.message) for w in caught] == [
            "torch.cuda.amp.GradScaler is enabled, but CUDA is not available.  Disabling."
        ]


def test_the_largest_scale_does_not_overflow(real_torch: ModuleType) -> None:
    scales = []
    for lib in (reftorch, real_torch):
        w = lib.nn.Parameter(lib.zeros(1))
        optimizer = lib.optim.SGD([w], lr=0.1)
        scaler = lib.amp.GradScaler("cpu", init_scale=3e38, growth_interval=1)
        scaler.scale(w.sum() * 1e-30).backward()
        scaler.step(optimizer)
        scaler.update()
        scales.append(scaler.state_dict())
    assert scales[0] == scales[1]
