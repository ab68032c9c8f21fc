"""gradcheck must pass what is right, and above all fail what is wrong.

Mirrors: test/test_autograd.py (the gradcheck tests)
"""

import pytest

import reftorch as torch
from reftorch.autograd import Function, gradcheck, gradgradcheck
from reftorch.autograd.gradcheck import GradcheckError


def double(*values: float) -> torch.Tensor:
    return torch.tensor([float(v) for v in values], dtype=torch.float64, requires_grad=True)


class WrongSquare(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x

    @staticmethod
    def backward(ctx, grad):
        return grad * 3 * ctx.saved_tensors[0]


class WrongSecond(Function):
    """The first derivative is right, the second is lost."""

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x

    @staticmethod
    def backward(ctx, grad):
        return grad * 2 * ctx.saved_tensors[0].detach()


def test_right_formulas_pass():
    a, b = double(0.5, -1.0, 2.0), double(3.0)
    assert gradcheck(lambda a, b: (a * b, (a + b).exp()), (a, b))
    assert gradgradcheck(lambda a, b: (a * b, (a + b).exp()), (a, b))
    assert gradcheck(lambda a, n: a * n, (a, 3))


def test_wrong_formula_fails_with_both_jacobians():
    with pytest.raises(GradcheckError, match="Jacobian mismatch for output 0 with respect to input 0") as caught:
        gradcheck(WrongSquare.apply, (double(1.0, 2.0),))
    text = str(caught.value)
    assert "the numeric value is 4, the analytic 6" in text and "numerical:" in text and "analytical:" in text
    assert gradcheck(WrongSquare.apply, (double(1.0),), raise_exception=False) is False


def test_wrong_second_derivative_fails():
    x = double(1.0, 2.0)
    assert gradcheck(WrongSecond.apply, (x,))
    with pytest.raises(GradcheckError):
        gradgradcheck(WrongSecond.apply, (x,))


def test_nan_fails():
    with pytest.raises(GradcheckError):
        gradcheck(lambda x: x * float("nan"), (double(1.0),))


def test_detached_dependence_fails():
    with pytest.raises(GradcheckError, match="expected to be zero"):
        gradcheck(lambda x: x.detach() * 2, (double(1.0),))


def test_non_contiguous_input():
    x = torch.arange(6, dtype=torch.float64).reshape(2, 3).t().requires_grad_()
    assert gradcheck(lambda x: x * x, (x,))


def test_needs_an_input_that_requires_grad():
    with pytest.raises(ValueError, match="at least one input tensor to require gradient"):
        gradcheck(lambda x: x, (torch.ones(1),))


def test_overlapping_input_is_refused():
    x = torch.ones(1, dtype=torch.float64).expand(3).requires_grad_()
    with pytest.raises(RuntimeError, match="dimension with stride 0"):
        gradcheck(lambda x: x * 2, (x,))


def test_single_precision_warns():
    with pytest.warns(UserWarning, match="double precision"):
        gradcheck(lambda x: x * 1, (torch.ones(1, requires_grad=True),), atol=1, rtol=1)


def test_forward_mode_is_checked_where_asked_for():
    x = torch.tensor([0.5, 2.0], dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(lambda x: (x * x.sum(), x.exp()), (x,), check_forward_ad=True)
    with pytest.raises(GradcheckError, match="with respect to input 0, by forward mode"):
        torch.autograd.gradcheck(lambda x: _without_tangent(x), (x,), check_forward_ad=True)


def _without_tangent(x):
    import reftorch.autograd.forward_ad as fwAD

    with fwAD._set_fwd_grad_enabled(False):
        return x * 2
