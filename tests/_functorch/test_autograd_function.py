"""Custom Functions under transforms, against the same thing written with ops.

Mirrors: test/functorch/test_eager_transforms.py (TestAutogradFunction)
"""

import pytest

import reftorch as torch
import reftorch.autograd.forward_ad as fwAD
from reftorch.func import grad, hessian, jacrev, jvp, vmap
from tests.autograd.functions import function

V = torch.tensor([0.5, -1.0, 2.0], dtype=torch.float64)
M = torch.stack([V, V.flip(0)])


class Times(torch.autograd.Function):
    """a sin(b), with all that a Function may say of itself."""

    generate_vmap_rule = True

    @staticmethod
    def forward(a, b):
        return a * b.sin()

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(*inputs)
        ctx.save_for_forward(*inputs)

    @staticmethod
    def backward(ctx, grad):
        a, b = ctx.saved_tensors
        return grad * b.sin(), grad * a * b.cos()

    @staticmethod
    def jvp(ctx, a_t, b_t):
        a, b = ctx.saved_tensors
        result = 0 if a_t is None else a_t * b.sin()
        return result if b_t is None else result + b_t * a * b.cos()


class TimesByRule(Times):
    generate_vmap_rule = False

    @staticmethod
    def vmap(info, in_dims, a, b):
        assert info.batch_size == 2
        a, b = (x if dim is None else x.movedim(dim, 0) for x, dim in zip((a, b), in_dims, strict=True))
        return TimesByRule.apply(a, b), 0


def plain(a, b):
    return a * b.sin()


def programs(times):
    return [
        lambda: grad(lambda x: times(x, x * x).sum())(V),
        lambda: grad(lambda x: times(x, V).sum())(V),
        lambda: hessian(lambda x: times(x, x * x).sum())(V),
        lambda: jacrev(jacrev(lambda x: times(x, x)))(V),
        lambda: jvp(lambda x: times(x, x + 1), (V,), (V * 2,))[1],
        lambda: vmap(times)(M, M + 1),
        lambda: vmap(times, in_dims=(0, None))(M, V),
        lambda: vmap(times, in_dims=(None, 1), out_dims=1)(V, M.t()),
        lambda: vmap(grad(lambda x: times(x, V).sum()))(M),
        lambda: vmap(grad(lambda x, y: times(y, x).sum()), in_dims=(None, 0))(V, M),
        lambda: grad(lambda x: vmap(times, in_dims=(None, 0))(x, M).sum())(V),
        lambda: grad(lambda x: vmap(lambda m: times(m, x))(M).square().sum())(V),
    ]


@pytest.mark.parametrize("of", [Times, TimesByRule])
@pytest.mark.parametrize("which", range(12))
def test_as_with_ops(of, which):
    assert torch.allclose(programs(of.apply)[which](), programs(plain)[which]())


def test_a_dual_number_outside_of_transforms():
    with fwAD.dual_level():
        x = fwAD.make_dual(V, torch.ones_like(V))
        assert torch.allclose(fwAD.unpack_dual(Times.apply(x, V)).tangent, V.sin())


class Bare(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2

    @staticmethod
    def backward(ctx, grad):
        return grad * 2


class Alone(torch.autograd.Function):
    @staticmethod
    def forward(x):
        return x * 2

    @staticmethod
    def setup_context(ctx, inputs, output):
        pass

    @staticmethod
    def backward(ctx, grad):
        return grad * 2


def test_what_a_function_must_say_of_itself():
    with pytest.raises(RuntimeError, match="it must override the setup_context staticmethod"):
        grad(lambda x: Bare.apply(x).sum())(V)
    with pytest.raises(RuntimeError, match="does not have vmap support"):
        vmap(Alone.apply)(M)
    with pytest.raises(RuntimeError, match="You must implement the jvp function"):
        jvp(Alone.apply, (V,), (V,))
    assert grad(lambda x: Alone.apply(x).sum())(V).tolist() == [2, 2, 2]


def test_both_a_rule_and_none():
    both = type("Both", (TimesByRule,), {"generate_vmap_rule": True})
    with pytest.raises(
        RuntimeError, match=r"an overridden vmap staticmethod. .* delete the overridden vmap .* to avoid ambiguity"
    ):
        vmap(both.apply)(M, M)


def with_setup(*, forward=lambda x: x.clone(), setup_context=lambda ctx, inputs, output: None, **more):
    """A Function of the given static methods, that does nothing else."""
    return function(torch, forward, setup_context=setup_context, **more)


def test_a_rule_of_vmap_for_nested_arguments_and_results():
    def rule(info, in_dims, x, pair):
        assert in_dims == (0, [None, 1])
        first = pair[0]
        return {"sum": x + first, "same": x, "one": (first, "text")}, {"sum": 0, "same": 0, "one": None}

    of = with_setup(forward=lambda x, pair: x, vmap=rule)
    seen = []
    vmap(lambda x, pair: seen.append((x, of.apply(x, pair))) or x, in_dims=(0, [None, 1]))(M, [V, M.mT])
    x, result = seen[0]
    assert result["same"] is x
    assert result["one"] == (V, "text")
    assert torch.equal(torch.func.debug_unwrap(result["sum"]), M + V)


WRONG_RULES = {
    "one return": (lambda info, in_dims, x: x, "to have two returns.*Got a <class"),
    "four returns": (lambda info, in_dims, x: (x, x, 0, 0), "to have two returns.*Got 4 returns"),
    "a tuple for a tensor": (lambda info, in_dims, x: (x, (0,)), "returned an incompatible"),
    "two for one": (lambda info, in_dims, x: ((x,), (0, 0)), "returned an incompatible"),
}


@pytest.mark.parametrize(("rule", "message"), WRONG_RULES.values(), ids=WRONG_RULES)
def test_what_a_rule_of_vmap_must_return(rule, message):
    with pytest.raises(RuntimeError, match=message):
        vmap(with_setup(vmap=rule).apply)(M)


@pytest.mark.parametrize("save", ["save_for_backward", "save_for_forward"])
@pytest.mark.parametrize("dirty", [False, True])
def test_an_input_returned_as_it_is_is_not_to_be_saved(save, dirty):
    def setup_context(ctx, inputs, output):
        if dirty:
            ctx.mark_dirty(inputs[0])
        getattr(ctx, save)(output)

    of = with_setup(
        forward=lambda x: x,
        setup_context=setup_context,
        backward=lambda ctx, grad: grad,
        jvp=lambda ctx, tangent: tangent.add_(0) if dirty else tangent.view_as(tangent),
    )

    def calls():
        yield lambda: of.apply(V.clone())
        yield lambda: of.apply(V.clone().requires_grad_() * 1)
        yield lambda: grad(lambda x: of.apply(x.clone()).sum())(V)
        yield lambda: jvp(lambda x: of.apply(x.clone()), (V,), (V,))

    for call in calls():
        if dirty:
            call()
        else:
            with pytest.raises(RuntimeError, match="An input that has been returned as-is as output is being saved"):
                call()


@pytest.mark.parametrize("requires_grad", [False, True])
def test_a_dual_number_changed_in_place_is_itself(requires_grad):
    of = with_setup(
        forward=lambda x: x.mul_(2),
        setup_context=lambda ctx, inputs, output: ctx.mark_dirty(inputs[0]),
        backward=lambda ctx, grad: grad * 2,
        jvp=lambda ctx, tangent: tangent.mul_(2),
    )
    leaf = V.clone().requires_grad_(requires_grad)
    with fwAD.dual_level():
        dual = fwAD.make_dual(leaf * 1, torch.ones_like(V))
        assert of.apply(dual) is dual
        primal, tangent = fwAD.unpack_dual(dual)
        assert torch.equal(primal, V * 2)
        assert torch.equal(tangent, torch.full_like(V, 2))
    if requires_grad:
        dual.sum().backward()
        assert leaf.grad.tolist() == [2, 2, 2]


def test_the_name_of_the_node_of_a_level():
    names = []
    of = with_setup(backward=lambda ctx, grad: grad)
    grad(lambda x: names.append(type(of.apply(x).grad_fn).__name__) or x.sum())(V)
    assert names == ["FGeneratedBackward"]


def test_forward_may_ask_for_numpy_and_computes_no_tangents():
    states = []

    def forward(x):
        states.append(fwAD._is_fwd_grad_enabled())
        return torch.from_numpy(x.numpy() ** 3)

    of = with_setup(
        forward=forward,
        setup_context=lambda ctx, inputs, output: ctx.save_for_backward(inputs[0]),
        backward=lambda ctx, grad: grad * 3 * ctx.saved_tensors[0] ** 2,
    )
    leaf = V.clone().requires_grad_()
    of.apply(leaf).sum().backward()
    assert torch.equal(leaf.grad, 3 * V**2)
    assert torch.equal(grad(lambda x: of.apply(x).sum())(leaf), 3 * V**2)
    assert states == [False, False]
