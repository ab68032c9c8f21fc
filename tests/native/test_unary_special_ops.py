"""Special functions against torch's, over every dtype and layout.

Mirrors: test/test_unary_ufuncs.py
"""

import math
from typing import Any

import pytest

import reftorch
from tests.native.differential import assert_same
from tests.op_db.checks import check_error
from tests.op_db.suite import OpTestsWithReference


class TestRows(OpTestsWithReference):
    FAMILIES = "unary_special_ops binary_special_ops bessel_ops polynomial_ops"


def test_method_of_polygamma() -> None:
    x = reftorch.tensor([1.0, 2.5])
    assert x.polygamma(1).equal(reftorch.polygamma(1, x))
    want = reftorch.polygamma(2, x)
    assert x.polygamma_(2) is x and x.equal(want)


def test_erfinv_is_the_inverse_up_to_the_ends() -> None:
    y = reftorch.tensor([1e-300, 1e-8, 0.1, 0.5, 0.9, 0.999, 1 - 1e-10, 1 - 2**-53], dtype=reftorch.float64)
    x = y.erfinv()
    assert reftorch.allclose(x.erf(), y, rtol=1e-15, atol=0)
    for mine, value in zip(x.tolist(), y.tolist(), strict=True):
        assert math.isclose(math.erfc(mine), 1 - value, rel_tol=1e-13)


def test_derivatives_of_the_gamma_function_go_together() -> None:
    x = reftorch.tensor([0.3, 1.0, 4.5, -0.5, -2.3], dtype=reftorch.float64, requires_grad=True)
    assert reftorch.autograd.gradcheck(reftorch.lgamma, (x,))
    assert reftorch.autograd.gradcheck(reftorch.digamma, (x,))
    for n in (1, 2, 3):
        assert reftorch.autograd.gradcheck(lambda x, n=n: reftorch.polygamma(n, x), (x,)), n


@pytest.mark.parametrize("dtype", ["float64", "float32", "float16"])
def test_digamma_on_either_side_of_its_pole_at_zero(dtype: str) -> None:
    zeros = reftorch.tensor([0.0, -0.0], dtype=getattr(reftorch, dtype)).repeat(20)
    assert zeros.digamma().tolist() == [-math.inf, math.inf] * 20


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_logit_in_16_bits_rounds_the_odds(dtype: str, real_torch: Any) -> None:
    for eps in (None, 0.1, 1e-6, 0.0, 0.7):
        assert_same(
            lambda t, e=eps: t.logit((t.arange(-48, 145, 2) / 96).to(getattr(t, dtype)), e),
            real_torch,
            rtol=0,
            atol=0,
        )


ERRORS = [
    (lambda t: t.mvlgamma(t.ones(2), 0), RuntimeError, "p has to be greater than or equal to 1"),
    (lambda t: t.mvlgamma(t.tensor([True]), 1), RuntimeError, "The input tensor may not be a boolean tensor."),
    (lambda t: t.polygamma(-1, t.ones(2)), RuntimeError, "polygamma(n, x) does not support negative n."),
    (
        lambda t: t.tensor([1]).erf_(),
        RuntimeError,
        "result type Float can't be cast to the desired output type Long",
    ),
]


@pytest.mark.parametrize(("call", "error", "message"), ERRORS)
def test_error(call: Any, error: type[Exception], message: str, real_torch_or_none: Any) -> None:
    check_error(call, error, message, real_torch_or_none)
