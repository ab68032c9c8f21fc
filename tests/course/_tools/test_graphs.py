"""The picture of a graph says what its nodes keep, and draws no edge through a node.

Mirrors: nothing in PyTorch: PyTorch ships no course.
"""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree

import reftorch as torch
from course._tools import exec_info, graph
from course._tools.graphs import LEFT_OUT, RUNS, TAKEN, at_each_node, in_order, kept_by, short_name

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


def test_a_pass_to_one_input_leaves_out_what_does_not_lead_there():
    p, q = torch.ones(2, requires_grad=True), torch.ones(2, requires_grad=True)
    shared = p.exp()
    loss = (shared.sin() + q.cos()).sum()
    said = {short_name(node): lines for node, lines in at_each_node(loss, q).items()}
    assert said["SinBackward0"] == said["ExpBackward0"] == [LEFT_OUT]
    assert said["SumBackward0"] == said["CosBackward0"] == [RUNS]
    both = {short_name(node): lines for node, lines in at_each_node(loss, p, shared).items()}
    assert both["ExpBackward0"] == [TAKEN, RUNS]
    assert both["CosBackward0"] == [LEFT_OUT]
    assert p.grad is None


def test_the_picture_of_such_a_pass_says_how_many_nodes_run():
    p, q = torch.ones(2, requires_grad=True), torch.ones(2, requires_grad=True)
    picture = exec_info((p.sin() + q).sum(), q, p=p, q=q)
    assert repr(picture) == "[picture] a pass to 1 input: 2 of 5 nodes run"
    assert texts(picture).count(LEFT_OUT) == 2
    assert texts(picture).count(TAKEN) == 1


def test_a_box_is_as_wide_as_its_title():
    class AFunctionWithAVeryLongNameIndeed(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, grad):
            return grad * 2

    picture = graph(AFunctionWithAVeryLongNameIndeed.apply(torch.ones(2, requires_grad=True)))
    boxes = [box for box in ElementTree.fromstring(picture.svg()).iter(f"{SVG}rect") if box.get("x")]
    assert min(float(box.get("width")) for box in boxes) > 7.2 * len("AFunctionWithAVeryLongNameIndeedBackward")
