"""Notes that new nodes take over.

Mirrors: test/test_fx.py
"""

from __future__ import annotations

import operator
from types import ModuleType
from typing import Any

import pytest

import reftorch
from reftorch import fx
from reftorch.fx import traceback as fx_traceback


def libraries(real_torch: ModuleType) -> list[Any]:
    return [fx_traceback, __import__(f"{real_torch.__name__}.fx.traceback", fromlist=["annotate"])]


def test_stack_traces_and_grad_fns(real_torch: ModuleType, noted: Any) -> None:
    for library in libraries(real_torch):
        assert library.has_preserved_node_meta() is False
        library.set_stack_trace(["ignored"])
        library.set_grad_fn_seq_nr(1)
        assert "stack_trace" not in library.get_current_meta()
        assert any("test_traceback.py" in line for line in library.format_stack())
        with library.preserve_node_meta():
            library.set_stack_trace(["a\n", "b"])
            assert library.format_stack() == ["a\nb"]
            library.set_stack_trace([])
            assert library.format_stack() == [""]
            for number in (3, 5):
                library.set_grad_fn_seq_nr(number)
            assert noted(library.get_current_meta()["grad_fn_seq_nr"]) == [3, 5]
            library.reset_grad_fn_seq_nr()
            assert library.get_current_meta() == {"grad_fn_seq_nr": [3], "in_grad_fn": 1}
            library.reset_grad_fn_seq_nr()
            with pytest.raises(AssertionError, match="Expected current_level > 0"):
                library.reset_grad_fn_seq_nr()
        assert library.get_current_meta() == {}


def test_annotations_nest(real_torch: ModuleType, noted: Any) -> None:
    for library in libraries(real_torch):
        with library.annotate({"a": 1, "b": 1}):
            with library.annotate({"b": 2}):
                assert library.get_current_meta()["custom"] == {"a": 1, "b": 2}
            assert library.get_current_meta()["custom"] == {"a": 1, "b": 1}
        assert "custom" not in library.get_current_meta()

        @library.annotate_fn({"c": 3})
        def annotated() -> Any:
            return library.get_current_meta()["custom"]  # noqa: B023

        assert noted(annotated()) == {"c": 3}


def test_sources_of_nodes(real_torch: ModuleType, noted: Any) -> None:
    texts = []
    for torch, library in zip((reftorch, real_torch), libraries(real_torch), strict=True):
        node = torch.fx.Graph().call_function(operator.add, (1, 2))
        source = library.NodeSource(node, "first", library.NodeSourceAction.CREATE)
        assert source.graph_id == id(node.graph) and source == library.NodeSource(node, "first", source.action)
        assert hash(source) == hash(library.NodeSource(node, "first", source.action))
        node.meta["from_node"] = [source]
        second = library.NodeSource(node, "second", [library.NodeSourceAction.REPLACE, library.NodeSourceAction.CREATE])
        empty = library.NodeSource(None)
        texts.append((str(second).replace(str(id(node.graph)), "0"), repr(empty), empty.name, empty.target))
        with pytest.raises(AssertionError, match="Expected NodeSourceAction"):
            library.NodeSource(node, "", ["create"])
        assert library.get_graph_provenance_json(node.graph) == {"add": []} or node.graph.nodes
    assert texts[0] == noted(texts[1])


def test_the_node_that_runs_is_known(real_torch: ModuleType, noted: Any) -> None:
    for torch, library in zip((reftorch, real_torch), libraries(real_torch), strict=True):
        node = torch.fx.Graph().placeholder("x")
        node.meta["custom"] = {"a": 1}
        with library.set_current_meta(node):
            assert library.get_current_meta() == {}  # notes are preserved only where this is asked for
        with library.preserve_node_meta(), library.set_current_meta(node, "pass"):
            assert noted(library.get_current_meta()["custom"]) == {"a": 1}
            assert library.get_current_meta()["from_node"][0].pass_name == "pass"
        with library.set_current_replay_node(node):
            assert library.get_current_replay_node() is node
        assert library.get_current_replay_node() is None


def test_a_provenance_has_the_sources() -> None:
    traced = fx.symbolic_trace(lambda x: x + 1)
    for node in traced.graph.nodes:
        node.meta["custom"] = {}
        node.meta["k"] = 1
    transformed = fx.Transformer(traced).transform()
    found = fx_traceback.get_graph_provenance_json(transformed.graph)
    assert found["add"][0]["name"] == "add" and found["add"][0]["pass_name"] == "Interpreter_Transformer"
