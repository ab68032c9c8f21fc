"""The nonlinearities of networks against torch's.

Mirrors: test/test_nn.py
"""

from typing import Any

import numpy as np
import pytest

import reftorch
from tests.op_db.suite import OpTestsWithReference


class TestRows(OpTestsWithReference):
    FAMILIES = "activation"


FORMULAS: dict[str, Any] = {
    "gelu": lambda x: x * 0.5 * (1 + (x * 0.5**0.5).erf()),
    "elu": lambda x: reftorch.where(x > 0, x, x.clamp(max=0).expm1()),
    "silu": lambda x: x * x.sigmoid(),
    "mish": lambda x: x * x.exp().log1p().tanh(),
    "softplus": lambda x: x.exp().log1p(),
    "log_sigmoid": lambda x: x.clamp(max=0) - (-x.abs()).exp().log1p(),
}


@pytest.mark.parametrize("name", FORMULAS)
def test_the_fast_rung_equals_the_formula(name: str) -> None:
    """In double the kernels call the C library for most of it; in float they are vector instructions."""
    x = reftorch.linspace(-15, 15, 3001)
    expected = FORMULAS[name](x.double())
    fast = getattr(reftorch._C._nn, name)(x)
    np.testing.assert_allclose(fast.numpy(), expected.numpy(), rtol=2e-6, atol=5e-7)


def test_an_infinite_element_keeps_its_weight() -> None:
    x = reftorch.tensor([float("inf")] * 32)
    assert reftorch._C._nn.gelu(x).tolist() == x.tolist()


IN_PLACE: dict[str, tuple] = {"leaky_relu_": (0.3,), "elu_": (1.5, 1.2, 0.7), "hardtanh_": (-2.0, 1.0)}


@pytest.mark.parametrize("name", IN_PLACE)
def test_an_in_place_form_keeps_its_result_only(name: str) -> None:
    """And its gradient is that of the form that keeps the input."""
    grads = []
    for function in (getattr(reftorch._C._nn, name), getattr(reftorch._C._nn, name[:-1])):
        x = reftorch.linspace(-3, 3, 40, dtype=reftorch.float64).requires_grad_()
        y = function(x * 1, *IN_PLACE[name])
        (y * y.detach().cos()).sum().backward()
        grads.append(x.grad.numpy())
    np.testing.assert_allclose(grads[0], grads[1], rtol=1e-12)


@pytest.mark.parametrize(("name", "args"), [("leaky_relu_", (-0.3,)), ("elu_", (-1.0,))])
def test_an_in_place_form_refuses_slopes_that_its_result_does_not_tell(
    name: str, args: tuple, real_torch_or_none: Any
) -> None:
    for lib in (reftorch, *((real_torch_or_none,) if real_torch_or_none else ())):
        x = lib.tensor([-1.0, 2.0], requires_grad=True)
        with pytest.raises(RuntimeError, match="backward calculation is triggered with a negative slope"):
            getattr(lib._C._nn, name)(x * 1, *args).sum().backward()
