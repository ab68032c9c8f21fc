"""The doors of autograd.graph, as torch has them.

Mirrors: test/test_autograd.py
"""

import pytest

import reftorch as torch
from tests.autograd.programs import assert_same


def multi_grad_hook_all(lib):
    log = []
    a = lib.ones(2, requires_grad=True)
    b = lib.ones(2, requires_grad=True)
    c = a * b
    d = a * b

    def f(gs):
        return log.append([g is not None for g in gs])

    h = lib.autograd.graph.register_multi_grad_hook((a, b, c, d), f)
    c.sum().backward(retain_graph=True)
    c.sum().backward(inputs=(a,), retain_graph=True)
    (c + d).sum().backward(retain_graph=True)
    h.remove()
    c.sum().backward()
    return log


def multi_grad_hook_any(lib):
    log = []
    a = lib.ones(2, requires_grad=True)
    b = lib.ones(2, requires_grad=True)
    c = a * b
    lib.autograd.graph.register_multi_grad_hook((a, b, c), lambda g: log.append(g.tolist()), mode="any")
    (c * 3).sum().backward(retain_graph=True)
    (c * 2).sum().backward()
    return log


def multi_grad_hook_mode(lib):
    lib.autograd.graph.register_multi_grad_hook((), print, mode="none")


def multi_grad_hook_in_grad(lib):
    a = lib.ones(2, requires_grad=True)
    lib.autograd.graph.register_multi_grad_hook((a,), print)
    lib.autograd.grad((a * 2).sum(), a)


def input_metadata(lib):
    a = lib.ones(2, requires_grad=True)
    y = a * 2
    m = y.grad_fn._input_metadata[0]
    return (tuple(m.shape), str(m.dtype), str(m.device), len(y.grad_fn._input_metadata))


def a_node_is_callable(lib):
    a = lib.tensor([1.0, 2.0], requires_grad=True)
    y = a * lib.tensor([3.0, 4.0])
    r = y.grad_fn(lib.ones(2))
    return [None if x is None else x.tolist() for x in r]


def prehook_returns_nonsense(lib):
    a = lib.ones(2, requires_grad=True)
    y = a * 2
    y.grad_fn.register_prehook(lambda g: 3)
    y.sum().backward()


def prehook_returns_too_many(lib):
    a = lib.ones(2, requires_grad=True)
    y = a * 2
    y.grad_fn.register_prehook(lambda g: (g[0], g[0]))
    y.sum().backward()


def posthook_returns_too_few(lib):
    a = lib.ones(2, requires_grad=True)
    y = a * 2
    y.grad_fn.register_hook(lambda g, h: (g[0],))
    y.sum().backward()


def hook_returns_nonsense(lib):
    a = lib.ones(2, requires_grad=True)
    y = a * 2
    y.register_hook(lambda g: 3)
    y.sum().backward()


def hook_changes_shape(lib):
    a = lib.ones(2, requires_grad=True)
    y = a * 2
    y.register_hook(lambda g: lib.ones(3))
    y.sum().backward()


def hook_changes_dtype(lib):
    a = lib.ones(2, requires_grad=True)
    y = a * 2
    y.register_hook(lambda g: g.double())
    y.sum().backward()


def post_accumulate_hook_of_an_inner_tensor(lib):
    a = lib.ones(2, requires_grad=True) * 1
    a.register_post_accumulate_grad_hook(lambda p: 3)


def post_accumulate(lib, *hooks):
    a = lib.ones(2, requires_grad=True)
    for hook in hooks:
        a.register_post_accumulate_grad_hook(hook)
    (a * 2).sum().backward()
    return a.grad.tolist()


def post_accumulate_hook_returns_its_leaf(lib):
    return post_accumulate(lib, lambda p: p, lambda p: None)


def post_accumulate_hook_returns_a_tensor(lib):
    return post_accumulate(lib, lambda p: p.grad)


def post_accumulate_hook_returns_a_number(lib):
    return post_accumulate(lib, lambda p: 5)


def version_of_a_number(lib):
    lib.autograd.graph.increment_version(3)


def version_of_numbers(lib):
    lib.autograd.graph.increment_version([lib.ones(1), 3])


def edge_of_a_constant(lib):
    lib.autograd.graph.get_gradient_edge(lib.ones(1))


def current_node(lib):
    a = lib.ones(2, requires_grad=True)
    y = a * 2
    seen = []
    y.register_hook(
        lambda g: seen.append((lib._C._current_autograd_node() is y.grad_fn, lib._C._current_graph_task_id() >= 0))
    )
    y.sum().backward()
    return (seen, lib._C._current_graph_task_id(), lib._C._current_autograd_node())


def increment_version(lib):
    a = lib.ones(2)
    lib.autograd.graph.increment_version(a)
    lib.autograd.graph.increment_version([a, a])
    return a._version


def edge_as_root(lib):
    a = lib.ones(2, requires_grad=True)
    y = (a * 2).sum()
    e = lib.autograd.graph.get_gradient_edge(y)
    del y
    lib.autograd.backward(e)
    return a.grad.tolist()


def edge_as_root_that_is_no_scalar(lib):
    a = lib.ones(2, requires_grad=True)
    y = a * 2
    e = lib.autograd.graph.get_gradient_edge(y)
    del y
    lib.autograd.backward(e)


def edge_as_root_with_a_wrong_gradient(lib):
    a = lib.ones(2, requires_grad=True)
    y = a * 2
    e = lib.autograd.graph.get_gradient_edge(y)
    del y
    lib.autograd.backward(e, lib.ones(3))


def edge_of_a_leaf_as_input(lib):
    a = lib.ones(2, requires_grad=True)
    y = (a * 2).sum()
    e = lib.autograd.graph.get_gradient_edge(a)
    lib.autograd.backward(y, inputs=[e])
    return a.grad.tolist()


def mutation_is_allowed(lib):
    a = lib.tensor([1.0, 2.0], requires_grad=True)
    with lib.autograd.graph.allow_mutation_on_saved_tensors() as ctx:
        b = a.clone()
        o = (b**2).sum()
        b.sin_()
        n = (len(ctx.cloned), len(ctx.original))
        o.backward()
    return (a.grad.tolist(), n, len(ctx.cloned))


def mutation_contexts_do_not_nest(lib):
    with lib.autograd.graph.allow_mutation_on_saved_tensors(), lib.autograd.graph.allow_mutation_on_saved_tensors():
        pass


def mutation_through_views(lib):
    a = lib.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
    with lib.autograd.graph.allow_mutation_on_saved_tensors():
        b = a * 1
        c = b * b
        b[0] = 7
        d = b * c
        b.t().mul_(2)
        e = (d * b).sum()
        c.add_(1)
        e.backward()
    return a.grad.tolist()


PROGRAMS = [
    multi_grad_hook_all,
    multi_grad_hook_any,
    multi_grad_hook_mode,
    multi_grad_hook_in_grad,
    input_metadata,
    a_node_is_callable,
    prehook_returns_nonsense,
    prehook_returns_too_many,
    posthook_returns_too_few,
    hook_returns_nonsense,
    hook_changes_shape,
    hook_changes_dtype,
    post_accumulate_hook_of_an_inner_tensor,
    post_accumulate_hook_returns_its_leaf,
    post_accumulate_hook_returns_a_tensor,
    post_accumulate_hook_returns_a_number,
    version_of_a_number,
    version_of_numbers,
    edge_of_a_constant,
    current_node,
    increment_version,
    edge_as_root,
    edge_as_root_that_is_no_scalar,
    edge_as_root_with_a_wrong_gradient,
    edge_of_a_leaf_as_input,
    mutation_is_allowed,
    mutation_contexts_do_not_nest,
    mutation_through_views,
]


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
def test_same_as_torch(program, real_torch):
    assert_same(program, torch, real_torch)
