"""Hooks that change the hooks of their own node or tensor, and hooks that are removed.

Mirrors: test/test_autograd.py (the tests of hooks)
"""

import gc

import pytest

import reftorch as torch
from tests.answers.watched import asked

HOOKED = {
    "node": lambda y: y.grad_fn.register_hook,
    "node before": lambda y: y.grad_fn.register_prehook,
    "tensor": lambda y: y.register_hook,
    "accumulate": lambda y: y.grad_fn.next_functions[0][0].register_hook,
    "leaf before": lambda y: y.grad_fn.next_functions[0][0].register_prehook,
    "function": lambda y: y.custom.grad_fn.register_hook,
    "function before": lambda y: y.custom.grad_fn.register_prehook,
}


def graph_with_a_custom_node(lib):
    class Twice(lib.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, grad):
            return grad * 2

    y = lib.ones(2, requires_grad=True) * 2
    y.custom = Twice.apply(y)
    return y


@pytest.mark.parametrize("where", HOOKED)
def test_a_hook_that_adds_itself_runs_once_in_a_pass(where, real_torch):
    def program(lib):
        y = graph_with_a_custom_node(lib)
        register, calls, counts = HOOKED[where](y), [], []

        def hook(*grads):
            calls.append(0)
            register(hook)

        register(hook)
        for _ in range(3):
            y.custom.sum().backward(retain_graph=True)
            counts.append(len(calls))
        return counts

    assert program(torch) == asked(real_torch, program)


def test_a_post_accumulate_hook_that_adds_itself_runs_once_in_a_pass(real_torch):
    def program(lib):
        x, calls, counts = lib.ones(2, requires_grad=True), [], []

        def hook(leaf):
            calls.append(0)
            leaf.register_post_accumulate_grad_hook(hook)

        x.register_post_accumulate_grad_hook(hook)
        for _ in range(3):
            (x * 2).sum().backward()
            counts.append(len(calls))
        return counts

    assert program(torch) == asked(real_torch, program)


@pytest.mark.parametrize("where", HOOKED)
def test_removed_hooks_leave_nothing_behind(where):
    y = graph_with_a_custom_node(torch)
    register = HOOKED[where](y)
    kept = []
    register(lambda *grads: kept.append(0))
    gc.collect()
    before = len(gc.get_objects())
    for _ in range(200):
        register(lambda *grads: None).remove()
    gc.collect()
    assert len(gc.get_objects()) < before + 100  # a dict for each hook would be 200 objects
    y.custom.sum().backward()
    assert kept == [0]


def test_a_hook_may_remove_all_hooks_of_its_tensor():
    x = torch.ones(2, requires_grad=True)
    calls = []

    def forget(*args):
        calls.append(len(args))
        x._backward_hooks = None
        x._post_accumulate_grad_hooks = None

    x.register_hook(forget)
    x.register_post_accumulate_grad_hook(forget)
    for _ in range(2):
        (x * 2).sum().backward()
    assert calls == [1]
    x._backward_hooks = 5
    with pytest.raises((TypeError, AttributeError)):
        (x * 2).sum().backward()
