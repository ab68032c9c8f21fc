"""Splitting a module by tags.

Mirrors: test/fx/test_fx_split.py
"""

from __future__ import annotations

from types import ModuleType
from typing import Any

import pytest

import reftorch
from tests.answers.watched import asked
from tests.fx import both


def test_parts_are_those_of_torch(real_torch: ModuleType, noted: Any) -> None:
    found = []
    for library in (reftorch, real_torch):
        models = both.load("models", library)
        module = models.trace("GPT", models.GPT())
        nodes = [node for node in module.graph.nodes if node.op.startswith("call")]
        for i, node in enumerate(nodes):
            node.tag = ("a", "b", "c")[3 * i // len(nodes)]
        split_by_tags = __import__(f"{library.__name__}.fx.passes.split_utils", fromlist=["x"]).split_by_tags
        split, paths = split_by_tags(module, ["a", "b", "c"], return_fqn_mapping=True)
        found.append(([both.plain(m.code) for m in (split, split.a, split.b, split.c)], paths))
        [tokens] = both.to_tensors(models.example_inputs("GPT"), library)
        assert library.equal(split(tokens), module(tokens))
    assert found[0] == noted(found[1])


def test_tags_must_fit(real_torch: ModuleType) -> None:
    def program(library: Any) -> None:
        utils = __import__(f"{library.__name__}.fx.passes.split_utils", fromlist=["x"])
        module = library.fx.symbolic_trace(lambda x: (x + 1) * 2)
        with pytest.raises(AssertionError, match="Node does not have tag"):
            utils.split_by_tags(module, ["a", "b"])
        for node in module.graph.nodes:
            node.tag = "b" if node.name == "add" else "a"
        with pytest.raises(AssertionError, match="order must be >= max of its upstream components"):
            utils.split_by_tags(module, ["a", "b"])

    program(reftorch)
    asked(real_torch, program)


def test_paths() -> None:
    utils = reftorch.fx.passes.split_utils
    net = reftorch.nn.Sequential(reftorch.nn.Linear(1, 1))
    assert utils.getattr_recursive(net, "0.bias") is net[0].bias and utils.getattr_recursive(net, "0.missing.x") is None
    utils.setattr_recursive(net, "0.note", 3)
    assert net[0].note == 3
