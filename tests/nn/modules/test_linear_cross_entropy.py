"""The last layer together with its loss, against torch's.

Mirrors: test/nn/test_linear_cross_entropy.py
Leaves out: chunks of a batch.
"""

import random
from types import ModuleType
from typing import Any

import pytest

import reftorch
from tests.nn.utils.both import compare, gradients, tried


def drawn(lib: Any, seed: int) -> list[Any]:
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
def test_the_loss_is_that_of_torch(real_torch: ModuleType, seed: int) -> None:
    compare(lambda lib: tried(lambda: drawn(lib, seed)), real_torch)


def test_errors_are_those_of_torch(real_torch: ModuleType) -> None:
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


def test_chunks_are_refused() -> None:
    with pytest.raises(NotImplementedError, match="no chunks of a batch"):
        reftorch.nn.LinearCrossEntropyLoss(3, 4, options=object())(reftorch.ones(1, 3), reftorch.tensor([0]))
