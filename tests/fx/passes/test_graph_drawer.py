"""Pictures of graphs, laid out by the drawer itself and by Graphviz's ``dot``.

Mirrors: test/fx/test_graph_drawer.py
"""

from __future__ import annotations

import re
import sys
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

import reftorch
from reftorch import fx, nn
from reftorch.fx.passes.graph_drawer import FxGraphDrawer
from reftorch.fx.passes.shape_prop import ShapeProp
from tests.fx import both

MODELS = both.load("models", reftorch)

FAKE_DOT = """#!{python}
import sys
text = sys.stdin.read()
if sys.argv[1:] != ["-Tsvg"] or "bad" in text:
    sys.exit("syntax error in line 1")
print('<?xml version="1.0"?>\\n<!-- made by dot --><svg><text>' + text.split("{{")[0].strip() + "</text></svg>")
"""


@pytest.fixture(autouse=True)
def no_dot(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """Let no ``dot`` of this machine lay out the pictures. Return the only folder where programs are looked for."""
    folder = tmp_path / "programs"
    folder.mkdir()
    monkeypatch.setenv("PATH", str(folder))
    return folder


def test_graphviz_lays_out_the_picture_where_it_is_installed(no_dot: Path) -> None:
    """The program is a stand-in, which shows what it gets: Graphviz itself need not be installed."""
    picture = FxGraphDrawer(fx.symbolic_trace(lambda x: x + 1), "net").get_dot_graph()
    own = picture.create_svg()
    assert 'style="background:#fff"' in own  # the edges are dark, and the page may be dark, too
    program = no_dot / "dot"
    program.write_text(FAKE_DOT.format(python=sys.executable))
    program.chmod(0o755)
    assert picture.create_svg() == '<svg><text>digraph "net"</text></svg>\n' != own
    with pytest.raises(RuntimeError, match=r"ended with 1: syntax error in line 1"):
        FxGraphDrawer(fx.symbolic_trace(lambda x: x + 1), "bad").get_dot_graph().create_svg()


SVG = "{http://www.w3.org/2000/svg}"


def test_the_picture_has_every_node_and_edge(tmp_path: Path) -> None:
    module = MODELS.trace("TransformerLayer", MODELS.TransformerLayer())
    ShapeProp(module).propagate(reftorch.ones(2, 5, 8))
    dot = FxGraphDrawer(module, "layer").get_dot_graph()
    text = dot.to_string()
    for node in module.graph.nodes:
        assert f'"{node.name}" [label="{{name=%{node.name}|op_code={node.op}' in text
        for used in node.all_input_nodes:
            assert f'"{used.name}" -> "{node.name}";' in text
    assert "shape=(2, 5, 24)" in text and '"block_attn_qkv" [' in text
    dot.write_svg(tmp_path / "layer.svg")
    root = ET.parse(tmp_path / "layer.svg").getroot()
    boxes = root.findall("{http://www.w3.org/2000/svg}rect")
    assert len(boxes) == len(dot.nodes) > len(module.graph.nodes)
    rectangles = [[float(box.get(k, "0")) for k in ("x", "y", "width", "height")] for box in boxes]
    for i, (x, y, w, h) in enumerate(rectangles):
        for x2, y2, w2, h2 in rectangles[:i]:
            assert x + w <= x2 or x2 + w2 <= x or y + h <= y2 or y2 + h2 <= y, "two boxes overlap"
    assert dot._repr_svg_() == dot.create_svg()


def test_an_edge_over_several_rows_goes_around_the_boxes_between() -> None:
    module = fx.symbolic_trace(lambda x: (x.exp().neg() + x) * x)
    root = ET.fromstring(FxGraphDrawer(module, "f").get_dot_graph().create_svg())
    right = max(float(box.get("x", "0")) + float(box.get("width", "0")) for box in root.iter(f"{SVG}rect"))
    edges = [path.get("d", "") for path in root.iter(f"{SVG}path") if path.get("marker-end")]
    tracks = [float(edge.split("V")[0].split()[-2]) for edge in edges if "V" in edge]
    assert len(edges) == 7
    assert len(set(tracks)) == 2  # from x to the sum and to the product, which are not in the next row
    assert right < min(tracks) < max(tracks) < float(root.get("width", "0"))


def test_options() -> None:
    class Net(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.fc, self.weight = nn.Linear(2, 2), nn.Parameter(reftorch.ones(2))

        def forward(self, x):  # type: ignore[no-untyped-def]
            return nn.functional.softmax(self.fc(x) * self.weight, dim=1)

    class Traces(fx.Tracer):
        record_stack_traces = True

    net = Net()
    module = fx.GraphModule(net, Traces().trace(net))
    plain = FxGraphDrawer(module, "net", ignore_getattr=True, ignore_parameters_and_buffers=True).get_dot_graph()
    assert list(plain.nodes) == ["x", "fc", "mul", "softmax", "output"]
    full = FxGraphDrawer(module, "net", skip_node_names_in_args=False, parse_stack_trace=True, normalize_args=True)
    text = full.get_main_dot_graph().to_string()
    assert "input: %mul" in text and re.search(r"file=passes/test_graph_drawer.py:\d+ return nn", text)
    assert '"fc.weight" -> "fc";' in text and "op_code=get_parameter" in text


def test_submodules_have_pictures() -> None:
    inner = fx.symbolic_trace(lambda x: x.relu())
    graph = fx.Graph()
    graph.output(graph.call_module("inner", (graph.placeholder("x"),)))
    drawer = FxGraphDrawer(fx.GraphModule({"inner": inner}, graph), "outer")
    assert list(drawer.get_all_dot_graphs()) == ["outer", "outer_inner"]
    assert "relu" in drawer.get_dot_graph("inner").nodes
