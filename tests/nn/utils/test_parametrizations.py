"""Orthogonal weights, weight norm and spectral norm: five steps of training, state dicts and copies.

Mirrors: test/nn/test_parametrization.py
Leaves out: complex weights.
"""

import copy
import pickle
from collections.abc import Callable
from types import ModuleType
from typing import Any

import pytest

from tests.nn.utils.both import compare, tried


def linear(lib: Any, inputs: int = 3, outputs: int = 4) -> Any:
    return lib.nn.Linear(inputs, outputs, dtype=lib.float64)


CASES: dict[str, Callable[[Any], Any]] = {
    "weight norm": lambda lib: lib.nn.utils.parametrizations.weight_norm(linear(lib)),
    "weight norm, dim 1": lambda lib: lib.nn.utils.parametrizations.weight_norm(linear(lib), dim=1),
    "weight norm, whole": lambda lib: lib.nn.utils.parametrizations.weight_norm(linear(lib), dim=None),
    "spectral norm": lambda lib: lib.nn.utils.parametrizations.spectral_norm(linear(lib)),
    "spectral norm, dim 1": lambda lib: lib.nn.utils.parametrizations.spectral_norm(
        linear(lib), n_power_iterations=3, dim=1
    ),
    "spectral norm of a bias": lambda lib: lib.nn.utils.parametrizations.spectral_norm(linear(lib), "bias"),
    **{
        f"{name} {n}x{k} {trivial}": lambda lib, name=name, n=n, k=k, trivial=trivial: (
            lib.nn.utils.parametrizations.orthogonal(linear(lib, k, n), orthogonal_map=name, use_trivialization=trivial)
        )
        for name in (None, "matrix_exp", "cayley", "householder")
        for n, k in ((3, 3), (4, 3), (3, 4))
        for trivial in (True, False)
        if trivial or n == k or name in (None, "householder")
    },
    "two": lambda lib: lib.nn.utils.parametrizations.weight_norm(
        lib.nn.utils.parametrizations.spectral_norm(linear(lib)), "bias", dim=None
    ),
    "on top": lambda lib: lib.nn.utils.parametrizations.spectral_norm(
        lib.nn.utils.parametrizations.spectral_norm(linear(lib))
    ),
}


def program(lib: Any, case: str) -> list[Any]:
    lib.manual_seed(5)
    made = tried(lambda: CASES[case](lib))
    if isinstance(made, tuple):
        return list(made)
    layer = made
    found: list[Any] = [repr(layer), type(layer).__name__, list(layer.state_dict()), layer.weight]
    optimizer = lib.optim.SGD(layer.parameters(), lr=0.1)
    x = (lib.arange(5 * layer.in_features, dtype=lib.float64) * 0.7).sin().reshape(5, layer.in_features)
    for _ in range(5):
        optimizer.zero_grad()
        loss = (layer(x) ** 2).sum()
        loss.backward()
        optimizer.step()
        found.append(loss.item())
    with lib.nn.utils.parametrize.cached():
        found.append(layer.weight is layer.weight)
    found += [layer.state_dict(), tried(lambda: pickle.dumps(layer)), layer.eval().weight]
    copied = copy.deepcopy(layer)
    found += [copied.weight, copied.weight is not layer.weight, type(copied).__name__]
    # A matrix of full rank: if the columns depend on each other, rounding decides which orthogonal matrix comes out.
    new_weight = (lib.arange(layer.weight.numel(), dtype=lib.float64).square() * 0.7).sin().reshape(layer.weight.shape)
    found += [tried(lambda: setattr(copied, "weight", new_weight)), copied.weight]
    for name in list(layer.parametrizations):
        found.append(tried(lambda name=name: repr(lib.nn.utils.parametrize.remove_parametrizations(layer, name))))
    return [*found, layer.state_dict(), type(layer).__name__, sorted(vars(layer))]


@pytest.mark.parametrize("case", CASES)
def test_training_is_that_of_torch(real_torch: ModuleType, case: str) -> None:
    compare(lambda lib: program(lib, case), real_torch)


def errors(lib: Any) -> list[Any]:
    p, linear = lib.nn.utils.parametrizations, lib.nn.Linear(2, 3, dtype=lib.float64)
    return [
        tried(call)
        for call in (
            lambda: p.orthogonal(linear, "weights"),
            lambda: p.orthogonal(linear, "bias"),
            lambda: p.orthogonal(linear, orthogonal_map="other"),
            lambda: p.spectral_norm(linear, "weights"),
            lambda: p.spectral_norm(linear, n_power_iterations=0),
            lambda: p.spectral_norm(linear, dim=2),
            lambda: p.weight_norm(linear, "weights"),
            lambda: setattr(p.orthogonal(lib.nn.Linear(2, 3, dtype=lib.float64)), "weight", lib.ones(2)),
        )
    ]


def test_errors_are_those_of_torch(real_torch: ModuleType) -> None:
    compare(errors, real_torch)


def old_state(lib: Any) -> Any:
    lib.manual_seed(2)
    layer = lib.nn.utils.parametrizations.weight_norm(lib.nn.Linear(2, 3, dtype=lib.float64))
    state = {"bias": lib.zeros(3), "weight_g": lib.ones(3, 1), "weight_v": lib.ones(3, 2)}
    return [str(layer.load_state_dict(state)), layer.weight]


def test_a_state_of_the_old_weight_norm_is_loaded(real_torch: ModuleType) -> None:
    compare(old_state, real_torch)
