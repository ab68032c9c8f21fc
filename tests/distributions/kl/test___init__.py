"""Every registered divergence, compared with torch, and how a pair finds its function.

Mirrors: test/distributions/test_distributions.py (TestKL)
"""

from types import ModuleType
from typing import Any

import pytest

import reftorch
from reftorch.distributions.kl.registry import _KL_REGISTRY
from tests.answers.watched import asked
from tests.distributions.families import assert_same, build, outcome, parameters

PUBLIC = reftorch.distributions.__all__  # examples in docs register other classes
ABSTRACT = ("ExponentialFamily", "TransformedDistribution", "Independent")
PAIRS = sorted((p.__name__, q.__name__) for p, q in _KL_REGISTRY if p.__name__ not in ABSTRACT)
# Families without a function of their own: an exponential family, transformed distributions, subclasses.
PAIRS += [
    ("LogNormal", "LogNormal"),
    ("Chi2", "Chi2"),
    ("Chi2", "Gamma"),
    ("Wishart", "Wishart"),
    ("Weibull", "Weibull"),
    ("LogNormal", "Gamma"),
    ("StudentT", "StudentT"),
    ("Normal", "Exponential"),
    ("InverseGamma", "InverseGamma"),
    ("Gamma", "Poisson"),
    ("HalfCauchy", "HalfCauchy"),
    ("LogisticNormal", "LogisticNormal"),
    ("OneHotCategoricalStraightThrough", "OneHotCategorical"),
    ("Kumaraswamy", "Kumaraswamy"),
]


def test_the_same_pairs_are_registered(real_torch: ModuleType) -> None:
    def names(lib: ModuleType) -> list[tuple[str, str]]:
        registry = _KL_REGISTRY if lib is reftorch else lib.distributions.kl._KL_REGISTRY
        return sorted((p.__name__, q.__name__) for p, q in registry if p.__name__ in PUBLIC)

    assert names(reftorch) == asked(real_torch, names) and len(names(reftorch)) > 70


@pytest.mark.parametrize(("p", "q"), PAIRS)
@pytest.mark.parametrize("seed", range(4))
def test_divergences(real_torch: ModuleType, p: str, q: str, seed: int) -> None:
    given = parameters(p, seed), parameters(q, seed + 8)
    results = []
    for lib in (reftorch, real_torch):
        (left, tensors), (right, others) = (
            build(lib, name, g, requires_grad=True) for name, g in zip((p, q), given, strict=True)
        )
        divergence = outcome(lambda left=left, right=right, lib=lib: lib.distributions.kl_divergence(left, right))
        found = [divergence]
        if not isinstance(divergence, tuple) and divergence.requires_grad:
            gradients = lib.autograd.grad(divergence.sum(), [*tensors, *others], allow_unused=True)
            found.append(list(gradients))
        results.append(found)
    if p == "Wishart":  # torch's formula of generic families meets a shape that does not fit
        assert isinstance(results[0][0], tuple) == isinstance(results[1][0], tuple)
        return
    assert_same(*results, f"KL({p}, {q})", 1e-7)


BOUNDARIES: list[tuple[str, dict[str, Any], str, dict[str, Any]]] = [
    ("Bernoulli", {"probs": [0.0, 1.0, 0.5, 0.5]}, "Bernoulli", {"probs": [0.0, 1.0, 0.0, 1.0]}),
    ("Categorical", {"probs": [[0.0, 1.0], [0.5, 0.5]]}, "Categorical", {"probs": [[0.0, 1.0], [0.0, 1.0]]}),
    (
        "Binomial",
        {"total_count": [4.0, 6.0], "probs": [0.5, 0.5]},
        "Binomial",
        {"total_count": [4.0, 4.0], "probs": [0.5, 0.5]},
    ),
    ("Binomial", {"total_count": [3.0], "probs": [0.5]}, "Binomial", {"total_count": [4.0], "probs": [0.5]}),
    ("Uniform", {"low": [0.0, 0.2], "high": [1.0, 0.8]}, "Uniform", {"low": [0.5, 0.0], "high": [2.0, 1.0]}),
    (
        "Uniform",
        {"low": [0.0, 0.2, -1.0], "high": [1.0, 0.8, 2.0]},
        "Beta",
        {"concentration1": [2.0], "concentration0": [3.0]},
    ),
    ("Uniform", {"low": [0.0, 0.2], "high": [1.0, 0.8]}, "ContinuousBernoulli", {"probs": [0.3]}),
    ("Uniform", {"low": [0.0, -0.2], "high": [1.0, 0.8]}, "Exponential", {"rate": [0.3]}),
    ("Uniform", {"low": [0.0, 2.0], "high": [1.0, 3.0]}, "Pareto", {"scale": [1.0], "alpha": [2.0]}),
    ("Beta", {"concentration1": [2.0], "concentration0": [3.0]}, "Uniform", {"low": [-1.0, 0.5], "high": [2.0, 1.0]}),
    ("ContinuousBernoulli", {"probs": [0.3]}, "Uniform", {"low": [-1.0, 0.0], "high": [2.0, 1.0]}),
    ("Pareto", {"scale": [1.0, 1.0], "alpha": [0.5, 3.0]}, "Exponential", {"rate": [1.0]}),
    ("Pareto", {"scale": [1.0, 1.0], "alpha": [0.5, 3.0]}, "Gamma", {"concentration": [1.0], "rate": [2.0]}),
    ("Pareto", {"scale": [1.0, 1.0], "alpha": [0.5, 3.0]}, "Normal", {"loc": [1.0], "scale": [2.0]}),
    ("Pareto", {"scale": [1.0, 3.0], "alpha": [2.0, 3.0]}, "Pareto", {"scale": [2.0], "alpha": [2.0]}),
]


@pytest.mark.parametrize(("p", "left", "q", "right"), BOUNDARIES)
def test_where_a_divergence_becomes_infinite(
    real_torch: ModuleType, p: str, left: dict[str, Any], q: str, right: dict[str, Any]
) -> None:
    results = []
    for lib in (reftorch, real_torch):
        made = [
            getattr(lib.distributions, name)(**{k: lib.tensor(v) for k, v in given.items()})
            for name, given in ((p, left), (q, right))
        ]
        results.append(outcome(lambda lib=lib, made=made: lib.distributions.kl_divergence(*made)))
    assert_same(*results, f"KL({p}, {q})", 1e-5)


def test_independent_distributions(real_torch: ModuleType) -> None:
    results = []
    for lib in (reftorch, real_torch):
        D = lib.distributions
        p = D.Normal(lib.zeros(2, 3), lib.ones(2, 3))
        q = D.Normal(lib.ones(2, 3), 2 * lib.ones(2, 3))
        results.append(
            [D.kl_divergence(D.Independent(p, n), D.Independent(q, n)) for n in (0, 1, 2)]
            + [outcome(lambda D=D, p=p, q=q: D.kl_divergence(D.Independent(p, 1), D.Independent(q, 2)))]
        )
    assert_same(*results, "Independent")


def test_vectors_of_other_lengths(real_torch: ModuleType) -> None:
    def make(lib: ModuleType, n: int, low_rank: bool) -> Any:
        if low_rank:
            return lib.distributions.LowRankMultivariateNormal(lib.zeros(n), lib.ones(n, 1), lib.ones(n))
        return lib.distributions.MultivariateNormal(lib.zeros(n), lib.eye(n))

    for left in (False, True):
        for right in (False, True):
            messages = [
                outcome(
                    lambda lib=lib, left=left, right=right: lib.distributions.kl_divergence(
                        make(lib, 2, left), make(lib, 3, right)
                    )
                )
                for lib in (reftorch, real_torch)
            ]
            assert messages[0] == messages[1] and messages[0][0] == "ValueError"


def test_dispatch(real_torch: ModuleType) -> None:
    """The closest classes are found, and an ambiguous pair warns."""

    def program(lib: ModuleType) -> None:
        D = lib.distributions

        class A(D.Normal):  # type: ignore[name-defined, misc]
            pass

        class B(A):
            pass

        D.register_kl(A, D.Normal)(lambda p, q: "A, Normal")
        assert D.kl_divergence(B(0.0, 1.0), B(0.0, 1.0)) == "A, Normal"
        D.register_kl(D.Normal, A)(lambda p, q: "Normal, A")
        with pytest.warns(RuntimeWarning, match=r"Ambiguous kl_divergence\(B, B\). Please register_kl\(A, A\)"):
            assert D.kl_divergence(B(0.0, 1.0), B(0.0, 1.0)) == "A, Normal"
        D.register_kl(B, B)(lambda p, q: "B, B")
        assert D.kl_divergence(B(0.0, 1.0), B(0.0, 1.0)) == "B, B"
        for pair in ((A, D.Normal), (D.Normal, A), (B, B)):
            registry = _KL_REGISTRY if lib is reftorch else D.kl._KL_REGISTRY
            del registry[pair]

    program(reftorch)
    asked(real_torch, program)
