"""Folding constants: what folds, what it computes, and what stays.

Mirrors: test/fx/test_fx_const_fold.py
"""

from __future__ import annotations

import importlib
from types import ModuleType
from typing import Any

import pytest

import reftorch
from reftorch.fx.experimental.const_fold import get_unique_attr_name_in_module, split_const_subgraphs


def nets(torch: Any) -> dict[str, Any]:
    nn = torch.nn

    class Base(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.w = nn.Parameter(torch.arange(4.0).reshape(2, 2))
            self.register_buffer("b", torch.ones(2))
            self.layer = nn.ReLU()

    class One(Base):
        def forward(self, x: Any) -> Any:
            return x @ (self.w.t() * 2 + self.b)

    class Two(Base):
        def forward(self, x: Any) -> Any:
            scaled = self.w * 3
            return x @ scaled + self.layer(self.b - 2) - self.b

    class Nothing(Base):
        def forward(self, x: Any) -> Any:
            return x @ self.w + self.b

    class All(Base):
        def forward(self, x: Any) -> Any:
            return self.w.exp() + self.b

    return {cls.__name__: cls() for cls in (One, Two, Nothing, All)}


def target_of(node: Any) -> tuple[str, str]:
    name = getattr(node.target, "__name__", str(node.target))
    return node.op, "" if node.op == "placeholder" else name


@pytest.mark.filterwarnings("ignore:Attempted to insert a get_attr Node:UserWarning")  # of torch's own folding
@pytest.mark.parametrize("name", nets(reftorch))
def test_it_computes_and_keeps_what_torch_does(name: str, real_torch: ModuleType, noted: Any) -> None:
    results = []
    for torch in (reftorch, real_torch):
        fold = importlib.import_module(f"{torch.__name__}.fx.experimental.const_fold").split_const_subgraphs
        net, x = nets(torch)[name], torch.ones(3, 2)
        folded = fold(net)
        computed, again = folded(x), folded(x)
        assert torch.equal(computed, net(x)) and torch.equal(again, computed)
        inside = folded.const_subgraph_module
        graphs = [folded.graph, *([] if inside is None else [inside.graph])]
        nodes = [
            sorted((node.op, str(getattr(node.target, "__name__", node.target))) for node in g.nodes) for g in graphs
        ]
        results.append((nodes, computed.tolist(), folded.has_folding_been_run))
    assert results[0] == noted(results[1])


def test_a_node_can_be_left_where_it_is() -> None:
    net = nets(reftorch)["One"]
    folded = split_const_subgraphs(net, skip_folding_node_fn=lambda node: node.target == "t")
    assert folded.const_subgraph_module is None
    assert reftorch.equal(folded(reftorch.ones(1, 2)), net(reftorch.ones(1, 2)))


def test_folding_runs_once_and_follows_later_values_no_more() -> None:
    net = nets(reftorch)["One"]
    folded = split_const_subgraphs(net)
    before = folded(reftorch.ones(1, 2))
    with reftorch.no_grad():
        net.w.zero_()
    assert reftorch.equal(folded(reftorch.ones(1, 2)), before)
    with pytest.raises(AssertionError, match="already been run"):
        folded.run_folding()


def test_names(real_torch: ModuleType, noted: Any) -> None:
    theirs = importlib.import_module(f"{real_torch.__name__}.fx.experimental.const_fold").get_unique_attr_name_in_module
    modules = [reftorch.fx.symbolic_trace(nets(reftorch)["One"]), real_torch.fx.symbolic_trace(nets(real_torch)["One"])]
    for module in modules:
        module.w_1 = 1
        module.w_9 = 1
    for name in ("w", "w_9", "new", "0.a-b", "w_1"):
        assert get_unique_attr_name_in_module(modules[0], name) == noted(theirs(modules[1], name))


def test_an_integer_becomes_a_parameter() -> None:
    class Net(reftorch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.w = reftorch.nn.Parameter(reftorch.ones(3, 2))

        def forward(self, x: Any) -> Any:
            return x * self.w.size(0)

    folded = split_const_subgraphs(Net())
    assert folded(reftorch.ones(1)).tolist() == [3.0]
