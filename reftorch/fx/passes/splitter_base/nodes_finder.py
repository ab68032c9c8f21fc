"""Finding the nodes that an accelerator can run, and noting why each of them is or is not among these.

Mirrors: torch/fx/passes/splitter_base.py (``FxNetAccNodesFinder``, ``NodeEventTracker``)
Leaves out: PyTorch's structured trace.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from reftorch.fx.graph_module import GraphModule
from reftorch.fx.node import Node
from reftorch.fx.passes.operator_support import OperatorSupportBase
from reftorch.fx.passes.tools_common import CALLABLE_NODE_OPS, NodeList, NodeSet, is_node_output_tensor

ENV_FX_NET_ACC_SPLITTER_TRACKER_MODE = "FX_NET_ACC_SPLITTER_TRACKER_MODE"
ENV_FX_NET_ACC_SPLITTER_TRACKER_DUMP_PATH = "FX_NET_ACC_SPLITTER_TRACKER_DUMP_PATH"
ENV_FX_NET_ACC_SPLITTER_TRACKER_TRACKED_NODES = "FX_NET_ACC_SPLITTER_TRACKER_TRACKED_NODES"
NODES_SUFFIX = "_nodes.txt"
ALL_SUFFIX = "_all.txt"


class NodeEvent:
    """Something that the search for nodes decided about one node.

    Args:
        source: the node.
        desc: what was decided and why, as ``what|why``.
        dep: the node because of which, or None.

    Mirrors torch/fx/passes/splitter_base.py, ``NodeEvent``.
    """

    def __init__(self, source: Node, desc: str, dep: Node | None = None) -> None:
        self.source = source
        self.desc = desc
        self.dep = dep

    def to_str(self) -> str:
        """Return the event as one line; ``#`` stands for no other node."""
        return f"{self.source.name}: {self.desc} {self.dep.name if self.dep else '#'}"


class NodeEventTracker:
    """The events of a search, which say why a node is or is not for the accelerator.

    Args:
        tracker_mode: what :meth:`dump` writes: 0 nothing; 1 all events; 2 also the chains of events behind the nodes
            that ``FX_NET_ACC_SPLITTER_TRACKER_TRACKED_NODES`` names; 3 also those behind all nodes with several events.
        dump_prefix: the beginning of the paths of the files.

    Example:
        >>> import reftorch as torch
        >>> from reftorch.fx.passes.splitter_base import NodeEventTracker
        >>> x, relu, neg, out = torch.fx.symbolic_trace(lambda x: torch.neg(torch.relu(x))).graph.nodes
        >>> tracker = NodeEventTracker(0, "")
        >>> tracker.add(relu, "init_cpu|operator_support")
        >>> tracker.add(neg, "acc_del|user_of_new_cpu_node", relu)
        >>> tracker.print_node("neg", recursive=True)
        neg: acc_del|user_of_new_cpu_node relu
        | relu: init_cpu|operator_support #

    Mirrors torch/fx/passes/splitter_base.py, ``NodeEventTracker``.
    """

    def __init__(self, tracker_mode: int, dump_prefix: str) -> None:
        self.tracker_mode = tracker_mode
        self.dump_prefix = dump_prefix
        self.events: list[NodeEvent] = []
        self.node_events: dict[str, list[int]] = {}  # the places in `events` of each node
        self.writer: Callable[[str], object] = print

    def add(self, node: Node, desc: str, dep: Node | None = None) -> None:
        """Note an event."""
        self.node_events.setdefault(node.name, []).append(len(self.events))
        self.events.append(NodeEvent(node, desc, dep))

    def _events_of(self, node_name: str) -> list[NodeEvent]:
        return [self.events[i] for i in self.node_events.get(node_name, [])]

    def print_node(
        self, node_name: str, recursive: bool = False, tab: str = "", writer: Callable[[str], object] | None = None
    ) -> None:
        """Print the events of a node.

        Args:
            node_name: the node's name.
            recursive: whether to print the events of the nodes that caused these, too.
            tab: what stands before each line.
            writer: prints a line.
        """
        for event in self._events_of(node_name):
            (writer or self.writer)(tab + event.to_str())
            if recursive and event.dep is not None:
                self.print_node(event.dep.name, recursive=True, tab=f"| {tab}", writer=writer)

    def to_dict(self) -> dict[str, list[str]]:
        """Return the events of each node as lines."""
        return {name: [event.to_str() for event in self._events_of(name)] for name in self.node_events}

    def print_all(self, writer: Callable[[str], object] | None = None) -> None:
        """Print the events of all nodes."""
        for name in self.node_events:
            (writer or self.writer)(f"Node: {name}:")
            self.print_node(name, recursive=False, tab="  ", writer=writer)

    def dump(self) -> None:
        """Write the files that the mode asks for."""
        lines: list[str] = []
        if self.tracker_mode >= 1:
            self.print_all(lines.append)
            Path(self.dump_prefix + ALL_SUFFIX).write_text("".join(f"{line}\n" for line in lines))
        if self.tracker_mode in (2, 3):
            names = os.environ.get(ENV_FX_NET_ACC_SPLITTER_TRACKER_TRACKED_NODES, "").split(",")
            if self.tracker_mode == 3:
                names = [name for name, events in self.node_events.items() if len(events) > 1]
            lines = []
            for name in names:
                lines.append(f"===== Tracking node {name} =====")
                self.print_node(name, recursive=True, tab="|-", writer=lines.append)
                lines.append(f"===== End of tracking node {name} =====")
            Path(self.dump_prefix + NODES_SUFFIX).write_text("".join(f"{line}\n" for line in lines))


class FxNetAccNodesFinder:
    """Finds the nodes for the accelerator: those that it supports, without those that pass other values than tensors.

    A value that is no tensor, such as a size, must not pass between accelerator and processor. If a node on one side
    makes such a value for the other side, the processor runs the nodes on both ends.

    Args:
        module: the module, for which ``ShapeProp`` has noted the types of results.
        operator_support: says which nodes the accelerator supports.
        allow_non_tensor: whether such values may pass.

    Mirrors torch/fx/passes/splitter_base.py, ``FxNetAccNodesFinder``.
    """

    def __init__(self, module: GraphModule, operator_support: OperatorSupportBase, allow_non_tensor: bool) -> None:
        self.module = module
        self.operator_support = operator_support
        self.allow_non_tensor = allow_non_tensor
        self.acc_nodes: NodeSet = set()
        self.tracker = NodeEventTracker(
            int(os.environ.get(ENV_FX_NET_ACC_SPLITTER_TRACKER_MODE, "0")),
            os.environ.get(ENV_FX_NET_ACC_SPLITTER_TRACKER_DUMP_PATH, "_fx_net_tracker"),
        )

    def reduce_acc_nodes_non_tensor_input_helper(self, cpu_worklist: NodeList) -> None:
        """Give the users of the listed nodes to the processor, and then those of users whose results are no tensors."""
        while cpu_worklist:
            node = cpu_worklist.pop(0)
            for user in node.users:
                if user not in self.acc_nodes:
                    continue
                self.acc_nodes.remove(user)
                self.tracker.add(user, "acc_del|user_of_new_cpu_node", node)
                if not is_node_output_tensor(user):
                    self.tracker.add(user, "new_cpu_node|non_tensor_output")
                    cpu_worklist.append(user)

    def reduce_acc_nodes_non_tensor_input(self) -> None:
        """Give to the processor the nodes that use values of the processor that are no tensors."""
        worklist: NodeList = []
        for node in self.module.graph.nodes:
            if node.op in CALLABLE_NODE_OPS and node not in self.acc_nodes and not is_node_output_tensor(node):
                self.tracker.add(node, "new_cpu_node|callable_non_tensor_input")
                worklist.append(node)
        self.reduce_acc_nodes_non_tensor_input_helper(worklist)

    def reduce_acc_nodes_non_tensor_output(self) -> None:
        """Give to the processor the nodes that make values for the processor that are no tensors."""
        while True:
            moved: NodeList = []
            for node in sorted(self.acc_nodes):
                user = next((user for user in node.users if user not in self.acc_nodes), None)
                if user is not None and not is_node_output_tensor(node):
                    self.tracker.add(node, "acc_del|non_tensor_output_with_cpu_user", user)
                    moved.append(node)
            if not moved:
                return
            self.acc_nodes.difference_update(moved)
            self.reduce_acc_nodes_non_tensor_input_helper(moved)

    def __call__(self) -> NodeSet:
        """Return the nodes for the accelerator."""
        submodules = dict(self.module.named_modules())
        self.acc_nodes = set()
        for node in self.module.graph.nodes:
            if node.op not in CALLABLE_NODE_OPS:
                self.tracker.add(node, "init_cpu|not_callable")
            elif not self.operator_support.is_node_supported(submodules, node):
                self.tracker.add(node, "init_cpu|operator_support")
            else:
                self.tracker.add(node, "init_acc|callable_and_operator_supported")
                self.acc_nodes.add(node)
        if not self.allow_non_tensor:
            self.reduce_acc_nodes_non_tensor_input()
            self.reduce_acc_nodes_non_tensor_output()
        self.tracker.dump()
        return self.acc_nodes
