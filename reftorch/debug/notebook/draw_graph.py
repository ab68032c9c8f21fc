"""A picture of the graph of a tensor: the nodes, their saved values, and the sources of their formulas.

Mirrors: nothing in PyTorch, where people install torchviz and graphviz.
Leaves out: the forward ops that were not recorded.

If Graphviz's program ``dot`` is installed, it lays out the picture, and its arrows go around the boxes. Otherwise the
boxes are in layers, and the arrows are straight lines behind the boxes.
"""

from __future__ import annotations

import contextlib
import inspect
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from reftorch import _C
from reftorch.autograd.function import BackwardCFunction
from reftorch.debug.common.dot import dot_layout
from reftorch.debug.common.expect import expect_tensor
from reftorch.debug.common.svg import INK, MUTED, Picture

WIDTH, GAP, LINE_HEIGHT, PAD = 260, 26, 16, 10
LONGEST = 33  # the number of characters that fit into a box
ACROSS = 4  # boxes side by side; a larger layer continues in the next row
LEAF, OP, FUNCTION = ("#dafbe1", "#4ac26b"), ("#ffebe9", "#ff8182"), ("#fbefff", "#c297ff")


def formula_source(node: Any) -> list[str]:
    """Return the place of a node's formulas, as ``file:line``; for an autograd.Function, the place of ``backward``.

    Args:
        node: a node, such as a tensor's ``grad_fn``.

    Example:
        >>> y = torch.ones(1, requires_grad=True).exp()
        >>> from reftorch.debug import formula_source
        >>> formula_source(y.grad_fn)
        ['.../autograd/derivatives/unary_ops.py:...']
    """
    functions = [node._forward_cls.backward] if isinstance(node, BackwardCFunction) else _C._node_formulas(node)
    codes = [inspect.unwrap(function).__code__ for function in functions]
    return list(dict.fromkeys(f"{code.co_filename}:{code.co_firstlineno}" for code in codes))


def _shape(metadata: Any) -> str:
    return "-" if metadata is None else f"{list(metadata.shape)} {str(metadata.dtype).split('.')[-1]}"


def _saved_names(node: Any) -> list[str]:
    """Return the values that the node's formulas make the graph save: the names of their parameters."""
    codes = [function.__code__ for function in _C._node_formulas(node)]
    asked = {name for code in codes for name in code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]}
    return sorted(asked - {"grad", "grads", "needs_input_grad"})


def _saved(node: Any) -> list[str]:
    """Return a line for each tensor or value that the node saved."""
    lines = []
    for name in _saved_names(node):
        try:
            value = getattr(node, f"_saved_{name}")
        except RuntimeError:
            lines.append(f"keeps {name}: freed, or changed since")
            continue
        if isinstance(value, _C.TensorBase):
            lines.append(f"keeps {name}: {_shape(value)}")
        elif value is not None:
            lines.append(f"keeps {name}: {list(value) if isinstance(value, tuple) else value}")
    return lines


def saved_tensors(node: Any) -> list[tuple[str, Any]]:
    """Return the names and tensors that the node saved; nothing if they were freed, or if one was changed in place."""
    if isinstance(node, _C._FunctionBase):
        return [(f"saved_tensors[{i}]", tensor) for i, tensor in enumerate(_context_tensors(node))]
    found = []
    for name in _saved_names(node):
        try:
            value = getattr(node, f"_saved_{name}")
        except RuntimeError:
            continue
        if isinstance(value, _C.TensorBase):
            found.append((name, value))
    return found


def _lines(node: Any, names: Mapping[int, str]) -> list[str]:
    """Return the lines of a node's box; the first line is the title."""
    made = ", ".join(_shape(metadata) for metadata in node._input_metadata)
    variable = getattr(node, "variable", None)
    if variable is not None:
        return [names.get(id(variable), "leaf"), made]
    if isinstance(node, _C._FunctionBase):
        saved = [f"keeps {_shape(tensor)}" for tensor in _context_tensors(node)]
    else:
        saved = _saved(node)
    return [node.name().split("::")[-1], f"made {made}", *saved]


def _context_tensors(node: Any) -> list[Any]:
    try:
        return [t for t in node.saved_tensors if t is not None]
    except RuntimeError:
        return []  # freed


def _layers(root: Any) -> list[list[Any]]:
    """Return the nodes in layers: each node is below all nodes that lead to it. A layer has the order of discovery."""
    missing: dict[Any, int] = {root: 0}
    pending = [root]
    while pending:
        for child, _ in pending.pop().next_functions:
            if child is not None:
                if child not in missing:
                    missing[child] = 0
                    pending.append(child)
                missing[child] += 1
    layers, row = [], [root]
    while row:
        layers.append(row)
        below = []
        for node in row:
            for child, _ in node.next_functions:
                if child is not None:
                    missing[child] -= 1
                    if missing[child] == 0:
                        below.append(child)
        row = below
    return layers


def _rows(layers: list[list[Any]], max_nodes: int) -> list[list[Any]]:
    """Return the first nodes, in their layers."""
    rows = []
    for layer in layers:
        drawn = layer[:max_nodes]
        rows += [drawn[i : i + ACROSS] for i in range(0, len(drawn), ACROSS)]
        max_nodes -= len(drawn)
    return rows


def draw_graph(tensor: Any, params: Mapping[str, Any] | None = None, *, max_nodes: int = 200) -> Picture:
    """Draw the graph that backward would traverse: an SVG picture, which a notebook shows.

    A box is a node. It shows the result of the op and the values that the graph saved for the gradient. A click opens
    the source of the formula. Arrows have the direction of the gradients; green boxes are leaves.

    Args:
        tensor: a tensor with a graph, such as a loss.
        params: names for leaves: ``dict(model.named_parameters())``.
        max_nodes: the number of nodes to draw, beginning at the tensor; the picture shows the number of omitted nodes.

    Returns:
        A picture: ``svg()`` is its text.

    Raises:
        TypeError: the argument is not a tensor, but for example a model, or a container of tensors.
        RuntimeError: the tensor has no graph.

    Example:
        >>> w = torch.ones(3, requires_grad=True)
        >>> torch.debug.draw_graph((w * 2).sum(), params={"w": w})
        [picture] the graph of SumBackward0: 3 nodes
    """
    expect_tensor("draw_graph", tensor)
    if tensor.grad_fn is None:
        raise RuntimeError("draw_graph: the tensor has no graph. Hint: it is a leaf, detached, or made under no_grad.")
    names = {id(leaf): name for name, leaf in (params or {}).items()}
    layers = _layers(tensor.grad_fn)
    rows = _rows(layers, max_nodes)
    texts = {node: _lines(node, names) for row in rows for node in row}
    count = sum(map(len, layers))
    caption = f"the graph of {tensor.grad_fn.name()}: {count} nodes"
    picture, places = _laid_out_by_dot(texts, caption) or _laid_out_in_rows(rows, texts, caption)
    for node, place in places.items():  # over the arrows
        _draw_node(picture, node, texts[node], *place)
    if count > len(places):
        hidden = f"... {count - len(places)} nodes more: max_nodes={count}"
        picture.text(picture.width / 2, picture.height, hidden, anchor="middle", fill=MUTED)
        picture.height += GAP
    return picture


Places = dict[Any, tuple[float, float]]


def _height(lines: list[str]) -> int:
    return len(lines) * LINE_HEIGHT + 2 * PAD


def _laid_out_by_dot(texts: dict[Any, list[str]], caption: str) -> tuple[Picture, Places] | None:
    """Return a picture with arrows, and where its boxes belong; None if ``dot`` is not installed."""
    numbers = {node: i for i, node in enumerate(texts)}
    edges = [(i, numbers[child]) for node, i in numbers.items() for child, _ in node.next_functions if child in numbers]
    layout = dot_layout([(WIDTH, _height(lines)) for lines in texts.values()], edges)
    if layout is None:
        return None
    picture = Picture(layout.width + 2 * GAP, layout.height + 2 * GAP, caption)
    for points in layout.arrows:
        picture.curve([(x + GAP, y + GAP) for x, y in points])
    return picture, {node: (x + GAP, y + GAP) for node, (x, y) in zip(texts, layout.boxes, strict=True)}


def _laid_out_in_rows(rows: list[list[Any]], texts: dict[Any, list[str]], caption: str) -> tuple[Picture, Places]:
    """Return a picture with arrows, and where its boxes belong."""
    heights = [max(_height(texts[node]) for node in row) for row in rows]
    width = max(len(row) for row in rows) * (WIDTH + GAP) + GAP
    picture = Picture(width, sum(heights) + (len(rows) + 1) * 2 * GAP, caption)
    places: Places = {}
    y = 2.0 * GAP
    for row, height in zip(rows, heights, strict=True):
        left = (width - len(row) * (WIDTH + GAP) + GAP) / 2
        places |= {node: (left + position * (WIDTH + GAP), y) for position, node in enumerate(row)}
        y += height + 2 * GAP
    for node, (x, top) in places.items():
        for child, _ in node.next_functions:
            if child in places:
                child_x, child_top = places[child]
                picture.arrow(x + WIDTH / 2, top + _height(texts[node]), child_x + WIDTH / 2, child_top - 2)
    return picture, places


@cache
def _uri(file: str) -> str:
    return Path(file).as_uri() if Path(file).is_absolute() else file


def _draw_node(picture: Picture, node: Any, lines: list[str], x: float, y: float) -> None:
    is_leaf = hasattr(node, "variable")
    fill, line = LEAF if is_leaf else FUNCTION if isinstance(node, _C._FunctionBase) else OP
    sources = [] if is_leaf else formula_source(node)
    with contextlib.ExitStack() as stack:
        if sources:
            file, line_number = sources[0].rsplit(":", 1)
            stack.enter_context(picture.link(f"{_uri(file)}#L{line_number}", "\n".join(sources)))
        picture.box(x, y, WIDTH, _height(lines), fill=fill, line=line)
        for i, text in enumerate(lines):
            cut = text if len(text) <= LONGEST else text[: LONGEST - 3] + "..."
            baseline = y + PAD + (i + 0.75) * LINE_HEIGHT
            picture.text(x + PAD, baseline, cut, size=12, mono=True, bold=i == 0, fill=INK if i == 0 else MUTED)
