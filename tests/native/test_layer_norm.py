"""Layer normalization against torch's.

Mirrors: test/test_nn.py
"""

from typing import Any

import numpy as np
import pytest

import reftorch
from tests.op_db.suite import OpTests


class TestRows(OpTests):
    FAMILIES = "layer_norm"


def test_third_derivatives() -> None:
    """The formula of the backward sees that rstd depends on the input."""
    x = reftorch.tensor([[0.3, -1.2, 2.0, 0.4]], dtype=reftorch.float64, requires_grad=True)
    weight = reftorch.tensor([1.0, 0.5, -2.0, 1.5], dtype=reftorch.float64)
    weights = reftorch.tensor([0.7, -0.2, 0.4, 1.1], dtype=reftorch.float64)

    def slope(values: Any) -> Any:
        y = reftorch.layer_norm(values, (4,), weight, None, 0.1)
        return reftorch.autograd.grad((y * weights).sum(), values, create_graph=True)[0]

    assert reftorch.autograd.gradcheck(slope, [x])
    assert reftorch.autograd.gradgradcheck(slope, [x])


@pytest.mark.parametrize("n", [1, 5, 64, 8191, 20_000])
def test_float_is_as_exact_as_double(n: int) -> None:
    """Past a block the sums are joined from parts; the mean is far from zero, where digits are lost."""
    reftorch.manual_seed(n)
    x = reftorch.randn(3, n) + 1000
    fast, exact = (reftorch.layer_norm(t, (n,)).double().numpy() for t in (x, x.double()))
    np.testing.assert_allclose(fast, exact, atol=5e-4 if n > 1 else 0)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
@pytest.mark.parametrize("shape", [(1, 1), (3, 5), (7, 64), (140, 300)])
def test_16_bit_floats_go_through_the_arithmetic_of_floats(shape: tuple[int, int], dtype: str) -> None:
    """The result is rounded once; for the slopes mean and rstd are of 16 bits, too."""
    reftorch.manual_seed(sum(shape))
    narrow = [reftorch.randn(*size).to(getattr(reftorch, dtype)) for size in (shape, shape[1:], shape[1:], shape)]
    results = []
    for values in (narrow, [x.float() for x in narrow]):
        x, weight, bias, grad = (v.clone().requires_grad_() for v in values)
        y = reftorch.layer_norm(x, shape[1:], weight, bias)
        results.append([y, *reftorch.autograd.grad(y, (x, weight, bias), grad)])
    for i, (got, want) in enumerate(zip(*results, strict=True)):
        assert got.dtype == getattr(reftorch, dtype)
        exact = want.detach().to(got.dtype).float().numpy()
        allowed = 0 if i == 0 else 4 * reftorch.finfo(got.dtype).eps * np.abs(exact).max()
        np.testing.assert_allclose(got.detach().float().numpy(), exact, rtol=0, atol=allowed)
