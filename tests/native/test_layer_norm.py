"""Layer normalization against torch's.

Mirrors: test/test_nn.py
"""

from typing import Any

import numpy as np
import pytest

import reftorch
from tests.op_db import normalization
from tests.op_db.suite import OpTests


class TestRows(OpTests):
    ROWS = normalization.ROWS


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
