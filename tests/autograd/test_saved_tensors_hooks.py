"""Hooks on what the graph keeps (graph.saved_tensors_hooks and the raw saved tensors).

Mirrors: test/test_autograd.py (TestSavedTensorsHooks and the like)
"""

import pytest

import reftorch as torch
from tests.autograd.functions import function
from tests.autograd.programs import assert_same


def hooks_see_what_is_saved(lib):
    log = []
    a = lib.ones(2, requires_grad=True)
    b = lib.ones(2, requires_grad=True) * 2
    with lib.autograd.graph.saved_tensors_hooks(
        lambda x: (log.append(("p", str(x))), x.detach())[1], lambda x: (log.append(("u", str(x))), x)[1]
    ):
        y = a * b
        z = y.exp()
    z.sum().backward()
    return (log, a.grad.tolist())


def pack_changes_its_input(lib):
    a = lib.ones(2, requires_grad=True)
    with lib.autograd.graph.saved_tensors_hooks(lambda x: x.add_(1), lambda x: x):
        a.clone() ** 2


def unpack_returns_nonsense(lib):
    a = lib.ones(2, requires_grad=True)
    with lib.autograd.graph.saved_tensors_hooks(lambda x: 0, lambda x: 1):
        y = a * a
    y.sum().backward()


def registered_on_one(lib):
    a = lib.ones(2, requires_grad=True)
    y = a * lib.ones(2)
    y.grad_fn._raw_saved_other.register_hooks(lambda x: x * 5, lambda x: x * 2)
    y.sum().backward()
    return a.grad.tolist()


def registered_twice(lib):
    a = lib.ones(2, requires_grad=True)
    y = a * a
    y.grad_fn._raw_saved_other.register_hooks(lambda x: x, lambda x: x)
    y.grad_fn._raw_saved_other.register_hooks(lambda x: x, lambda x: x)


def registered_after_freeing(lib):
    a = lib.ones(2, requires_grad=True)
    y = a * a
    f = y.grad_fn
    y.sum().backward()
    f._raw_saved_other.register_hooks(lambda x: x, lambda x: x)


def registered_on_none(lib):
    a = lib.ones(2, requires_grad=True)
    y = a * lib.ones(2)
    y.grad_fn._raw_saved_self.register_hooks(lambda x: x, lambda x: x)


def registered_on_an_output(lib):
    a = lib.ones(2, requires_grad=True)
    y = a.exp()
    y.grad_fn._raw_saved_result.register_hooks(lambda x: x * 3, lambda x: x * 2)
    (g,) = lib.autograd.grad(y.sum(), a, create_graph=True)
    g.sum().backward()
    return (g.tolist(), a.grad.tolist())


def disabled(lib):
    with lib.autograd.graph.disable_saved_tensors_hooks("no"), lib.autograd.graph.save_on_cpu():
        pass


def disabled_too_late(lib):
    with lib.autograd.graph.save_on_cpu(), lib.autograd.graph.disable_saved_tensors_hooks("no"):
        pass


def on_cpu_differentiable(lib):
    a = lib.ones(2, requires_grad=True)
    with lib.autograd.graph.save_on_cpu():
        y = (a * a).exp()
    y.sum().backward(create_graph=True)
    return (a.grad.tolist(), a.grad.requires_grad)


def square(lib):
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x

    return function(lib, forward, lambda ctx, g: g * 2 * ctx.saved_tensors[0])


def raw_saved_tensors_of_a_function(lib):
    a = lib.ones(2, requires_grad=True)
    y = square(lib).apply(a)
    s = y.grad_fn._raw_saved_tensors
    s[0].register_hooks(lambda x: x * 10, lambda x: x)
    y.sum().backward()
    return (len(s), a.grad.tolist())


def raw_saved_tensors_after_freeing(lib):
    a = lib.ones(2, requires_grad=True)
    with lib.autograd.graph.saved_tensors_hooks(lambda x: x * 10, lambda x: x):
        y = square(lib).apply(a)
    y.sum().backward()
    return y.grad_fn._raw_saved_tensors


def unpacked_leaf_is_the_leaf_to_autograd(lib):
    a = lib.ones(2, requires_grad=True)
    with lib.autograd.graph.saved_tensors_hooks(lambda x: x.detach() * 2, lambda x: x):
        y = a * a
    (g,) = lib.autograd.grad(y.sum(), a, create_graph=True)
    u = y.grad_fn._saved_self
    g.sum().backward()
    return (g.tolist(), a.grad.tolist(), u.requires_grad, u.is_leaf, u is a)


PROGRAMS = [
    hooks_see_what_is_saved,
    pack_changes_its_input,
    unpack_returns_nonsense,
    registered_on_one,
    registered_twice,
    registered_after_freeing,
    registered_on_none,
    registered_on_an_output,
    disabled,
    disabled_too_late,
    on_cpu_differentiable,
    raw_saved_tensors_of_a_function,
    raw_saved_tensors_after_freeing,
    unpacked_leaf_is_the_leaf_to_autograd,
]


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
def test_same_as_torch(program, real_torch):
    assert_same(program, torch, real_torch)


def test_what_is_packed_keeps_its_tangent():
    """d/dt of the gradient of x^3 at x = 2 + t, while what is saved passes through plain lists."""
    with torch.autograd.forward_ad.dual_level():
        x = torch.tensor([2.0], requires_grad=True)
        dual = torch.autograd.forward_ad.make_dual(x, torch.ones(1))
        with torch.autograd.graph.saved_tensors_hooks(lambda t: t.detach().tolist(), torch.tensor):
            y = dual * dual * dual
        (gradient,) = torch.autograd.grad(y.sum(), dual, create_graph=True)
        value, tangent = torch.autograd.forward_ad.unpack_dual(gradient)
    assert value.item() == 12.0
    assert tangent is not None
    assert tangent.item() == 12.0


def test_a_pass_leaves_the_hooks_of_its_thread_as_they_were():
    def saves(x):
        return x

    inner = torch.autograd.graph.saved_tensors_hooks(saves, lambda x: (inner.__exit__(), x)[1])
    for _ in range(3):
        with torch.autograd.graph.saved_tensors_hooks(saves, saves):
            inner.__enter__()
            torch.randn(3, requires_grad=True).sin().sum().backward()
            inner.__exit__()
    opening = torch.autograd.graph.saved_tensors_hooks(saves, lambda x: (opening.__enter__(), x)[1])
    with opening:
        out = torch.randn(3, requires_grad=True).sin().sum()
    out.backward()
    with torch.autograd.graph.disable_saved_tensors_hooks("there are none"):
        pass


def test_what_a_saved_tensor_is_made_of():
    a = torch.tensor(2.0, requires_grad=True)

    def unpack(text):
        return torch.tensor(float(text))

    with torch.autograd.graph.saved_tensors_hooks(lambda t: str(t.item()), unpack):
        b = a**2
    c = b.exp()
    packed, output, plain = b.grad_fn._raw_saved_self, c.grad_fn._raw_saved_result, (c**2).grad_fn._raw_saved_self
    assert packed.data == "2.0" and packed.unpack_hook is unpack
    assert output.data is not c and torch.equal(output.data, c.detach()) and output.unpack_hook is None
    assert plain.data is c and plain.unpack_hook is None and plain.unpack() is c
    c.backward()
    assert packed.data is None and output.data is None
    with pytest.raises(TypeError, match="incompatible function arguments"):
        plain.register_hooks(1, 1)
    with pytest.raises(RuntimeError, match="Trying to create a SavedTensor object from Python is forbidden"):
        torch.autograd.SavedTensor()


def test_a_tensor_can_be_saved_from_python():
    log = []
    a = torch.ones(2, requires_grad=True)
    with torch.autograd.graph.saved_tensors_hooks(
        lambda t: (log.append("pack"), t)[1], lambda t: (log.append("unpack"), t)[1]
    ):
        saved = torch._C._autograd._make_saved_tensor(a, is_output=False)
    assert log == ["pack"]
    assert torch.equal(saved.unpack(), a) and saved.unpack().requires_grad
    assert log == ["pack", "unpack", "unpack"]
    plain = torch._C._autograd._make_saved_tensor(a, is_output=False)
    assert plain.unpack() is a
    with torch.no_grad():
        a.add_(1)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        plain.unpack()


def test_memory_is_pinned_only_where_a_gpu_would_read_it():
    a = torch.ones(2, requires_grad=True)
    with torch.autograd.graph.save_on_cpu(pin_memory=True):
        y = a * a
    y.sum().backward()
    assert a.grad.tolist() == [2, 2]


def raise_error(tensor):
    raise ValueError("pack")


@pytest.mark.parametrize("op", [torch.Tensor.exp, torch.Tensor.sin, lambda x: x * x, lambda x: x.max(0)[0]])
def test_a_pack_hook_that_raises_leaves_the_tensor_saved(op):
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = op(x)
    saved = [getattr(y.grad_fn, name) for name in dir(y.grad_fn) if name.startswith("_raw_saved_")]
    assert saved
    for one in saved:
        with pytest.raises(ValueError, match="pack"):
            one.register_hooks(raise_error, lambda packed: packed)
    (again,) = torch.autograd.grad(op(x).sum(), x)
    assert torch.autograd.grad(y.sum(), x, retain_graph=True)[0].tolist() == again.tolist()
    for one in saved:
        one.register_hooks(lambda tensor: tensor, lambda packed: packed)
    assert torch.autograd.grad(y.sum(), x)[0].tolist() == again.tolist()


def test_a_pack_hook_may_register_hooks_on_what_it_packs():
    y = torch.ones(2, requires_grad=True).exp()
    saved = y.grad_fn._raw_saved_result

    def pack(tensor):
        saved.register_hooks(lambda inner: inner * 1, lambda packed: packed)
        return tensor

    with pytest.raises(RuntimeError, match="whose hooks have already been set"):
        saved.register_hooks(pack, lambda packed: packed)
    y.sum().backward()


def test_a_function_whose_saved_tensors_cannot_be_packed_raises_and_stays_usable():
    x = torch.ones(2, requires_grad=True)
    with torch.autograd.graph.saved_tensors_hooks(raise_error, lambda packed: packed):
        save = function(torch, lambda ctx, x: ctx.save_for_backward(x) or x * 1, lambda ctx, grad: grad)
        for op in (lambda: x * x, lambda: x.exp(), lambda: (x * 1).exp_(), lambda: save.apply(x)):
            with pytest.raises(ValueError, match="pack"):
                op()
    (x * x).sum().backward()
    assert x.grad.tolist() == [2.0, 2.0]
