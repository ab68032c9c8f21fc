"""Notes that new nodes take over: where the traced program stands, and from which node a node was made.

``Interpreter`` and ``Transformer`` run a graph node by node. While a node runs, its notes are the current ones, and a
tracer that records the ops of the run copies them to the nodes that it makes.

Mirrors: torch/fx/traceback.py
Leaves out: notes of compilers; the pairing of forward and backward nodes by sequence numbers.
"""

from __future__ import annotations

import contextlib
import copy
import functools
import json
import traceback
from collections.abc import Callable, Iterator
from enum import Enum
from typing import Any, NamedTuple

from reftorch.fx.graph import Graph
from reftorch.fx.node import Node

__all__ = [
    "NodeSource",
    "NodeSourceAction",
    "annotate",
    "annotate_fn",
    "format_stack",
    "get_current_meta",
    "get_current_replay_node",
    "get_graph_provenance_json",
    "has_preserved_node_meta",
    "preserve_node_meta",
    "reset_grad_fn_seq_nr",
    "set_current_meta",
    "set_current_replay_node",
    "set_grad_fn_seq_nr",
    "set_stack_trace",
]

current_meta: dict[str, Any] = {}
current_replay_node: Node | None = None
should_preserve_node_meta = False


class NodeSourceAction(Enum):
    """What a pass did to make a node.

    Mirrors torch/fx/traceback.py, ``NodeSourceAction``.
    """

    CREATE = "create"
    REPLACE = "replace"


class _NodeInfo(NamedTuple):
    name: str
    target: str
    graph_id: int


class NodeSource:
    """From which node, and by which pass, a node was made; ``node.meta["from_node"]`` is a list of these.

    Args:
        node: the node that the new one was made from, or None.
        pass_name: the pass.
        action: what the pass did.

    Example:
        >>> from reftorch.fx.traceback import NodeSource, NodeSourceAction
        >>> node = torch.fx.Graph().placeholder("x")
        >>> source = NodeSource(node, "my_pass", NodeSourceAction.CREATE)
        >>> source.name, source.pass_name, source.to_dict()["action"]
        ('x', 'my_pass', 'create')

    Mirrors torch/fx/traceback.py, ``NodeSource``.
    """

    NodeInfo = _NodeInfo

    def __init__(
        self,
        node: Node | None,
        pass_name: str = "",
        action: NodeSourceAction | list[NodeSourceAction] | None = None,
    ) -> None:
        self.pass_name = pass_name
        self.action = action if isinstance(action, list) else [action] if action is not None else []
        for one in self.action:
            if not isinstance(one, NodeSourceAction):
                raise AssertionError(f"Expected NodeSourceAction, got {type(one)}")
        self.node_info: _NodeInfo | None = None
        self.from_node: list[NodeSource] = []
        if node is not None:
            self.node_info = _NodeInfo(node.name, str(node.target), id(node.graph))
            self.from_node = copy.deepcopy(node.meta.get("from_node", []))

    @property
    def name(self) -> str:
        """The name of the former node."""
        return self.node_info.name if self.node_info else ""

    @property
    def target(self) -> str:
        """The text of the former node's target."""
        return self.node_info.target if self.node_info else ""

    @property
    def graph_id(self) -> int:
        """The id of the former node's graph."""
        return self.node_info.graph_id if self.node_info else -1

    def _get_action_string(self) -> str:
        return "+".join(action.name.lower() for action in self.action)

    def print_readable(self, indent: int = 0) -> str:
        """Return one line for this source and each of its own sources, up to ten generations.

        Mirrors torch/fx/traceback.py, ``NodeSource.print_readable``.
        """
        if indent > 9:
            return ""
        line = (
            f"{' ' * indent * 4}(name={self.name}, pass_name={self.pass_name}, "
            f"action={self._get_action_string()}, graph_id={self.graph_id})\n"
        )
        return line + "".join(source.print_readable(indent + 1) for source in self.from_node)

    __repr__ = print_readable

    def to_dict(self) -> dict[str, Any]:
        """Return the source as a dict that JSON can hold.

        Mirrors torch/fx/traceback.py, ``NodeSource.to_dict``.
        """
        return {
            "name": self.name,
            "target": self.target,
            "graph_id": self.graph_id,
            "pass_name": self.pass_name,
            "action": self._get_action_string(),
            "from_node": [source.to_dict() for source in self.from_node],
        }

    def __eq__(self, other: object) -> bool:
        return isinstance(other, NodeSource) and self.to_dict() == other.to_dict()

    def __hash__(self) -> int:
        return hash(json.dumps(self.to_dict(), sort_keys=True))


@contextlib.contextmanager
def preserve_node_meta(enable: bool = True) -> Iterator[None]:
    """Let the nodes that are made inside the block take over the current notes.

    Mirrors torch/fx/traceback.py, ``preserve_node_meta``.
    """
    global should_preserve_node_meta, current_meta
    saved, saved_meta = should_preserve_node_meta, current_meta.copy()
    try:
        should_preserve_node_meta = enable
        yield
    finally:
        should_preserve_node_meta, current_meta = saved, saved_meta


def has_preserved_node_meta() -> bool:
    """Return whether new nodes take over the current notes.

    Mirrors torch/fx/traceback.py, ``has_preserved_node_meta``.
    """
    return should_preserve_node_meta


def get_current_meta() -> dict[str, Any]:
    """Return the current notes.

    Mirrors torch/fx/traceback.py, ``get_current_meta``.
    """
    return current_meta


@contextlib.contextmanager
def set_current_meta(node: Node, pass_name: str = "") -> Iterator[None]:
    """Make the notes of a node the current ones inside the block, if they are to be preserved.

    Args:
        node: the node that is being run.
        pass_name: the pass that runs it.

    Mirrors torch/fx/traceback.py, ``set_current_meta``.
    """
    global current_meta
    if not (should_preserve_node_meta and node.meta):
        yield
        return
    saved = current_meta
    try:
        current_meta = node.meta.copy()
        current_meta["from_node"] = [NodeSource(node, pass_name, NodeSourceAction.CREATE)]
        yield
    finally:
        current_meta = saved


@contextlib.contextmanager
def annotate(annotation_dict: dict[str, Any]) -> Iterator[None]:
    """Note values for the nodes that are made inside the block, under ``meta["custom"]``.

    Args:
        annotation_dict: the values by name.

    Example:
        >>> from reftorch.fx.traceback import annotate, preserve_node_meta
        >>> def f(x):
        ...     with annotate({"part": "head"}):
        ...         return x + 1
        >>> with preserve_node_meta():
        ...     graph = torch.fx.symbolic_trace(f).graph
        >>> [node.meta.get("custom") for node in graph.nodes]
        [None, {'part': 'head'}, None]

    Mirrors torch/fx/traceback.py, ``annotate``.
    """
    saved = current_meta.get("custom")
    current_meta["custom"] = {**(saved or {}), **annotation_dict}
    try:
        yield
    finally:
        if saved is None:
            del current_meta["custom"]
        else:
            current_meta["custom"] = saved


def annotate_fn(annotation_dict: dict[str, Any]) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Return a decorator: the nodes that are made in a call of the function get notes, see :func:`annotate`.

    Mirrors torch/fx/traceback.py, ``annotate_fn``.
    """

    def decorator(function: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(function)
        def wrapper(*args: Any, **kwargs: Any) -> Any:
            with annotate(annotation_dict):
                return function(*args, **kwargs)

        return wrapper

    return decorator


def set_stack_trace(stack: list[str]) -> None:
    """Set the current stack trace, a list of lines; an empty list removes it.

    Mirrors torch/fx/traceback.py, ``set_stack_trace``.
    """
    if should_preserve_node_meta:
        if stack:
            current_meta["stack_trace"] = "".join(stack)
        else:
            current_meta.pop("stack_trace", None)


def format_stack() -> list[str]:
    """Return the current stack trace if there is one, or else that of the caller.

    Mirrors torch/fx/traceback.py, ``format_stack``.
    """
    if should_preserve_node_meta:
        return [current_meta.get("stack_trace", "")]
    return traceback.format_list(traceback.extract_stack()[:-1])


def set_grad_fn_seq_nr(seq_nr: int) -> None:
    """Note that the node of autograd with this sequence number runs now.

    Mirrors torch/fx/traceback.py, ``set_grad_fn_seq_nr``.
    """
    if should_preserve_node_meta:
        current_meta["grad_fn_seq_nr"] = [*current_meta.get("grad_fn_seq_nr", []), seq_nr]
        current_meta["in_grad_fn"] = current_meta.get("in_grad_fn", 0) + 1


def reset_grad_fn_seq_nr() -> None:
    """Note that the node of autograd that ran last has ended.

    Mirrors torch/fx/traceback.py, ``reset_grad_fn_seq_nr``.
    """
    if not should_preserve_node_meta:
        return
    level = current_meta.get("in_grad_fn", 0)
    if level <= 0:
        raise AssertionError(f"Expected current_level > 0, got {level}")
    if level == 1:
        del current_meta["in_grad_fn"], current_meta["grad_fn_seq_nr"]
    else:
        current_meta["in_grad_fn"] = level - 1
        current_meta["grad_fn_seq_nr"] = current_meta["grad_fn_seq_nr"][:-1]


@contextlib.contextmanager
def set_current_replay_node(node: Node | None) -> Iterator[None]:
    """Make a node the one whose op is being repeated, inside the block.

    Mirrors torch/fx/traceback.py, ``set_current_replay_node``.
    """
    global current_replay_node
    saved = current_replay_node
    try:
        current_replay_node = node
        yield
    finally:
        current_replay_node = saved


def get_current_replay_node() -> Node | None:
    """Return the node whose op is being repeated, or None.

    Mirrors torch/fx/traceback.py, ``get_current_replay_node``.
    """
    return current_replay_node


def get_graph_provenance_json(graph: Graph) -> dict[str, Any]:
    """Return, for each call of a function by name, the sources that the node was made from, as JSON can hold them.

    Mirrors torch/fx/traceback.py, ``get_graph_provenance_json``.
    """
    return {
        node.name: [source.to_dict() for source in node.meta["from_node"]] if "from_node" in node.meta else []
        for node in graph.nodes
        if node.op == "call_function"
    }
