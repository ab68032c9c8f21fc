"""Every method of every family, compared with torch for drawn parameters.

Mirrors: test/distributions/test_distributions.py
"""

from types import ModuleType
from typing import Any

import numpy as np
import pytest

import reftorch
from tests.answers.watched import asked
from tests.distributions.families import FAMILIES, assert_same, build, outcome, parameters

CASES = pytest.mark.parametrize("case", FAMILIES)
SEEDS = range(4)
# Approximations to seven digits, which ours evaluates in double and torch in the dtype, or with a different digamma.
GRADIENT_RTOL = 2e-6


def sample_of(lib: ModuleType, distribution: Any, shape: tuple[int, ...] = (3,)) -> np.ndarray:
    lib.manual_seed(5)
    return outcome(lambda: distribution.sample(shape)).detach().numpy()


@CASES
@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_properties(real_torch: ModuleType, case: str, seed: int, dtype: str) -> None:
    given = parameters(case, seed, dtype)
    results = []
    for lib in (reftorch, real_torch):
        d, _ = build(lib, case, given)
        found = {
            name: outcome(lambda name=name, d=d: getattr(d, name))
            for name in ("batch_shape", "event_shape", "has_rsample", "has_enumerate_support", "mean", "mode",
                         "variance", "stddev", "param_shape", "probs", "logits", "loc", "scale")
        }  # fmt: skip
        found["repr"] = repr(d)
        found["support"] = repr(d.support)
        found["support of the class"] = repr(type(d).support).split(" object")[0]
        found["constraints"] = str(list(d.arg_constraints.items())).split(" object")[0]
        found["entropy"] = outcome(d.entropy)
        found["perplexity"] = outcome(d.perplexity)
        found["all values"] = outcome(lambda d=d: [d.enumerate_support(), d.enumerate_support(expand=False)])
        results.append(found)
    for name, theirs in results[1].items():
        rtol = 1e-9 if dtype == "float64" else 2e-4
        assert_same(results[0][name], theirs, name, rtol)


@CASES
@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_samples_from_the_same_seed(real_torch: ModuleType, case: str, seed: int, dtype: str) -> None:
    given = parameters(case, seed, dtype)
    results = []
    for lib in (reftorch, real_torch):
        d, tensors = build(lib, case, given, requires_grad=True)
        lib.manual_seed(seed)
        samples = [outcome(lambda shape=shape, d=d: d.sample(shape)) for shape in ((), (4,), (2, 3))]
        lib.manual_seed(seed)
        drawn = outcome(lambda d=d: d.rsample((2, 3)))
        gradients = []
        # torch cannot differentiate a Wishart sample: it changes a mask that the graph keeps.
        if not isinstance(drawn, tuple) and drawn.requires_grad and not case.startswith("Wishart"):
            weight = lib.arange(drawn.numel(), dtype=drawn.dtype).reshape(drawn.shape)
            gradients = lib.autograd.grad((drawn * weight).sum(), tensors, allow_unused=True)
        results.append((samples, drawn, [drawn.requires_grad] if hasattr(drawn, "shape") else [], list(gradients)))
    for ours, theirs, what in zip(*results, ("sample", "rsample", "requires_grad", "gradient"), strict=True):
        rtol = GRADIENT_RTOL if what == "gradient" else 1e-9
        assert_same(ours, theirs, what, rtol if dtype == "float64" else 2e-4)


@CASES
@pytest.mark.parametrize("seed", SEEDS)
def test_densities_and_their_gradients(real_torch: ModuleType, case: str, seed: int) -> None:
    given = parameters(case, seed)
    value = sample_of(real_torch, build(real_torch, case, given)[0])
    quantile = np.random.default_rng(seed).uniform(0.05, 0.95, size=value.shape)
    results = []
    for lib in (reftorch, real_torch):
        d, tensors = build(lib, case, given, requires_grad=True)
        x = lib.tensor(value)
        if x.dtype.is_floating_point:
            x.requires_grad_()
        found: list[Any] = []
        for call in (lambda d=d, x=x: d.log_prob(x), lambda d=d, x=x: d.cdf(x),
                     lambda d=d, lib=lib: d.icdf(lib.tensor(quantile)), d.entropy):  # fmt: skip
            result = outcome(call)
            found.append(result)
            if not (hasattr(result, "grad_fn") and result.requires_grad):
                found.append(None)
            else:
                inputs = [t for t in [*tensors, x] if t.requires_grad]
                found.append(
                    outcome(
                        lambda result=result, inputs=inputs, lib=lib: lib.autograd.grad(
                            result.sum(), inputs, allow_unused=True, retain_graph=True
                        )
                    )
                )
        results.append(found)
    for i, (ours, theirs) in enumerate(zip(*results, strict=True)):
        if i < 4 and results[1][i // 2 * 2] == ("RuntimeError", "Double did not match Float"):
            continue  # torch's GeneralizedPareto compares with a float32 zero
        assert_same(ours, theirs, f"result {i}", 1e-7)


@CASES
@pytest.mark.parametrize("seed", SEEDS)
def test_expand(real_torch: ModuleType, case: str, seed: int) -> None:
    given = parameters(case, seed)
    results = []
    for lib in (reftorch, real_torch):
        d, _ = build(lib, case, given)
        wide = outcome(lambda d=d: d.expand((5, *d.batch_shape)))
        assert type(wide) is type(d)
        lib.manual_seed(3)
        sample = outcome(lambda wide=wide: wide.sample((2,)))
        results.append(
            [repr(wide), wide.batch_shape, wide.event_shape, sample, outcome(lambda wide=wide: wide.mean),
             outcome(lambda s=sample, wide=wide: wide.log_prob(s)), outcome(wide.entropy),
             outcome(lambda d=d: d.expand((*d.batch_shape, 7)))[0:1] if d.batch_shape else ()]
        )  # fmt: skip
    if case.startswith("GeneralizedPareto"):  # torch's log_prob compares with a float32 zero, and refuses float64
        results = [[*found[:5], found[6]] for found in results]
    assert_same(results[0][:7], results[1][:7], "expanded")


BAD = [float("nan"), -1.0, 2.0, 0.0, float("inf")]


@CASES
@pytest.mark.parametrize("bad", BAD)
def test_parameters_that_are_refused(real_torch: ModuleType, case: str, bad: float) -> None:
    given = parameters(case, 1)
    for name, value in given.items():
        wrong = {**given, name: np.where(np.arange(value.size).reshape(value.shape) == 0, bad, value)
                 if isinstance(value, np.ndarray) else value}  # fmt: skip
        for options in ({}, {"validate_args": True}, {"validate_args": False}):
            results = [
                outcome(lambda lib=lib, wrong=wrong, options=options: repr(build(lib, case, wrong, **options)[0]))
                for lib in (reftorch, real_torch)
            ]
            if results[1][0] == "_LinAlgError" and not (np.isfinite(bad) and bad != 0):
                continue  # the factorization of what is no matrix of numbers is the business of torch.linalg
            assert results[0] == results[1], (name, options)


@CASES
def test_values_that_are_refused(real_torch: ModuleType, case: str) -> None:
    given = parameters(case, 1)
    good = sample_of(real_torch, build(real_torch, case, given)[0])
    wrong: list[Any] = [np.full(good.shape, x, dtype="float64") for x in (*BAD, 0.5)]
    wrong += [good[..., :2], np.zeros((7, 7)), 1.0, good.astype("float64") + 0.25]
    if case.startswith("Wishart"):
        wrong = [x for x in wrong if np.isfinite(x).all()]  # torch.linalg decides what of those is positive definite
    for value in wrong:
        for method in ("log_prob", "cdf"):
            results = []
            for lib in (reftorch, real_torch):
                d, _ = build(lib, case, given)
                x = lib.tensor(value) if isinstance(value, np.ndarray) else value
                results.append(outcome(lambda d=d, x=x, method=method: getattr(d, method)(x)))
            if results[1] == ("RuntimeError", "Double did not match Float"):
                continue  # torch's GeneralizedPareto compares with a float32 zero
            if isinstance(results[1], tuple) and results[1][0] not in ("ValueError", "NotImplementedError"):
                assert isinstance(results[0], tuple), (value, method, results)  # torch's words of an inner op
            else:
                assert_same(*results, f"{method} of {value}", 1e-7)


NUMBERS = ["Beta", "Cauchy", "Chi2", "Exponential", "FisherSnedecor", "Gamma", "Geometric", "Gumbel", "HalfCauchy",
           "HalfNormal", "InverseGamma", "Kumaraswamy", "Laplace", "LogNormal", "Normal", "Pareto", "Poisson",
           "StudentT", "Uniform", "Weibull", "Bernoulli", "ContinuousBernoulli", "GeneralizedPareto"]  # fmt: skip


@pytest.mark.parametrize("case", NUMBERS)
def test_parameters_may_be_numbers(real_torch: ModuleType, case: str) -> None:
    given = {name: float(value) for name, value in parameters(case, 0).items()}
    results = []
    for lib in (reftorch, real_torch):
        d, _ = build(lib, case, given)
        lib.manual_seed(1)
        sample = d.sample((3,))
        results.append([repr(d), d.batch_shape, sample, d.log_prob(sample), outcome(lambda d=d: d.mean)])
    assert_same(*results, case, 2e-5)


def test_sample_n_warns() -> None:
    with pytest.warns(FutureWarning, match="Use `sample"):
        assert reftorch.distributions.Normal(0.0, 1.0).sample_n(3).shape == (3,)


def test_a_distribution_without_constraints_warns(real_torch: ModuleType) -> None:
    def program(lib: ModuleType) -> None:
        class Plain(lib.distributions.Distribution):
            pass

        with pytest.warns(UserWarning, match="does not define `arg_constraints`"):
            Plain()
        with pytest.warns(UserWarning, match="does not define `support`"):
            Plain(validate_args=False)._validate_sample(lib.zeros(1))
        for name in ("mean", "variance", "support", "arg_constraints"):
            with pytest.raises(NotImplementedError):
                getattr(Plain(validate_args=False), name)
        with pytest.raises(NotImplementedError, match="does not implement mode"):
            _ = Plain(validate_args=False).mode

    program(reftorch)
    asked(real_torch, program)


def test_a_subclass_must_define_expand(real_torch: ModuleType) -> None:
    messages = []
    for lib in (reftorch, real_torch):

        class Fixed(lib.distributions.Normal):
            def __init__(self) -> None:
                super().__init__(0.0, 1.0)

        with pytest.raises(NotImplementedError) as error:
            Fixed().expand((2,))
        messages.append(str(error.value))
    assert messages[0] == messages[1]


def test_the_default_of_validation_can_be_changed() -> None:
    Normal, Distribution = reftorch.distributions.Normal, reftorch.distributions.Distribution
    try:
        Distribution.set_default_validate_args(False)
        assert Normal(0.0, -1.0).scale == -1
        Distribution.set_default_validate_args(True)
        with pytest.raises(ValueError, match="to satisfy the constraint"):
            Normal(0.0, -1.0)
        with pytest.raises(ValueError):
            Distribution.set_default_validate_args(None)  # type: ignore[arg-type]
    finally:
        Distribution.set_default_validate_args(__debug__)


def test_the_gradient_of_a_gamma_sample_holds_the_quantile() -> None:
    """The formula against differences of the quantile: x(alpha) with F(x; alpha) constant."""
    for alpha in (0.3, 1.5, 6.0, 30.0):
        a = reftorch.tensor(alpha, dtype=reftorch.float64)
        for quantile in (0.1, 0.5, 0.9):

            def solve(shape: Any, quantile: float = quantile) -> float:
                low, high = 0.0, 200.0
                for _ in range(200):
                    middle = (low + high) / 2
                    at = reftorch.special.gammainc(shape, reftorch.tensor(middle, dtype=reftorch.float64))
                    low, high = (middle, high) if at < quantile else (low, middle)
                return low

            step = 1e-4 * alpha
            slope = (solve(a + step) - solve(a - step)) / (2 * step)
            x = reftorch.tensor(solve(a), dtype=reftorch.float64)
            assert reftorch._standard_gamma_grad(a, x).item() == pytest.approx(slope, rel=2e-3)
