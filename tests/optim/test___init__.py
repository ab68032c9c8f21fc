"""Every public name of torch.optim and of its files, with its signature.

Mirrors: nothing in PyTorch: it has no other library to be compared with.

``names.csv`` has a row for each name: its module, its state and, where the state is not ``same``, the reason. ``same``
means that the signatures are torch's, those of the public methods of a class included.
"""

import csv
import importlib
import inspect
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import reftorch

ROWS = list(csv.DictReader((Path(__file__).parent / "names.csv").read_text().splitlines()))
MODULES = sorted({row["module"] for row in ROWS})


def public(module: ModuleType) -> list[str]:
    return sorted(module.__all__)


def signature(function: Any) -> Any:
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return None
    return [(p.name, p.kind, p.default) for p in parameters]


def signatures(value: Any) -> Any:
    """The signature of a function, or those of a class and of its public methods, by name."""
    if not inspect.isclass(value):
        return {"": signature(value)} if callable(value) else {}
    found = {"": signature(value)}
    for name in dir(value):
        member = inspect.getattr_static(value, name)
        if isinstance(member, classmethod | staticmethod):
            member = member.__func__
        own = inspect.isfunction(member) and "optim" in member.__module__.split(".")  # and not a method of Module
        if own and not name.startswith("_"):
            found[name] = signature(member)
    return found


@pytest.mark.parametrize("module", MODULES)
def test_the_table_has_every_name_of_torch(real_torch: ModuleType, module: str) -> None:
    theirs = importlib.import_module(f"torch.{module}")
    assert sorted(row["name"] for row in ROWS if row["module"] == module) == public(theirs)


def test_the_table_has_every_file_of_torch(real_torch: ModuleType) -> None:
    # _stateless has no __all__: its one public name is torch.optim's. _functional has the update of SparseAdam alone.
    files = Path(real_torch.optim.__file__).parent.glob("*.py")
    names = {path.stem for path in files if "\n__all__ = " in path.read_text()} - {"__init__"}
    assert {"optim", *(f"optim.{name}" for name in names)} == set(MODULES)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row['module']}.{row['name']}")
def test_the_table_is_right(real_torch_or_none: ModuleType | None, row: dict[str, str]) -> None:
    ours = importlib.import_module(f"reftorch.{row['module']}")
    assert row["state"] in ("same", "differs", "missing")
    assert hasattr(ours, row["name"]) == (row["state"] != "missing")
    assert bool(row["reason"]) == (row["state"] != "same")
    if row["state"] != "missing":
        assert row["name"] in ours.__all__
    if real_torch_or_none is not None and row["state"] != "missing":
        theirs = importlib.import_module(f"torch.{row['module']}")
        known = signatures(getattr(ours, row["name"]))
        expected = signatures(getattr(theirs, row["name"]))
        same = all(known.get(name) == value for name, value in expected.items())
        assert same == (row["state"] == "same")


def test_nothing_else_is_public() -> None:
    for module in MODULES:
        names = {row["name"] for row in ROWS if row["module"] == module}
        assert set(importlib.import_module(f"reftorch.{module}").__all__) <= names


def test_the_classes_say_where_they_are_found() -> None:
    assert reftorch.optim.Muon.__module__ == reftorch.optim.Adafactor.__module__ == "reftorch.optim"
