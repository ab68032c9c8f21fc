"""Finding the node at which two ways of running a module differ.

Mirrors: test/fx/test_net_min_base.py
"""

from __future__ import annotations

from types import ModuleType
from typing import Any

import pytest

import reftorch
from tests.answers.watched import asked


def minimizer(library: ModuleType, method: str, **settings: Any) -> Any:
    base = __import__(f"{library.__name__}.fx.passes.net_min_base", fromlist=["x"])

    class Minimizer(base._MinimizerBase):  # type: ignore[misc, name-defined]
        def run_a(self, mod: Any, inputs: Any, report_idx: int = -1) -> Any:
            return mod(*inputs)

        def run_b(self, mod: Any, inputs: Any, report_idx: int = -1) -> Any:
            class Wrong(library.fx.Interpreter):  # type: ignore[misc, name-defined]
                def call_function(self, target: Any, args: Any, kwargs: Any) -> Any:
                    result = super().call_function(target, args, kwargs)
                    return result + 1 if target is library.tanh else result

            return Wrong(mod).run(*inputs)

    def program(x):  # type: ignore[no-untyped-def]
        x = library.relu(x) + 1
        x = library.sigmoid(x) * 2
        x = library.tanh(x)
        return library.exp(x) - 1

    def compare(a: Any, b: Any, names: Any) -> tuple[float, bool]:
        difference = float((a - b).abs().max())
        return difference, difference < 1e-6

    module = library.fx.symbolic_trace(program)
    return Minimizer(
        module, [library.ones(2, 3)], compare, base._MinimizerSettingBase(traverse_method=method, **settings)
    )


@pytest.mark.parametrize("method", ["sequential", "binary", "accumulate"])
def test_the_wrong_node_is_found(method: str, real_torch: ModuleType, capsys: pytest.CaptureFixture[str]) -> None:
    def program(library: ModuleType) -> None:
        assert [str(node) for node in minimizer(library, method).minimize()] == ["tanh"]
        assert not minimizer(library, method).minimize(end="sigmoid")

    program(reftorch)
    asked(real_torch, program)
    assert "iteration" in capsys.readouterr().out


def test_parts_between_skipped_nodes(real_torch: ModuleType, capsys: pytest.CaptureFixture[str]) -> None:
    def program(library: ModuleType) -> None:
        assert minimizer(library, "skip", all_outputs=True).minimize(skip_nodes=["tanh"]) == set()
        with pytest.raises(RuntimeError, match="'skip_nodes' can't be None"):
            minimizer(library, "skip").minimize()
        with pytest.raises(RuntimeError, match="Unknown traverse method no!"):
            minimizer(library, "no").minimize()

    program(reftorch)
    asked(real_torch, program)


def test_running_a_range(capsys: pytest.CaptureFixture[str]) -> None:
    found = minimizer(reftorch, "sequential")
    found.run_nodes("relu", "mul")
    assert "mismatch" not in capsys.readouterr().out
    found.run_nodes("relu", "tanh")
    assert "Result mismatch" in capsys.readouterr().out


def test_all_culprits_and_the_defined_search(capsys: pytest.CaptureFixture[str]) -> None:
    assert [str(node) for node in minimizer(reftorch, "sequential", find_all=True).minimize()] == ["tanh"]
    assert [str(node) for node in minimizer(reftorch, "binary", find_all=True).minimize()] == ["tanh"]
    found = minimizer(reftorch, "defined")
    assert found.minimize() == set() and "Found culprit" in str(found.reports)
