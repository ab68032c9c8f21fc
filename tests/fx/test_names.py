"""The table of the public names of torch.fx: which are here, and why the others are not.

Mirrors: nothing in PyTorch: it has no other library to be compared with.

The table ``names.csv`` has the names in ``__all__`` of every public module of torch.fx, and the public members of the
classes that PyTorch's page on fx documents.
"""

from __future__ import annotations

import csv
import importlib
import pkgutil
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

CLASSES = ("GraphModule", "Graph", "Node", "Tracer", "Proxy", "Interpreter", "Transformer", "CodeGen")
ROWS = list(csv.DictReader((Path(__file__).parent / "names.csv").read_text().splitlines()))


def is_here(module: str, name: str) -> bool:
    last = module.rsplit(".", 1)[1]
    try:
        space: Any = importlib.import_module(f"ref{module}" if last not in CLASSES else "reftorch.fx")
    except ImportError:
        return False
    if last in CLASSES:
        space = getattr(space, last)
        if any(name in vars(cls).get("__annotations__", {}) for cls in space.__mro__):
            return True
    return hasattr(space, name)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row['module']}.{row['name']}")
def test_the_state_of_a_name_is_true(row: dict[str, str]) -> None:
    assert (row["state"] == "here") is is_here(row["module"], row["name"])
    assert row["state"] in ("here", "absent") and bool(row["reason"]) is (row["state"] == "absent")


@pytest.mark.filterwarnings("ignore")
def test_the_table_has_the_names_of_torch(real_torch: ModuleType) -> None:
    fx = real_torch.fx
    walked = sorted(found.name for found in pkgutil.walk_packages(fx.__path__, "torch.fx."))
    public = [name for name in walked if not any(p.startswith("_") or p == "tests" for p in name.split("."))]
    expected = [(m, n) for m in ["torch.fx", *public] for n in getattr(importlib.import_module(m), "__all__", [])]
    for name in CLASSES:
        bases = [cls for cls in getattr(fx, name).__mro__ if cls.__module__.startswith("torch.fx")]
        members = sorted({member for cls in bases for member in vars(cls) if not member.startswith("_")})
        expected += [(f"torch.fx.{name}", member) for member in members]
    assert [(row["module"], row["name"]) for row in ROWS] == expected


def test_nearly_all_documented_names_are_here() -> None:
    documented = [row for row in ROWS if not row["module"].startswith(("torch.fx.experimental", "torch.fx.passes"))]
    here = [row for row in documented if row["state"] == "here"]
    assert len(here) >= 0.95 * len(documented) > 150
