"""Watching passes.

Mirrors: test/fx/test_fx_xform_observer.py
"""

from __future__ import annotations

import copy
import operator
import re
from pathlib import Path
from types import ModuleType
from typing import Any

import reftorch
from reftorch.fx.passes.graph_transform_observer import GraphTransformObserver


def add_becomes_sub(graph: Any) -> str:
    for node in graph.find_nodes(op="call_function", target=operator.add):
        with graph.inserting_after(node):
            sub = graph.call_function(operator.sub, node.args)
        node.replace_all_uses_with(sub)
        graph.erase_node(node)
    return "done"


def program(x):  # type: ignore[no-untyped-def]
    return (x + 1).relu()


def test_pictures_show_what_changed_and_hooks_go(tmp_path: Path) -> None:
    module = reftorch.fx.symbolic_trace(program)
    observer = GraphTransformObserver(module, "first", log_url=str(tmp_path))
    assert observer.apply_graph_pass(add_becomes_sub) == "done"
    number = GraphTransformObserver.get_current_pass_count()
    assert (observer.erased_nodes, observer.created_nodes) == ({"add"}, {"sub"})
    for which, yellow in (("input", "add"), ("output", "sub")):
        text = (tmp_path / f"pass_{number}_first_{which}_graph.dot").read_text()
        assert re.findall(r'"(\w+)" \[.*fillcolor="yellow"', text) == [yellow] and 'fillcolor="grey"' in text
    assert not (module._create_node_hooks or module._erase_node_hooks or module._replace_hooks)
    GraphTransformObserver(module, "nothing", log_url=str(tmp_path)).apply_gm_pass(lambda m: m.recompile())
    assert len(list(tmp_path.iterdir())) == 2


def test_without_a_folder_nothing_is_watched() -> None:
    module = reftorch.fx.symbolic_trace(program)
    with GraphTransformObserver(module, "quiet"):
        add_becomes_sub(module.graph)
    assert all("from_node" not in node.meta for node in module.graph.nodes)


def test_a_copy_made_in_the_block_loses_the_hooks(tmp_path: Path) -> None:
    module = reftorch.fx.symbolic_trace(program)
    with GraphTransformObserver(module, "copies", log_url=str(tmp_path)):
        copied = copy.deepcopy(module)
    assert not (copied._create_node_hooks or copied._deepcopy_hooks or module._deepcopy_hooks)


def test_notes_are_those_of_torch(real_torch: ModuleType, tmp_path: Path, noted: Any) -> None:
    from torch._inductor import config  # type: ignore[import-not-found, unused-ignore]

    found = []
    for library in (reftorch, real_torch):
        observers = __import__(f"{library.__name__}.fx.passes.graph_transform_observer", fromlist=["x"])
        module = library.fx.symbolic_trace(program)
        # With a folder PyTorch's observer needs pydot; this setting lets it watch without one.
        with config.patch({"trace.provenance_tracking_level": 1}):
            folder = str(tmp_path) if library is reftorch else None
            with observers.GraphTransformObserver(module, "first", log_url=folder):
                add_becomes_sub(module.graph)
        [sub] = module.graph.find_nodes(op="call_function", target=operator.sub)
        found.append(re.sub(r"graph_id=-?\d+", "", "".join(s.print_readable() for s in sub.meta["from_node"])))
    assert found[0] == noted(found[1]) != ""
