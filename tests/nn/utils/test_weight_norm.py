"""Weight norm as a hook.

Mirrors: test/test_nn.py, its tests of ``weight_norm``
"""

import warnings
from types import ModuleType
from typing import Any

import pytest

import reftorch
from tests.answers.watched import asked
from tests.nn.utils.both import compare, tried


def program(lib: Any, dim: int | None) -> list[Any]:
    lib.manual_seed(1)
    norm = lib.nn.utils.weight_norm
    layer = norm(lib.nn.Linear(3, 4), dim=dim)
    found: list[Any] = [repr(layer), layer.state_dict(), layer.weight, sorted(vars(layer))]
    optimizer = lib.optim.SGD(layer.parameters(), lr=0.1)
    for _ in range(3):
        optimizer.zero_grad()
        (layer(lib.ones(2, 3)) ** 2).sum().backward()
        optimizer.step()
    found += [layer.state_dict(), [p.grad for p in layer.parameters()], tried(lambda: norm(layer))]
    found += [repr(lib.nn.utils.remove_weight_norm(layer)), layer.state_dict(), len(layer._forward_pre_hooks)]
    found += [tried(lambda: lib.nn.utils.remove_weight_norm(layer)), tried(lambda: norm(lib.nn.LazyLinear(3)))]
    return found


@pytest.mark.parametrize("dim", [0, 1, None])
def test_weight_norm_is_that_of_torch(real_torch: ModuleType, dim: int | None) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)
        compare(lambda lib: program(lib, dim), real_torch)


def test_a_call_is_deprecated(real_torch: ModuleType) -> None:
    def call(lib: Any) -> None:
        with pytest.warns(FutureWarning, match="`torch.nn.utils.weight_norm` is deprecated in favor of"):
            lib.nn.utils.weight_norm(lib.nn.Linear(1, 1))

    call(reftorch)
    asked(real_torch, call)
