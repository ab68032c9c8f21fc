"""Spectral norm as a hook.

Mirrors: test/test_nn.py, its tests of ``spectral_norm``
"""

from types import ModuleType
from typing import Any

import pytest

from tests.nn.utils.both import compare, tried


def program(lib: Any, dim: int | None, iterations: int) -> list[Any]:
    lib.manual_seed(1)
    norm = lib.nn.utils.spectral_norm
    layer = norm(lib.nn.Linear(3, 4, dtype=lib.float64), n_power_iterations=iterations, dim=dim)
    found: list[Any] = [repr(layer), layer.state_dict(), layer.state_dict()._metadata, sorted(vars(layer))]
    optimizer = lib.optim.SGD(layer.parameters(), lr=0.1)
    for _ in range(3):
        optimizer.zero_grad()
        (
            layer(lib.ones(2, 3, dtype=lib.float64)) - layer(lib.zeros(2, 3, dtype=lib.float64))
        ).sum().backward()  # two passes share the buffers
        optimizer.step()
    found += [layer.state_dict(), [p.grad for p in layer.parameters()], tried(lambda: norm(layer))]
    found += [layer.eval()(lib.ones(1, 3, dtype=lib.float64)), layer.weight]
    again = norm(lib.nn.Linear(3, 4, dtype=lib.float64), dim=dim)
    found += [str(again.load_state_dict(layer.state_dict())), again.state_dict()]
    old = {key: value.clone() for key, value in layer.state_dict().items()}
    del old["weight_v"]
    old["weight"] = layer.weight.detach().clone()
    found += [str(again.load_state_dict(old)), again.weight_v, tried(lambda: again.load_state_dict({}))]
    found += [repr(lib.nn.utils.remove_spectral_norm(layer)), layer.state_dict()]
    found += [len(layer._forward_pre_hooks), len(layer._state_dict_hooks)]  # torch forgets the third hook
    found += [tried(lambda: lib.nn.utils.remove_spectral_norm(layer)), tried(lambda: norm(lib.nn.LazyLinear(3)))]
    found += [
        tried(lambda: norm(lib.nn.Linear(2, 2, bias=False), "bias")),
        tried(lambda: norm(layer, n_power_iterations=0)),
    ]
    return found


@pytest.mark.parametrize("iterations", [1, 4])
@pytest.mark.parametrize("dim", [None, 1])
def test_spectral_norm_is_that_of_torch(real_torch: ModuleType, dim: int | None, iterations: int) -> None:
    compare(lambda lib: program(lib, dim, iterations), real_torch)
