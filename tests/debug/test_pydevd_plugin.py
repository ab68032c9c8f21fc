"""Tensors unfolded in an editor's view of variables: by the plugin alone, and by debugpy, which finds it.

Mirrors: nothing in PyTorch: tests of tools that it does not have.
Left out: the editor's window; see make test-vscode.
"""

from __future__ import annotations

import importlib.util
import warnings
from pathlib import Path
from typing import Any

import pytest

import reftorch as torch
from tests.debug.launch import PRODUCT_LINE, PROGRAM, ROOT, PythonSession

PLUGIN = Path(ROOT) / "reftorch/debug/at_startup/pydevd_plugins/extensions/pydevd_plugin_reftorch.py"


@pytest.fixture(scope="module")
def resolver() -> Any:
    spec = importlib.util.spec_from_file_location("pydevd_plugin_reftorch", PLUGIN)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.TensorResolver()


def test_it_is_for_tensors_and_what_derives_from_them(resolver: Any) -> None:
    assert resolver.can_provide(torch.Tensor, "Tensor")
    assert resolver.can_provide(torch.nn.Parameter, "Parameter")
    assert not resolver.can_provide(torch.Size, "Size")


def test_what_there_is_to_know_then_rows(resolver: Any) -> None:
    tensor = torch.arange(6.0).reshape(2, 3).t()
    shown = resolver.get_dictionary(tensor)
    assert shown["shape"] == (3, 2)
    assert shown["stride()"] == (1, 3)
    assert shown["grad"] is None
    assert shown["[1]"].tolist() == [1.0, 4.0]
    assert list(shown)[-3:] == ["[0]", "[1]", "[2]"]
    for name, value, evaluated in resolver.get_contents_debug_adapter_protocol(tensor):
        assert str(eval(f"tensor{evaluated}")) == str(value), name
        assert str(resolver.resolve(tensor, evaluated)) == str(value)


def test_looking_neither_warns_nor_records(resolver: Any) -> None:
    tensor = torch.ones(2, requires_grad=True) * 2
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        shown = resolver.get_dictionary(tensor)
    assert "grad" not in shown
    assert not shown["[0]"].requires_grad
    assert "grad" in resolver.get_dictionary(torch.ones(2, requires_grad=True))


@pytest.mark.parametrize("tensor", [torch.tensor(1.0), torch.empty(0), torch.empty(0, 3), torch.zeros(1000)])
def test_no_more_rows_than_there_are_and_not_all_of_many(resolver: Any, tensor: torch.Tensor) -> None:
    rows = [name for name in resolver.get_dictionary(tensor) if name.startswith("[")]
    assert len(rows) == (min(len(tensor), 100) if tensor.dim() else 0)


def test_what_a_subclass_refuses_is_told_and_the_rest_is_shown(resolver: Any) -> None:
    class Refuses(torch.Tensor):
        @property
        def shape(self) -> Any:
            raise RuntimeError("not to be had")

    shown = resolver.get_dictionary(torch.ones(2).as_subclass(Refuses))
    assert shown["shape"] == "RuntimeError: not to be had"
    assert shown["dtype"] is torch.float32


def test_debugpy_finds_it() -> None:
    session = PythonSession("Python only: this file", {PROGRAM: [PRODUCT_LINE]})
    try:
        frame = session.frames(session.thread, 1)[0]["id"]
        a = session.ask("evaluate", expression="a", frameId=frame, context="hover")
        shown = session.ask("variables", variablesReference=a["variablesReference"])["variables"]
        values = {each["name"]: each["value"] for each in shown}
        assert values["shape"] == "torch.Size([2, 2])"
        assert values["[1]"] == "tensor([3., 4.])"
        assert not any("Traceback" in value for value in values.values())
        session.go_on()
        session.finish()
    finally:
        session.close()
