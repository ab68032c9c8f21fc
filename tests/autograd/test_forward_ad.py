"""Dual numbers: every op's tangent against the other way to J v, and the rules of levels against torch.

Mirrors: test/test_autograd.py (TestAutogradForwardMode), test/test_ops_fwd_gradients.py
"""

import itertools
import re

import numpy as np
import pytest

import reftorch as torch
import reftorch.autograd.forward_ad as fwAD
from reftorch.autograd import functional
from tests.autograd.functions import function
from tests.op_db import OPS
from tests.op_db.checks import outcome
from tests.op_db.core import Input

pytestmark = pytest.mark.filterwarnings("ignore:.*torch.jit.script.*:DeprecationWarning")  # torch's own

# --- every op ---------------------------------------------------------------------------------------------------------


def floats_in(result):
    values = result if isinstance(result, (tuple, list)) else (result,)
    return tuple(v for v in values if isinstance(v, torch.Tensor) and v.is_floating_point())


# What the double backward trick cannot differentiate, for some inputs at least: the rows, and the words of the error.
NO_TRICK = {
    "binomial": "not differentiable with respect to argument 'count'",
    "embedding_renorm_": "a leaf Variable that requires grad is being used in an in-place operation",
    "_embedding_bag_backward": "the derivative for '_embedding_bag_dense_backward' is not implemented",
    "_embedding_bag_dense_backward": "the derivative for '_embedding_bag_dense_backward' is not implemented",
    "_embedding_bag_per_sample_weights_backward": "aten::_embedding_bag_per_sample_weights_backward is not implemented",
    "native_group_norm_backward": "derivative for aten::native_group_norm_backward is not implemented",
    "_thnn_fused_lstm_cell_backward": "derivative for aten::_thnn_fused_lstm_cell_backward is not implemented",
    "mkldnn_rnn_layer_backward": "derivative for aten::mkldnn_rnn_layer_backward is not implemented",
    "multi_margin_loss": "multi_margin_loss",  # neither of its weight, nor a second time
    "multilabel_margin_loss": "derivative for aten::multilabel_margin_loss_backward is not implemented",
    "multilabel_margin_loss_forward": "derivative for aten::multilabel_margin_loss_backward is not implemented",
    "native_batch_norm": "not differentiable with respect to argument 'running_mean'",
    "batch_norm": "not differentiable with respect to argument 'running_mean'",
    "instance_norm": "not differentiable with respect to argument 'running_mean'",
    "nll_loss2d": "not differentiable with respect to argument 'weight'",
    "nll_loss_nd": "not differentiable with respect to argument 'weight'",
    "binary_cross_entropy": "not differentiable with respect to argument 'weight'",
    "binary_cross_entropy_backward": "not differentiable with respect to argument 'weight'",
    "binary_cross_entropy_with_logits": "weight'",
}


def check(op, sample):
    """The tangents that forward mode gives, beside those of the double backward trick: which of the two came to an end.

    Where the op refuses the call, forward mode must say the same.
    """
    args, kwargs = sample.build(torch)
    where = [i for i, a in enumerate(sample.args) if isinstance(a, Input) and a.is_float]
    if not where:
        return "nothing to differentiate"

    def call(*tensors):
        given = list(args)
        for i, tensor in zip(where, tensors, strict=True):
            given[i] = tensor
        return floats_in(op.run(torch, tuple(given), kwargs))

    def in_forward_mode():
        return call(*(fwAD.make_dual(x, t) for x, t in zip(inputs, tangents, strict=True)))

    inputs = tuple(args[i].detach().clone() for i in where)
    torch.manual_seed(0)
    tangents = tuple(torch.rand_like(x) for x in inputs)
    _, refusal = outcome(lambda: call(*(x.clone() for x in inputs)))
    if refusal is not None:
        with fwAD.dual_level(), pytest.raises(type(refusal), match=re.escape(str(refusal))):
            in_forward_mode()
        return "refused"
    found_by_trick, no_trick = outcome(lambda: functional.jvp(call, inputs, tangents)[1])
    if no_trick is not None:
        assert op.name in NO_TRICK, f"{sample}: {no_trick!r}"
        assert NO_TRICK[op.name] in str(no_trick)
        return "no trick"
    with fwAD.dual_level():
        for output, tangent in zip(in_forward_mode(), found_by_trick, strict=True):
            found = fwAD.unpack_dual(output).tangent
            found = torch.zeros_like(output) if found is None else found
            assert torch.allclose(found, tangent, rtol=1e-6, atol=1e-8, equal_nan=True), f"{sample}"
    return "compared"


DIFFERENTIABLE = [op for op in OPS if op.dtypes[0] == "float64" and op.gradcheck and op.gradient]


@pytest.mark.filterwarnings("ignore:.*degrees of freedom is <= 0")
@pytest.mark.parametrize("op", DIFFERENTIABLE, ids=lambda op: op.name)
def test_the_tangent_of_every_op(op):
    ends = [check(op, sample) for sample in itertools.islice(op.each("float64"), 5)]
    assert ("no trick" in ends) == (op.name in NO_TRICK)


def test_that_compares_something():
    rows = DIFFERENTIABLE[::7]
    compared = [op for op in rows if any(check(op, s) == "compared" for s in itertools.islice(op.each("float64"), 2))]
    assert len(compared) > 20


# --- dual numbers -----------------------------------------------------------------------------------------------------


def dual(lib, fw):
    x = lib.tensor([1.0, 2.0, 3.0], dtype=lib.float64)
    return fw.make_dual(x, lib.tensor([1.0, 0.0, -1.0], dtype=lib.float64))


def in_place(lib, x):
    y = x * 1
    y.mul_(x).add_(1)
    return y


def in_place_in_a_view(lib, x):
    y = x * 1
    y[0] = x[1] * 2
    y[1:].mul_(3)
    return y


def into_zeros(lib, x):
    y = lib.zeros(3, dtype=lib.float64)
    y[1:].copy_(x[:2])
    return y.exp()


def into_a_view_of_all(lib, x):
    y = lib.zeros(3, dtype=lib.float64)
    y[:].copy_(x)
    return y.exp()


def view_made_before(lib, x):
    y = x * 1
    view = y.view(3, 1)
    y.mul_(x)
    return view


def overwritten(lib, x):
    y = x * 1
    y.zero_()
    return y + x


def filled_at_random(lib, x):
    y = x * 1
    y.normal_()
    return y * 0


PROGRAMS = [
    in_place,
    in_place_in_a_view,
    into_zeros,
    into_a_view_of_all,
    view_made_before,
    overwritten,
    filled_at_random,
]
PROGRAMS += [
    lambda lib, x: x.detach() * x,
    lambda lib, x: x.long().double(),
    lambda lib, x: lib.cat([x, lib.ones_like(x)]),
]


@pytest.mark.parametrize("program", PROGRAMS)
def test_programs(program, real_torch):
    halves = []
    for lib, fw in ((torch, fwAD), (real_torch, real_torch.autograd.forward_ad)):
        with fw.dual_level():
            primal, tangent = fw.unpack_dual(program(lib, dual(lib, fw)))
            halves.append((primal.tolist(), None if tangent is None else tangent.tolist()))
    (ours, our_tangent), (theirs, their_tangent) = halves
    if program is not filled_at_random:
        np.testing.assert_allclose(ours, theirs, rtol=1e-15)
    assert (our_tangent is None) == (their_tangent is None)
    if our_tangent is not None:
        np.testing.assert_allclose(our_tangent, their_tangent, rtol=1e-15)


def test_forward_over_reverse():
    with fwAD.dual_level():
        x = torch.tensor([1.0, 2.0], dtype=torch.float64, requires_grad=True)
        y = fwAD.make_dual(x, torch.tensor([1.0, 1.0], dtype=torch.float64))
        (gradient,) = torch.autograd.grad((y.exp() * y * y).sum(), y, create_graph=True)
        tangent = fwAD.unpack_dual(gradient).tangent
    second = torch.autograd.functional.hvp(lambda x: (x.exp() * x * x).sum(), x.detach(), torch.ones_like(x))[1]
    assert torch.allclose(tangent, second)


def test_reverse_over_forward():
    x = torch.tensor([1.0, 2.0], dtype=torch.float64, requires_grad=True)
    with fwAD.dual_level():
        y = fwAD.make_dual(x, torch.ones_like(x))
        tangent = fwAD.unpack_dual((y**3).sum()).tangent
    (second,) = torch.autograd.grad(tangent, x)
    assert second.tolist() == [6, 12]


def test_levels():
    with pytest.raises(RuntimeError, match="no level exists, make sure to enter_dual_level"):
        fwAD.make_dual(torch.ones(2), torch.ones(2))
    with fwAD.dual_level():
        x = fwAD.make_dual(torch.ones(2), torch.ones(2))
        with pytest.raises(RuntimeError, match="Nested forward mode AD is not supported"):
            fwAD.enter_dual_level()
    assert fwAD.unpack_dual(x) == (x, None)
    with fwAD.dual_level():
        assert fwAD.unpack_dual(x * 2).tangent is None  # of a level that is gone
    with pytest.raises(RuntimeError, match="not the last one that was created"):
        fwAD.exit_dual_level(level=3)


def test_tangents_that_do_not_fit():
    with fwAD.dual_level():
        with pytest.raises(RuntimeError, match="a different size than that of the original Tensor"):
            fwAD.make_dual(torch.ones(2), torch.ones(3))
        with pytest.raises(ValueError, match="Expected primal to be floating point or complex, but got"):
            fwAD.make_dual(torch.arange(2), torch.ones(2))
        with pytest.raises(ValueError, match="Expected tangent to be floating point or complex, but got"):
            fwAD.make_dual(torch.ones(2), torch.arange(2))


def test_what_has_no_tangent():
    with fwAD.dual_level():
        x = fwAD.make_dual(torch.ones(2), torch.ones(2))
        with pytest.raises(NotImplementedError, match="Trying to use forward AD with aten::floor_divide that does"):
            x // 2
        with pytest.raises(RuntimeError, match="arguments don't support automatic differentiation"):
            torch.exp(x, out=torch.empty(2))
        assert fwAD.unpack_dual(x.eq(1)).tangent is None


def test_turned_off():
    with fwAD.dual_level():
        x = fwAD.make_dual(torch.ones(2), torch.ones(2))
        with fwAD._set_fwd_grad_enabled(False):
            y = x * 2
        assert fwAD.unpack_dual(y).tangent is None
        assert fwAD.unpack_dual(x * 2).tangent.tolist() == [2, 2]


def test_a_formula_that_takes_the_logarithm_of_the_gradient(real_torch):
    def inputs(lib):
        return lib.tensor([1.0, -2.0, 0.5, 3.0, -1.0], dtype=lib.float64), lib.tensor(
            [0.5, 1.0, -2.0, 0.25, 1.5]
        ).double()

    x, t = inputs(real_torch)
    wanted = pytest.approx(real_torch.func.jvp(lambda x: x.logcumsumexp(0), (x,), (t,))[1].tolist())
    x, t = inputs(torch)
    assert torch.func.jvp(lambda x: x.logcumsumexp(0), (x,), (t,))[1].tolist() == wanted
    assert torch.func.linearize(lambda x: x.logcumsumexp(0), x)[1](t).tolist() == wanted
    assert functional.jvp(lambda x: x.logcumsumexp(0), x, t)[1].tolist() == wanted


def test_a_tangent_that_lies_otherwise_in_memory(real_torch):
    def tangents(lib):
        x, t = lib.arange(12.0).view(3, 4), lib.arange(24.0).view(2, 4, 3)[1].t()
        return lib.func.jvp(lambda x: x.as_strided((2, 2), (5, 1), 2), (x,), (t,))[1].tolist()

    assert tangents(torch) == tangents(real_torch)


# --- layouts ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("op", ["add_", "mul_", "copy_"])
def test_a_view_of_the_whole_in_another_order_is_a_view_all_the_same(op):
    base = torch.tensor([[1.0, 2.0], [3.0, 4.0]])
    view = base.t()
    with fwAD.dual_level():
        getattr(view, op)(fwAD.make_dual(torch.ones(2, 2), torch.tensor([[1.0, 2.0], [3.0, 4.0]])))
        tangent = fwAD.unpack_dual(base).tangent.clone()
        assert torch.equal(tangent, fwAD.unpack_dual(view).tangent.t())
        view *= 2
        assert torch.equal(fwAD.unpack_dual(base).tangent, tangent * 2)


def test_a_tangent_of_another_layout_is_copied():
    primal, tangent = torch.arange(5.0)[:4], torch.ones(4)
    with fwAD.dual_level():
        dual = fwAD.make_dual(primal, tangent)
        assert fwAD.unpack_dual(dual).tangent is not tangent
        fwAD.unpack_dual(dual).tangent.mul_(2)
        assert tangent.tolist() == [1, 1, 1, 1]
        assert fwAD.unpack_dual(dual.as_strided((5,), (1,), 0)).tangent.tolist() == [2, 2, 2, 2, 0]
        same = torch.ones(5)[:4]
        assert fwAD.unpack_dual(fwAD.make_dual(primal, same)).tangent is same


def test_detach_takes_the_tangent_away():
    with fwAD.dual_level():
        x = fwAD.make_dual(torch.ones(2), torch.ones(2)).clone()
        assert fwAD.unpack_dual(x.detach()).tangent is None
        x.detach_()
        assert fwAD.unpack_dual(x * 2).tangent is None


def test_a_tangent_is_no_dual_number():
    with fwAD.dual_level():
        x = fwAD.make_dual(torch.ones(2), torch.ones(2))
        with pytest.raises(RuntimeError, match="has a forward gradient at the same level"):
            fwAD.make_dual(torch.ones(2), x)


def test_dual_numbers_print_their_tangents():
    with fwAD.dual_level():
        x = fwAD.make_dual(torch.ones(2), torch.tensor([3.0, 4.0]))
        assert repr(x) == "tensor([1., 1.], tangent=tensor([3., 4.]))"
        assert "tangent" not in repr(fwAD.unpack_dual(x).primal)
    assert "tangent" not in repr(x)


# --- Functions, the old style -----------------------------------------------------------------------------------------


def made_dual(*values):
    return fwAD.make_dual(torch.tensor(values), torch.arange(1.0, len(values) + 1))


def test_jvp_gets_the_ctx_of_forward():
    seen = []

    def forward(ctx, number, x, y, n):
        ctx.number = number
        ctx.save_for_forward(x, y)
        ctx.save_for_backward(x * 0)
        return x * y * number, n + 1

    def jvp(ctx, number, x_t, y_t, n_t):
        x, y = ctx.saved_tensors
        seen.append((number, y_t.tolist(), n_t))
        return ctx.number * (x_t * y + x * y_t), None

    made = function(torch, forward, jvp=jvp)
    with fwAD.dual_level():
        x = made_dual(2.0, 3.0)
        out, count = made.apply(5, x, torch.tensor([4.0, 7.0]), torch.arange(2))
        assert out.tolist() == [40, 105] and count.tolist() == [1, 2]
        assert fwAD.unpack_dual(out).tangent.tolist() == [20, 70]
        assert seen == [(None, [0, 0], None)]  # zeros for what has no tangent but could have one
        with fwAD._set_fwd_grad_enabled(False):
            assert fwAD.unpack_dual(x * 1).tangent is None


def test_saved_for_backward_is_not_for_jvp():
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * 2

    def jvp(ctx, x_t):
        assert ctx.saved_tensors == ()
        return x_t * 2

    def backward(ctx, grad):
        assert len(ctx.saved_tensors) == 1
        return grad * 2

    x = torch.ones(2, requires_grad=True)
    with fwAD.dual_level():
        out = function(torch, forward, backward, jvp=jvp).apply(fwAD.make_dual(x, torch.ones(2)))
        assert fwAD.unpack_dual(out).tangent.tolist() == [2, 2]
        out.sum().backward()
    assert x.grad.tolist() == [2, 2]


NOT_A_VIEW = r"forward is returning a view \(or an input as-is\) but the jvp is not returning a view"
NOT_IN_PLACE = "inplace custom Function is not modifying the forward mode gradients inplace"


def change_first(ctx, x):
    ctx.mark_dirty(x)
    return x.mul_(2)


@pytest.mark.parametrize(
    ("forward", "jvp", "message"),
    [
        (lambda ctx, x: x.clone(), lambda ctx, t: (t, t), r"expected 1 but got 2"),
        (lambda ctx, x: x.clone(), lambda ctx, t: 3, r"expected Variable or None \(got int\) for grad output 0"),
        (lambda ctx, x: x.argmax(), lambda ctx, t: t, "You should return None at that position instead"),
        (lambda ctx, x: x.clone(), lambda ctx, t: torch.ones(3), "a different size"),
        (lambda ctx, x: x, lambda ctx, t: t, NOT_A_VIEW),
        (lambda ctx, x: x[:1], lambda ctx, t: t[:1].clone(), NOT_A_VIEW),
        (lambda ctx, x: x[:1], lambda ctx, t: t.clone()[:1], "jvp is not returning a view of the given grad input"),
        (change_first, lambda ctx, t: t * 2, NOT_IN_PLACE),
        (change_first, lambda ctx, t: t, NOT_IN_PLACE),
    ],
)
def test_what_jvp_must_not_return(forward, jvp, message):
    with fwAD.dual_level(), pytest.raises(RuntimeError, match=message):
        function(torch, forward, jvp=jvp).apply(made_dual(1.0, 2.0))


def test_a_marked_output_has_no_tangent():
    def forward(ctx, x):
        out = x.clone()
        ctx.mark_non_differentiable(out)
        return out

    with fwAD.dual_level():
        assert fwAD.unpack_dual(function(torch, forward, jvp=lambda ctx, t: None).apply(made_dual(1.0))).tangent is None
        with pytest.raises(RuntimeError, match="not a differentiable Tensor"):
            function(torch, forward, jvp=lambda ctx, t: t).apply(made_dual(1.0))


def test_views_and_changes_in_place_share_tangents():
    with fwAD.dual_level():
        x = made_dual(1.0, 2.0)
        tangent = fwAD.unpack_dual(x).tangent
        view = function(torch, lambda ctx, x: x[:1], jvp=lambda ctx, t: t[:1]).apply(x)
        assert fwAD.unpack_dual(view).tangent._base is tangent
        out = function(torch, change_first, jvp=lambda ctx, t: t.mul_(2)).apply(x)
        assert out is x and fwAD.unpack_dual(x).tangent is tangent and tangent.tolist() == [2, 4]


def test_a_function_without_jvp_says_so():
    class Plain(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

    with fwAD.dual_level(), pytest.raises(NotImplementedError, match="You must implement the jvp function"):
        Plain.apply(made_dual(1.0))


@pytest.mark.parametrize("name", ["scatter", "scatter_add", "scatter_", "scatter_add_"])
def test_a_source_larger_than_the_index(name, real_torch):
    """The op reads a part of it. Backward refuses that, as torch's does; forward has nothing against it."""

    def tangents(lib):
        values = lib.arange(9.0).reshape(3, 3)
        index = lib.tensor([[0], [2], [2]])
        with lib.autograd.forward_ad.dual_level():
            dual, source = (lib.autograd.forward_ad.make_dual(x, x.sin()) for x in (values, values.exp()))
            result = getattr(dual * 1, name)(1, index, source)
            return lib.autograd.forward_ad.unpack_dual(result).tangent.numpy()

    np.testing.assert_allclose(tangents(torch), tangents(real_torch), rtol=1e-6)
