"""The picture of the engine's queue is what the engine really did, and leaves no trace.

Mirrors: nothing in PyTorch: PyTorch ships no course.
"""

from __future__ import annotations

import reftorch as torch
from course._tools import queue_steps
from course._tools.engine_steps import steps_of
from course._tools.graphs import short_name


def leaf() -> torch.Tensor:
    return torch.tensor([1.0, 2.0], requires_grad=True)


def test_a_node_waits_for_all_its_gradients():
    x = leaf()
    shared = x.exp()
    steps = steps_of((shared.cos() + shared.sin()).sum())
    names = [[short_name(node) for node in step.queue] for step in steps]
    assert names == [
        ["SumBackward0"],
        ["AddBackward0"],
        ["SinBackward0", "CosBackward0"],
        ["CosBackward0"],
        ["ExpBackward0"],
        ["AccumulateGrad"],
    ]
    assert [[left for _, left in step.sent] for step in steps] == [[0], [0, 0], [1], [0], [0], []]


def test_it_leaves_gradients_and_graph_as_they_were():
    x = leaf()
    x.grad = torch.tensor([7.0, 7.0])
    loss = (x * x).sum()
    assert repr(queue_steps(loss, x=x)) == "[picture] the engine's queue in 3 steps"
    assert x.grad.tolist() == [7.0, 7.0]
    loss.backward()
    assert x.grad.tolist() == [9.0, 11.0]


def test_leaves_have_their_names():
    x = leaf()
    picture = queue_steps(x.exp().sum(), x=x).svg()
    assert ">x.grad<" in picture
    assert ">ExpBackward #0<" in picture
