"""Noise in networks: torch.dropout and its kin, torch.rrelu.

Mirrors: test/nn/test_dropout.py
"""

from types import ModuleType

import pytest

import reftorch
from tests.nn.functions import X


@pytest.mark.parametrize("name", ["dropout", "alpha_dropout", "feature_dropout", "feature_alpha_dropout"])
def test_dropout_draws_what_torch_draws(name: str, real_torch: ModuleType) -> None:
    results = []
    for lib in (reftorch, real_torch):
        lib.manual_seed(4)
        x = lib.ones(5, 4, 2)
        y = getattr(lib, name)(x, 0.4, True)
        assert getattr(lib, name + "_")(x, 0.4, True) is x
        results.append([*y.flatten().tolist(), *x.flatten().tolist()])
    assert results[0] == pytest.approx(results[1], rel=1e-6)


def test_no_probability(real_torch: ModuleType) -> None:
    for lib in (reftorch, real_torch):
        with pytest.raises(RuntimeError, match="dropout probability has to be between 0 and 1, but got 2"):
            lib.dropout(lib.ones(2), 2.0, True)
        with pytest.raises(RuntimeError, match="Feature dropout requires at least 2 dimensions in the input"):
            lib.feature_dropout(lib.ones(2), 0.5, True)


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_rrelu_draws_what_torch_draws(dtype: str, real_torch: ModuleType) -> None:
    drawn = []
    for lib in (reftorch, real_torch):
        lib.manual_seed(5)
        x = X(lib, dtype).t()
        drawn.append((lib.rrelu(x, training=True).tolist(), lib.rand(1).tolist()))
    assert drawn[0] == drawn[1]


def test_rrelu_takes_a_generator() -> None:
    x = -reftorch.ones(5)
    one, other = (reftorch.rrelu(x, training=True, generator=reftorch.Generator().manual_seed(1)) for _ in range(2))
    assert one.equal(other) and len(set(one.tolist())) == 5


def test_rrelu_in_place() -> None:
    x = reftorch.tensor([-8.0, 1.0])
    assert reftorch.rrelu_(x, 0.25, 0.75) is x and x.tolist() == [-4.0, 1.0]


def test_overrides() -> None:
    class Name:
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            return func.__name__

    assert reftorch.dropout(Name(), 0.5, True) == "dropout"
    assert reftorch.nn.functional.rrelu(Name()) == reftorch.rrelu(Name()) == "rrelu"
