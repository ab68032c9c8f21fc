"""Splitting a module into parts that an accelerator runs and parts that the processor runs.

A table of supported calls (``operator_support``) says which nodes the accelerator can run. The splitter goes through
the graph and takes nodes of one kind for as long as it can, then nodes of the other kind, so that there are few parts.

Mirrors: torch/fx/passes/splitter_base.py
Leaves out: reading the settings from the command line of the program, and the merging of overlapping groups, which
    PyTorch does only if a variable of the environment asks for it.

This file is more than 500 lines long because the splitter is one class with many methods; each is short.
"""

from __future__ import annotations

import copy
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from reftorch import _places
from reftorch.autograd import no_grad
from reftorch.fx.graph_module import GraphModule
from reftorch.fx.node import Node
from reftorch.fx.passes.graph_drawer import FxGraphDrawer
from reftorch.fx.passes.graph_manipulation import get_size_of_node
from reftorch.fx.passes.operator_support import OperatorSupportBase
from reftorch.fx.passes.shape_prop import ShapeProp
from reftorch.fx.passes.split_utils import move_non_tensor_nodes_on_boundary, split_by_tags
from reftorch.fx.passes.splitter_base.nodes_finder import (  # noqa: F401
    ALL_SUFFIX,
    NODES_SUFFIX,
    FxNetAccNodesFinder,
    NodeEvent,
    NodeEventTracker,
)
from reftorch.fx.passes.tools_common import (
    CALLABLE_NODE_OPS,
    FxNetAccFusionsFinder,
    NodeList,
    NodeSet,
    Tensors,
    get_node_target,
    is_node_output_tensor,
)
from reftorch.nn import Module

__all__ = [
    "FxNetAccNodesFinder",
    "FxNetSplitterInternalError",
    "NodeEvent",
    "NodeEventTracker",
    "SplitResult",
    "Subgraph",
    "generate_inputs_for_submodules",
]

DEFAULT_MIN_ACC_MODULE_SIZE = 1
DEFAULT_SKIP_FUSION = False
DEFAULT_ALLOW_NON_TENSOR = False


@dataclass
class _SplitterSettingBase:
    """How to split.

    Attributes:
        min_acc_module_size: the least number of nodes of a part for the accelerator; a smaller one joins its neighbour.
        skip_fusion: whether nodes that pass each other other values than tensors may come into different parts.
        allow_non_tensor: whether values that are not tensors may pass between accelerator and processor.
        max_acc_splits: the largest number of parts, if it is positive.
        move_non_tensor_nodes_on_boundary: whether nodes move so that only tensors leave a part of the accelerator.
    """

    min_acc_module_size: int = DEFAULT_MIN_ACC_MODULE_SIZE
    skip_fusion: bool = DEFAULT_SKIP_FUSION
    allow_non_tensor: bool = DEFAULT_ALLOW_NON_TENSOR
    max_acc_splits: int = -1
    move_non_tensor_nodes_on_boundary: bool = False


class FxNetSplitterInternalError(Exception):
    """The nodes cannot be divided into parts.

    Mirrors torch/fx/passes/splitter_base.py, ``FxNetSplitterInternalError``.
    """


@dataclass
class Subgraph:
    """The nodes of one part, and whether the accelerator runs it.

    Mirrors torch/fx/passes/splitter_base.py, ``Subgraph``.
    """

    is_acc: bool
    nodes: NodeList
    device_ordinal: int | None = None


class SplitResult(NamedTuple):
    """A module that was split, the inputs of its parts by name, and how the names of the processor's parts begin.

    Mirrors torch/fx/passes/splitter_base.py, ``SplitResult``.
    """

    split_module: GraphModule
    submodule_inputs: dict[str, Any]
    non_acc_submodule_prefix: str


def generate_inputs_for_submodules(
    model: Module, inputs: Sequence[Any], target_submodules: Iterable[str], deepcopy: bool = False
) -> dict[str, Any]:
    """Run a model and return the inputs that some of its submodules got.

    Args:
        model: the model.
        inputs: its inputs.
        target_submodules: the paths of the submodules.
        deepcopy: whether to return copies, which a write in place does not change.

    Returns:
        The positional arguments of each submodule by path. A submodule that was not called is missing, and of several
        calls the last one counts.

    Example:
        >>> import reftorch as torch
        >>> from reftorch.fx.passes.splitter_base import generate_inputs_for_submodules
        >>> model = torch.nn.Sequential(torch.nn.ReLU(), torch.nn.Tanh())
        >>> generate_inputs_for_submodules(model, [torch.tensor([-1.0, 2.0])], ["1"])
        {'1': (tensor([0., 2.]),)}

    Mirrors torch/fx/passes/splitter_base.py, ``generate_inputs_for_submodules``.
    """
    targets = set(target_submodules)
    results: dict[str, Any] = {}

    def record(name: str) -> Callable[[Module, Any], None]:
        def hook(module: Module, module_inputs: Any) -> None:
            results[name] = copy.deepcopy(module_inputs) if deepcopy else module_inputs

        return hook

    with ExitStack() as hooks, no_grad():
        for name, module in model.named_modules():
            if name in targets:
                hooks.enter_context(module.register_forward_pre_hook(record(name)))
        model(*inputs)
    return results


class _SplitterBase:
    """Splits a module. A subclass may define ``_lower_model_to_backend`` and ``_find_culprit``.

    Args:
        module: the module.
        sample_input: its inputs, with which the types of all results are noted.
        operator_support: says which nodes the accelerator supports.
        settings: how to split.
        non_acc_submodule_name: how the names of the processor's parts begin.
        return_tuple: whether parts with one result return a tuple too.
        nodes_finder: finds the nodes for the accelerator.

    Example:
        >>> import reftorch as torch
        >>> from reftorch.fx.passes.operator_support import OperatorSupport
        >>> from reftorch.fx.passes.splitter_base import _SplitterBase, _SplitterSettingBase
        >>> module = torch.fx.symbolic_trace(lambda a: torch.sin(a) + torch.cos(a))
        >>> support = OperatorSupport({"torch.sin": None, "torch.cos": None})
        >>> splitter = _SplitterBase(module, [torch.zeros(1)], support, _SplitterSettingBase())
        >>> print(splitter().code.strip())
        Got 1 acc subgraphs and 1 non-acc subgraphs
        def forward(self, a):
            _run_on_acc_0 = self._run_on_acc_0(a);  a = None
            getitem = _run_on_acc_0[0]
            getitem_1 = _run_on_acc_0[1];  _run_on_acc_0 = None
            _run_on_cpu_1 = self._run_on_cpu_1(getitem, getitem_1);  getitem = getitem_1 = None
            return _run_on_cpu_1

    Mirrors torch/fx/passes/splitter_base.py, ``_SplitterBase``.
    """

    PCIe_BW = 100 * 2**30  # bytes per second between processor and accelerator, for the preview's estimate

    def __init__(
        self,
        module: GraphModule,
        sample_input: Sequence[Any],
        operator_support: OperatorSupportBase,
        settings: _SplitterSettingBase,
        non_acc_submodule_name: str = "_run_on_cpu_",
        return_tuple: bool = False,
        nodes_finder: FxNetAccNodesFinder | None = None,
    ) -> None:
        if not isinstance(module, GraphModule):
            raise AssertionError(f"Expected GraphModule, got {type(module)}")
        self.module = module
        ShapeProp(module).propagate(*sample_input)
        self.settings = settings
        self.operator_support = operator_support
        self.sample_input = sample_input
        finder = nodes_finder or FxNetAccNodesFinder(module, operator_support, settings.allow_non_tensor)
        self.acc_nodes = finder()
        self.fusions: dict[Node, NodeSet] = {}
        if not settings.skip_fusion:
            self.fusions = FxNetAccFusionsFinder(module, self.acc_nodes)()
        self.deps = self.find_deps()
        self.update_deps_for_fusions()
        self.non_acc_submodule_name = non_acc_submodule_name
        self._node_submodule_map: dict[str, str] = {}
        self._return_tuple = return_tuple
        self.tags: list[str] = []

    def get_node_submodule_map(self) -> dict[str, str]:
        """Return the name of the part of each node by the node's name."""
        return self._node_submodule_map

    # What must come before what

    def find_deps(self) -> dict[Node, NodeSet]:
        """Return the nodes that compute something and whose results a node uses, for each node."""
        deps: dict[Node, NodeSet] = defaultdict(set)
        for node in self.module.graph.nodes:
            if node.op != "output":
                deps[node].update(used for used in node.all_input_nodes if used.op in CALLABLE_NODE_OPS)
        return deps

    def update_deps_for_fusions(self) -> None:
        """Let each node of a group need what one of them needs, and let the users of one need them all."""
        for node, fusion in self.fusions.items():
            for member in fusion:
                self.deps[node].update(self.deps[member] - fusion)
                for user in member.users:
                    if user not in fusion:
                        self.deps[user].add(node)

    # Joining nodes to a part, for subclasses

    def find_reverse_deps(self, tag_id: int | None = None) -> dict[Node, NodeSet]:
        """Return the users of each node; with a number, only those in the parts before the part of this number."""
        result: dict[Node, NodeSet] = defaultdict(set)
        for node in self.module.graph.nodes:
            if node.op not in CALLABLE_NODE_OPS:
                continue
            for user in node.users:
                if user.op in CALLABLE_NODE_OPS and (tag_id is None or int(user.tag.split("_")[-1]) < tag_id):
                    result[node].add(user)
        return result

    def update_reverse_deps_for_fusions(self, deps: dict[Node, NodeSet]) -> None:
        """Let all nodes of a group have the users of each of them."""
        processed: NodeSet = set()
        for node, fusion in self.fusions.items():
            if node in processed:
                continue
            users = set().union(*(deps[n] for n in fusion)) - fusion
            for n in fusion:
                deps[n] = users
                for arg in n.all_input_nodes:
                    if arg not in fusion:
                        deps[arg].update(fusion)
            processed |= fusion

    def find_parent_nodes_of_subgraph(self, tag: str) -> NodeSet:
        """Return the nodes of other parts whose results a part uses."""
        return {
            arg
            for node in self.module.graph.nodes
            if node.op in CALLABLE_NODE_OPS and node.tag == tag
            for arg in node.all_input_nodes
            if arg.op in CALLABLE_NODE_OPS and arg.tag != tag
        }

    def extend_acc_subgraph(self, tag: str) -> None:
        """Move into a part of the accelerator the nodes before it that the accelerator supports and only it uses."""
        deps = self.find_reverse_deps(tag_id=int(tag.rsplit("_", maxsplit=1)[-1]))
        self.update_reverse_deps_for_fusions(deps)
        parents = self.find_parent_nodes_of_subgraph(tag)
        visited: NodeSet = set()
        while node := next((n for n in sorted(parents) if deps[n] <= visited and n in self.acc_nodes), None):
            node.tag = tag  # type: ignore[attr-defined]
            parents.remove(node)
            visited.add(node)
            parents |= self.fusions.get(node, set()) - visited
            parents |= {arg for arg in node.all_input_nodes if arg.op in CALLABLE_NODE_OPS} - visited

    # Splitting

    def starter_nodes(self) -> tuple[NodeSet, NodeSet]:
        """Return the processor's and the accelerator's nodes that use an input, an attribute or nothing."""
        starters: NodeSet = set()
        for node in self.module.graph.nodes:
            if node.op == "call_function" and not node.all_input_nodes:
                starters.add(node)
            elif node.op in ("placeholder", "get_attr"):
                starters.update(user for user in node.users if user.op in CALLABLE_NODE_OPS)
        return starters - self.acc_nodes, starters & self.acc_nodes

    def put_nodes_into_subgraphs(self) -> list[Subgraph]:
        """Divide the nodes into parts, by turns for the processor and for the accelerator.

        Raises:
            FxNetSplitterInternalError: there is nothing to divide, or nodes wait for each other.
        """
        cpu_nodes, acc_nodes = self.starter_nodes()
        visited: NodeSet = set()
        is_acc = all(self.deps[node] for node in cpu_nodes)
        current: NodeList = []
        subgraphs: list[Subgraph] = []
        while cpu_nodes or acc_nodes:
            candidates = acc_nodes if is_acc else cpu_nodes
            node = next((n for n in sorted(candidates) if self.deps[n] <= visited), None)
            if node is None:
                if not current:
                    raise FxNetSplitterInternalError("Subgraph can't be empty")
                subgraphs.append(Subgraph(is_acc, current))
                is_acc, current = not is_acc, []
                continue
            candidates.remove(node)
            visited.add(node)
            current.append(node)
            candidates.update(self.fusions.get(node, set()) - visited)
            users = {user for user in node.users if user.op in CALLABLE_NODE_OPS}
            acc_nodes |= users & self.acc_nodes
            cpu_nodes |= users - self.acc_nodes
        if current:
            subgraphs.append(Subgraph(is_acc, current))
        if not subgraphs:
            raise FxNetSplitterInternalError("Couldn't create subgraphs")
        return subgraphs

    def remove_small_acc_subgraphs(self, subgraphs: list[Subgraph]) -> list[Subgraph]:
        """Join the parts of the accelerator that are too small with those of the processor beside them."""
        result: list[Subgraph] = []
        least = self.settings.min_acc_module_size
        for subgraph in subgraphs:
            large_enough = len(subgraph.nodes) >= least
            if subgraph.is_acc and not large_enough:
                print(
                    f"Eliminating acc subgraph because it's smaller than the threshold: {len(subgraph.nodes)} < {least}"
                )
                subgraph.is_acc = False
                joined = bool(result)
            else:
                joined = not subgraph.is_acc and bool(result) and not result[-1].is_acc
            if joined:
                result[-1].nodes.extend(subgraph.nodes)
            else:
                result.append(subgraph)
        return result

    def tag(self, subgraphs: list[Subgraph]) -> None:
        """Write the name of each part on its nodes, in ``node.tag``.

        Raises:
            FxNetSplitterInternalError: a node has a tag already.
        """
        self.tags = []
        for i, subgraph in enumerate(subgraphs):
            tag = f"{'_run_on_acc_' if subgraph.is_acc else self.non_acc_submodule_name}{i}"
            self.tags.append(tag)
            for node in subgraph.nodes:
                if hasattr(node, "tag"):
                    raise FxNetSplitterInternalError(f"Node {node} was already tagged")
                node.tag = tag  # type: ignore[attr-defined]
                self._node_submodule_map[node.name] = tag

    def split(self, remove_tag: bool = False) -> GraphModule:
        """Return the module with a submodule for each tag.

        Args:
            remove_tag: whether the nodes lose their tags, so that they can be tagged again.
        """
        split_module = split_by_tags(self.module, self.tags, return_tuple=self._return_tuple)
        if remove_tag:
            for node in self.module.graph.nodes:
                if hasattr(node, "tag"):
                    del node.tag
        return split_module

    def __call__(self) -> GraphModule:
        """Return the module with a submodule for each part."""
        subgraphs = self.put_nodes_into_subgraphs()
        if self.settings.move_non_tensor_nodes_on_boundary:
            move_non_tensor_nodes_on_boundary(subgraphs)
        subgraphs = self.remove_small_acc_subgraphs(subgraphs)
        acc = sum(subgraph.is_acc for subgraph in subgraphs)
        print(f"Got {acc} acc subgraphs and {len(subgraphs) - acc} non-acc subgraphs")
        self.tag(subgraphs)
        return self.split()

    def generate_split_results(self) -> SplitResult:
        """Split, and run the new module to find the inputs of its parts.

        Raises:
            ValueError: there are more parts than the settings allow.
        """
        split_module = self()
        names = [name for name, _ in split_module.named_children()]
        if 0 < self.settings.max_acc_splits < len(names):
            raise ValueError(
                "Cannot fulfill max_acc_splits limit. "
                "This may cause split fragmentation and result in performance issues."
            )
        inputs = generate_inputs_for_submodules(split_module, self.sample_input, names)
        return SplitResult(split_module, inputs, self.non_acc_submodule_name)

    # Previews

    def _lower_model_to_backend(self, mod: GraphModule, inputs: Tensors) -> Module:
        """Convert a part for the accelerator."""
        return mod

    def _find_culprit(self, mod: GraphModule, inputs: Tensors) -> str:
        """Return which node of a part cannot be converted or run."""
        return "Unable to find a culprit because _find_culprit() function is not implemented."

    def node_support_preview(self, dump_graph: bool = False) -> str:
        """Print and return which calls the accelerator supports and which it does not, with the dtypes of arguments.

        Args:
            dump_graph: whether to write a picture with the supported nodes in green, ``node_support.dot``.
        """
        submodules = dict(self.module.named_modules())
        supported: NodeSet = set()
        types: dict[bool, dict[str, dict[Any, None]]] = {True: {}, False: {}}  # by support and by name of the call
        for node in self.module.graph.nodes:
            if node.op not in CALLABLE_NODE_OPS:
                continue
            is_supported = self.operator_support.is_node_supported(submodules, node)
            supported.update([node] if is_supported else [])
            positional = [_dtype_of(arg) for arg in node.args]
            while positional and positional[-1] is None:
                positional.pop()
            named = tuple((name, _dtype_of(arg)) for name, arg in node.kwargs.items() if isinstance(arg, Node))
            target = get_node_target(submodules, node)
            types[is_supported].setdefault(target, {}).setdefault((tuple(positional), named))
        if dump_graph:
            drawer = _SupportDrawer(self.module, supported)
            Path("node_support.dot").write_text(drawer.get_main_dot_graph().to_string())
        reports = ""
        for is_supported, title in ((True, "Supported"), (False, "Unsupported")):
            reports += f"\n{title} node types in the model:\n"
            for target, dtypes in types[is_supported].items():
                reports += "".join(f"{target}: ({positional}, {dict(named)})\n" for positional, named in dtypes)
        print(reports)
        return reports

    def split_preview(self, dump_graph: bool = False) -> str:
        """Split, try to convert and run each part of the accelerator, and print and return what happened.

        Args:
            dump_graph: whether to write pictures of the new module and its parts, ``preview*.dot``.
        """

        def count(when: str) -> str:
            acc = sum(subgraph.is_acc for subgraph in subgraphs)
            return (
                f"{when} removing small acc subgraphs, total {len(subgraphs)} subgraphs are created: "
                f"{acc} acc subgraphs and {len(subgraphs) - acc} cpu subgraphs.\n"
            )

        subgraphs = self.put_nodes_into_subgraphs()
        reports = count("Before")
        subgraphs = self.remove_small_acc_subgraphs(subgraphs)
        reports += count("After")
        self.tag(subgraphs)
        for tag, subgraph in zip(self.tags, subgraphs, strict=True):
            reports += f"{tag}: {len(subgraph.nodes)} node(s)\n"
        split_module = self.split(remove_tag=True).eval()
        if dump_graph:
            for name, dot in FxGraphDrawer(split_module, "preview", ignore_getattr=True).get_all_dot_graphs().items():
                Path(f"{name}.dot").write_text(dot.to_string())
        rates: dict[str, float] = {"": self.PCIe_BW}
        for name in [tag for tag in self.tags if "acc" in tag]:
            rates[name], report = self._preview_part(split_module, name)
            reports += f"\nProcessing acc submodule {name}\n{report}"
        bottleneck = min(rates, key=rates.__getitem__)
        reports += (
            f"\nTheoretical max qps (bounds by PCIe bandwidth) for this model is {rates[bottleneck]}, "
            f"bottleneck is submodule {bottleneck}."
        )
        print(reports)
        return reports

    def _preview_part(self, split_module: GraphModule, name: str) -> tuple[float, str]:
        """Return how often a second the tensors of a part can be copied, and what happens when the part runs."""
        part: Any = getattr(split_module, name)
        inputs = generate_inputs_for_submodules(split_module, self.sample_input, [name])[name]
        ShapeProp(part).propagate(*inputs)
        groups = {"Input": part.graph.find_nodes(op="placeholder"), "Output": part.graph.output_node().all_input_nodes}
        report = ""
        sizes = []
        for kind, nodes in groups.items():
            report += f"Checking {kind.lower()}s...\n"
            for node in nodes:
                if not is_node_output_tensor(node):
                    report += f"{kind} {node.name} is not a tensor, this might cause problems during lowering!\n"
            sizes.append(sum(get_size_of_node(part, node).output_size for node in nodes if is_node_output_tensor(node)))
        rate = self.PCIe_BW / max(*sizes, 1)
        report += (
            f"Total input size in bytes is {sizes[0]}, total output size in bytes is {sizes[1]}, "
            f"theoretical max qps (bounds by PCIe bandwidth) for this submodule is {rate}.\n"
        )
        doing = "lowering"
        try:
            lowered = self._lower_model_to_backend(part, inputs)
            doing = "inference"
            lowered(*inputs)
        except RuntimeError:
            return rate, f"{report}Run into an error during {doing}!\n{self._find_culprit(part, inputs)}"
        return rate, f"{report}Lowering and running succeed!\n"


def _dtype_of(arg: Any) -> Any:
    """Return the dtype of a node's result; None for what is no node or no tensor."""
    return getattr(arg.meta.get("tensor_meta"), "dtype", None) if isinstance(arg, Node) else None


class _SupportDrawer(FxGraphDrawer):
    """Draws supported nodes in green and other calls in red."""

    def __init__(self, module: GraphModule, supported: NodeSet) -> None:
        self._supported = supported
        super().__init__(module, "node_support", ignore_getattr=True)

    def _get_node_color(self, node: Node) -> str:
        if node in self._supported:
            return "chartreuse1"
        return "crimson" if node.op in CALLABLE_NODE_OPS else "AliceBlue"


_places.split(__name__)
