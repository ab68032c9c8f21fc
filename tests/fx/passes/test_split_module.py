"""Splitting a module into submodules.

Mirrors: test/test_fx_experimental.py
"""

from __future__ import annotations

from types import ModuleType
from typing import Any

import pytest

import reftorch
from tests.answers.watched import asked
from tests.fx import both

OPTIONS: list[dict[str, Any]] = [
    {},
    {"keep_original_order": True},
    {"keep_original_node_name": True},
    {"keep_original_input_name": False},
    {"partition_affix": "part", "tuple_return": True},
]


@pytest.mark.parametrize("options", OPTIONS, ids=str)
@pytest.mark.parametrize("name", ["TransformerLayer", "LSTMCell", "Tied", "Containers", "Keywords"])
def test_parts_are_those_of_torch(name: str, options: dict[str, Any], real_torch: ModuleType, noted: Any) -> None:
    found = []
    for library in (reftorch, real_torch):
        models = both.load("models", library)
        module = models.trace(name, models.MODELS[name][0]())
        number = {node: i for i, node in enumerate(module.graph.nodes)}
        per_part = -(-len(number) // 3)
        split_module = __import__(f"{library.__name__}.fx.passes.split_module", fromlist=["x"]).split_module
        paths: dict[str, str] = {}
        split = split_module(
            module,
            module,
            lambda node: number[node] // per_part,  # noqa: B023
            qualname_map=paths,
            **options,
        )
        split.graph.lint()
        children = [child for child in split.children() if hasattr(child, "code")]
        texts = [both.plain(part.code) for part in (split, *children)]
        found.append((texts, paths, sorted(split.meta["partition_names"])))
        inputs = both.to_tensors(models.example_inputs(name), library)
        for a, b in zip(both.tensors_in(split(*inputs)), both.tensors_in(module(*inputs)), strict=True):
            assert library.equal(a, b)
    assert found[0] == noted(found[1])


def test_parts_that_need_each_other_are_refused(real_torch: ModuleType) -> None:
    def program(library: Any) -> None:
        module = library.fx.symbolic_trace(lambda x: ((x + 1) * 2) - 3)
        split_module = __import__(f"{library.__name__}.fx.passes.split_module", fromlist=["x"]).split_module
        with pytest.raises(RuntimeError, match="cycle exists between partitions!"):
            split_module(module, module, lambda node: 0 if node.name != "mul" else 1)

    program(reftorch)
    asked(real_torch, program)


def test_simple_parts_are_those_of_torch(real_torch: ModuleType, noted: Any) -> None:
    codes = []
    for library in (reftorch, real_torch):
        module = library.fx.symbolic_trace(lambda x, y: ((x + y).relu() * y, x.exp()))
        nodes = [node for node in module.graph.nodes if node.op.startswith("call")]
        passes = __import__(f"{library.__name__}.fx.passes.split_module", fromlist=["x"])
        split = passes.split_module_simple(module, {n: 3 * i for i, n in enumerate(nodes)}, partition_affix="p")
        codes.append([both.plain(m.code) for m in (split, *split.children())])
        inputs = library.tensor([-1.0, 2.0]), library.tensor([3.0, 4.0])
        for a, b in zip(split(*inputs), module(*inputs), strict=True):
            assert library.equal(a, b)
        with pytest.raises(KeyError):
            passes.split_module_simple(module, {nodes[0]: 0})
    assert codes[0] == noted(codes[1])
