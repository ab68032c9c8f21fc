"""A matcher whose pattern names its nodes.

Mirrors: test/fx/test_matcher_utils.py
"""

from __future__ import annotations

import operator

import pytest

import reftorch as torch
from reftorch.fx.passes.utils.matcher_with_name_node_map_utils import SubgraphMatcherWithNameNodeMap


def pattern(x, y):  # type: ignore[no-untyped-def]
    product = x * y
    return torch.relu(product), {"product": product}


def test_each_match_has_the_nodes_by_name() -> None:
    target = torch.fx.symbolic_trace(lambda a, b: torch.relu(a * b) + torch.relu(b * 3))
    found = SubgraphMatcherWithNameNodeMap(torch.fx.symbolic_trace(pattern)).match(target.graph)
    products = target.graph.find_nodes(op="call_function", target=operator.mul)
    assert [match.name_node_map["product"] for match in found] == products


def test_the_pattern_may_be_traced_with_structures() -> None:
    def with_pair(pair):  # type: ignore[no-untyped-def]
        return pattern(*pair)

    traced = torch.fx.symbolic_trace(with_pair, concrete_args={"pair": (torch.fx.PH, torch.fx.PH)})
    matcher = SubgraphMatcherWithNameNodeMap(traced)
    target = torch.fx.symbolic_trace(lambda a, b: torch.relu(a * b) + 1)
    [match] = matcher.match(target.graph)
    assert str(match.name_node_map["product"]) == "mul"
    [result] = traced((torch.tensor([-1.0, 2.0]), torch.ones(2)))  # the dict has left the results
    assert result.tolist() == [0, 2]


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (lambda x: x + 1, "to return a tuple"),
        (lambda x: (x + 1,), "at least two outputs"),
        (lambda x: (x + 1, x), "a dict output as the last element"),
    ],
)
def test_patterns_without_names_raise(wrong: object, message: str) -> None:
    with pytest.raises(AssertionError, match=message):
        SubgraphMatcherWithNameNodeMap(torch.fx.symbolic_trace(wrong))  # type: ignore[arg-type]
