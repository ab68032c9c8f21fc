"""Pruning: masks, parameters and hooks after each method, and after several.

Mirrors: test/nn/test_pruning.py
"""

import copy
import importlib
import pickle
import random
from types import ModuleType
from typing import Any

import pytest

from tests.nn.utils.both import compare, tried


def prune_of(lib: Any) -> Any:
    return importlib.import_module(f"{lib.__name__}.nn.utils.prune")  # torch does not import the module by itself


def state(module: Any) -> list[Any]:
    names = sorted(vars(module).keys() - {"_forward_pre_hooks"})
    return [names, module.state_dict(), module.weight, [type(h).__name__ for h in module._forward_pre_hooks.values()]]


def step(lib: Any, module: Any, rng: random.Random) -> Any:
    """Prune once more, in a way that is drawn."""
    prune = prune_of(lib)
    kind, amount = rng.randrange(7), rng.choice((0, 1, 2, 0.3, 0.5))
    scores = (lib.arange(module.weight.numel()) * 1.3).cos().reshape(module.weight.shape)
    if kind == 0:
        return prune.identity(module, "weight")
    if kind == 1:
        return prune.random_unstructured(module, "weight", amount)
    if kind == 2:
        return prune.l1_unstructured(module, "weight", amount, importance_scores=rng.choice((None, scores)))
    if kind == 3:
        return prune.random_structured(module, "weight", amount, dim=rng.choice((0, 1, -1)))
    if kind == 4:
        return prune.ln_structured(module, "weight", amount, n=rng.choice((1, 2)), dim=rng.choice((0, 1, -1)))
    if kind == 5:
        return prune.custom_from_mask(module, "weight", (scores > -0.5).to(lib.int64))
    return prune.l1_unstructured(module, "bias", 1)


def program(lib: Any, seed: int) -> Any:
    rng = random.Random(seed)
    lib.manual_seed(seed)
    module = lib.nn.Linear(4, 5)
    found: list[Any] = []
    for _ in range(rng.randint(1, 4)):
        found += [tried(lambda: step(lib, module, rng) is module), *state(module)]
    x = lib.ones(2, 4)
    module(x).sum().backward()
    found += [p.grad for p in module.parameters()]
    found += [prune_of(lib).is_pruned(lib.nn.Sequential(module)), module(x)]
    with lib.no_grad():
        found.append(module(x))  # now the weight has no history, and the module can be copied
    for again in (copy.deepcopy(module), pickle.loads(pickle.dumps(module))):
        found += [list(again.state_dict()), again(x)]
    found += [tried(lambda: repr(prune_of(lib).remove(module, "weight"))), *state(module), module(x)]
    return found


@pytest.mark.parametrize("seed", range(20))
def test_pruning_is_that_of_torch(real_torch: ModuleType, seed: int) -> None:
    compare(lambda lib: program(lib, seed), real_torch)


def together(lib: Any) -> Any:
    lib.manual_seed(1)
    net = lib.nn.Sequential(lib.nn.Linear(3, 4), lib.nn.Linear(4, 2))
    prune = prune_of(lib)
    prune.random_unstructured(net[0], "weight", 2)
    pairs = [(net[0], "weight"), (net[1], "weight"), (net[1], "bias")]
    prune.global_unstructured(pairs, prune.L1Unstructured, amount=0.4)
    found = [net.state_dict(), [t.detach() for t in (net[0].weight, net[1].weight, net[1].bias)]]
    prune.global_unstructured(pairs, prune.RandomUnstructured, amount=3)
    return [*found, net.state_dict(), net(lib.ones(1, 3))]


def test_pruning_several_parameters_together(real_torch: ModuleType) -> None:
    compare(together, real_torch)


def errors(lib: Any) -> list[Any]:
    prune = prune_of(lib)
    linear, ones = lib.nn.Linear(2, 3), lib.ones(3, 2)
    container = prune.PruningContainer()
    container._tensor_name = "weight"
    pairs = [(linear, "weight")]
    return [
        tried(call)
        for call in (
            lambda: prune.L1Unstructured("1"),
            lambda: prune.L1Unstructured(1.5),
            lambda: prune.L1Unstructured(-1),
            lambda: prune.l1_unstructured(linear, "weight", 7),
            lambda: prune.l1_unstructured(linear, "weight", 1, importance_scores=lib.ones(2)),
            lambda: prune.ln_structured(linear, "bias", 1, 2, 0),
            lambda: prune.ln_structured(linear, "weight", 1, 2, 5),
            lambda: prune.custom_from_mask(linear, "weight", lib.ones(2)),
            lambda: sorted(linear.state_dict()),
            lambda: prune.remove(linear, "weight"),
            lambda: prune.global_unstructured(3, prune.L1Unstructured, amount=1),
            lambda: prune.global_unstructured(pairs, prune.L1Unstructured, importance_scores=3, amount=1),
            lambda: prune.global_unstructured(pairs, prune.RandomStructured, amount=1),
            lambda: container.add_pruning_method(3),
            lambda: prune.RandomUnstructured(2).prune(ones, importance_scores=lib.ones(2)),
            lambda: prune.L1Unstructured(2).prune(ones, default_mask=lib.ones(3, 2)),
            lambda: linear(lib.ones(1, 2)).shape == (1, 3),
        )
    ]


def test_errors_are_those_of_torch(real_torch: ModuleType) -> None:
    compare(errors, real_torch)
