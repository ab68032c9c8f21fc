"""gradcheck must pass what is right, and above all fail what is wrong.

Mirrors: test/test_autograd.py (the gradcheck tests)
"""

import pytest

import reftorch as torch
from reftorch.autograd import Function, gradcheck, gradgradcheck
from reftorch.autograd.gradcheck import GradcheckError, get_analytical_jacobian, get_numerical_jacobian


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
    with pytest.raises(
        GradcheckError, match="computed with forward mode mismatch for output 0 with respect to input 0"
    ):
        torch.autograd.gradcheck(lambda x: _without_tangent(x), (x,), check_forward_ad=True)


def _without_tangent(x):
    import reftorch.autograd.forward_ad as fwAD

    with fwAD._set_fwd_grad_enabled(False):
        return x * 2


# ---- fast mode, and the further checks

both_modes = pytest.mark.parametrize("fast_mode", [True, False])


@both_modes
def test_all_checks_of_what_is_right(fast_mode):
    a, b = double(0.5, -1.0, 2.0), double(3.0)
    checks = {"fast_mode": fast_mode, "check_batched_grad": True, "check_grad_dtypes": True}
    forward = {"check_forward_ad": True, "check_batched_forward_grad": True}

    def function(a, b, n):
        return a * b.sin(), (a + b).sum() * n, a > 0

    assert gradcheck(function, (a, b, 3), **checks, **forward)
    assert gradgradcheck(function, (a, b, 3), **checks, check_fwd_over_rev=True, gen_non_contig_grad_outputs=True)
    assert gradcheck(function, (a, b.detach(), 3), **checks, **forward)
    assert gradcheck(lambda x: (), (a,), fast_mode=fast_mode)


@both_modes
@pytest.mark.parametrize("shape", [(), (0,), (2, 0, 3), (2, 3)])
def test_all_shapes(shape, fast_mode):
    x = torch.rand(shape, dtype=torch.float64).requires_grad_()
    assert gradcheck(lambda x: (x.exp(), x.sum()), (x,), fast_mode=fast_mode, check_forward_ad=True)
    assert gradgradcheck(lambda x: x.exp(), (x,), fast_mode=fast_mode)


@both_modes
def test_wrong_formulas_fail(fast_mode):
    x = double(1.0, 2.0)
    with pytest.raises(GradcheckError, match="Jacobian mismatch for output 0 with respect to input 0"):
        gradcheck(WrongSquare.apply, (x,), fast_mode=fast_mode)
    with pytest.raises(GradcheckError, match="Jacobian mismatch"):
        gradgradcheck(WrongSecond.apply, (x,), fast_mode=fast_mode)
    with pytest.raises(GradcheckError, match="expected to be zero"):
        gradcheck(lambda x: x.detach() * 2, (x,), fast_mode=fast_mode)
    with pytest.raises(GradcheckError, match="computed with forward mode mismatch"):
        gradcheck(_without_tangent, (x,), check_forward_ad=True, fast_mode=fast_mode)


def test_fast_mode_shows_the_whole_jacobians():
    with pytest.raises(GradcheckError, match="we recompute numerical and analytical jacobians in slow mode") as caught:
        gradcheck(WrongSquare.apply, (double(1.0, 2.0),), fast_mode=True)
    largest = str(caught.value).partition("The max per-element difference (slow mode) is: ")[2]
    assert abs(float(largest.strip().rstrip(".")) - 2) < 1e-6


def test_fast_mode_leaves_the_random_numbers_alone():
    torch.manual_seed(2)
    gradcheck(torch.exp, (double(1.0),), fast_mode=True)
    gradcheck(torch.exp, (double(1.0),), fast_mode=True, check_forward_ad=True)
    first = torch.rand(3)
    torch.manual_seed(2)
    assert torch.equal(first, torch.rand(3))


def test_inputs_are_as_they_were():
    x = double(0.1, 0.7)
    before = x.detach().clone()

    def fails(x):
        if not torch.equal(x.detach(), before):
            raise KeyError("moved")
        return x * 1

    with pytest.raises(KeyError):
        gradcheck(fails, (x,))
    assert torch.equal(x.detach(), before)
    assert x._version == 0


def hooked(hook):
    """The identity, with a hook on its result's gradient."""

    def function(x):
        y = x.clone()
        y.register_hook(hook)
        return y

    return function


@both_modes
def test_backward_must_be_linear(fast_mode):
    with pytest.raises(GradcheckError, match="backward not multiplied by grad_output"):
        gradcheck(hooked(lambda grad: grad + 1e-2), (double(1.0),), atol=1e-1, fast_mode=fast_mode)


@both_modes
def test_undefined_gradients_must_be_borne(fast_mode):
    def hook(grad):
        if grad is None:
            raise RuntimeError("no gradient")

    refused = pytest.raises(GradcheckError, match="Expected backward function to handle undefined output grads")
    with pytest.warns(UserWarning, match="New undefined gradient support checking"), refused:
        gradcheck(hooked(hook), (double(1.0),), fast_mode=fast_mode)
    assert gradcheck(hooked(hook), (double(1.0),), fast_mode=fast_mode, check_undefined_grad=False)


class Jittery(Function):
    @staticmethod
    def forward(ctx, x):
        return x * 1

    @staticmethod
    def backward(ctx, grad):
        return grad * (1 + torch.rand_like(grad) * 1e-6)


@both_modes
def test_two_passes_must_agree(fast_mode):
    x = double(1.0, 2.0)
    with pytest.raises(GradcheckError, match="Backward is not reentrant"):
        gradcheck(Jittery.apply, (x,), fast_mode=fast_mode)
    assert gradcheck(Jittery.apply, (x,), fast_mode=fast_mode, nondet_tol=1e-5)


class NotBatched(Function):
    """Right, but its backward needs a number, which a batch has none of."""

    @staticmethod
    def forward(x):
        return x * 2

    @staticmethod
    def setup_context(ctx, inputs, output):
        pass

    @staticmethod
    def backward(ctx, grad):
        assert grad.sum().item() < 100
        return grad * 2


def test_batched_gradients():
    x = double(1.0, 2.0)
    assert gradcheck(NotBatched.apply, (x,))
    with pytest.raises(GradcheckError, match="failed while testing batched gradient computation"):
        gradcheck(NotBatched.apply, (x,), check_batched_grad=True)


def test_outputs_must_keep_their_kind():
    x = double(1.0)
    with pytest.raises(AssertionError, match="same shape when inputs are perturbed"):
        gradcheck(lambda x: torch.cat([x, x]) if x >= 1 else x * 1, (x,))
    with pytest.raises(AssertionError, match="same dtype when inputs are perturbed"):
        gradcheck(lambda x: x.to(torch.float32) if x >= 1 else x * 1, (x,), fast_mode=True)


def test_something_must_be_checked():
    x = double(1.0)
    with pytest.raises(AssertionError, match="at least one of check_forward_ad or check_backward_ad"):
        gradcheck(torch.exp, (x,), check_backward_ad=False)
    with pytest.raises(AssertionError, match="check_batched_grad=True requires check_backward_ad"):
        gradcheck(torch.exp, (x,), check_backward_ad=False, check_forward_ad=True, check_batched_grad=True)
    with pytest.raises(AssertionError, match="check_batched_forward_grad=True requires check_forward_ad"):
        gradcheck(torch.exp, (x,), check_batched_forward_grad=True)
    with pytest.raises(AssertionError, match="at least one of check_fwd_over_rev or check_rev_over_rev"):
        gradgradcheck(torch.exp, (x,), check_rev_over_rev=False)


def test_forward_mode_alone():
    class Doubled(Function):
        """Forward mode only, for numbers that require no gradient."""

        @staticmethod
        def forward(ctx, x, y):
            assert not (x.requires_grad or y.requires_grad) or fwAD._current_level < 0
            return x * 2, y * 3

        @staticmethod
        def jvp(ctx, x, y):
            return x * 2, y * 3

    import reftorch.autograd.forward_ad as fwAD

    options = {"check_forward_ad": True, "check_backward_ad": False, "check_batched_forward_grad": True}
    assert gradcheck(Doubled.apply, (double(1.0, 2.0), double(3.0)), **options)


def test_jacobians_for_themselves():
    a, b = double(1.0, 2.0), double(3.0, 4.0)
    with pytest.warns(FutureWarning, match="`get_numerical_jacobian` was part of PyTorch's private API"):
        by_a, by_b = get_numerical_jacobian(lambda inputs: (2 * inputs[0] + inputs[1], inputs[0]), (a, b), eps=1e-6)
    torch.testing.assert_close(by_a, 2 * torch.eye(2, dtype=torch.float64))
    torch.testing.assert_close(by_b, torch.eye(2, dtype=torch.float64))
    with pytest.warns(FutureWarning, match="`get_analytical_jacobian`"):
        (by_a,), reentrant, sizes_ok, types_ok = get_analytical_jacobian((a,), a * 3)
    torch.testing.assert_close(by_a, 3 * torch.eye(2, dtype=torch.float64))
    assert reentrant and sizes_ok and types_ok
    with pytest.warns(FutureWarning), pytest.raises(ValueError, match=r"Expected grad_out to be 1\.0"):
        get_analytical_jacobian((a,), a * 3, grad_out=2.0)


def test_signatures_are_torchs(real_torch):
    import inspect

    for name in ("gradcheck", "gradgradcheck"):
        ours = inspect.signature(getattr(torch.autograd, name)).parameters
        theirs = inspect.signature(getattr(real_torch.autograd, name)).parameters
        assert [(p.name, p.default) for p in ours.values()] == [(p.name, p.default) for p in theirs.values()]
