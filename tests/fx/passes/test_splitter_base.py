"""Splitting a module between an accelerator and the processor: parts, reports and events are torch's.

Mirrors: test/fx/test_fx_split_node_finder.py
"""

from __future__ import annotations

import contextlib
import io
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import reftorch
from tests.answers.watched import asked
from tests.fx import both


def passes(library: ModuleType, name: str) -> Any:
    return __import__(f"{library.__name__}.fx.passes.{name}", fromlist=["x"])


def splitter(library: ModuleType, module: Any, inputs: Any, supported: list[str], **settings: Any) -> Any:
    """Return a splitter for which the accelerator supports the calls whose names contain one of some texts."""
    base, support = passes(library, "splitter_base"), passes(library, "operator_support")
    target_of = passes(library, "tools_common").get_node_target

    def is_supported(submodules: Any, node: Any) -> bool:
        return node.op.startswith("call") and any(text in target_of(submodules, node) for text in supported)

    chosen = base._SplitterSettingBase(**settings)
    return base._SplitterBase(module, inputs, support.create_op_support(is_supported), chosen)


def sizes_between(x):  # type: ignore[no-untyped-def]
    y = x.relu()
    n = y.size(0)
    return (y * n).tanh() + y.sigmoid()


def two_branches(a):  # type: ignore[no-untyped-def]
    b, c = a.sin(), a.cos()
    return (b + c).relu().exp().sin()


PROGRAMS = {"sizes_between": sizes_between, "two_branches": two_branches}
SUPPORTED: dict[str, list[str]] = {
    "some": ["sin", "cos", "relu", "size", "mul"],
    "all": [""],
    "none": ["nothing"],
}


@pytest.mark.parametrize(
    "settings", [{}, {"min_acc_module_size": 2}, {"allow_non_tensor": True}, {"skip_fusion": True}]
)
@pytest.mark.parametrize("supported", SUPPORTED)
@pytest.mark.parametrize("program", PROGRAMS)
def test_parts_and_reports_are_those_of_torch(
    program: str, supported: str, settings: dict[str, Any], real_torch: ModuleType, noted: Any
) -> None:
    found = []
    for library in (reftorch, real_torch):
        inputs = [library.tensor([0.5, -1.0])]
        module = library.fx.symbolic_trace(PROGRAMS[program])
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            one = splitter(library, module, inputs, SUPPORTED[supported], **settings)
            reports = one.node_support_preview() + one.split_preview()
            split = one()
        assert library.equal(split(*inputs), module(*inputs))
        codes = [both.plain(m.code) for m in (split, *split.children())]
        lines = sorted(reports.replace(" , ", ", ").splitlines())
        found.append(
            (codes, sorted(one.get_node_submodule_map().items()), lines, sorted(printed.getvalue().splitlines()))
        )
    assert found[0][:2] == noted(found[1][:2])
    assert [normal(line) for line in found[0][2]] == [normal(line) for line in found[1][2]]


def normal(line: str) -> str:
    return both.plain(line).replace(", ", ",").replace(" ,", ",").strip()


@pytest.mark.parametrize("model", ["GPT", "ResNetBlock", "TransformerLayer"])
def test_a_model_is_split_as_by_torch_and_computes_the_same(model: str, real_torch: ModuleType, noted: Any) -> None:
    found = []
    for library in (reftorch, real_torch):
        models = both.load("models", library)
        module = models.trace(model, models.MODELS[model][0]().eval())
        inputs = both.to_tensors(models.example_inputs(model), library)
        with contextlib.redirect_stdout(io.StringIO()):
            one = splitter(library, module, inputs, ["Linear", "add", "Conv"])
            result = one.generate_split_results()
        split = result.split_module
        assert library.equal(split(*inputs), module(*inputs))
        for name, given in result.submodule_inputs.items():
            getattr(split, name)(*given)
        codes = [both.plain(m.code) for m in (split, *split.children()) if hasattr(m, "code")]
        found.append((codes, list(result.submodule_inputs), result.non_acc_submodule_prefix))
    assert found[0] == noted(found[1]) and len(found[0][0]) > 3


def test_nodes_that_pass_a_size_go_to_the_processor_and_the_events_say_why(
    real_torch: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, noted: Any
) -> None:
    found = []
    for library in (reftorch, real_torch):
        base, support = passes(library, "splitter_base"), passes(library, "operator_support")
        module = library.fx.symbolic_trace(sizes_between)
        passes(library, "shape_prop").ShapeProp(module).propagate(library.ones(3))
        no_product = support.create_op_support(lambda submodules, node: node.name != "mul")
        finder = base.FxNetAccNodesFinder(module, no_product, False)
        names = sorted(map(str, finder()))
        assert "relu" in names and "size" not in names
        lines: list[str] = []
        finder.tracker.print_all(lines.append)
        finder.tracker.print_node("size", recursive=True, writer=lines.append)
        tracker = finder.tracker
        tracker.tracker_mode, tracker.dump_prefix = 3, str(tmp_path / library.__name__)
        tracker.dump()
        texts = [Path(tracker.dump_prefix + suffix).read_text() for suffix in (base.ALL_SUFFIX, base.NODES_SUFFIX)]
        assert texts[1].startswith("===== Tracking node size =====\n")
        monkeypatch.setenv("FX_NET_ACC_SPLITTER_TRACKER_TRACKED_NODES", "mul")
        tracker.tracker_mode = 2
        tracker.dump()
        texts.append(Path(tracker.dump_prefix + base.NODES_SUFFIX).read_text())
        found.append((names, lines, tracker.to_dict(), texts))
    assert found[0] == noted(found[1])


def test_extending_a_part_takes_the_nodes_that_only_it_uses(real_torch: ModuleType, noted: Any) -> None:
    found = []
    for library in (reftorch, real_torch):
        module = library.fx.symbolic_trace(lambda x: (x.relu().exp() + x.cos()).tanh())
        one = splitter(library, module, [library.ones(2)], ["relu", "exp", "cos", "add", "tanh"])
        tags = {"relu": "_run_on_cpu_0", "exp": "_run_on_cpu_0", "cos": "_run_on_cpu_0"}
        for node in module.graph.nodes:
            node.tag = tags.get(node.name, "_run_on_acc_1")
        one.acc_nodes -= {node for node in one.acc_nodes if node.name == "relu"}
        one.extend_acc_subgraph("_run_on_acc_1")
        found.append({node.name: node.tag for node in module.graph.nodes if node.op.startswith("call")})
    assert found[0] == noted(found[1])
    assert found[0]["exp"] == found[0]["cos"] == "_run_on_acc_1" and found[0]["relu"] == "_run_on_cpu_0"


def test_moving_nodes_whose_results_are_no_tensors(real_torch: ModuleType, noted: Any) -> None:
    found = []
    for library in (reftorch, real_torch):
        base, utils = passes(library, "splitter_base"), passes(library, "split_utils")

        def program(x):  # type: ignore[no-untyped-def]
            n = x.relu().size(0)
            return (x * (n + 1)).tanh(), x.exp() * n.__add__(2)

        module = library.fx.symbolic_trace(program)
        passes(library, "shape_prop").ShapeProp(module).propagate(library.ones(3))
        nodes = [node for node in module.graph.nodes if node.op.startswith("call")]
        parts = [base.Subgraph(True, nodes[:3]), base.Subgraph(False, nodes[3:])]
        with contextlib.redirect_stdout(io.StringIO()) as printed:
            utils.move_non_tensor_nodes_on_boundary(parts)
        names = [sorted(map(str, part.nodes)) for part in parts]
        found.append((names, sorted(printed.getvalue().splitlines())))
        assert names[0] == ["relu"] and "size" in names[1]
        three = [base.Subgraph(True, nodes[:2]), base.Subgraph(False, nodes[2:4]), base.Subgraph(False, nodes[4:])]
        with contextlib.redirect_stdout(io.StringIO()) as printed:
            utils.move_non_tensor_nodes_on_boundary(three)
        assert "has children in multiple subgraphs" in printed.getvalue() and len(three[0].nodes) == 2
    assert found[0] == noted(found[1])


def test_errors(real_torch: ModuleType) -> None:
    def program(library: Any) -> None:
        base = passes(library, "splitter_base")
        with pytest.raises(AssertionError, match="Expected GraphModule"):
            splitter(library, library.nn.ReLU(), [library.ones(1)], [""])
        module = library.fx.symbolic_trace(two_branches)
        inputs = [library.ones(1)]
        with pytest.raises(ValueError, match="Cannot fulfill max_acc_splits limit"):
            splitter(library, module, inputs, ["cos"], max_acc_splits=1).generate_split_results()
        again = splitter(library, module, inputs, ["cos"])
        with pytest.raises(base.FxNetSplitterInternalError, match="was already tagged"):
            again.tag(again.put_nodes_into_subgraphs())

    program(reftorch)
    asked(real_torch, program)


def test_a_preview_says_what_cannot_be_lowered_or_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    base = reftorch.fx.passes.splitter_base
    monkeypatch.chdir(tmp_path)
    for stage in ("lowering", "inference"):

        class Fails(base._SplitterBase):
            def _lower_model_to_backend(self, mod: Any, inputs: Any, stage: str = stage) -> Any:
                def fail(*args: Any) -> None:
                    raise RuntimeError(stage)

                return fail if stage == "inference" else fail()

            def _find_culprit(self, mod: Any, inputs: Any) -> str:
                return "the culprit is sin"

        support = reftorch.fx.passes.operator_support.create_op_support(lambda _, node: node.name == "sin")
        module = reftorch.fx.symbolic_trace(two_branches)
        one = Fails(module, [reftorch.ones(1)], support, base._SplitterSettingBase())
        report = one.split_preview(dump_graph=True)
        assert f"Run into an error during {stage}!\nthe culprit is sin" in report and "succeed" not in report
        one.node_support_preview(dump_graph=True)
    assert {p.name for p in tmp_path.iterdir()} == {"node_support.dot", "preview.dot"} | {
        f"preview_{tag}.dot" for tag in one.tags
    }
    assert 'fillcolor="chartreuse1"' in (tmp_path / "node_support.dot").read_text()


def test_inputs_of_submodules_are_copied_on_request() -> None:
    generate = reftorch.fx.passes.splitter_base.generate_inputs_for_submodules
    model = reftorch.nn.Sequential(reftorch.nn.Identity(), reftorch.nn.ReLU(inplace=True))
    x = reftorch.tensor([-1.0])
    assert generate(model, [x], ["1"], deepcopy=True)["1"][0].item() == -1
    assert x.item() == 0
    with pytest.raises(TypeError):
        generate(model, [], ["1"])
    assert not model[1]._forward_pre_hooks
