"""Versions, views and changes in place, as torch has them.

Mirrors: test/test_autograd.py (the in-place and view tests)
"""

import pytest

import reftorch as torch
from tests.autograd.programs import assert_same


def leaf(lib, *values):
    return lib.tensor([float(value) for value in values], requires_grad=True)


def views_follow_their_base(lib):
    x = leaf(lib, 1, 2)
    y = x * 1
    v = y[:1]
    w = v.view(1)
    y.add_(1)
    return (w.grad_fn.name(), v.grad_fn.name(), y._version, w._version)


def saved_tensor_that_no_gradient_wants(lib):
    """`mul` saves both operands; the gradient of `x` does not read the one that was changed."""
    x, w = leaf(lib, 1, 2), leaf(lib, 3, 4)
    a = x * 1
    product = a * (w * 1)
    with lib.no_grad():
        a.add_(1)
    lib.autograd.grad(product.sum(), x)


def saved_result_that_leads_nowhere(lib):
    """A view that was made without a record is a leaf, and the gradient of `tanh` goes to no leaf's `.grad`."""
    x = leaf(lib, 1, 2)
    with lib.no_grad():
        v = x[0:]
    y = v.tanh()
    y.unsqueeze_(0)
    y.sum().backward()


def detached_leaf(lib):
    x = leaf(lib, 1, 2)
    x.detach().add_(1)
    return (x.tolist(), x._version)


def former_leaf(lib):
    x = leaf(lib, 1, 2)
    x.requires_grad_(False).add_(1)
    return x._version


def view_made_before_the_leaf_required(lib):
    x = lib.ones(2)
    y = x.view(2)
    x.requires_grad_()
    y.add_(1)


def view_of_a_later_leaf(lib):
    x = lib.ones(2)
    y = x.view(2)
    x.requires_grad_()
    return (y.requires_grad, y.is_leaf, (y * 2).requires_grad)


def requires_grad_of_a_view(lib):
    x = leaf(lib, 1, 2)
    y = x.view(2)
    y.requires_grad_(False)


def leaf_that_is_a_view(lib):
    x = lib.ones(2)
    y = x[:1]
    y.requires_grad_()
    y.add_(1)


def base_of_a_leaf_that_is_a_view(lib):
    x = lib.ones(2)
    y = x[:1]
    y.requires_grad_()
    x.add_(1)
    return (y.is_leaf, y.requires_grad, x.requires_grad)


def one_of_several_views(lib):
    x = leaf(lib, 1, 2)
    y = (x * 1).split(1)
    y[0].mul_(2)


def inside_no_grad(lib):
    x = leaf(lib, 1, 2)
    y = x * 1
    with lib.no_grad():
        v = y[:1]
        v.mul_(2)
        return (y._version, v._version, v.requires_grad, y.tolist())


def made_in_no_grad(lib):
    x = leaf(lib, 1, 2)
    y = x * 1
    with lib.no_grad():
        v = y[:1]
    return (v.requires_grad, v.grad_fn is None)


def data(lib):
    x = leaf(lib, 1, 2)
    x.data.add_(1)
    x.data = lib.zeros(2)
    return (x._version, x.tolist())


def detach_(lib):
    x = leaf(lib, 1, 2)
    y = x * 1
    y.detach_()
    y.add_(1)
    return y.is_leaf


def detach_of_a_view(lib):
    x = leaf(lib, 1, 2)
    y = (x * 1)[:1]
    y.detach_()


def changed_after_saving(lib):
    x = leaf(lib, 1, 2)
    y = x * 1
    z = y * y
    y.add_(1)
    z.sum().backward()


def copy_(lib):
    x = leaf(lib, 1, 2)
    y = x * 1
    y.copy_(leaf(lib, 3, 4))
    y.sum().backward()
    return x.grad.tolist()


def base_of_several_views(lib):
    x = leaf(lib, 1, 2)
    y = x * 1
    v = y.unbind(0)
    y.mul_(2)
    return v[0].grad_fn.name()


def a_constant_gets_history(lib):
    x = leaf(lib, 1, 2)
    y = lib.zeros(2)
    y.add_(x)
    y[0].mul_(3)
    return (y.grad_fn.name().split("::")[-1], y.requires_grad)


def views_of_views(lib):
    x = leaf(lib, 1, 2)
    y = lib.zeros(4)
    y[1:3] = x
    y.view(2, 2)[0] *= 2
    (y * y).sum().backward()
    return (x.grad.tolist(), y._version)


def integers(lib):
    y = lib.zeros(2, dtype=lib.int64)
    y.add_(leaf(lib, 1, 2))


def requires_grad_of_an_inner_tensor(lib):
    x = leaf(lib, 1.0, 2.0)
    y = x.double()
    y.requires_grad_(False)


def expanded(lib):
    x = leaf(lib, 1.0, 2.0)
    e = x.expand(2, 2)
    e = (e * 1).expand(2, 2)
    b = (x * 1).expand(3, 2)
    b.add_(1)


def retain_grad(lib):
    x = leaf(lib, 1, 2)
    y = x * 1
    y.retain_grad()
    v = y[:1]
    v.mul_(3)
    y.sum().backward()
    return (y.grad.tolist(), x.grad.tolist(), y.retains_grad, x.retains_grad)


def hook_before(lib):
    x = leaf(lib, 1, 2)
    y = x * 1
    s = []
    y.register_hook(lambda g: s.append(g.tolist()))
    y.mul_(3)
    y.sum().backward()
    return s


def hook_after(lib):
    x = leaf(lib, 1, 2)
    y = x * 1
    s = []
    y.mul_(3)
    y.register_hook(lambda g: s.append(g.tolist()))
    y.sum().backward()
    return s


def requires_grad_of_a_view_made_in_no_grad(lib):
    x = leaf(lib, 1, 2, 3)
    with lib.no_grad():
        y = x[1:]
    y.requires_grad_()
    (y * 6).sum().backward()
    return (y.is_leaf, y.grad, x.grad)


def requires_grad_of_an_inner_tensor_again(lib):
    y = leaf(lib, 1, 2) * 2
    y.requires_grad_()
    y.requires_grad = True


def requires_grad_of_a_view_that_must_not_be_used(lib):
    base = leaf(lib, 1, 2) * 1
    view = base.split(1)[0]
    base.mul_(2)
    view.requires_grad_()
    return view.requires_grad


def requires_grad_of_a_view_made_in_no_grad_that_must_not_be_used(lib):
    seen = []
    for flag in (True, False):
        base = leaf(lib, 1, 2) * 1
        with lib.no_grad():
            view, other = base[1:], base[:1]
        base.mul_(2)
        view.requires_grad_(flag)
        other.requires_grad = flag
        seen += [view.requires_grad, other.requires_grad]
    return seen


def view_whose_base_has_other_memory(lib):
    x = lib.arange(6.0).view(2, 3).requires_grad_()
    inner = x * 1
    views = (x[1:], inner[1:])
    with lib.no_grad():
        x.set_(lib.ones(3), 0, (2,), (0,))  # too small for the view
        inner.set_(lib.ones(3), 0, (2,), (0,))
    seen = [(v.is_leaf, v.grad_fn.name(), v.tolist()) for v in views]
    (views[0] * 2).sum().backward()
    leads_to_leaf = views[0].grad_fn.next_functions[0][0].variable is x
    return (seen, leads_to_leaf, x.grad, x.tolist())


def other_memory_in_no_grad(lib):
    x = leaf(lib, 1, 2, 3, 4)
    y = x * 1
    stale = y.split(2)[0]
    y.mul_(2)  # nobody may use `stale` any more, but it may get other memory
    seen = []
    with lib.no_grad():
        for t in (x, x[2:], y[2:], y, stale):
            t.set_(lib.zeros(3), 1, (2,), (1,))
            seen.append((tuple(t.shape), t._version))
    return seen


def view_whose_base_was_cut_off(lib):
    h = leaf(lib, 1, 2, 3).sin()
    v = h[::2]
    h.detach_()
    before = (v.requires_grad, v.is_leaf, v.grad_fn.name())
    h.mul_(2)
    after = (v.requires_grad, v.is_leaf, v.grad_fn.name(), v.grad_fn.next_functions)
    (v * 2).sum().backward()
    return before, after


def copy_of_the_same_memory(lib):
    x = lib.zeros(2)
    x.set_(lib.ones(2), 0, (2,), (0,))
    version = x._version
    x.copy_(x[0:])  # nothing to do, so the elements may share their memory
    x[0:2] = x[0:]
    return (x.tolist(), x._version - version)


def index_copy_to_shared_memory(lib):
    lib.zeros(1).expand(2).index_copy_(0, lib.tensor([0]), lib.zeros(1, 3))


PROGRAMS = [
    views_follow_their_base,
    saved_tensor_that_no_gradient_wants,
    saved_result_that_leads_nowhere,
    detached_leaf,
    former_leaf,
    view_made_before_the_leaf_required,
    view_of_a_later_leaf,
    requires_grad_of_a_view,
    leaf_that_is_a_view,
    base_of_a_leaf_that_is_a_view,
    one_of_several_views,
    inside_no_grad,
    made_in_no_grad,
    data,
    detach_,
    detach_of_a_view,
    changed_after_saving,
    copy_,
    base_of_several_views,
    a_constant_gets_history,
    views_of_views,
    integers,
    requires_grad_of_an_inner_tensor,
    requires_grad_of_a_view_made_in_no_grad,
    requires_grad_of_an_inner_tensor_again,
    requires_grad_of_a_view_that_must_not_be_used,
    requires_grad_of_a_view_made_in_no_grad_that_must_not_be_used,
    view_whose_base_has_other_memory,
    other_memory_in_no_grad,
    view_whose_base_was_cut_off,
    copy_of_the_same_memory,
    index_copy_to_shared_memory,
    expanded,
    retain_grad,
    hook_before,
    hook_after,
]


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
def test_same_as_torch(program, real_torch):
    assert_same(program, torch, real_torch)
