"""The engine in Python gives what the one in C++ gives, on the same graphs.

Mirrors: nothing in PyTorch: it has one engine.
"""

from pathlib import Path

import pytest

import reftorch as torch
from reftorch.autograd import python_engine


class Cube(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, power):
        ctx.save_for_backward(x)
        return x**power, x * 2

    @staticmethod
    def backward(ctx, grad, other):
        (x,) = ctx.saved_tensors
        return grad * 3 * x * x + other * 2, None


def used_twice(x, w):
    y = x * w
    return y * y + y.exp()


def broadcast(x, w):
    return x[0] * w + x.sum()


def lists(x, w):
    first, second = torch.cat([x, w, x]).split([3, 3], 0)
    return torch.stack([first, second.tanh()])


def mixed_dtypes(x, w):
    return x.float() * w.double() + w.half().double()


def in_place(x, w):
    y = x * 1
    y[0].mul_(w[1])
    y.add_(w)
    return y.t()


def custom(x, w):
    first, second = Cube.apply(x * w, 3)
    return first.sum(0) + second.mean(0)


def one_output_unused(x, w):
    return Cube.apply(x, 3)[0] * x.max(1, keepdim=True)[0]


def unused_input(x, w):
    return x.softmax(0)


GRAPHS = [used_twice, broadcast, lists, mixed_dtypes, in_place, custom, one_output_unused, unused_input]


def inputs():
    x = torch.tensor([[0.5, -1.0], [2.0, 0.25]], dtype=torch.float64, requires_grad=True)
    w = torch.tensor([[1.5, 3.0], [-0.5, 0.75]], dtype=torch.float64, requires_grad=True)
    return x, w


def values(tensors):
    return [None if t is None else (t.dtype, t.tolist()) for t in tensors]


@pytest.mark.parametrize("graph", GRAPHS, ids=lambda graph: graph.__name__)
def test_backward(graph):
    here, there = inputs(), inputs()
    for _ in range(2):  # the second one accumulates
        python_engine.backward(graph(*here).sum())
        graph(*there).sum().backward()
        assert values(t.grad for t in here) == values(t.grad for t in there)


@pytest.mark.parametrize("graph", GRAPHS, ids=lambda graph: graph.__name__)
def test_grad_of_inputs_and_inner_tensors(graph):
    x, w = inputs()
    inner = x * 2
    output = graph(inner, w)
    weights = torch.arange(output.numel(), dtype=output.dtype).reshape(output.shape)
    ours = python_engine.grad(output, [x, inner, w], weights)
    theirs = torch.autograd.grad(output, [x, inner, w], weights, allow_unused=True)
    assert values(ours) == values(theirs)
    assert x.grad is None and not any(g is not None and g.requires_grad for g in ours)


@pytest.mark.parametrize("graph", GRAPHS, ids=lambda graph: graph.__name__)
def test_second_order(graph):
    def second(grad):
        x, w = inputs()
        (first,) = grad(graph(x, w).sum(), x)
        return grad((first * x * x).sum(), x)

    ours = second(lambda y, x: python_engine.grad(y, [x], create_graph=True))
    assert values(ours) == values(second(lambda y, x: torch.autograd.grad(y, x, create_graph=True)))


def test_a_long_chain():
    x = torch.ones(1, requires_grad=True)
    y = x
    for _ in range(3000):
        y = y + x
    python_engine.backward(y)
    assert x.grad.tolist() == [3001]


def test_it_is_short():
    assert len(Path(python_engine.__file__).read_text().splitlines()) < 150
