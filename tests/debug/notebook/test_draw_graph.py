"""The picture of a graph says what is there.

Mirrors: nothing in PyTorch: it has no such picture.
"""

import itertools
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

import reftorch as torch
from reftorch.debug import draw_graph, formula_source

SVG = "{http://www.w3.org/2000/svg}"

# A program that lays out as Graphviz's dot does, in a column: it reads boxes and arrows, and answers in its format.
DOT = f"""#!{sys.executable}
import re, sys
text = sys.stdin.read()
assert sys.argv[1:] == ["-Tplain"] and "digraph" in text
boxes = re.findall(r"(n\\d+) .width=([\\d.]+), height=([\\d.]+)", text)
print("graph 1", 4, 2 * len(boxes))
for i, (name, width, height) in enumerate(boxes):
    print("node", name, 2, 2 * len(boxes) - 1 - 2 * i, width, height, name, "solid box black lightgrey")
for a, b in re.findall(r"(n\\d+) -> (n\\d+)", text):
    print("edge", a, b, 4, "1 5 1 4 1 3 1 2 solid black")
print("stop")
"""


@pytest.fixture(autouse=True)
def programs(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """Let no ``dot`` of this machine lay out the pictures. Return the only folder where programs are looked for."""
    monkeypatch.setenv("PATH", str(tmp_path))
    return tmp_path


class Double(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * 2

    @staticmethod
    def backward(ctx, grad):
        return grad * 2


def drawn(picture):
    root = ElementTree.fromstring(picture.svg())
    texts = [element.text for element in root.iter(SVG + "text")]
    links = [element.get("href") for element in root.iter(SVG + "a")]
    return texts, links, len(list(root.iter(SVG + "line")))


def test_a_model():
    model = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.Tanh(), torch.nn.Linear(4, 1))
    loss = (model(torch.ones(2, 3)) ** 2).mean()
    texts, links, arrows = drawn(draw_graph(loss, params=dict(model.named_parameters())))
    assert {"MeanBackward0", "PowBackward0", "TanhBackward0", "0.weight", "0.bias", "2.weight", "2.bias"} <= set(texts)
    assert "keeps result: [2, 4] float32" in texts and "[4, 3] float32" in texts
    assert all(link.startswith("file:///") and "/derivatives/" in link and "#L" in link for link in links)
    assert arrows == 10  # nodes - 1: nothing is shared, and every node but the loss has one consumer


def test_a_shared_node_is_drawn_once_below_all_that_lead_to_it():
    x = torch.ones(2, requires_grad=True)
    y = x.exp()
    texts, _, arrows = drawn(draw_graph(y * y + y.sin(), params={"x": x}))
    assert texts.count("ExpBackward0") == 1 and texts.count("x") == 1
    assert arrows == 6  # add to mul and sin, mul twice and sin once to exp, exp to x


def test_a_function_of_ones_own():
    texts, links, _ = drawn(draw_graph(Double.apply(torch.ones(2, requires_grad=True))))
    assert "DoubleBackward" in texts and "keeps [2] float32" in texts and "leaf" in texts
    assert links[0].split("#")[0].endswith("test_draw_graph.py")


def test_after_backward():
    y = torch.ones(2, requires_grad=True).exp()
    y.sum().backward()
    assert any(text.startswith("keeps result: freed") for text in drawn(draw_graph(y))[0])


def test_formula_source():
    x = torch.ones(2, requires_grad=True)
    sources = formula_source((x * 2.0).grad_fn)
    assert sources and all("/autograd/derivatives/binary_ops.py:" in source for source in sources)
    assert formula_source(x.view(2).grad_fn.next_functions[0][0]) == []


def test_without_a_graph():
    with pytest.raises(RuntimeError, match="has no graph"):
        draw_graph(torch.ones(2))


def test_of_a_large_graph_a_part_is_drawn():
    y = torch.ones(2, requires_grad=True)
    for _ in range(300):
        y = y * 2
    picture = draw_graph(y)
    texts, _, arrows = drawn(picture)
    assert texts.count("MulBackward0") == 200 and arrows == 199
    assert "... 101 nodes more: max_nodes=301" in texts
    assert "301 nodes" in repr(picture)
    assert drawn(draw_graph(y, max_nodes=301))[0].count("leaf") == 1


def test_a_wide_graph_goes_on_below():
    leaves = [torch.ones(2, requires_grad=True) for _ in range(30)]
    picture = draw_graph(torch.stack(leaves).sum())
    assert drawn(picture)[0].count("leaf") == 30
    assert picture.width < 1200


def test_arrows_lie_under_the_boxes():
    svg = draw_graph(torch.ones(2, requires_grad=True).exp().sum()).svg()
    assert svg.rindex("<line") < svg.index("<text")


def test_graphviz_lays_out_the_picture_where_it_is_installed(programs):
    x = torch.ones(2, requires_grad=True)
    y = x.exp()
    loss = (y * y).sum()
    in_rows = drawn(draw_graph(loss, params={"x": x}))
    program = programs / "dot"
    program.write_text(DOT)
    program.chmod(0o755)
    picture = draw_graph(loss, params={"x": x})
    texts, links, lines = drawn(picture)
    assert (texts, links) == in_rows[:2] and lines == 0
    root = ElementTree.fromstring(picture.svg())
    curves = [path.get("d") for path in root.iter(SVG + "path") if path.get("marker-end")]
    assert len(curves) == in_rows[2] == 4
    assert curves[0].startswith("M98.0,242.0C98.0,314.0")  # an inch is 72 points, the margin 26, and y grows downwards
    tops = [float(box.get("y")) for box in root.iter(SVG + "rect") if box.get("y")]
    assert len(tops) == 4 and all(abs(below - above - 144) < 30 for above, below in itertools.pairwise(tops))


def test_an_error_of_graphviz_is_told(programs):
    program = programs / "dot"
    program.write_text(f"#!{sys.executable}\nimport sys\nsys.exit('no layout today')\n")
    program.chmod(0o755)
    with pytest.raises(RuntimeError, match="ended with 1: no layout today"):
        draw_graph(torch.ones(1, requires_grad=True) * 2)
