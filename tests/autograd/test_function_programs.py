"""autograd.Function, as torch has it: what forward and backward may return and mark.

Mirrors: test/test_autograd.py (the custom function tests)
"""

import pytest

import reftorch as torch
from tests.autograd.functions import function
from tests.autograd.programs import assert_same


def leaf(lib, *values):
    return lib.tensor([float(value) for value in values], requires_grad=True)


def returns_a_view(lib):
    f = function(lib, lambda ctx, x: x.view(-1), lambda ctx, g: g * 3)
    x = leaf(lib, 1, 2)
    y = f.apply(x)
    r = (y._is_view(), y.grad_fn.name())
    y.sum().backward()
    return (r, x.grad.tolist())


def inplace_on_a_returned_view(lib):
    f = function(lib, lambda ctx, x: x.view(-1), lambda ctx, g: g * 3)
    x = leaf(lib, 1, 2) * 1
    y = f.apply(x)
    y.add_(1)


def inplace_on_one_of_two_views(lib):
    f = function(lib, lambda ctx, x: (x.view(-1), x * 2), lambda ctx, g, h: g * 3)
    x = leaf(lib, 1, 2) * 1
    y = f.apply(x)
    y[0].add_(1)


def returns_its_input(lib):
    f = function(lib, lambda ctx, x: x, lambda ctx, g: g * 3)
    x = leaf(lib, 1, 2)
    y = f.apply(x)
    return (y is x, y._is_view(), y.grad_fn.name(), x.grad_fn)


def returns_its_input_twice(lib):
    f = function(lib, lambda ctx, x: (x, x), lambda ctx, g, h: g * 3 + h)
    x = leaf(lib, 1, 2)
    y, z = f.apply(x)
    (y + 2 * z).sum().backward()
    return (y is z, x.grad.tolist())


def dirty_and_another(lib):

    def fw(ctx, x):
        ctx.mark_dirty(x)
        x.add_(1)
        return (x, x * 2)

    f = function(lib, fw, lambda ctx, g, h: g * 3 + h)
    x = leaf(lib, 1, 2)
    b = x * 1
    y, z = f.apply(b)
    r = (y is b, b.tolist(), b._version)
    (y + 2 * z).sum().backward()
    return (r, x.grad.tolist())


def dirty_view_and_another(lib):

    def fw(ctx, x):
        ctx.mark_dirty(x)
        x.add_(1)
        return (x, x * 2)

    f = function(lib, fw, lambda ctx, g, h: g * 3 + h)
    x = leaf(lib, 1, 2)
    b = (x * 1)[:1]
    f.apply(b)


def dirty_is_no_tensor(lib):

    def fw(ctx, x):
        ctx.mark_dirty(3)
        return x

    function(lib, fw, lambda ctx, g: g).apply(leaf(lib, 1))


def non_differentiable_is_no_tensor(lib):

    def fw(ctx, x):
        ctx.mark_non_differentiable(3)
        return x

    function(lib, fw, lambda ctx, g: g).apply(leaf(lib, 1))


def returns_a_number(lib):

    def fw(ctx, x):
        return 3

    return function(lib, fw, lambda ctx, g: g).apply(leaf(lib, 1))


def returns_none(lib):

    def fw(ctx, x):
        return None

    return function(lib, fw, lambda ctx, g: g).apply(leaf(lib, 1))


def returns_a_list(lib):

    def fw(ctx, x):
        return [x * 2]

    r = function(lib, fw, lambda ctx, g: g).apply(leaf(lib, 1))
    return type(r).__name__


def returns_more_than_tensors(lib):

    def fw(ctx, x):
        return (x * 2, "a", None)

    def bw(ctx, *g):
        return lib.tensor([float(len(g))])

    x = leaf(lib, 1)
    function(lib, fw, bw).apply(x)[0].backward()
    return x.grad.tolist()


def a_none_too_many_is_fine(lib):
    x = leaf(lib, 1)
    f = function(lib, lambda ctx, x: x * 2, lambda ctx, g: (g, None))
    f.apply(x).backward()
    return x.grad.tolist()


def gradient_is_none(lib):
    x = leaf(lib, 1)
    f = function(lib, lambda ctx, x: x * 2, lambda ctx, g: None)
    f.apply(x).backward()
    return x.grad


def gradient_of_a_wrong_shape(lib):
    x = leaf(lib, 1, 2)
    f = function(lib, lambda ctx, x: x * 2, lambda ctx, g: lib.ones(3))
    f.apply(x).sum().backward()


def gradient_of_integers(lib):
    x = leaf(lib, 1, 2)
    f = function(lib, lambda ctx, x: x * 2, lambda ctx, g: lib.ones(2, dtype=lib.int64))
    f.apply(x).sum().backward()


def gradient_is_broadcast(lib):
    x = leaf(lib, 1, 2)
    f = function(lib, lambda ctx, x: x * 2, lambda ctx, g: lib.ones(2, 2))
    f.apply(x).sum().backward()
    return x.grad.tolist()


def saved_tensors_in_forward(lib):
    x = leaf(lib, 1, 2)

    def fw(ctx, x):
        ctx.save_for_backward(x)
        ctx.k = ctx.saved_tensors
        return x * 2

    f = function(lib, fw, lambda ctx, g: g * len(ctx.saved_tensors))
    f.apply(x).sum().backward()
    return x.grad.tolist()


def saves_none(lib):
    x = leaf(lib, 1, 2)

    def fw(ctx, x):
        ctx.save_for_backward(x, None)
        return x * 2

    f = function(lib, fw, lambda ctx, g: g * (ctx.saved_tensors[1] is None))
    f.apply(x).sum().backward()
    return x.grad.tolist()


def saves_a_list(lib):
    x = leaf(lib, 1, 2)

    def fw(ctx, x):
        ctx.save_for_backward([x])
        return x * 2

    function(lib, fw, lambda ctx, g: g).apply(x)


def setup_context(lib):
    x = leaf(lib, 1, 2)
    f = function(
        lib,
        lambda x, k: x * k,
        lambda ctx, g: (g * ctx.k, None),
        setup_context=lambda ctx, i, o: setattr(ctx, "k", i[1]),
    )
    f.apply(x, 3.0).sum().backward()
    return x.grad.tolist()


def setup_context_returns_something(lib):
    x = leaf(lib, 1, 2)
    f = function(lib, lambda x, k: x * k, lambda ctx, g: (g * ctx.k, None), setup_context=lambda ctx, i, o: 5)
    f.apply(x, 3.0)


def inplace_on_an_output(lib):
    x = leaf(lib, 1, 2)
    f = function(lib, lambda ctx, x: x.clone(), lambda ctx, g: g)
    y = f.apply(x)
    y.add_(1)
    y.sum().backward()
    return x.grad.tolist()


def gradient_for_a_constant(lib):
    x = leaf(lib, 1, 2)
    y = lib.ones(2)

    def bw(ctx, g):
        return (g, g)

    def fw(ctx, a, b):
        return a + b

    f = function(lib, fw, bw)
    f.apply(x, y).sum().backward()
    return (x.grad.tolist(), y.grad)


def dirty_leaf_without_recording(lib):
    x = leaf(lib, 1, 2)
    f = function(lib, lambda ctx, x: (ctx.mark_dirty(x), x.add_(1))[1], lambda ctx, g: g)
    with lib.no_grad():
        y = f.apply(x)
    return (y is x, x.tolist(), x._version)


def dirty_constant(lib):
    x = lib.ones(2)
    f = function(lib, lambda ctx, x: (ctx.mark_dirty(x), x.add_(1))[1], lambda ctx, g: g)
    y = f.apply(x)
    return (y is x, x.tolist(), x._version, y.requires_grad)


def without_backward(lib):
    x = leaf(lib, 1, 2)

    class N(lib.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

    N.apply(x).sum().backward()


def without_forward(lib):

    class N(lib.autograd.Function):
        pass

    N.apply(leaf(lib, 1))


def with_backward_and_vjp(lib):

    class N(lib.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, g):
            return g

        @staticmethod
        def vjp(ctx, g):
            return g

    N.apply(leaf(lib, 1)).backward()


def once_differentiable(lib):
    from importlib import import_module

    o = import_module(lib.__name__ + ".autograd.function").once_differentiable

    class N(lib.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x**3

        @staticmethod
        @o
        def backward(ctx, g):
            return g * 3 * ctx.saved_tensors[0] ** 2

    x = leaf(lib, 1, 2)
    (g,) = lib.autograd.grad(N.apply(x).sum(), x, create_graph=True)
    r = (g.tolist(), g.requires_grad)
    (h,) = lib.autograd.grad(N.apply(x) @ leaf(lib, 1, 1), x, create_graph=True)
    return (r, h.requires_grad, h.grad_fn is not None)


def non_differentiable_input(lib):
    x = leaf(lib, 1, 2)

    def fw(ctx, x):
        ctx.mark_non_differentiable(x)
        return x

    y = function(lib, fw, lambda ctx, g: g).apply(x * 1)
    return (y.requires_grad, y.grad_fn)


def non_differentiable_index(lib):
    x = leaf(lib, 1, 2)

    def fw(ctx, x):
        y = x.max(0)
        ctx.mark_non_differentiable(y[1])
        return (y[0], y[1])

    y = function(lib, fw, lambda ctx, g, h: lib.stack([g * 0, g + h])).apply(x)
    y[0].backward()
    return (x.grad.tolist(), y[1].requires_grad)


def the_node(lib):
    x = leaf(lib, 1, 2)
    y = function(lib, lambda ctx, x: x * 2, lambda ctx, g: g).apply(x)
    f = y.grad_fn
    return (
        type(f).__name__,
        f.name(),
        f.next_functions[0][0].name().split("::")[-1],
        f.needs_input_grad,
        f.metadata,
        len(f.next_functions),
    )


def node_hooks(lib):
    x = leaf(lib, 1, 2)
    y = function(lib, lambda ctx, x: x * 2, lambda ctx, g: g).apply(x)
    y.grad_fn.register_prehook(lambda g: (g[0] * 10,))
    y.grad_fn.register_hook(lambda gi, go: (gi[0] + 1,))
    y.sum().backward()
    return x.grad.tolist()


def saved_tensors_after_freeing(lib):
    x = leaf(lib, 1, 2)

    def fw(ctx, x):
        ctx.save_for_backward(x)
        return x * 2

    y = function(lib, fw, lambda ctx, g: g * ctx.saved_tensors[0]).apply(x)
    c = y.grad_fn
    y.sum().backward()
    return c.saved_tensors


def saves_an_intermediate(lib):
    x = leaf(lib, 1, 2)

    class Inter(lib.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            i = x.exp()
            ctx.save_for_backward(i)
            return i * 2

        @staticmethod
        def backward(ctx, g):
            return g * ctx.saved_tensors[0] * 2

    (g,) = lib.autograd.grad(Inter.apply(x).sum(), x, create_graph=True)
    return g.requires_grad


PROGRAMS = [
    returns_a_view,
    inplace_on_a_returned_view,
    inplace_on_one_of_two_views,
    returns_its_input,
    returns_its_input_twice,
    dirty_and_another,
    dirty_view_and_another,
    dirty_is_no_tensor,
    non_differentiable_is_no_tensor,
    returns_a_number,
    returns_none,
    returns_a_list,
    returns_more_than_tensors,
    a_none_too_many_is_fine,
    gradient_is_none,
    gradient_of_a_wrong_shape,
    gradient_of_integers,
    gradient_is_broadcast,
    saved_tensors_in_forward,
    saves_none,
    saves_a_list,
    setup_context,
    setup_context_returns_something,
    inplace_on_an_output,
    gradient_for_a_constant,
    dirty_leaf_without_recording,
    dirty_constant,
    without_backward,
    without_forward,
    with_backward_and_vjp,
    once_differentiable,
    non_differentiable_input,
    non_differentiable_index,
    the_node,
    node_hooks,
    saved_tensors_after_freeing,
    saves_an_intermediate,
]


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
def test_same_as_torch(program, real_torch):
    assert_same(program, torch, real_torch)
