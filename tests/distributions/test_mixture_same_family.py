"""Mixtures, compared with torch.

Mirrors: test/distributions/test_distributions.py (the tests of MixtureSameFamily)
"""

from types import ModuleType
from typing import Any

import numpy as np
import pytest

import reftorch
from tests.distributions.families import assert_same, outcome


def make(lib: ModuleType, case: int) -> Any:
    D = lib.distributions
    r = np.random.default_rng(case)

    def drawn(*shape: int) -> Any:
        return lib.tensor(r.gamma(2.0, size=shape))

    if case == 0:
        return D.MixtureSameFamily(D.Categorical(drawn(3)), D.Normal(drawn(3), drawn(3)))
    if case == 1:
        return D.MixtureSameFamily(D.Categorical(drawn(2, 3)), D.Gamma(drawn(2, 3), drawn(2, 3)))
    if case == 2:
        return D.MixtureSameFamily(
            D.Categorical(drawn(2, 3)), D.Independent(D.Normal(drawn(2, 3, 4), drawn(2, 3, 4)), 1)
        )
    if case == 3:
        return D.MixtureSameFamily(
            D.Categorical(logits=drawn(3)), D.MultivariateNormal(drawn(3, 2), lib.eye(2).double())
        )
    return D.MixtureSameFamily(D.Categorical(drawn(3)), D.Poisson(drawn(3)))


@pytest.mark.parametrize("case", range(5))
def test_mixtures(real_torch: ModuleType, case: int) -> None:
    results = []
    for lib in (reftorch, real_torch):
        d = make(lib, case)
        lib.manual_seed(1)
        x = d.sample((5,))
        wide = d.expand((4, *d.batch_shape))
        results.append(
            [
                d.batch_shape,
                d.event_shape,
                repr(d),
                repr(d.support),
                x,
                d.log_prob(x),
                d.mean,
                d.variance,
                outcome(lambda d=d, x=x: d.cdf(x)),
                outcome(d.entropy),
                outcome(lambda wide=wide: wide.sample()),
                wide.batch_shape,
            ]
        )
    assert_same(*results, f"mixture {case}", 1e-7)


def errors(lib: ModuleType) -> list[Any]:
    D = lib.distributions
    weights, normal = D.Categorical(lib.ones(3)), D.Normal(lib.zeros(3), 1.0)
    return [
        outcome(lambda: D.MixtureSameFamily(normal, normal)),
        outcome(lambda: D.MixtureSameFamily(weights, 3)),
        outcome(lambda: D.MixtureSameFamily(weights, D.Normal(lib.zeros(4), 1.0))),
        outcome(lambda: D.MixtureSameFamily(D.Categorical(lib.ones(2, 3)), D.Normal(lib.zeros(4, 3), 1.0))),
        outcome(lambda: D.MixtureSameFamily(weights, normal).log_prob(lib.tensor(float("nan")))),
    ]


def test_errors(real_torch: ModuleType) -> None:
    assert_same(errors(reftorch), errors(real_torch), "errors")
