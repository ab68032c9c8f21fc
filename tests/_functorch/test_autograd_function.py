"""Custom Functions under transforms, against the same thing written with ops.

Mirrors: test/functorch/test_eager_transforms.py (TestAutogradFunction)
"""

import pytest

import reftorch as torch
import reftorch.autograd.forward_ad as fwAD
from reftorch.func import grad, hessian, jacrev, jvp, vmap

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


@pytest.mark.parametrize("function", [Times, TimesByRule])
@pytest.mark.parametrize("which", range(12))
def test_as_with_ops(function, which):
    assert torch.allclose(programs(function.apply)[which](), programs(plain)[which]())


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
    with pytest.raises(RuntimeError, match="to avoid ambiguity"):
        vmap(both.apply)(M, M)
