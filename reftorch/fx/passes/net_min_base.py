"""Finding the nodes of a module at which two ways of running it differ.

A subclass says how to run a module in way a and in way b; the search splits the module, runs a part both ways, and
compares. ``traverse_method`` chooses the search: one node after another, a growing part, or halves of halves.

Mirrors: torch/fx/passes/net_min_base.py
Leaves out: the search for a block from both ends.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from reftorch.fx.graph_module import GraphModule
from reftorch.fx.node import Node, map_arg
from reftorch.fx.passes.shape_prop import ShapeProp
from reftorch.fx.passes.split_utils import split_by_tags
from reftorch.fx.passes.tools_common import (
    CALLABLE_NODE_OPS,
    FxNetAccFusionsFinder,
    Names,
    NodeList,
    NodeSet,
    TensorOrTensors,
    Tensors,
)

__all__ = ["FxNetMinimizerBadModuleError", "FxNetMinimizerResultMismatchError", "FxNetMinimizerRunFuncError"]


class FxNetMinimizerBadModuleError(Exception):
    """The nodes to run do not make one submodule.

    Mirrors torch/fx/passes/net_min_base.py, ``FxNetMinimizerBadModuleError``.
    """


class FxNetMinimizerRunFuncError(Exception):
    """One of the two ways failed.

    Mirrors torch/fx/passes/net_min_base.py, ``FxNetMinimizerRunFuncError``.
    """


class FxNetMinimizerResultMismatchError(Exception):
    """The results of the two ways differ.

    Mirrors torch/fx/passes/net_min_base.py, ``FxNetMinimizerResultMismatchError``.
    """


@dataclass
class _MinimizerSettingBase:
    """How to search.

    Attributes:
        accumulate_error: whether way b continues from its own results; else both continue from those of way a.
        traverse_method: ``sequential``, ``binary``, ``accumulate``, ``skip`` or ``defined``.
        find_all: whether the search goes on after the first culprit.
        return_intermediate: whether ``run_nodes`` compares the results of all nodes.
        all_outputs: whether to compare all results of a part, and not that of its last node only.
    """

    accumulate_error: bool = False
    traverse_method: str = "sequential"
    find_all: bool = False
    return_intermediate: bool = False
    all_outputs: bool = False

    def __str__(self) -> str:
        return "FX Minimizer Settings:\n" + "".join(f"\t{name}: {value}\n" for name, value in vars(self).items())


class _MinimizerBase:
    """The search. A subclass defines :meth:`run_a` and :meth:`run_b`.

    Args:
        module: the module.
        sample_input: its inputs.
        compare_fn: takes two results and the names of the nodes; returns a number and whether the results agree.
        settings: how to search.
        module_exporter: is called with inputs, module and name of a part whose results differ.
        exclusion_fn: removes nodes from the list that it gets, so that they are not run.

    Mirrors torch/fx/passes/net_min_base.py, ``_MinimizerBase``.
    """

    def __init__(
        self,
        module: GraphModule,
        sample_input: Tensors,
        compare_fn: Callable[[TensorOrTensors, TensorOrTensors, Names], tuple[float, bool]],
        settings: _MinimizerSettingBase,
        module_exporter: Callable[[Tensors, GraphModule, str], None] | None = None,
        exclusion_fn: Callable[[NodeList, int, int], None] | None = None,
    ) -> None:
        if not isinstance(module, GraphModule):
            raise AssertionError(f"Expected GraphModule, got {type(module)}")
        self.module = module
        self.sample_input = sample_input
        self.compare_fn = compare_fn
        self.settings = settings
        self.module_exporter = module_exporter
        self.exclusion_fn = exclusion_fn
        self.results: dict[Any, Any] = {}
        self.reports: list[list[str]] = []
        self.iteration = 0
        self.run_shape_prop()
        self.fusions = FxNetAccFusionsFinder(module, {n for n in module.graph.nodes if n.op in CALLABLE_NODE_OPS})()
        placeholders = [node.name for node in module.graph.find_nodes(op="placeholder")]
        if len(placeholders) != len(sample_input):
            raise AssertionError(
                f"Placeholder count ({len(placeholders)}) does not match sample_input count ({len(sample_input)})"
            )
        self.a_outputs: dict[str, Any] = dict(zip(placeholders, sample_input, strict=True))
        self.b_outputs: dict[str, Any] = dict(self.a_outputs)

    def run_shape_prop(self) -> None:
        """Note the shapes of all results, which say which nodes must stay together."""
        ShapeProp(self.module).propagate(*self.sample_input)

    def run_a(self, mod: GraphModule, inputs: Tensors, report_idx: int = -1) -> TensorOrTensors:
        """Run a part in the first way."""
        raise RuntimeError("run_a() is not implemented.")

    def run_b(self, mod: GraphModule, inputs: Tensors, report_idx: int = -1) -> TensorOrTensors:
        """Run a part in the second way."""
        raise RuntimeError("run_b() is not implemented.")

    # Running a part

    def _tag_nodes(self, selected_nodes: NodeSet) -> None:
        for node in self.module.graph.nodes:
            if node.op not in CALLABLE_NODE_OPS:
                continue
            used = [n for n in node.all_input_nodes if n.op in CALLABLE_NODE_OPS]
            if node in selected_nodes:
                node.tag = "minimize"
            elif any(n.tag in ("minimize", "main_1") for n in used):
                node.tag = "main_1"
            else:
                node.tag = "main_0"

    def _build_submodule(self, nodes: NodeSet) -> tuple[GraphModule, str]:
        """Split the module into what runs before nodes, the nodes, and what runs after them."""
        self._tag_nodes(nodes)
        split_module = split_by_tags(self.module, ["main_0", "minimize", "main_1"])
        names = [name for name, _ in split_module.named_children() if "minimize" in name]
        if len(names) != 1:
            raise FxNetMinimizerBadModuleError(f"Expected one minimize submodule with nodes {nodes}, got {names}")
        return split_module, names[0]

    def _get_submod_inputs(self, main_module: GraphModule, submod_path: str) -> tuple[Any, Any]:
        submodule = getattr(main_module, submod_path)
        names = [node.name for node in submodule.graph.find_nodes(op="placeholder")]
        if set(names) <= self.a_outputs.keys():
            a_input: Any = [self.a_outputs[name] for name in names]
            b_input: Any = [self.b_outputs[name] for name in names]
            return a_input, b_input if self.settings.accumulate_error else a_input
        if self.settings.accumulate_error:
            print(f"Can't find previous stored outputs named {names}!")
        seen: list[Any] = []
        handle = submodule.register_forward_pre_hook(lambda module, inputs: seen.append(inputs))
        main_module(*self.sample_input)
        handle.remove()
        return seen[0], seen[0]

    def _store_outputs(self, a_result: Any, b_result: Any, submodule: GraphModule) -> None:
        returned = submodule.graph.output_node().args[0]
        if isinstance(returned, Node):
            returned, a_result, b_result = [returned], [a_result], [b_result]
        for node, a, b in zip(returned, a_result, b_result, strict=True):
            self.a_outputs[node.name], self.b_outputs[node.name] = a, b

    def _run_and_compare(
        self, split_module: GraphModule, submod_name: str, output_names: Names, report_idx: int = -1
    ) -> None:
        submodule = getattr(split_module, submod_name)
        a_input, b_input = self._get_submod_inputs(split_module, submod_name)
        if not self.reports:
            self.reports.append([])
            self.iteration = 1
        report = self.reports[report_idx if report_idx >= 0 else self.iteration - 1]
        report.append("Run and compare ...")
        if output_names and not self.settings.all_outputs:
            submodule.graph.erase_node(submodule.graph.output_node())
            outputs = [node for node in submodule.graph.nodes if node.name in output_names]
            submodule.graph.output(outputs[0] if len(outputs) == 1 else tuple(outputs))
            submodule.graph.lint()
            submodule.recompile()
        result_key: Any = map_arg(submodule.graph.output_node().args, lambda node: node.name)
        try:
            a_result = self.run_a(submodule, a_input, report_idx)
            b_result = self.run_b(submodule, b_input, report_idx)
            self._store_outputs(a_result, b_result, submodule)
        except Exception as e:
            report.append(f"Exception raised when running {submod_name}: {e}")
            raise FxNetMinimizerRunFuncError(f"Exception raised when running {submod_name}: {e}") from e
        numeric_result, agree = self.compare_fn(a_result, b_result, output_names)
        self.results[result_key] = numeric_result
        report.append(f"Numerical accuracy = {numeric_result}")
        if not agree:
            report.append(f"Result mismatch for {result_key}")
            if self.module_exporter:
                name = result_key[-1] if isinstance(result_key[-1], str) else str(result_key[-1][0])
                self.module_exporter(a_input, submodule, f"{name}_cpu")
                self.module_exporter(b_input, submodule, f"{name}_acc")
            raise FxNetMinimizerResultMismatchError(f"Result mismatch for {result_key}")

    def _differs(self, nodes: NodeSet, output_names: Names) -> bool:
        """Run nodes both ways. Return whether the results differ or a way failed."""
        split_module, submod_name = self._build_submodule(nodes)
        try:
            self._run_and_compare(split_module, submod_name, output_names)
        except (FxNetMinimizerRunFuncError, FxNetMinimizerResultMismatchError):
            return True
        return False

    def _begin_report(self, *lines: str) -> list[str]:
        report: list[str] = []
        self.reports.append(report)
        self.iteration += 1
        report += [line.format(self.iteration) for line in lines]
        return report

    # Searches

    def _sequential_traverse(self, nodes: NodeList) -> NodeSet:
        """Run each node by itself, with the nodes that must stay with it."""
        culprits: NodeSet = set()
        for node in nodes:
            report = self._begin_report("Sequential traverse iteration {}.")
            report.append(f"Visit node: {node.name}")
            kept = [node]
            if self.exclusion_fn is not None:
                self.exclusion_fn(kept, -1, -1)
            if not kept:
                report.append(f"User exclusion : {node.name}")
            elif self._differs(self.fusions.get(node, {node}), [node.name]):
                culprits.add(node)
                report.append(f"Found culprit: {node}")
            self.print_report(report)
            if culprits and not self.settings.find_all:
                break
        return culprits

    def _binary_traverse(self, nodes: NodeList) -> NodeSet:
        """Run all nodes; where the results differ, look for culprits in both halves."""
        report = self._begin_report("Binary search iteration {}")
        if self.exclusion_fn is not None:
            self.exclusion_fn(nodes, 0, len(nodes))
        if not nodes:
            report.append("All nodes are excluded by user")
            return set()
        report.append(f"From node {nodes[0].name} to {nodes[-1].name}. Size of the node list is {len(nodes)}")
        if not self._differs(set(nodes), [nodes[-1].name]):
            report.append("No discrepancy found.")
            self.print_report(report)
            return set()
        if len(nodes) == 1:
            report.append(f"Search in the current branch is successful with culprit = {nodes}.")
            self.print_report(report)
            return set(nodes)
        report.append("Proceed to split and lower the halves of the current sub-module individually.")
        self.print_report(report)
        middle = len(nodes) // 2
        culprits = self._binary_traverse(nodes[:middle])
        if not culprits or self.settings.find_all:
            culprits |= self._binary_traverse(nodes[middle:])
        if not culprits:
            report.append(f"Unable to minimize the submodule with list of nodes: {nodes}")
        return culprits

    def _accumulate_traverse(self, nodes: NodeList) -> NodeSet:
        """Run the first node, the first two, the first three, and so on, until the results differ."""
        if self.settings.find_all:
            print("'Find All' mode is not supported in accumulate traversal.")
            return set()
        selected: NodeSet = set()
        for node in nodes:
            report = self._begin_report("Accumulate traverse iteration {}.")
            selected.add(node)
            report.append(f"Add node: {node.name}")
            differs = self._differs(selected, [node.name])
            report += [f"Found culprit {node}"] if differs else []
            self.print_report(report)
            if differs:
                return {node}
        return set()

    def _defined_traverse(self, nodes: NodeList) -> NodeSet:
        """Run all nodes once. PyTorch's search returns no culprits either; the report names them."""
        if self.exclusion_fn is not None:
            self.exclusion_fn(nodes, -1, -1)
        report = self._begin_report(f"Defined graph: {nodes}")
        if nodes and self._differs(set(nodes), [nodes[-1].name]):
            report.append(f"Found culprit {nodes}")
        self.print_report(report)
        return set()

    def _skip_traverse(self, all_nodes: NodeList, skip_nodes: list[str]) -> NodeSet:
        """Run the parts between the nodes that are skipped."""
        culprits: NodeSet = set()
        part: NodeList = []
        for node in [*all_nodes, None]:
            if node is not None and node.name not in skip_nodes:
                part.append(node)
                continue
            if part:
                selected = {n for member in part for n in self.fusions.get(member, {member})}
                report = self._begin_report(" Nodes block {}.")
                if self._differs(selected, []):
                    report.append(f"Found culprit: {selected}")
                    culprits |= selected
                self.print_report(report)
            part = []
        return culprits

    def _collect_nodes(self, start: str | None, end: str | None) -> NodeList:
        """Return the nodes that compute something, from the node named ``start`` to the one named ``end``."""
        nodes: NodeList = []
        started = start is None
        for node in self.module.graph.nodes:
            if node.op not in CALLABLE_NODE_OPS:
                continue
            started |= node.name == start
            if started:
                nodes.append(node)
            if node.name == end:
                break
        return nodes

    def run_nodes(self, start: str | None = None, end: str | None = None) -> None:
        """Run the nodes from ``start`` to ``end`` both ways, and print the difference if there is one."""
        nodes = self._collect_nodes(start, end)
        selected = {n for node in nodes for n in self.fusions.get(node, {node})}
        names = [node.name for node in nodes] if self.settings.return_intermediate else []
        try:
            self._run_and_compare(*self._build_submodule(selected), names)
        except (FxNetMinimizerRunFuncError, FxNetMinimizerResultMismatchError) as e:
            print(e)

    def minimize(
        self, start: str | None = None, end: str | None = None, skip_nodes: list[str] | None = None
    ) -> NodeSet:
        """Search for culprits among the nodes from ``start`` to ``end``.

        Args:
            start, end: names of nodes; None stands for the first and the last.
            skip_nodes: names of nodes that the search ``skip`` leaves out.

        Returns:
            The culprits.

        Raises:
            RuntimeError: ``traverse_method`` is unknown, or is ``skip`` without ``skip_nodes``.
        """
        print(self.settings)
        print(self.module.graph)
        nodes = self._collect_nodes(start, end)
        method = self.settings.traverse_method
        if method == "skip":
            if skip_nodes is None:
                raise RuntimeError("'skip_nodes' can't be None when 'traverse_method' is 'skip'.")
            return self._skip_traverse(nodes, skip_nodes)
        searches = {
            "sequential": self._sequential_traverse,
            "binary": self._binary_traverse,
            "accumulate": self._accumulate_traverse,
            "defined": self._defined_traverse,
        }
        if method not in searches:
            raise RuntimeError(f"Unknown traverse method {method}!")
        return searches[method](nodes)

    def print_report(self, report: list[str]) -> None:
        """Print the lines of a report."""
        for i, line in enumerate(report):
            print(f" . {line}" if i else line)

    def print_reports(self) -> None:
        """Print all reports."""
        for report in self.reports:
            self.print_report(report)
