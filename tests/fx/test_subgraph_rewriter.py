"""Replacing patterns: the code afterwards is that of torch.

Mirrors: test/fx/test_subgraph_rewriter.py
"""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any

import pytest

import reftorch
from reftorch import fx
from tests.fx import both

CASES: dict[str, Callable[[Any], Any]] = {}


def case(function: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Register a function that takes a library, and returns traced module, pattern and replacement."""
    CASES[function.__name__] = function
    return function


@case
def once(torch: Any) -> Any:
    return lambda x: torch.relu(x + 1) * 2, lambda a: torch.relu(a + 1), lambda a: torch.sigmoid(a)


@case
def many_in_a_row(torch: Any) -> Any:
    def program(x: Any) -> Any:
        for _ in range(4):
            x = torch.relu(x) + 1
        return x

    return program, lambda a: torch.relu(a) + 1, lambda a: torch.tanh(a - 1)


@case
def overlapping(torch: Any) -> Any:
    return (
        lambda x: torch.relu(torch.relu(torch.relu(x))),
        lambda a: torch.relu(torch.relu(a)),
        lambda a: torch.tanh(a),
    )


@case
def several_results(torch: Any) -> Any:
    def program(x: Any) -> Any:
        a, b = torch.relu(x), torch.neg(x)
        return a + b, a * 3

    return program, lambda x: (torch.relu(x), torch.neg(x)), lambda x: (torch.tanh(x), torch.exp(x))


@case
def several_inputs(torch: Any) -> Any:
    return (
        lambda x, y: torch.cat([x, y], 1).sum() + torch.cat([y, x], 1).sum(),
        lambda a, b: torch.cat([a, b], 1),
        lambda a, b: torch.cat([b, a], dim=1) + a.shape[0],
    )


@case
def literals_bind_parameters(torch: Any) -> Any:
    return lambda x: (x + 1) * (x + 2), lambda a, b: a + b, lambda a, b: a - b


@case
def literals_in_the_pattern(torch: Any) -> Any:
    return lambda x: (x + 1) * (x + 2), lambda a: a + 1, lambda a: a - 1


@case
def used_from_outside(torch: Any) -> Any:
    def program(x: Any) -> Any:
        a = torch.relu(x)
        return torch.neg(a) + a

    return program, lambda x: torch.neg(torch.relu(x)), lambda x: torch.tanh(x)


@case
def methods_and_keywords(torch: Any) -> Any:
    return (
        lambda x: x.sum(dim=1, keepdim=True).relu() + x.sum(dim=0, keepdim=True),
        lambda a: a.sum(dim=1, keepdim=True),
        lambda a: a.mean(dim=1, keepdim=True),
    )


@case
def the_whole_graph(torch: Any) -> Any:
    return lambda x: torch.relu(x), lambda a: torch.relu(a), lambda a: torch.tanh(a)


@case
def without_results(torch: Any) -> Any:
    return lambda x: x * 2, lambda a: torch.relu(a), lambda a: torch.tanh(a)


@pytest.mark.parametrize("name", CASES)
def test_the_result_is_that_of_torch(name: str, real_torch: ModuleType, noted: Any) -> None:
    found = []
    for library in (reftorch, real_torch):
        program, pattern, replacement = CASES[name](library)
        module = library.fx.symbolic_trace(program)
        matches = library.fx.replace_pattern(module, pattern, replacement)
        module.graph.lint()
        maps = [{str(k): str(v) for k, v in match.nodes_map.items()} for match in matches]
        found.append((both.plain(module.code), [str(match.anchor) for match in matches], maps))
    assert found[0] == noted(found[1])


def test_modules_come_with_the_replacement(real_torch: ModuleType, noted: Any) -> None:
    codes = []
    for library in (reftorch, real_torch):
        nn = library.nn
        module = library.fx.symbolic_trace(nn.Sequential(nn.Linear(2, 2), nn.ReLU()))

        class Pattern(nn.Module):  # type: ignore[misc, name-defined]
            def __init__(self) -> None:
                super().__init__()
                setattr(self, "1", nn.ReLU())  # noqa: B023

            def forward(self, x):  # type: ignore[no-untyped-def]
                return getattr(self, "1")(x)

        class Replacement(nn.Module):  # type: ignore[misc, name-defined]
            def __init__(self) -> None:
                super().__init__()
                self.act, self.scale = nn.Tanh(), nn.Parameter(library.ones(1))  # noqa: B023

            def forward(self, x):  # type: ignore[no-untyped-def]
                return self.act(x) * self.scale

        library.fx.replace_pattern(
            module, library.fx.symbolic_trace(Pattern()), library.fx.symbolic_trace(Replacement())
        )
        module(library.ones(1, 2))
        codes.append((both.plain(module.code), [n for n, _ in module.named_modules()], list(module.state_dict())))
    assert codes[0] == noted(codes[1])


def test_filters_and_callbacks(real_torch: ModuleType, noted: Any) -> None:
    codes = []
    for library in (reftorch, real_torch):
        rewriter = library.fx.subgraph_rewriter
        module = library.fx.symbolic_trace(lambda x: (x + 1) * (x + 2) * (x - 3))
        with pytest.raises(AssertionError, match="Must provide either a replacement GraphModule or a replacement"):
            rewriter.replace_pattern_with_filters(module, lambda a: a + 1)
        places = rewriter.replace_pattern_with_filters(
            module,
            lambda a, b: a + b,
            match_filters=[lambda match, graph, pattern: match.placeholder_nodes[1] == 2],
            replacement_callback=lambda match, graph, pattern: (
                library.fx.symbolic_trace(lambda a, b: a * b * match.placeholder_nodes[1]).graph  # noqa: B023
            ),
        )
        ignored = rewriter.replace_pattern_with_filters(module, lambda a: a - 7, lambda a: a + 7, ignore_literals=True)
        codes.append((both.plain(module.code), [str(p.replacements) for p in places + ignored]))
    assert codes[0] == noted(codes[1])


def test_wrong_numbers_are_refused() -> None:
    module = fx.symbolic_trace(lambda x: reftorch.relu(x))
    with pytest.raises(AssertionError, match="Placeholder count mismatch: 1 vs 2"):
        fx.replace_pattern(module, lambda a: reftorch.relu(a), lambda a, b: a + b)
    with pytest.raises(AssertionError, match="Returning nodes count mismatch: 1 vs 2"):
        fx.replace_pattern(module, lambda a: reftorch.relu(a), lambda a: (a, reftorch.tanh(a)))


def test_patterns_without_use_are_refused() -> None:
    graph = fx.Graph()
    module = fx.symbolic_trace(lambda x: x)
    with pytest.raises(ValueError, match="cannot be initialized with an empty pattern"):
        fx.subgraph_rewriter.replace_pattern_with_filters(module, graph, graph)
    x = graph.placeholder("x")
    graph.call_function(reftorch.relu, (x,))
    graph.output(x)
    with pytest.raises(AssertionError, match="an pattern with dead code"):
        fx.subgraph_rewriter.replace_pattern_with_filters(module, graph, graph)
