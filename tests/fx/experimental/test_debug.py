"""pdb stops at the beginning of generated code.

Mirrors: test/test_fx_experimental.py
"""

from __future__ import annotations

import io
import pdb
from types import ModuleType
from typing import Any

import pytest

import reftorch
from reftorch.fx.experimental.debug import set_trace
from tests.fx import both


def program(x: Any) -> Any:
    return x + 1


def test_the_code_is_that_of_torch(real_torch: ModuleType, noted: Any) -> None:
    theirs = __import__(f"{real_torch.__name__}.fx.experimental.debug", fromlist=["set_trace"])
    ours = set_trace(reftorch.fx.symbolic_trace(program))
    assert both.plain(ours.code) == noted(both.plain(theirs.set_trace(real_torch.fx.symbolic_trace(program)).code))


def test_pdb_shows_the_line(monkeypatch: pytest.MonkeyPatch) -> None:
    module = set_trace(reftorch.fx.symbolic_trace(program))
    out = io.StringIO()
    # From Python 3.13 on pdb stops in line 5, which calls set_trace. Before, it stopped in the line after, and there
    # pdb refuses `until 6` and goes on to the next command.
    debugger = pdb.Pdb(stdin=io.StringIO("until 6\nnext\np add\ncontinue\n"), stdout=out, nosigint=True, readrc=False)
    debugger.use_rawinput = False
    monkeypatch.setattr(pdb, "set_trace", lambda: debugger.set_trace(__import__("sys")._getframe(1)))
    assert module(1) == 2
    shown = out.getvalue()
    assert "-> add = x + 1;  x = None" in shown and "-> return add" in shown and "\n(Pdb) 2\n" in shown
    module.recompile()
    assert "pdb" not in module.code
