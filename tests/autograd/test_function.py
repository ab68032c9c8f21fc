"""autograd.Function.

Mirrors: test/autograd/test_custom_function (in test/test_autograd.py)
"""

import gc
import weakref

import pytest

import reftorch as torch
from reftorch.autograd import Function
from reftorch.autograd.function import once_differentiable
from tests.answers.watched import asked


def leaf(*values: float) -> torch.Tensor:
    return torch.tensor([float(v) for v in values], requires_grad=True)


class Mul(Function):
    @staticmethod
    def forward(ctx, a, b, scale):
        ctx.save_for_backward(a, b)
        ctx.scale = scale
        return a * b * scale

    @staticmethod
    def backward(ctx, grad):
        a, b = ctx.saved_tensors
        return grad * b * ctx.scale, grad * a * ctx.scale, None


class Exp(Function):
    @staticmethod
    def forward(x):
        return x.exp()

    @staticmethod
    def setup_context(ctx, inputs, output):
        assert len(inputs) == 1
        ctx.save_for_backward(output)

    @staticmethod
    def backward(ctx, grad):
        (result,) = ctx.saved_tensors
        return grad * result


def test_forward_and_backward():
    a, b = leaf(1, 2), leaf(3, 4)
    y = Mul.apply(a, b, 10.0)
    assert type(y.grad_fn).__name__ == y.grad_fn.name() == "MulBackward"
    assert isinstance(y.grad_fn, torch.autograd.graph.Node)
    assert y.grad_fn.scale == 10.0 and y.grad_fn.saved_tensors[0] is a
    y.sum().backward()
    assert a.grad.tolist() == [30, 40] and b.grad.tolist() == [10, 20]


@pytest.mark.parametrize("function", [lambda x: Mul.apply(x, x * 2, 3.0), Exp.apply])
def test_first_and_second_order(function):
    x = torch.tensor([0.5, -1.5], dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(function, (x,))
    assert torch.autograd.gradgradcheck(function, (x,))


def test_needs_input_grad():
    seen = []

    class Look(Function):
        @staticmethod
        def forward(ctx, a, b, c):
            return a + b

        @staticmethod
        def backward(ctx, grad):
            seen.append(ctx.needs_input_grad)
            return grad, grad, None

    Look.apply(leaf(1), torch.ones(1), "text").backward()
    assert seen == [(True, False, False)]


def test_saved_output_is_no_leak():
    x = leaf(1)
    y = Exp.apply(x)
    ref = weakref.ref(y)
    del y
    assert ref() is None or gc.collect() is None


def test_ctx_dies_with_the_graph():
    x = leaf(1)
    y = Mul.apply(x, x, 1.0)
    ref = weakref.ref(y.grad_fn)
    del y
    assert ref() is None


def test_freed_and_changed():
    x = leaf(1, 2)
    y = Mul.apply(x, x, 1.0).sum()
    y.backward()
    with pytest.raises(RuntimeError, match="backward through the graph a second time"):
        y.backward()
    w = torch.ones(2)
    y = Mul.apply(x, w, 1.0).sum()
    w.add_(1)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.backward()


def test_mark_dirty():
    class AddOne(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.mark_dirty(x)
            return x.add_(1)

        @staticmethod
        def backward(ctx, grad):
            return grad * 5

    x = leaf(1, 2)
    y = x * 2
    z = AddOne.apply(y)
    assert z is y and y.tolist() == [3, 5] and y.grad_fn.name() == "AddOneBackward"
    y.sum().backward()
    assert x.grad.tolist() == [10, 10]
    with pytest.raises(RuntimeError, match="a leaf Variable that requires grad has been used in an in-place operation"):
        AddOne.apply(x)


def test_dirty_must_be_returned():
    class Forgets(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.mark_dirty(x)
            return x.clone()

        @staticmethod
        def backward(ctx, grad):
            return grad

    with pytest.raises(RuntimeError, match="Some elements marked as dirty during the forward method were not returned"):
        Forgets.apply(leaf(1) * 2)


def test_mark_dirty_on_a_view_rewrites_the_base():
    class Double(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.mark_dirty(x)
            return x.mul_(2)

        @staticmethod
        def backward(ctx, grad):
            return grad * 2

    x = leaf(1, 2, 3)
    y = x * 1
    Double.apply(y[1:])
    y.sum().backward()
    assert x.grad.tolist() == [1, 2, 2]


def test_non_differentiable_outputs():
    class Both(Function):
        @staticmethod
        def forward(ctx, x):
            rounded, index = x.round(), torch.tensor([1])
            ctx.mark_non_differentiable(rounded)
            return x * 2, rounded, index, "text"

        @staticmethod
        def backward(ctx, grad, grad_rounded, grad_index, grad_text):
            assert grad_rounded.tolist() == [0, 0] and grad_text is None
            return grad * 2

    x = leaf(1.4, 2.6)
    y, rounded, index, text = Both.apply(x)
    assert y.requires_grad and not rounded.requires_grad and not index.requires_grad and text == "text"
    y.sum().backward()
    assert x.grad.tolist() == [2, 2]


@pytest.mark.parametrize("materialize", [True, False])
def test_materialize_grads(materialize):
    class Two(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.set_materialize_grads(materialize)
            return x * 1, x * 2

        @staticmethod
        def backward(ctx, first, second):
            assert (second is None) != materialize
            return first

    x = leaf(1, 2)
    Two.apply(x)[0].sum().backward()
    assert x.grad.tolist() == [1, 1]


def test_returned_input_becomes_a_new_tensor():
    class Identity(Function):
        @staticmethod
        def forward(ctx, x):
            return x

        @staticmethod
        def backward(ctx, grad):
            return grad * 3

    x = leaf(1)
    y = Identity.apply(x)
    assert y is not x and x.is_leaf and y.grad_fn.name() == "IdentityBackward"
    y.backward()
    assert x.grad.tolist() == [3]
    with pytest.raises(RuntimeError, match="custom Function"):
        Identity.apply(x * 1).add_(1)


def test_without_gradient_nothing_is_recorded():
    with torch.no_grad():
        assert Exp.apply(leaf(1)).grad_fn is None
    assert Exp.apply(torch.ones(1)).grad_fn is None


def test_once_differentiable():
    class Once(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        @once_differentiable
        def backward(ctx, grad):
            return grad * 2 * ctx.saved_tensors[0]

    x = leaf(3)
    assert torch.autograd.grad(Once.apply(x), x)[0].tolist() == [6]
    y = (x * 2).requires_grad_()
    (first,) = torch.autograd.grad(Once.apply(x) * y, x, create_graph=True)
    with pytest.raises(
        RuntimeError, match="trying to differentiate twice a function that was marked with @once_differentiable"
    ):
        first.backward()


def returns(value):
    class Returns(Function):
        @staticmethod
        def forward(ctx, x, other):
            return x * 1

        @staticmethod
        def backward(ctx, grad):
            return value(grad)

    return Returns


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (lambda g: g, r"function ReturnsBackward returned an incorrect number of gradients \(expected 2, got 1\)"),
        (lambda g: (g, None, g), r"returned an incorrect number of gradients \(expected 2, got 3\)"),
        (
            lambda g: (g, g),
            "returned a gradient different from None at position 2, but the corresponding forward input was not",
        ),
        (lambda g: (3, None), "expected Variable or None"),
    ],
)
def test_wrong_returns(value, text):
    with pytest.raises(RuntimeError, match=text):
        returns(value).apply(leaf(1), 5).backward()


def test_wrong_use():
    with pytest.warns(DeprecationWarning, match="should not be instantiated"):
        Mul()
    with pytest.raises(NotImplementedError, match="You must implement the forward function"):
        type("NoForward", (Function,), {}).apply(leaf(1))
    no_backward = type("NoBackward", (Function,), {"forward": staticmethod(lambda ctx, x: x * 1)})
    with pytest.raises(NotImplementedError, match="You must implement either the backward or vjp"):
        no_backward.apply(leaf(1)).backward()
    members = {"forward": lambda ctx, x: x * 1, "backward": print, "vjp": print}
    two_names = type("TwoNames", (Function,), {name: staticmethod(member) for name, member in members.items()})
    with pytest.raises(RuntimeError, match="both 'backward' and 'vjp'"):
        two_names.apply(leaf(1)).backward()
    saves_text = type(
        "SavesText", (Function,), {"forward": staticmethod(lambda ctx, x: (ctx.save_for_backward("text"), x * 1)[1])}
    )
    with pytest.raises(TypeError, match="save_for_backward can only save variables, but argument 0 is of type str"):
        saves_text.apply(leaf(1))


def test_vjp_is_backward():
    class Named(Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def vjp(ctx, grad):
            return grad * 2

    x = leaf(1)
    Named.apply(x).backward()
    assert x.grad.tolist() == [2]


def test_errors_keep_their_traceback():
    class Broken(Function):
        @staticmethod
        def forward(ctx, x):
            return x * 1

        @staticmethod
        def backward(ctx, grad):
            raise ZeroDivisionError("in backward")

    with pytest.raises(ZeroDivisionError, match="in backward") as caught:
        Broken.apply(leaf(1)).backward()
    assert caught.traceback[-1].name == "backward"


def test_arguments_by_name_and_by_default(real_torch):
    def call(lib):
        seen = []

        class Scaled(lib.autograd.Function):
            @staticmethod
            def forward(x, factor=2.0):
                return x * factor

            @staticmethod
            def setup_context(ctx, inputs, output):
                seen.append(len(inputs))
                ctx.factor = inputs[1]

            @staticmethod
            def backward(ctx, grad):
                return grad * ctx.factor, None

        x = lib.ones(2, requires_grad=True)
        results = [Scaled.apply(x), Scaled.apply(x, 3.0), Scaled.apply(x, factor=4.0), Scaled.apply(factor=5.0, x=x)]
        return [r.tolist() for r in results], [lib.autograd.grad(r.sum(), x)[0].tolist() for r in results], seen

    assert call(torch) == asked(real_torch, call)


def test_arguments_by_name_of_a_forward_that_takes_ctx(real_torch):
    def call(lib):
        class Old(lib.autograd.Function):
            @staticmethod
            def forward(ctx, x, factor=2.0, /, shift=0.0, *, sign=1):
                ctx.factor = factor
                return (x * factor + shift) * sign

            @staticmethod
            def backward(ctx, grad):
                return (grad * ctx.factor, None, None)[: len(ctx.needs_input_grad)]

        x = lib.ones(2, requires_grad=True)

        def outcome(*args, **kwargs):
            try:
                result = Old.apply(*args, **kwargs)
                return result.tolist(), lib.autograd.grad(result.sum(), x)[0].tolist()
            except TypeError as error:
                return str(error)

        return [
            outcome(x=x),
            outcome(x, factor=3.0),
            outcome(shift=1.0, factor=3.0, x=x),
            outcome(x, 4.0, shift=1.0),
            outcome(x, shift=1.0),
            outcome(factor=1.0),
            outcome(x, x=x),
            outcome(x, ctx=x),
            outcome(x, sign=-1),
            outcome(x, other=1),
        ]

    assert call(torch) == asked(real_torch, call)


def test_an_argument_by_name_alone_is_refused(real_torch_or_none):
    for lib in (torch, real_torch_or_none) if real_torch_or_none else (torch,):

        class Shifted(lib.autograd.Function):
            @staticmethod
            def forward(x, *, shift=0.0):
                return x + shift

            @staticmethod
            def setup_context(ctx, inputs, output):
                pass

        with pytest.raises(TypeError, match="got an unexpected keyword argument 'shift'"):
            Shifted.apply(lib.ones(1), shift=1.0)


def test_old_bases_have_their_names():
    with pytest.warns(DeprecationWarning, match="should not be instantiated"):
        assert torch.autograd.function.InplaceFunction(True).inplace
    with pytest.warns(DeprecationWarning, match="should not be instantiated"):
        nested = torch.autograd.NestedIOFunction()
    with pytest.raises(NotImplementedError):
        nested.forward_extended()
    with pytest.raises(NotImplementedError):
        nested.backward_extended()


@pytest.mark.parametrize("make_view", [lambda t: t.view(2, 2), lambda t: t[1:], lambda t: t.t()[:1]])
def test_a_view_marked_dirty_is_of_the_function_and_so_is_its_base(make_view, real_torch):
    def gradients(lib):
        class Doubled(lib.autograd.Function):
            @staticmethod
            def forward(ctx, x):
                ctx.mark_dirty(x)
                return x.mul_(2)

            @staticmethod
            def backward(ctx, grad):
                return grad * 2

        leaf = lib.arange(4.0).view(2, 2).requires_grad_()
        base = leaf * leaf
        view = make_view(base)
        assert Doubled.apply(view) is view
        found = [lib.autograd.grad(out.sin().sum(), leaf, retain_graph=True)[0] for out in (view, base)]
        return [value for grad in found for value in grad.reshape(-1).tolist()]

    assert gradients(torch) == pytest.approx(gradients(real_torch), rel=1e-5)
