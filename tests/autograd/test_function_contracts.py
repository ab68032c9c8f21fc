"""What a Function and its ctx promise at the edges: no second derivative, no gradient, no node.

Mirrors: test/test_autograd.py (TestAutograd)
"""

import pytest

import reftorch as torch


class TwiceForbidden(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, number, y):
        return x * 1, y * 1

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx, first, second):
        return first * 2, None, second * 3


def test_once_differentiable_puts_an_error_behind_the_gradients():
    x, y = torch.ones(2, requires_grad=True), torch.ones(2, requires_grad=True)
    start = torch.ones((), requires_grad=True)
    first, second = TwiceForbidden.apply(x, 5, y)
    grads = torch.autograd.grad((first + second).sum(), (x, y), start, create_graph=True)
    assert [grad.tolist() for grad in grads] == [[2, 2], [3, 3]]
    node = grads[0].grad_fn
    assert node.name() == "torch::autograd::Error"
    assert [type(n).__name__ for n, _ in node.next_functions] == ["AccumulateGrad", "NoneType", "AccumulateGrad"]
    with pytest.raises(RuntimeError, match="marked with @once_differentiable"):
        grads[0].sum().backward()


def test_delayed_error():
    x, y = torch.ones(2, requires_grad=True), torch.ones(2)
    first, nothing, second = torch._C._functions.DelayedError("not today", 3)(x, None, y)
    assert nothing is None
    assert torch.equal(first, x)
    assert second.requires_grad
    with pytest.raises(RuntimeError, match="not today"):
        first.sum().backward()
    with torch.no_grad():
        assert not torch._C._functions.DelayedError("not today", 1)(x).requires_grad
    with pytest.raises(TypeError, match="expected a Tensor or None, but got int"):
        torch._C._functions.DelayedError("not today", 1)(3)


@pytest.mark.parametrize("materialize", [True, False])
def test_undefined_gradients_are_zeros_on_demand(materialize):
    seen = []

    class Seen(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.set_materialize_grads(materialize)
            return x * 1

        @staticmethod
        def backward(ctx, grad):
            seen.append(None if grad is None else grad.tolist())

    x = torch.ones(1, requires_grad=True)
    torch._C._functions.UndefinedGrad()(Seen.apply(x)).backward()
    assert seen == [[0.0] if materialize else None]
    assert x.grad is None


def test_no_zeros_for_outputs_without_gradient_on_demand():
    class Pair(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            first, second = x.clone(), x.clone()
            ctx.mark_non_differentiable(second)
            ctx._materialize_non_diff_grads = False
            return first, second

        @staticmethod
        def backward(ctx, first, second):
            assert second is None
            return first * 2

    x = torch.ones(2, requires_grad=True)
    Pair.apply(x)[0].sum().backward()
    assert x.grad.tolist() == [2, 2]


def test_an_argument_changed_in_place_may_be_returned_twice():
    class DoubleInPlace(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            x.mul_(2)
            ctx.mark_dirty(x)
            return x, x

        @staticmethod
        def backward(ctx, first, second):
            return first * 2 + second * 2

    def f(x):
        first, second = DoubleInPlace.apply(x.clone())
        assert first is second
        return first + second

    x = torch.randn(3, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(f, [x])
    assert torch.autograd.gradgradcheck(f, [x])


def test_saved_variables_is_the_former_name():
    class Old(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * 1

        @staticmethod
        def backward(ctx, grad):
            (x,) = ctx.saved_variables
            return grad * x

    x = torch.full((2,), 3.0, requires_grad=True)
    with pytest.warns(DeprecationWarning, match="'saved_variables' is deprecated"):
        Old.apply(x).sum().backward()
    assert x.grad.tolist() == [3, 3]


def test_a_function_that_was_not_applied_has_no_node():
    with pytest.warns(DeprecationWarning, match="should not be instantiated"):
        never = TwiceForbidden()
    tensor = torch.ones(1, requires_grad=True)
    tensor._backward_hooks = {}
    for name, use in {
        "next_functions": lambda: never.next_functions,
        "_input_metadata": lambda: never._input_metadata,
        "name": lambda: never.name(),
        "_sequence_nr": lambda: never._sequence_nr(),
        "_set_sequence_nr": lambda: never._set_sequence_nr(2),
        "register_hook": lambda: never.register_hook(print),
        "register_prehook": lambda: never.register_prehook(print),
        "_register_hook_dict": lambda: never._register_hook_dict(tensor),
        "metadata": lambda: never.metadata,
    }.items():
        with pytest.raises(RuntimeError, match=f"Attribute '{name}' is invalid.*PyNode has already been deallocated"):
            use()
