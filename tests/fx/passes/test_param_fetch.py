"""The attributes of layers on the nodes that call them.

Mirrors: test/test_fx_experimental.py
"""

from __future__ import annotations

from types import ModuleType
from typing import Any

import pytest

import reftorch
from reftorch import nn
from reftorch.fx.passes import param_fetch
from tests.answers.watched import asked


def attributes(library: ModuleType) -> list[Any]:
    nn = library.nn
    layers = [
        nn.Linear(2, 3),
        nn.Conv2d(1, 2, 3),
        nn.BatchNorm2d(2),
        nn.MaxPool2d(2),
        nn.ReLU(),
        nn.AdaptiveAvgPool2d(1),
    ]
    inner = library.fx.symbolic_trace(nn.Sequential(*layers))
    graph = library.fx.Graph()
    graph.output(graph.call_module("inner", (graph.placeholder("x"),)))
    module = library.fx.GraphModule({"inner": inner}, graph)
    __import__(f"{library.__name__}.fx.passes.param_fetch", fromlist=["x"]).lift_lowering_attrs_to_nodes(module)
    nodes = inner.graph.find_nodes(op="call_module")
    assert nodes[0].attrs_for_lowering["weight"] is layers[0].weight
    return [
        {name: tuple(v.shape) if hasattr(v, "shape") else v for name, v in node.attrs_for_lowering.items()}
        for node in nodes
    ]


def test_attributes_are_those_of_torch(real_torch: ModuleType) -> None:
    assert attributes(reftorch) == asked(real_torch, attributes)


def test_unknown_classes_and_versions_raise(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(RuntimeError, match=r"torch.nn.modules.activation.Tanh is not in the module_fetch_book yet"):
        param_fetch.extract_attrs_for_lowering(nn.Tanh())
    monkeypatch.setitem(param_fetch.module_fetch_book, nn.Linear, (0, ["weight"], param_fetch.default_matching))
    with pytest.raises(RuntimeError, match=r"Fetcher version 0 try to fetch torch.nn.modules.linear.Linear version 1"):
        param_fetch.extract_attrs_for_lowering(nn.Linear(1, 1))
