"""Lists of passes: order, constraints, wrappers.

Mirrors: test/fx/test_pass_infra.py
"""

from __future__ import annotations

import logging
from types import ModuleType
from typing import Any

import pytest

import reftorch
from reftorch.fx.passes import pass_manager as ours


def double(x: Any) -> Any:
    return x * 2


def add_one(x: Any) -> Any:
    return x + 1


def libraries(real_torch: ModuleType) -> list[Any]:
    return [ours, __import__(f"{real_torch.__name__}.fx.passes.pass_manager", fromlist=["PassManager"])]


def test_order_and_changes(real_torch: ModuleType, noted: Any) -> None:
    for library in libraries(real_torch):
        manager = library.PassManager.build_from_passlist([double, add_one])
        assert noted(manager(3)) == 7
        manager.add_pass(library.loop_pass(double, n_iter=2))
        assert manager(3) == 28
        manager.remove_pass(["add_one"])
        assert manager(3) == 24
        manager.replace_pass(double, add_one)
        assert manager(3) == 5


def test_constraints(real_torch: ModuleType, noted: Any) -> None:
    messages = []
    for library in libraries(real_torch):
        manager = library.PassManager([double, add_one])
        manager.add_constraint(library.this_before_that_pass_constraint(double, add_one))
        manager.validate()
        manager.add_constraint(library.these_before_those_pass_constraint(add_one, double))
        with pytest.raises(RuntimeError) as error:
            manager(1)
        messages.append(str(error.value))
    assert messages[0] == noted(messages[1])


def test_loops(real_torch: ModuleType, noted: Any) -> None:
    for library in libraries(real_torch):
        assert noted(library.loop_pass(double, predicate=lambda x: x < 100)(3)) == 192
        for wrong in ({}, {"n_iter": 1, "predicate": bool}):
            with pytest.raises(AssertionError, match="Exactly one of"):
                library.loop_pass(double, **wrong)
        with pytest.raises(RuntimeError, match="must be given positive int n_iter"):
            library.loop_pass(double, n_iter=0)(1)


def test_wrappers(caplog: pytest.LogCaptureFixture) -> None:
    items: list[int] = []
    assert ours.inplace_wrapper(lambda x: x.append(1))(items) is items == [1]
    with caplog.at_level(logging.INFO, logger="reftorch.fx.passes.pass_manager"):
        assert ours.log_hook(double)(2) == 4
    assert "Return value: 4" in caplog.text
    assert reftorch.fx.passes.pass_manager is ours
