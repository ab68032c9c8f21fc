"""The softmax in two steps against torch's.

Mirrors: test/test_nn.py (test_adaptive_log_softmax)
"""

from types import ModuleType
from typing import Any

import pytest

from tests.nn.utils.both import compare, gradients, tried


@pytest.mark.parametrize("cutoffs", [[3], [2, 5], [2, 5, 8]], ids=str)
@pytest.mark.parametrize("batched", [True, False])
def test_the_layer_is_that_of_torch(real_torch: ModuleType, cutoffs: list[int], batched: bool) -> None:
    def program(lib: Any) -> list[Any]:
        lib.manual_seed(0)
        layer = lib.nn.AdaptiveLogSoftmaxWithLoss(8, 10, cutoffs, 2.0, len(cutoffs) == 2, dtype=lib.float64)
        x = lib.randn(6, 8, dtype=lib.float64).requires_grad_(True)
        target = lib.tensor([0, 9, 4, 2, 9, 1])
        args = (x, target) if batched else (x[1], target[1])
        output, loss = layer(*args)
        found = [repr(layer), layer.state_dict(), output, layer.log_prob(x), layer.predict(x)]
        return [*found, *gradients(lib, loss, [x, *layer.parameters()])]

    compare(program, real_torch)


@pytest.mark.filterwarnings("ignore")
def test_errors_are_those_of_torch(real_torch: ModuleType) -> None:
    def program(lib: Any) -> list[Any]:
        make = lib.nn.AdaptiveLogSoftmaxWithLoss
        layer, x = make(8, 10, [2, 5]), lib.ones(3, 8)
        wrong = ([], [5, 2], [0, 2], [2, 10], [2, 2], [2.5])
        calls = [lambda cutoffs=cutoffs: make(8, 10, cutoffs) for cutoffs in wrong]
        calls += [
            lambda: layer(x, lib.tensor([0, 1])),
            lambda: layer(x[0], lib.tensor([0] * 8)),
            lambda: layer(x, lib.tensor(0)),
            lambda: layer(x, lib.tensor([[0]])),
            lambda: layer(x, lib.tensor([0, 1, 10])),
            lambda: layer(x, lib.tensor([0, -1, 1])),
        ]
        return [tried(call) for call in calls]

    compare(program, real_torch)
