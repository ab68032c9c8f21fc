"""Replacing targets, and the sizes of nodes.

Mirrors: test/test_fx_experimental.py
"""

from __future__ import annotations

import operator
from types import ModuleType
from typing import Any

import pytest

import reftorch
from tests.fx import both


def test_sizes_are_those_of_torch(real_torch: ModuleType, noted: Any) -> None:
    found = []
    for library in (reftorch, real_torch):
        graph_manipulation = __import__(f"{library.__name__}.fx.passes.graph_manipulation", fromlist=["x"])
        models = both.load("models", library)
        module = models.trace("ResNetBlock", models.MODELS["ResNetBlock"][0]().eval())
        first = next(iter(module.graph.nodes))
        with pytest.raises(RuntimeError, match="has no tensor metadata associated with it! Check that shape"):
            graph_manipulation.get_tensor_meta(first)
        inputs = both.to_tensors(models.example_inputs("ResNetBlock"), library)
        graph_manipulation.get_size_of_all_nodes(module, inputs)
        found.append([(n.name, tuple(n.size_bytes)) for n in module.graph.nodes if n.op != "output"])
    assert found[0] == noted(found[1]) and any(total > output > 0 for _, (output, total) in found[0])


def test_replaced_targets_give_the_code_of_torch(real_torch: ModuleType, noted: Any) -> None:
    codes = []
    for library in (reftorch, real_torch):
        replace = __import__(f"{library.__name__}.fx.passes.graph_manipulation", fromlist=["x"])
        module = library.fx.symbolic_trace(lambda x: (x + 1).relu() + x)
        replace.replace_target_nodes_with(module, "call_function", operator.add, "call_function", operator.sub)
        replace.replace_target_nodes_with(module, "call_method", "relu", "call_function", library.tanh)
        codes.append(both.plain(module.code))
        x = library.ones(2)
        assert library.equal(module(x), library.tanh(x - 1) - x)
    assert codes[0] == noted(codes[1])
