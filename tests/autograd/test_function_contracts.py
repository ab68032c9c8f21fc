"""What a Function and its ctx promise at the edges: no second derivative, no gradient, no node.

Mirrors: test/test_autograd.py (TestAutograd)
"""

import gc
import weakref

import pytest

import reftorch as torch
from tests.autograd.functions import function


def save(ctx, x):
    ctx.save_for_backward(x)
    return x * 1


def pass_on(ctx, grad):
    return grad


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

    def forward(ctx, x):
        ctx.set_materialize_grads(materialize)
        return x * 1

    def backward(ctx, grad):
        seen.append(None if grad is None else grad.tolist())

    x = torch.ones(1, requires_grad=True)
    y = function(torch, forward, backward).apply(x)
    torch._C._functions.UndefinedGrad()(y).backward()
    assert seen == [[0.0] if materialize else None]
    assert x.grad is None


def test_no_zeros_for_outputs_without_gradient_on_demand():
    def forward(ctx, x):
        first, second = x.clone(), x.clone()
        ctx.mark_non_differentiable(second)
        ctx._materialize_non_diff_grads = False
        return first, second

    def backward(ctx, first, second):
        assert second is None
        return first * 2

    x = torch.ones(2, requires_grad=True)
    function(torch, forward, backward).apply(x)[0].sum().backward()
    assert x.grad.tolist() == [2, 2]


def test_an_argument_changed_in_place_may_be_returned_twice():
    def forward(ctx, x):
        x.mul_(2)
        ctx.mark_dirty(x)
        return x, x

    double_in_place = function(torch, forward, lambda ctx, first, second: first * 2 + second * 2)

    def f(x):
        first, second = double_in_place.apply(x.clone())
        assert first is second
        return first + second

    x = torch.randn(3, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(f, [x])
    assert torch.autograd.gradgradcheck(f, [x])


def test_saved_variables_is_the_former_name():
    old = function(torch, save, lambda ctx, grad: grad * ctx.saved_variables[0])
    x = torch.full((2,), 3.0, requires_grad=True)
    with pytest.warns(DeprecationWarning, match="'saved_variables' is deprecated"):
        old.apply(x).sum().backward()
    assert x.grad.tolist() == [3, 3]


def test_a_function_that_was_not_applied_has_a_node_without_edges():
    with pytest.warns(DeprecationWarning, match="should not be instantiated"):
        never = TwiceForbidden()
    assert (never.next_functions, never._input_metadata, never.metadata) == ((), [], {})
    assert never.name() == "TwiceForbidden"
    never._set_sequence_nr(2)
    assert never._sequence_nr() == 2
    never.register_hook(print).remove()
    never.register_prehook(print).remove()


def test_an_unrecorded_call_has_no_edges():
    contexts = []

    def forward(ctx, x):
        contexts.append(ctx)
        return x * 2

    torch_function = function(torch, forward, None)
    torch_function.apply(torch.ones(1))
    with torch.no_grad():
        torch_function.apply(torch.ones(1, requires_grad=True))
    assert [ctx.next_functions for ctx in contexts] == [(), ()]


def test_a_context_that_is_held_keeps_its_node():
    kept = []

    def backward(ctx, grad):
        kept.append(ctx)
        return grad * ctx.saved_tensors[0]

    x = torch.full((1,), 3.0, requires_grad=True)
    y = function(torch, save, backward).apply(x)
    y.backward(retain_graph=True)
    assert kept[0] is y.grad_fn
    del y
    gc.collect()
    assert kept[0].saved_tensors == (x,)
    accumulate, _ = kept[0].next_functions[0]
    assert accumulate.variable is x
    kept[0]._set_sequence_nr(7)
    edge = torch.autograd.graph.GradientEdge(kept[0], 0)
    assert torch.autograd.grad(edge, x, torch.ones(1))[0].tolist() == [3]
    assert kept[0] is kept[1] and kept[1]._sequence_nr() == 7
    with pytest.raises(RuntimeError, match="after they have already been freed"):
        _ = kept[0].saved_tensors


def giving_away(accesses):
    def forward(ctx, x):
        ctx.save_for_backward(x)
        assert ctx.saved_tensors is ctx.saved_tensors
        return x.clone()

    def backward(ctx, grad):
        for _ in range(accesses):
            (x,) = ctx.saved_tensors
        ref = weakref.ref(x)
        del x
        assert ref() is None
        return grad

    return function(torch, forward, backward, clear_saved_tensors_on_access=True)


def test_saved_tensors_can_be_given_away():
    x = torch.ones(2, requires_grad=True)
    giving_away(1).apply(x.clone()).sum().backward()
    assert x.grad.tolist() == [1, 1]
    with pytest.raises(RuntimeError, match="can only be accessed once when clear_saved_tensors_on_access=True"):
        giving_away(2).apply(x.clone()).sum().backward()


def viewing(pure, outputs=1):
    def forward(ctx, x, *others):
        ctx._is_pure_view = pure
        views = tuple(x.narrow(0, i, 1) for i in range(outputs))
        return views[0] if outputs == 1 else views

    def backward(ctx, *grads):
        raise AssertionError("a pure view has the gradient of a view")

    return function(torch, forward, backward)


def test_pure_views_may_be_changed_in_place():
    x = torch.ones(2, requires_grad=True)
    base = x.clone()
    view = viewing(True).apply(base)
    view.mul_(3)
    base.sum().backward()
    assert (base.tolist(), x.grad.tolist()) == ([3, 1], [3, 1])
    with pytest.raises(RuntimeError, match="This view was created inside a custom Function"):
        viewing(False).apply(x.clone()).mul_(3)
    for views, others in ((viewing(True, 2), ()), (viewing(True), (torch.ones(1),))):
        with pytest.raises(RuntimeError, match="Pure view custom Function can only have one input Tensor"):
            views.apply(x.clone(), *others)
    with pytest.raises(TypeError, match="_is_pure_view expects a bool"):
        viewing(3).apply(x.clone())


def test_a_view_that_forward_made_of_what_needs_no_gradient_is_no_view_to_change_either():
    base = torch.ones(2)
    view = viewing(False).apply(base)
    with pytest.raises(RuntimeError, match="This view was created inside a custom Function"):
        view += torch.ones(1, requires_grad=True)
    with torch.no_grad():
        view = viewing(False).apply(torch.ones(2, requires_grad=True))
    with pytest.raises(RuntimeError, match="A view was created in no_grad mode and is being modified inplace"):
        view.zero_()


def test_only_inputs_are_dirty():
    def forward(ctx, x, as_view):
        changed = (x * 2).add_(1)
        changed = changed.view_as(changed) if as_view else changed
        ctx.mark_dirty(changed)
        return changed

    marks_what_is_no_input = function(torch, forward, lambda ctx, grad: (grad * 2, None))
    x = torch.ones(2, requires_grad=True)
    with pytest.warns(UserWarning, match=r"mark_dirty\(\) received a tensor that was not an input"):
        marks_what_is_no_input.apply(x, False).sum().backward()
    assert x.grad.tolist() == [2, 2]
    with pytest.raises(RuntimeError, match=r"mark_dirty\(\) received a tensor that was not an input"):
        marks_what_is_no_input.apply(x, True)


def test_a_changed_view_that_is_saved_makes_no_cycle():
    def forward(ctx, x):
        x.add_(1)
        ctx.mark_dirty(x)
        ctx.save_for_backward(x)
        return x

    saves = function(torch, forward, lambda ctx, grad: grad * ctx.saved_tensors[0])
    leaf = torch.ones(2, requires_grad=True)
    x = leaf.clone()
    view = x[:1]
    assert saves.apply(view) is view
    x.sum().backward()
    assert leaf.grad.tolist() == [2, 1]
    ref = weakref.ref(view)
    gc.disable()
    try:
        del view, x
        assert ref() is None
    finally:
        gc.enable()


def test_backward_and_vjp_are_one_too_many_when_backward_comes():
    both = function(torch, lambda ctx, x: x * 1, pass_on, vjp=pass_on)
    y = both.apply(torch.ones(1, requires_grad=True))
    with pytest.raises(RuntimeError, match="Implementing both 'backward' and 'vjp'"):
        y.backward()


def test_a_subclass_that_is_returned_as_it_is_stays_one():
    class Wrapped(torch.Tensor):
        @classmethod
        def __torch_function__(cls, function, types, args=(), kwargs=None):
            return super().__torch_function__(function, types, args, kwargs or {})

    as_it_is = function(torch, lambda ctx, x: x, pass_on)
    for requires_grad in (False, True):
        x = torch.ones(2).as_subclass(Wrapped).requires_grad_(requires_grad)
        y = as_it_is.apply(x)
        assert isinstance(y, Wrapped) and y is not x and y.requires_grad is requires_grad
