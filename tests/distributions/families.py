"""All families, with drawn parameters, and comparisons of the two libraries.

Mirrors: test/distributions/test_distributions.py (EXAMPLES)
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any

import numpy as np

SHAPES = [((), ()), ((3,), (3,)), ((2, 1), (3,)), ((2, 3), ())]  # of the first parameter, and of the others
K = 4  # the number of categories, and of elements of a vector


def _real(r: np.random.Generator, shape: Any) -> Any:
    return r.normal(size=shape)


def _positive(r: np.random.Generator, shape: Any) -> Any:
    return r.gamma(2.0, size=shape) + 0.1


def _large(r: np.random.Generator, shape: Any) -> Any:
    return r.gamma(2.0, size=shape) + 4.5


def _unit(r: np.random.Generator, shape: Any) -> Any:
    return r.uniform(0.05, 0.95, size=shape)


def _count(r: np.random.Generator, shape: Any) -> Any:
    return r.integers(1, 9, size=shape).astype(float)


def _simplex(r: np.random.Generator, shape: Any) -> Any:
    return r.dirichlet(np.ones(K), size=shape)


def _vector(r: np.random.Generator, shape: Any) -> Any:
    return r.normal(size=(*shape, K))


def _positive_vector(r: np.random.Generator, shape: Any) -> Any:
    return r.gamma(2.0, size=(*shape, K)) + 0.1


def _factor(r: np.random.Generator, shape: Any) -> Any:
    return r.normal(size=(*shape, K, 2))


def _covariance(r: np.random.Generator, shape: Any) -> Any:
    A = r.normal(size=(*shape, K, K))
    return A @ np.swapaxes(A, -1, -2) + K * np.eye(K)


def _tril(r: np.random.Generator, shape: Any) -> Any:
    return np.linalg.cholesky(_covariance(r, shape))


def _temperature(r: np.random.Generator, shape: Any) -> Any:
    return r.uniform(0.5, 2.0)


# The name of a case, the family, and the parameters with the functions that draw them.
FAMILIES: dict[str, tuple[str, dict[str, Any]]] = {
    "Bernoulli": ("Bernoulli", {"probs": _unit}),
    "Bernoulli of logits": ("Bernoulli", {"logits": _real}),
    "Beta": ("Beta", {"concentration1": _positive, "concentration0": _positive}),
    "Binomial": ("Binomial", {"total_count": 5, "probs": _unit}),
    "Binomial of counts": ("Binomial", {"total_count": _count, "logits": _real}),
    "Categorical": ("Categorical", {"probs": _simplex}),
    "Categorical of logits": ("Categorical", {"logits": _vector}),
    "Cauchy": ("Cauchy", {"loc": _real, "scale": _positive}),
    "Chi2": ("Chi2", {"df": _positive}),
    "ContinuousBernoulli": ("ContinuousBernoulli", {"probs": _unit}),
    "ContinuousBernoulli of logits": ("ContinuousBernoulli", {"logits": _real}),
    "Dirichlet": ("Dirichlet", {"concentration": _positive_vector}),
    "Exponential": ("Exponential", {"rate": _positive}),
    "FisherSnedecor": ("FisherSnedecor", {"df1": _positive, "df2": _large}),
    "Gamma": ("Gamma", {"concentration": _positive, "rate": _positive}),
    "GeneralizedPareto": ("GeneralizedPareto", {"loc": _real, "scale": _positive, "concentration": _real}),
    "GeneralizedPareto of zero": ("GeneralizedPareto", {"loc": _real, "scale": _positive, "concentration": 0.0}),
    "Geometric": ("Geometric", {"probs": _unit}),
    "Geometric of logits": ("Geometric", {"logits": _real}),
    "Gumbel": ("Gumbel", {"loc": _real, "scale": _positive}),
    "HalfCauchy": ("HalfCauchy", {"scale": _positive}),
    "HalfNormal": ("HalfNormal", {"scale": _positive}),
    "InverseGamma": ("InverseGamma", {"concentration": _positive, "rate": _positive}),
    "Kumaraswamy": ("Kumaraswamy", {"concentration1": _positive, "concentration0": _positive}),
    "LKJCholesky": ("LKJCholesky", {"dim": 3, "concentration": _positive}),
    "Laplace": ("Laplace", {"loc": _real, "scale": _positive}),
    "LogNormal": ("LogNormal", {"loc": _real, "scale": _unit}),
    "LogisticNormal": ("LogisticNormal", {"loc": _vector, "scale": _positive_vector}),
    "LowRankMultivariateNormal": (
        "LowRankMultivariateNormal",
        {"loc": _vector, "cov_factor": _factor, "cov_diag": _positive_vector},
    ),
    "Multinomial": ("Multinomial", {"total_count": 6, "probs": _simplex}),
    "Multinomial of logits": ("Multinomial", {"total_count": 3, "logits": _vector}),
    "MultivariateNormal": ("MultivariateNormal", {"loc": _vector, "covariance_matrix": _covariance}),
    "MultivariateNormal of a precision": ("MultivariateNormal", {"loc": _vector, "precision_matrix": _covariance}),
    "MultivariateNormal of a factor": ("MultivariateNormal", {"loc": _vector, "scale_tril": _tril}),
    "NegativeBinomial": ("NegativeBinomial", {"total_count": _positive, "probs": _unit}),
    "NegativeBinomial of logits": ("NegativeBinomial", {"total_count": 3, "logits": _real}),
    "Normal": ("Normal", {"loc": _real, "scale": _positive}),
    "OneHotCategorical": ("OneHotCategorical", {"probs": _simplex}),
    "OneHotCategoricalStraightThrough": ("OneHotCategoricalStraightThrough", {"logits": _vector}),
    "Pareto": ("Pareto", {"scale": _positive, "alpha": _positive}),
    "Poisson": ("Poisson", {"rate": _positive}),
    "RelaxedBernoulli": ("RelaxedBernoulli", {"temperature": _temperature, "probs": _unit}),
    "RelaxedBernoulli of logits": ("RelaxedBernoulli", {"temperature": _temperature, "logits": _real}),
    "RelaxedOneHotCategorical": ("RelaxedOneHotCategorical", {"temperature": _temperature, "probs": _simplex}),
    "StudentT": ("StudentT", {"df": _positive, "loc": _real, "scale": _positive}),
    "Uniform": ("Uniform", {"low": _real, "high": _large}),
    "VonMises": ("VonMises", {"loc": _real, "concentration": _positive}),
    "Weibull": ("Weibull", {"scale": _positive, "concentration": _positive}),
    "Wishart": ("Wishart", {"df": _large, "covariance_matrix": _covariance}),
    "Wishart of a precision": ("Wishart", {"df": 7.0, "precision_matrix": _covariance}),
    "Wishart of a factor": ("Wishart", {"df": _large, "scale_tril": _tril}),
}


def parameters(case: str, seed: int, dtype: str = "float64") -> dict[str, Any]:
    """Draw the parameters of a case: arrays, or numbers where the family was given numbers."""
    r = np.random.default_rng(seed)
    first, others = SHAPES[seed % len(SHAPES)]
    drawn = {}
    for i, (name, draw) in enumerate(FAMILIES[case][1].items()):
        value = draw(r, first if i == 0 else others) if callable(draw) else draw
        drawn[name] = np.asarray(value, dtype=dtype) if callable(draw) else value
    return drawn


def build(lib: ModuleType, case: str, given: dict[str, Any], requires_grad: bool = False, **options: Any) -> Any:
    """Make the distribution. Return it with the tensors of its parameters."""
    tensors = {
        name: lib.tensor(value, requires_grad=requires_grad) if isinstance(value, np.ndarray) else value
        for name, value in given.items()
    }
    distribution = getattr(lib.distributions, FAMILIES[case][0])(**tensors, **options)
    return distribution, [t for t in tensors.values() if isinstance(t, lib.Tensor)]


def outcome(call: Callable[[], Any]) -> Any:
    """What the call returns, or the type and message of its error."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return call()
        except Exception as error:
            return (type(error).__name__, str(error).replace("reftorch", "torch"))


def leaves(value: Any) -> Iterator[Any]:
    if isinstance(value, list | tuple) and not hasattr(value, "numel"):
        for item in value:
            yield from leaves(item)
    else:
        yield value


def assert_same(ours: Any, theirs: Any, what: str, rtol: float = 1e-9) -> None:
    mine, expected = list(leaves(ours)), list(leaves(theirs))
    assert len(mine) == len(expected), f"{what}: {ours} and not {theirs}"
    for a, b in zip(mine, expected, strict=True):
        if not hasattr(b, "detach"):
            assert str(a).replace("reftorch", "torch") == str(b), f"{what}: {a} and not {b}"
            continue
        assert hasattr(a, "detach"), f"{what}: {a} and not {b}"
        assert str(a.dtype).replace("reftorch", "torch") == str(b.dtype), f"{what}: {a.dtype} and not {b.dtype}"
        assert tuple(a.shape) == tuple(b.shape), f"{what}: {a.shape} and not {b.shape}"
        if b.dtype.is_floating_point and str(b.dtype) != "torch.float64":
            rtol = max(rtol, 3e-5)
        np.testing.assert_allclose(
            a.detach().numpy(), b.detach().numpy(), rtol=rtol, atol=rtol, equal_nan=True, err_msg=what
        )
