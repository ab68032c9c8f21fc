"""Pictures of a backward graph: what each node keeps, and what a pass to some inputs does at each node.

Mirrors: nothing in PyTorch: there one installs torchviz and graphviz.
Leaves out: numbers and shapes that are kept, and links to the formulas: `reftorch.debug.draw_graph` shows both.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from typing import Any

import reftorch as torch
from course._tools.pictures import FLOORS
from reftorch import _C
from reftorch.debug.common.svg import LINE as EDGE
from reftorch.debug.common.svg import MUTED, PAPER, Picture

WIDTH, LANE, GAP, LINE, PAD, BETWEEN = 178, 20, 20, 20, 10, 34  # WIDTH: of a box, unless a title is wider
LETTER = 7.3  # the width of a letter of a title
KEPT = ("#fff8c5", "#d4a72c")
NOT_SAVED = {"grad", "grads", "needs_input_grad"}


def kept_by(node: Any) -> list[str]:
    """A line for each tensor that a node keeps: the name its formula has for it, and its shape."""
    if hasattr(node, "variable"):
        return []
    try:
        if isinstance(node, _C._FunctionBase):
            return [f"keeps {list(each.shape)}" for each in node.saved_tensors if each is not None]
        codes = [formula.__code__ for formula in _C._node_formulas(node)]
        asked = {name for code in codes for name in code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]}
        values = {name: getattr(node, f"_saved_{name}") for name in sorted(asked - NOT_SAVED)}
    except RuntimeError:
        return ["freed"]
    return [f"keeps {name} {list(t.shape)}" for name, t in values.items() if isinstance(t, _C.TensorBase)]


def short_name(node: Any) -> str:
    """`AccumulateGrad` for a node that calls itself `torch::autograd::AccumulateGrad`."""
    return node.name().split("::")[-1]


def children(node: Any) -> list[Any]:
    return [child for child, _ in node.next_functions if child is not None]


def in_order(root: Any) -> list[Any]:
    """The nodes of a graph, each after all nodes that lead to it."""
    missing: Counter[Any] = Counter()
    pending, seen = [root], {root}
    while pending:
        for child in children(pending.pop()):
            missing[child] += 1
            if child not in seen:
                seen.add(child)
                pending.append(child)
    order = [root]
    for node in order:
        for child in children(node):
            missing[child] -= 1
            if missing[child] == 0:
                order.append(child)
    return order


class Lane:
    """The place of an edge in a row that it only passes."""


def _rows(order: list[Any]) -> tuple[list[list[Any]], dict[Any, list[Any]]]:
    """Nodes and lanes by depth, and for each of them what leads to it in the row above."""
    depth = dict.fromkeys(order, 0)
    for node in order:
        for child in children(node):
            depth[child] = max(depth[child], depth[node] + 1)
    rows: list[list[Any]] = [[] for _ in range(max(depth.values()) + 1)]
    above: dict[Any, list[Any]] = {node: [] for node in order}
    for node in order:
        rows[depth[node]].append(node)
        for child in dict.fromkeys(children(node)):
            former = node
            for between in range(depth[node] + 1, depth[child]):
                lane = Lane()
                rows[between].append(lane)
                above[lane], former = [former], lane
            above[child].append(former)
    return rows, above


def graph(tensor: Any, **names: Any) -> Picture:
    """The graph behind `tensor`: a box for each node, in yellow what it keeps, in green the leaves.

    Args:
        tensor: a result with a history.
        names: leaves by the names they shall have.
    """
    order = in_order(tensor.grad_fn)
    caption = f"the graph of {short_name(tensor.grad_fn)}: {len(order)} nodes, and what they keep"
    looks = {node: _look(node) for node in order}
    return _drawn(order, {node: kept_by(node) for node in order}, looks, names, caption)


RUNS, TAKEN, LEFT_OUT = "runs", "gradient is taken here", "left out"


def at_each_node(tensor: Any, *inputs: Any) -> dict[Any, list[str]]:
    """Return what `autograd.grad(tensor, inputs)` does at each node behind `tensor`: hooks on the nodes report it."""
    order = in_order(tensor.grad_fn)
    ran = set()
    handles = [node.register_prehook(lambda grads, node=node: ran.add(node)) for node in order]
    torch.autograd.grad(tensor, inputs, torch.ones_like(tensor), retain_graph=True, allow_unused=True)
    for handle in handles:
        handle.remove()
    wanted = {_C._grad_fn_or_accumulator(each) for each in inputs}
    said = {node: [TAKEN] * (node in wanted) + [RUNS] * (node in ran) for node in order}
    return {node: lines or [LEFT_OUT] for node, lines in said.items()}


def exec_info(tensor: Any, *inputs: Any, **names: Any) -> Picture:
    """The graph behind `tensor`, and what a pass to `inputs` does at each node (run, take the gradient, leave out).

    Args:
        tensor: a result with a history; a gradient of ones is sent through its graph, which is kept.
        inputs: the tensors whose gradients are asked for.
        names: leaves by the names they shall have.
    """
    said = at_each_node(tensor, *inputs)
    colours = {RUNS: FLOORS["autograd"], TAKEN: FLOORS["dispatcher"], LEFT_OUT: (PAPER, EDGE)}
    looks = {node: (*colours[lines[0]], "none") for node, lines in said.items()}
    runs = sum(RUNS in lines for lines in said.values())
    caption = f"a pass to {len(inputs)} input{'s' * (len(inputs) > 1)}: {runs} of {len(said)} nodes run"
    return _drawn(list(said), said, looks, names, caption)


def _drawn(
    order: list[Any],
    kept: Mapping[Any, list[str]],
    looks: Mapping[Any, tuple[str, str, str]],
    names: Mapping[str, Any],
    caption: str,
) -> Picture:
    """A box for each node, with lines in it; nodes of one depth are in one row."""
    named = {id(leaf): name for name, leaf in names.items()}
    titles = {node: _title(node, named) for node in order}
    box = max(WIDTH, *(math.ceil(LETTER * len(title)) + 2 * PAD for title in titles.values()))
    rows, above = _rows(order)
    widths = [sum(_width(item, box) + GAP for item in row) - GAP for row in rows]
    heights = [max(_height(kept[item]) for item in row if item in kept) for row in rows]
    picture = Picture(max(widths) + 2 * GAP, sum(heights) + BETWEEN * (len(rows) - 1) + 2 * PAD, caption)

    ends: dict[Any, tuple[float, float]] = {}  # the middle of an item's lower edge
    y = float(PAD)
    for row, width, height in zip(rows, widths, heights, strict=True):
        row.sort(key=lambda item: sum(ends[each][0] for each in above[item]) / max(len(above[item]), 1))
        x = (max(widths) - width) / 2 + GAP
        for item in row:
            middle = x + _width(item, box) / 2
            for each in above[item]:
                draw = picture.arrow if item in kept else _line(picture)
                draw(*ends[each], middle, y - 2)
            if item in kept:
                _draw_node(picture, titles[item], kept[item], looks[item], x, y, box)
                ends[item] = (middle, y + _height(kept[item]))
            else:
                picture.path([(middle, y - 2), (middle, y + height)], line=MUTED)
                ends[item] = (middle, y + height)
            x += _width(item, box) + GAP
        y += height + BETWEEN
    return picture


def _line(picture: Picture) -> Any:
    return lambda x1, y1, x2, y2: picture.path([(x1, y1), (x2, y2)], line=MUTED)


def _width(item: Any, box: int) -> int:
    return LANE if isinstance(item, Lane) else box


def _title(node: Any, named: Mapping[int, str]) -> str:
    leaf = getattr(node, "variable", None)
    return short_name(node) if leaf is None else f"{named.get(id(leaf), 'leaf')} {list(leaf.shape)}"


def _height(lines: list[str]) -> int:
    return LINE * (1 + len(lines)) + PAD


def _look(node: Any) -> tuple[str, str, str]:
    """The colours of a node's box, and of the lines in it that say what the node keeps."""
    own = isinstance(node, _C._FunctionBase)
    return (*FLOORS["native" if hasattr(node, "variable") else "binding" if own else "autograd"], KEPT[0])


def _draw_node(
    picture: Picture,
    title: str,
    kept: list[str],
    look: tuple[str, str, str],
    x: float,
    y: float,
    width: float,
) -> None:
    fill, line, within = look
    picture.box(x, y, width, _height(kept), fill=fill, line=line)
    picture.text(x + PAD, y + 19, title, size=12, mono=True, bold=True)
    for number, text in enumerate(kept, start=1):
        top = y + LINE * number + 4
        if within != "none":
            inside = "none" if text == "freed" else within
            picture.box(x + 6, top, width - 12, LINE - 3, fill=inside, line=KEPT[1], r=3)
        picture.text(x + PAD + 2, top + 12, text, size=11, mono=True)
