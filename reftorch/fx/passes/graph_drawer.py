"""Pictures of graphs.

PyTorch's drawer needs the package pydot and the programs of Graphviz. This drawer writes Graphviz's language itself. If
Graphviz's program ``dot`` is installed, ``dot`` lays out the picture. Otherwise the drawer does: each node stands one
row below the lowest node that it uses.

Mirrors: torch/fx/passes/graph_drawer.py
Leaves out: quantized tensors, the nodes of compilers' buffers.
"""

from __future__ import annotations

import hashlib
import html
import shutil
import subprocess
from itertools import chain
from pathlib import Path
from typing import Any

from reftorch._utils import typename
from reftorch.fx.graph import _parse_stack_trace
from reftorch.fx.graph_module import GraphModule, _get_attr
from reftorch.fx.node import Node, _format_arg, _get_qualified_name, _torch_name
from reftorch.fx.operator_schemas import normalize_function
from reftorch.fx.passes.shape_prop import TensorMetadata
from reftorch.nn import Module, Parameter

__all__ = ["FxGraphDrawer"]

_COLOR_MAP = {
    "placeholder": "AliceBlue",
    "call_module": "LemonChiffon",
    "get_param": "Yellow",
    "get_attr": "LightGrey",
    "output": "PowderBlue",
}
# A node that calls a function or a method gets the color that the hash of its target names.
_HASH_COLOR_MAP = [
    "Aquamarine",
    "Coral",
    "DarkSeaGreen",
    "GhostWhite",
    "Khaki",
    "LavenderBlush",
    "LightSkyBlue",
    "MistyRose",
    "PaleTurquoise",
    "PeachPuff",
    "Salmon",
    "Thistle",
    "Wheat",
]

_CHARACTER, _LINE, _MARGIN = 6.2, 14, 24  # sizes of the picture, in its units


class _Dot:
    """A picture of nodes and edges: as text in Graphviz's language, and as SVG."""

    def __init__(self, name: str, shape: str) -> None:
        self.name = name
        self.shape = shape
        self.nodes: dict[str, tuple[list[str], str]] = {}  # the lines of the label, and the color
        self.edges: list[tuple[str, str]] = []

    def __repr__(self) -> str:
        return f"<picture of {self.name}: {len(self.nodes)} nodes, {len(self.edges)} edges>"

    def add_node(self, name: str, lines: list[str], color: str) -> None:
        """Add a node; each line of its label is a field of the box."""
        self.nodes[name] = (lines, color)

    def add_edge(self, source: str, destination: str) -> None:
        """Add an arrow."""
        self.edges.append((source, destination))

    def to_string(self) -> str:
        """Return the picture in Graphviz's language."""
        text = [f"digraph {_quoted(self.name)} {{", "rankdir=TB;"]
        for name, (lines, color) in self.nodes.items():
            label = "|".join(line.translate({ord(c): f"\\{c}" for c in "{}<>|"}) for line in lines)
            style = f'fillcolor="{color}", style="filled,rounded", fontcolor="#000000"'
            text.append(f"{_quoted(name)} [label={_quoted(f'{{{label}}}')}, shape={self.shape}, {style}];")
        text += [f"{_quoted(a)} -> {_quoted(b)};" for a, b in self.edges]
        return "\n".join([*text, "}"])

    def _rows(self) -> list[list[str]]:
        """Return the names of the nodes row by row: each below the nodes that it uses, near the middle of them."""
        used: dict[str, list[str]] = {name: [] for name in self.nodes}
        for source, destination in self.edges:
            if source in used and destination in used:
                used[destination].append(source)
        row: dict[str, int] = {}
        for name in self.nodes:  # in the order of the graph, so that what a node uses comes before it
            row[name] = 1 + max((row.get(u, -1) for u in used[name]), default=-1)
        rows: list[list[str]] = [[] for _ in range(max(row.values(), default=-1) + 1)]
        place: dict[str, float] = {}
        for i in range(len(rows)):
            names = [name for name in self.nodes if row[name] == i]

            def middle(name: str) -> float:
                above = [place[u] for u in used[name]]
                return sum(above) / len(above) if above else 0.5

            rows[i] = sorted(names, key=middle)
            place.update({name: (k + 0.5) / len(names) for k, name in enumerate(rows[i])})
        return rows

    def create_svg(self) -> str:
        """Return the picture as SVG, laid out by Graphviz's ``dot`` if it is installed.

        Raises:
            RuntimeError: ``dot`` failed.
        """
        dot = shutil.which("dot")
        if dot is None:
            return self._own_svg()
        done = subprocess.run([dot, "-Tsvg"], input=self.to_string(), capture_output=True, text=True)
        if done.returncode:
            raise RuntimeError(f"create_svg: {dot} ended with {done.returncode}: {done.stderr.strip()}")
        return done.stdout[done.stdout.index("<svg") :]  # a notebook shows no XML with a prologue

    def _own_svg(self) -> str:
        """Return the picture as SVG, laid out in rows."""
        size = {
            name: (max(map(len, lines)) * _CHARACTER + 16, len(lines) * _LINE + 8)
            for name, (lines, _) in self.nodes.items()
        }
        rows = self._rows()
        widths = [sum(size[name][0] + _MARGIN for name in names) for names in rows]
        width = max(widths, default=0) + _MARGIN
        box: dict[str, tuple[float, float]] = {}
        y = float(_MARGIN)
        for names, row_width in zip(rows, widths, strict=True):
            x = (width - row_width + _MARGIN) / 2
            for name in names:
                box[name] = (x, y)
                x += size[name][0] + _MARGIN
            y += max(size[name][1] for name in names) + 2 * _MARGIN
        shapes = []
        around = 0  # edges that go around boxes; each one gets a track of its own
        row_of = {name: i for i, names in enumerate(rows) for name in names}
        for a, b in self.edges:
            if a in box and b in box:
                between = [n for names in rows[row_of[a] + 1 : row_of[b]] for n in names]
                if not any(self._crosses(box, size, a, b, n) for n in between):
                    shapes.append(self._edge(box, size, a, b))
                    continue
                # The edge would be hidden behind a box of a row between, so it goes around the boxes on the right.
                side = max(box[n][0] + size[n][0] for n in (*between, a, b)) + _MARGIN + 6 * around
                around += 1
                shapes.append(self._edge_around(box, size, a, b, side))
                width = max(width, side + _MARGIN)
        for name, (lines, color) in self.nodes.items():
            (x, top), (w, h) = box[name], size[name]
            shapes.append(
                f'<rect x="{x:.0f}" y="{top:.0f}" width="{w:.0f}" height="{h:.0f}" rx="6" fill="{color.lower()}" '
                'stroke="#555"/>'
            )
            for i, line in enumerate(lines):
                baseline = top + 4 + _LINE * (i + 0.8)
                shapes.append(f'<text x="{x + 8:.0f}" y="{baseline:.0f}">{html.escape(line, quote=False)}</text>')
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {y:.0f}" width="{width:.0f}" '
            f'height="{y:.0f}" style="background:#fff" font-family="monospace" font-size="10"><defs><marker id="arrow" '
            'viewBox="0 0 8 8" '
            'refX="8" refY="4" markerWidth="8" markerHeight="8" orient="auto"><path d="M0 0L8 4L0 8z" fill="#555"/>'
            f"</marker></defs>{''.join(shapes)}</svg>"
        )

    @staticmethod
    def _crosses(box: dict[str, Any], size: dict[str, Any], source: str, destination: str, other: str) -> bool:
        """Return whether the straight line between two nodes passes through the box of a third one."""
        x1, y1 = box[source][0] + size[source][0] / 2, box[source][1] + size[source][1]
        x2, y2 = box[destination][0] + size[destination][0] / 2, box[destination][1]
        (left, top), (w, h) = box[other], size[other]
        crossings = [x1 + (x2 - x1) * (y - y1) / (y2 - y1) for y in (top, top + h)]
        return max(crossings) >= left and min(crossings) <= left + w

    @staticmethod
    def _edge_around(box: dict[str, Any], size: dict[str, Any], source: str, destination: str, side: float) -> str:
        x1, y1 = box[source][0] + size[source][0], box[source][1] + size[source][1] / 2
        x2, y2 = box[destination][0] + size[destination][0], box[destination][1] + size[destination][1] / 2
        return (
            f'<path d="M{x1:.0f} {y1:.0f}H{side - 8:.0f}Q{side:.0f} {y1:.0f} {side:.0f} {y1 + 8:.0f}V{y2 - 8:.0f}'
            f'Q{side:.0f} {y2:.0f} {side - 8:.0f} {y2:.0f}H{x2:.0f}" '
            'fill="none" stroke="#555" marker-end="url(#arrow)"/>'
        )

    @staticmethod
    def _edge(box: dict[str, Any], size: dict[str, Any], source: str, destination: str) -> str:
        x1, y1 = box[source][0] + size[source][0] / 2, box[source][1] + size[source][1]
        x2, y2 = box[destination][0] + size[destination][0] / 2, box[destination][1]
        bend = (y2 - y1) / 2
        return (
            f'<path d="M{x1:.0f} {y1:.0f}C{x1:.0f} {y1 + bend:.0f} {x2:.0f} {y2 - bend:.0f} {x2:.0f} {y2:.0f}" '
            'fill="none" stroke="#555" marker-end="url(#arrow)"/>'
        )

    def write_svg(self, path: Any) -> None:
        """Write the picture to a file."""
        Path(path).write_text(self.create_svg())

    _repr_svg_ = create_svg  # notebooks show the picture


def _quoted(text: str) -> str:
    return '"' + text.replace('"', '\\"') + '"'


class FxGraphDrawer:
    """Draws the graph of a module, and those of its submodules that are GraphModules.

    Args:
        graph_module: the module.
        name: the name of the picture.
        ignore_getattr: whether to leave out the nodes that read attributes.
        ignore_parameters_and_buffers: whether to leave out the parameters and buffers of the submodules.
        skip_node_names_in_args: whether a label leaves out those arguments that are nodes, which arrows show.
        parse_stack_trace: whether a label names the line of the traced program, if the tracer recorded lines.
        dot_graph_shape: the shape of the nodes in Graphviz's language, by default ``record``.
        normalize_args: whether labels name all arguments.

    Example:
        >>> from reftorch.fx.passes.graph_drawer import FxGraphDrawer
        >>> module = torch.fx.symbolic_trace(torch.nn.Sequential(torch.nn.Linear(2, 3), torch.nn.ReLU()))
        >>> picture = FxGraphDrawer(module, "net").get_dot_graph()
        >>> picture.to_string().split("\\n")[0], picture.create_svg()[:4]
        ('digraph "net" {', '<svg')

    Mirrors torch/fx/passes/graph_drawer.py, ``FxGraphDrawer``.
    """

    def __init__(
        self,
        graph_module: GraphModule,
        name: str,
        ignore_getattr: bool = False,
        ignore_parameters_and_buffers: bool = False,
        skip_node_names_in_args: bool = True,
        parse_stack_trace: bool = False,
        dot_graph_shape: str | None = None,
        normalize_args: bool = False,
    ) -> None:
        self._name = name
        self.dot_graph_shape = dot_graph_shape if dot_graph_shape is not None else "record"
        self.normalize_args = normalize_args
        options = (ignore_getattr, ignore_parameters_and_buffers, skip_node_names_in_args, parse_stack_trace)
        self._dot_graphs = {name: self._to_dot(graph_module, name, *options)}
        for node in graph_module.graph.find_nodes(op="call_module"):
            submodule = _get_attr(graph_module, node.target)
            if isinstance(submodule, GraphModule):
                title = f"{name}_{node.target}"
                self._dot_graphs[title] = self._to_dot(submodule, title, *options)

    def get_dot_graph(self, submod_name: str | None = None) -> _Dot:
        """Return the picture of the module, or of a submodule.

        The result has ``to_string()``, ``create_svg()`` and ``write_svg(path)``, and notebooks show it.

        Mirrors torch/fx/passes/graph_drawer.py, ``FxGraphDrawer.get_dot_graph``.
        """
        return self.get_main_dot_graph() if submod_name is None else self.get_submod_dot_graph(submod_name)

    def get_main_dot_graph(self) -> _Dot:
        """Return the picture of the module."""
        return self._dot_graphs[self._name]

    def get_submod_dot_graph(self, submod_name: str) -> _Dot:
        """Return the picture of a submodule."""
        return self._dot_graphs[f"{self._name}_{submod_name}"]

    def get_all_dot_graphs(self) -> dict[str, _Dot]:
        """Return all pictures by name."""
        return self._dot_graphs

    def _get_node_color(self, node: Node) -> str:
        if node.op in _COLOR_MAP:
            return _COLOR_MAP[node.op]
        target = node._pretty_print_target(node.target)
        number = int(hashlib.md5(target.encode(), usedforsecurity=False).hexdigest()[:8], 16)
        return _HASH_COLOR_MAP[number % len(_HASH_COLOR_MAP)]

    @staticmethod
    def _typename(target: Any) -> str:
        if isinstance(target, Module):
            return _torch_name(typename(target))
        return target if isinstance(target, str) else _get_qualified_name(target)

    def _get_node_lines(self, module: GraphModule, node: Node, skip_node_names: bool, stack_trace: bool) -> list[str]:
        lines = [f"name=%{node.name}", f"op_code={node.op}"]
        if node.op == "call_module":
            called = _get_attr(module, str(node.target))
            lines.append(f"{self._typename(called)}({called.extra_repr()})")
        else:
            args, kwargs = node.args, node.kwargs
            if self.normalize_args and callable(node.target):
                pair = normalize_function(node.target, args, kwargs, normalize_to_only_use_kwargs=True)
                args, kwargs = pair or (args, kwargs)
            lines.append(f"target={self._typename(node.target)}")
            texts = [_format_arg(a, max_list_len=8) for a in args]
            named = [f"{k}: {_format_arg(v, max_list_len=8)}" for k, v in kwargs.items()]
            if skip_node_names:
                texts, named = ([t for t in part if "%" not in t] for part in (texts, named))
            lines += [f"args=({', '.join(texts)},)"] if texts else []
            lines += [f"kwargs={{{', '.join(named)},}}"] if named else []
            lines.append(f"num_users={len(node.users)}")
        lines += self._get_tensor_lines(node.meta.get("tensor_meta"))
        frame = _parse_stack_trace(node.stack_trace) if stack_trace else None
        if frame is not None:
            lines.append(f"file={'/'.join(frame.file.split('/')[-2:])}:{frame.lineno} {frame.code}")
        return lines

    def _get_tensor_lines(self, meta: Any) -> list[str]:
        if isinstance(meta, TensorMetadata):
            return [
                f"dtype={meta.dtype}",
                f"shape={tuple(meta.shape)}",
                f"requires_grad={meta.requires_grad}",
                f"stride={meta.stride}",
            ]
        if isinstance(meta, dict):
            meta = list(meta.values())
        if isinstance(meta, (list, tuple)):
            return [line for item in meta for line in self._get_tensor_lines(item)]
        return []

    def _to_dot(
        self,
        graph_module: GraphModule,
        name: str,
        ignore_getattr: bool,
        ignore_parameters_and_buffers: bool,
        skip_node_names_in_args: bool,
        parse_stack_trace: bool,
    ) -> _Dot:
        dot = _Dot(name, self.dot_graph_shape)
        for node in graph_module.graph.nodes:
            if ignore_getattr and node.op == "get_attr":
                continue
            called = _get_attr(graph_module, node.target) if node.op == "call_module" else None
            if called is not None and not ignore_parameters_and_buffers and not isinstance(called, GraphModule):
                for part, tensor in chain(called.named_parameters(), called.named_buffers()):
                    kind = "parameter" if isinstance(tensor, Parameter) else "buffer"
                    label = [f"{node.name}.{part}", f"op_code=get_{kind}", f"{tensor.dtype}{list(tensor.shape)}"]
                    dot.add_node(label[0], label, _COLOR_MAP["get_param"])
                    dot.add_edge(label[0], node.name)
            lines = self._get_node_lines(graph_module, node, skip_node_names_in_args, parse_stack_trace)
            dot.add_node(node.name, lines, self._get_node_color(node))
            for used in node.all_input_nodes:
                if not (ignore_getattr and used.op == "get_attr"):
                    dot.add_edge(used.name, node.name)
        return dot
