"""The picture of a graph says what its nodes keep, and draws no edge through a node.

Mirrors: nothing in PyTorch: PyTorch ships no course.
"""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree

import reftorch as torch
from course._tools import graph
from course._tools.graphs import in_order, kept_by, short_name

SVG = "{http://www.w3.org/2000/svg}"


def texts(picture) -> list[str]:
    return [element.text for element in ElementTree.fromstring(picture.svg()).iter(f"{SVG}text")]


def test_a_product_keeps_both_factors_and_a_sum_none():
    p, q = torch.ones(2, 3, requires_grad=True), torch.ones(3, 4, requires_grad=True)
    assert texts(graph(p @ q, p=p, q=q)) == [
        "MmBackward0",
        "keeps mat2 [3, 4]",
        "keeps self [2, 3]",
        "p [2, 3]",
        "q [3, 4]",
    ]
    assert texts(graph(p + p, p=p)) == ["AddBackward0", "p [2, 3]"]


def test_what_is_freed_is_said():
    x = torch.ones(2, requires_grad=True)
    y = x.exp()
    y.sum().backward()
    assert kept_by(y.grad_fn) == ["freed"]


def test_a_function_of_ones_own():
    class Square(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        def backward(ctx, grad):
            return grad

    assert texts(graph(Square.apply(torch.ones(2, requires_grad=True)))) == [
        "SquareBackward",
        "keeps [2]",
        "leaf [2]",
    ]


def test_nodes_come_after_all_that_lead_to_them():
    x = torch.ones(2, requires_grad=True)
    y = x * 2
    names = [short_name(node) for node in in_order((y.exp().exp() + y).grad_fn)]
    assert names == ["AddBackward0", "ExpBackward0", "ExpBackward0", "MulBackward0", "AccumulateGrad"]


def test_a_long_edge_goes_beside_the_nodes_between():
    x = torch.ones(2, requires_grad=True)
    picture = ElementTree.fromstring(graph(x.exp().exp() + x, x=x).svg())
    boxes = [box for box in picture.iter(f"{SVG}rect") if box.get("x")]
    lanes = [line.get("points").split() for line in picture.iter(f"{SVG}polyline")]
    upright = [float(a.split(",")[0]) for a, b in lanes if a.split(",")[0] == b.split(",")[0]]
    exps = [float(box.get("x")) for box in boxes if box.get("fill") == "#ffebe9"][1:]
    assert len(exps) == 2
    assert upright
    assert all(not left <= x <= left + 178 for x in upright for left in exps)
