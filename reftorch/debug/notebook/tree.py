"""The nodes of a call tree: made from a recording, filtered, folded.

Mirrors: nothing in PyTorch: its developers bring their own tools.
Left out: times.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from types import CodeType

from reftorch.debug.common.display import CELL_FILE, scrub
from reftorch.debug.core.symbols import Symbol

LONGEST_PERIOD = 4


@dataclass
class Node:
    """A call, or `count` equal calls in a row. A node without a name repeats its children `count` times."""

    name: str
    file: str
    line: int
    count: int = 1
    children: list[Node] = field(default_factory=list)

    def size(self) -> int:
        """The number of calls in this subtree."""
        return self.count * ((1 if self.name else 0) + sum(child.size() for child in self.children))


Call = tuple[int, int, "CodeType | int"]
Rule = Callable[[Node], bool]


def build(calls: Iterable[Call], symbols: dict[int, Symbol]) -> list[Node]:
    """Make nodes from calls in preorder: (depth, count, code object or offset)."""
    roots: list[Node] = []
    path: list[list[Node]] = [roots]
    for depth, count, key in calls:
        if isinstance(key, CodeType):
            node = Node(python_name(key), key.co_filename, key.co_firstlineno, count)
        else:
            node = Node(*symbols[key], count=count)
        del path[depth + 1 :]
        path[depth].append(node)
        path.append(node.children)
    return roots


def python_name(code: CodeType) -> str:
    if code.co_name == "<module>":
        return "<cell>" if CELL_FILE.match(code.co_filename) else "<module>"
    return getattr(code, "co_qualname", code.co_name)


def hoist(nodes: Iterable[Node], hidden: Rule) -> list[Node]:
    """Remove the hidden nodes; their children move up into their place.

    `hidden` is asked about a node whose children are those that stay."""
    out: list[Node] = []
    for node in nodes:
        shown = Node(node.name, node.file, node.line, node.count, hoist(node.children, hidden))
        if not hidden(shown):
            out.append(shown)
        elif node.count == 1 or not shown.children:
            out += shown.children
        else:
            out.append(Node("", "", 0, node.count, shown.children))
    return out


def keep(nodes: Iterable[Node], wanted: Rule) -> list[Node]:
    """Keep only the nodes that are wanted, and their ancestors."""
    out = []
    for node in nodes:
        children = keep(node.children, wanted)
        if children or wanted(node):
            out.append(Node(node.name, node.file, node.line, node.count, children))
    return out


def fold(nodes: Iterable[Node]) -> list[Node]:
    """Replace equal neighbours by one node with a count, and also equal runs of up to LONGEST_PERIOD nodes."""
    return [node for _, node in _Folder().fold(nodes)]


# A node and the number of its shape: equal numbers for nodes that show the same, whatever their own counts.
Numbered = tuple[int, Node]


class _Folder:
    """Numbers shapes as it meets them, so that comparing two subtrees is comparing two numbers."""

    def __init__(self) -> None:
        self._shapes: dict[tuple[object, ...], int] = {}

    def _number(self, node: Node, children: list[Numbered]) -> Numbered:
        shape = (node.name, node.file, node.line, *((child.count, number) for number, child in children))
        node.children = [child for _, child in children]
        return self._shapes.setdefault(shape, len(self._shapes)), node

    def fold(self, nodes: Iterable[Node]) -> list[Numbered]:
        out: list[Numbered] = []
        for node in nodes:
            children = self.fold(node.children)
            if not node.name and len(children) == 1:  # a repeated single child needs no group
                ((number, only),) = children
                out.append((number, Node(only.name, only.file, only.line, only.count * node.count, only.children)))
            else:
                out.append(self._number(Node(node.name, node.file, node.line, node.count), children))
            any(self._fold_tail(out, period) for period in range(1, LONGEST_PERIOD + 1))
        return out

    def _fold_tail(self, nodes: list[Numbered], period: int) -> bool:
        """Count and remove the last `period` nodes if they repeat those before them; return whether they do."""
        last, before = nodes[-period:], nodes[-2 * period : -period]
        if period == 1:
            if before and before[0][0] == last[0][0]:
                before[0][1].count += nodes.pop()[1].count
                return True
            return False
        if [(number, node.count) for number, node in before] == [(number, node.count) for number, node in last]:
            nodes[-2 * period :] = [self._number(Node("", "", 0, 2), last)]
            return True
        group = nodes[-period - 1][1] if len(nodes) > period else None
        if group is None or group.name or len(group.children) != period:
            return False
        if self._number(Node("", "", 0), last)[0] != nodes[-period - 1][0]:
            return False
        group.count += 1
        del nodes[-period:]
        return True


def cut(nodes: list[Node], depth: int) -> list[Node]:
    """Cut the tree at `depth`; the last node of a cut branch shows the number of omitted calls."""
    out = []
    for node in nodes:
        children = cut(node.children, depth - 1) if depth > 1 else []
        if node.children and not children:
            more = sum(child.size() for child in node.children)
            children = [Node(f"... {more} more call{'s' if more > 1 else ''}", "", 0)]
        out.append(Node(node.name, node.file, node.line, node.count, children))
    return out


def place(node: Node) -> str:
    return f"{scrub(CELL_FILE.sub('<cell>', node.file))}:{node.line}" if node.file else ""


def label(node: Node) -> str:
    times = f" x{node.count}" if node.count > 1 else ""
    return (node.name or "repeated") + times
