"""Passes that are sorted by constraints and run until nothing changes.

Mirrors: test/fx/test_pass_infra.py
"""

from __future__ import annotations

import operator
from typing import Any

import pytest

from reftorch import fx
from reftorch.fx.passes.infra.pass_base import PassBase, PassResult
from reftorch.fx.passes.infra.pass_manager import PassManager, pass_result_wrapper, this_before_that_pass_constraint


def replace_add(module: Any) -> PassResult:
    adds = module.graph.find_nodes(op="call_function", target=operator.add)
    for node in adds[:1]:
        node.target = operator.mul
    return PassResult(module, bool(adds))


class ReplaceMul(PassBase):
    def __init__(self) -> None:
        self.checked: list[str] = []

    def requires(self, graph_module: Any) -> None:
        self.checked.append("before")

    def call(self, graph_module: Any) -> PassResult:
        for node in graph_module.graph.find_nodes(op="call_function", target=operator.mul):
            node.target = operator.sub
        return PassResult(graph_module, True)

    def ensures(self, graph_module: Any) -> None:
        self.checked.append("after")


def program(x: Any) -> Any:
    return x + 1 + 2


def test_passes_run_until_nothing_changes() -> None:
    result = PassManager([replace_add], steps=10)(fx.symbolic_trace(program))
    assert result.modified is True and result.graph_module(3) == 6


def test_constraints_sort_the_passes() -> None:
    replace_mul = ReplaceMul()
    manager = PassManager([replace_mul, replace_add], [this_before_that_pass_constraint(replace_add, replace_mul)])
    assert manager(fx.symbolic_trace(program)).graph_module(3) == 3 - 1 + 2
    assert replace_mul.checked == ["before", "after"] and manager.passes == [replace_add, replace_mul]
    manager.validate_constraints()
    manager.add_constraint(this_before_that_pass_constraint(replace_mul, replace_add))
    with pytest.raises(RuntimeError, match="pass schedule constraint violated"):
        manager.validate_constraints()
    with pytest.raises(RuntimeError, match="Circular dependency detected within the following passes"):
        manager.solve_constraints()


def test_errors_name_the_pass() -> None:
    def fails(module: Any) -> Any:
        raise ValueError("wrong")

    with pytest.raises(Exception, match=r"when running the 'fails' pass after the following passes: \['replace_add'\]"):
        PassManager([replace_add, fails])(fx.symbolic_trace(program))
    with pytest.raises(Exception, match="when running the '<lambda>' pass"):
        PassManager([lambda module: module])(fx.symbolic_trace(program))


def test_checks_and_wrappers() -> None:
    seen: list[int] = []
    manager = PassManager([pass_result_wrapper(lambda module: None)], run_checks_after_each_pass=True)
    manager.add_pass(pass_result_wrapper(lambda module: module))
    manager.add_checks(lambda module: seen.append(1))
    manager(fx.symbolic_trace(program))
    assert len(seen) == 3 and pass_result_wrapper(None) is None
    with pytest.raises(TypeError, match="should only take in one variable"):
        manager.add_checks(lambda a, b: None)  # type: ignore[arg-type, misc]
