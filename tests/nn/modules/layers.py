"""How layers are compared with torch's: trained for two steps here and there.

Mirrors: torch/testing/_internal/common_nn.py
"""

from collections.abc import Callable
from types import ModuleType
from typing import Any

import pytest

import reftorch


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


def check_layer(make: Callable, real_torch: ModuleType) -> None:
    """The layer's text, state and numbers are torch's."""
    ours, theirs = trained(reftorch, make), trained(real_torch, make)
    assert ours[:2] == theirs[:2]
    assert ours[2] == pytest.approx(theirs[2], rel=1e-10, abs=1e-10)


def check_error(make: Callable, real_torch: ModuleType) -> None:
    """The error's type and message are torch's."""
    raised = []
    for lib in (reftorch, real_torch):
        with pytest.raises((ValueError, AssertionError)) as caught:
            make(lib)
        raised.append((type(caught.value), str(caught.value)))
    assert raised[0] == raised[1], raised
