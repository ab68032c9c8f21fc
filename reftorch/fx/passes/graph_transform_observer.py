"""Watching a pass: pictures of the graph before and after, and a note on each new node.

Mirrors: torch/fx/passes/graph_transform_observer.py
Leaves out: the compiler's settings, which switch passes off and say where pictures go by default.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from reftorch.fx.graph import Graph
from reftorch.fx.graph_module import GraphModule
from reftorch.fx.node import Node
from reftorch.fx.passes.graph_drawer import FxGraphDrawer
from reftorch.fx.traceback import NodeSource, NodeSourceAction

__all__ = ["GraphTransformObserver"]

T = TypeVar("T")


class GraphTransformObserver:
    """Watches the changes of a module's graph in a ``with`` block.

    Each node that is made in the block gets a :class:`~reftorch.fx.traceback.NodeSource` in ``node.meta["from_node"]``,
    which names the pass and the node that was replaced. At the end, if the graph has changed, two pictures in
    Graphviz's language are written: the old graph with the erased nodes in yellow, and the new one with the new nodes
    in yellow.

    Args:
        gm: the module.
        passname: the name of the pass.
        subsystem: has no effect here; in PyTorch, a part of the compiler.
        log_url: the folder for the pictures. Without a folder nothing is watched, as in PyTorch.

    Example:
        >>> import operator, os, tempfile
        >>> import reftorch as torch
        >>> from reftorch.fx.passes.graph_transform_observer import GraphTransformObserver
        >>> module = torch.fx.symbolic_trace(lambda x: x + 1)
        >>> x, add, output = module.graph.nodes
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     with GraphTransformObserver(module, "add_to_sub", log_url=folder):
        ...         with module.graph.inserting_after(add):
        ...             sub = module.graph.call_function(operator.sub, (add.args[0], -1))
        ...         _ = add.replace_all_uses_with(sub)
        ...         module.graph.erase_node(add)
        ...     len(os.listdir(folder))
        2
        >>> print(sub.meta["from_node"][0].print_readable().split(", graph_id")[0])
        (name=add, pass_name=add_to_sub, action=replace+create

    Mirrors torch/fx/passes/graph_transform_observer.py, ``GraphTransformObserver``.
    """

    __pass_count = 0

    def __init__(
        self, gm: GraphModule, passname: str, subsystem: str | None = None, log_url: str | None = None
    ) -> None:
        self.gm = gm
        self.passname = passname
        self.subsystem = subsystem
        self.log_url = log_url
        self.active = log_url is not None
        self.erased_nodes: set[str] = set()
        self.created_nodes: set[str] = set()
        self.name_to_node: dict[str, Node] = {}
        self.copied_gms: list[GraphModule] = []  # copies made in the block, which have the hooks too
        # Methods of this object would be copied with a module, together with the module that this object holds.
        self._node_creation_hook = self.get_node_creation_hook()
        self._node_erase_hook = self.get_node_erase_hook()
        self._node_replace_hook = self.get_node_replace_hook()
        self._deepcopy_hook = self.get_deepcopy_hook()
        if self.active:
            GraphTransformObserver.__pass_count += 1
            self.input_dot_graph = self._draw()

    @classmethod
    def get_current_pass_count(cls) -> int:
        """Return how many observers with a folder there have been; the names of the pictures have this number."""
        return cls.__pass_count

    def apply_gm_pass(self, pass_fn: Callable[[GraphModule], T]) -> T:
        """Watch a pass that takes the module. Return its result."""
        with self:
            return pass_fn(self.gm)

    def apply_graph_pass(self, pass_fn: Callable[[Graph], T]) -> T:
        """Watch a pass that takes the graph. Return its result."""
        with self:
            return pass_fn(self.gm.graph)

    def __enter__(self) -> GraphTransformObserver:
        if self.active:
            self.gm._register_create_node_hook(self._node_creation_hook)
            self.gm._register_erase_node_hook(self._node_erase_hook)
            self.gm._register_replace_node_hook(self._node_replace_hook)
            self.gm._register_deepcopy_hook(self._deepcopy_hook)
            self.erased_nodes.clear()
            self.created_nodes.clear()
            self.copied_gms.clear()
            self.name_to_node = {node.name: node for node in self.gm.graph.nodes}
        return self

    def __exit__(self, *exc: Any) -> None:
        if not self.active:
            return
        for gm in (*self.copied_gms, self.gm):
            gm._unregister_create_node_hook(self._node_creation_hook)
            gm._unregister_erase_node_hook(self._node_erase_hook)
            gm._unregister_replace_node_hook(self._node_replace_hook)
            gm._unregister_deepcopy_hook(self._deepcopy_hook)
        if self.created_nodes or self.erased_nodes:
            self._write(self.input_dot_graph, self.erased_nodes, "input")
            self._write(self._draw(), self.created_nodes, "output")

    def _draw(self) -> Any:
        drawer = FxGraphDrawer(self.gm, self.passname, ignore_getattr=True, ignore_parameters_and_buffers=True)
        return drawer.get_dot_graph()

    def _write(self, dot: Any, changed: set[str], which: str) -> None:
        for name, (lines, _) in dot.nodes.items():
            dot.add_node(name, lines, "yellow" if name in changed else "grey")
        path = Path(str(self.log_url)) / f"pass_{self.get_current_pass_count()}_{self.passname}_{which}_graph.dot"
        path.write_text(dot.to_string())

    # The hooks

    def get_node_creation_hook(self) -> Callable[[Node], None]:
        """Return a function that notes a new node."""

        def on_node_creation(node: Node) -> None:
            self.created_nodes.add(node.name)
            self.name_to_node[node.name] = node
            source = NodeSource(None, self.passname, NodeSourceAction.CREATE)
            node.meta.setdefault("from_node", []).append(source)

        return on_node_creation

    def get_node_erase_hook(self) -> Callable[[Node], None]:
        """Return a function that notes that a node is erased."""

        def on_node_erase(node: Node) -> None:
            self.erased_nodes.add(node.name)
            self.name_to_node.pop(node.name, None)

        return on_node_erase

    def get_node_replace_hook(self) -> Callable[[Node, str, Node], None]:
        """Return a function that writes on a node which one it replaces."""

        def on_node_replace(old: Node, new: str, user: Node) -> None:
            new_node = self.name_to_node.get(new)
            if new_node is None:
                return
            sources = new_node.meta.get("from_node", [])
            if old.name in {source.name for source in sources}:
                return  # noted for another user of the old node
            action = [NodeSourceAction.REPLACE]
            action += [NodeSourceAction.CREATE] if new in self.created_nodes else []
            created_here = (self.passname, [NodeSourceAction.CREATE])  # what the other hook has noted says less
            kept = [source for source in sources if (source.pass_name, source.action) != created_here]
            new_node.meta["from_node"] = [*kept, NodeSource(old, self.passname, action)]

        return on_node_replace

    def get_deepcopy_hook(self) -> Callable[[GraphModule], None]:
        """Return a function that notes a copy of the module."""
        return lambda gm: self.copied_gms.append(gm)
