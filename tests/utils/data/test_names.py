"""Every public name of torch.utils.data, torch.multiprocessing and torch.serialization, with its signature.

Mirrors: nothing in PyTorch: it has no other library to be compared with.

``names.csv`` has a row for each name: its module, its state and, where the state is not ``same``, the reason. ``same``
means that the names of the parameters, their kinds and their defaults are torch's.
"""

import csv
import importlib
import inspect
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

ROWS = list(csv.DictReader((Path(__file__).parent / "names.csv").read_text().splitlines()))
MODULES = sorted({row["module"] for row in ROWS})


def signature(value: Any) -> Any:
    """The parameters of a function or a class, or None where Python does not know them."""
    try:
        parameters = inspect.signature(value).parameters.values()
    except (TypeError, ValueError):
        return None
    return [(p.name, p.kind, repr(p.default)) for p in parameters]


@pytest.mark.parametrize("module", MODULES)
def test_the_table_has_every_name_of_torch(real_torch: ModuleType, module: str) -> None:
    theirs = importlib.import_module(f"torch.{module}")
    assert sorted(row["name"] for row in ROWS if row["module"] == module) == sorted(theirs.__all__)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row['module']}.{row['name']}")
def test_the_table_is_right(real_torch_or_none: ModuleType | None, row: dict[str, str]) -> None:
    ours = importlib.import_module(f"reftorch.{row['module']}")
    assert row["state"] in ("same", "differs", "missing")
    assert hasattr(ours, row["name"]) == (row["state"] != "missing")
    assert bool(row["reason"]) == (row["state"] != "same")
    if row["state"] != "missing":
        assert row["name"] in ours.__all__
        if real_torch_or_none is not None:
            theirs = importlib.import_module(f"torch.{row['module']}")
            same = signature(getattr(ours, row["name"])) == signature(getattr(theirs, row["name"]))
            assert same == (row["state"] == "same")


@pytest.mark.parametrize("module", MODULES)
def test_nothing_else_is_public(module: str) -> None:
    ours = importlib.import_module(f"reftorch.{module}")
    assert set(ours.__all__) <= {row["name"] for row in ROWS if row["module"] == module}
