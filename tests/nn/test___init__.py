"""Every public name of torch.nn and of its modules, with its signature.

Mirrors: nothing in PyTorch: it has no other library to be compared with.

``names.csv`` has a row for each name: its module, its state and, where the state is not ``same``, the reason. ``same``
means that the signatures are torch's, those of the public methods that a class defines included. A row whose state is
``same`` is also checked for the place of the name, which is the place in PyTorch.
"""

import csv
import importlib
import inspect
import warnings
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

ROWS = list(csv.DictReader((Path(__file__).parent / "names.csv").read_text().splitlines()))
MODULES = sorted({row["module"] for row in ROWS})
# Helpers that torch.nn.functional imports; PyTorch's pages do not have them.
IMPORTED = {
    "Callable", "DType", "Optional", "ScalingType", "SwizzleType", "Tensor", "assert_int_or_pair", "boolean_dispatch",
    "handle_torch_function", "has_torch_function", "has_torch_function_unary", "has_torch_function_variadic",
}  # fmt: skip


def public(module: ModuleType) -> list[str]:
    """The names in ``__all__``, or else the functions and classes without an underscore that belong to torch.nn."""
    if hasattr(module, "__all__"):
        return sorted(module.__all__)
    names = [name for name in dir(module) if not name.startswith("_") and callable(getattr(module, name))]
    if module.__name__.endswith((".nn", ".functional")):
        return sorted(set(names) - IMPORTED)
    return [name for name in names if getattr(getattr(module, name), "__module__", "") == module.__name__]


def signature(function: Any) -> Any:
    """Names, kinds and defaults of the parameters; None if Python does not know them, as for many functions in C++."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return None

    def text(default: Any) -> str:
        return default.__name__ if inspect.isfunction(default) else str(default).replace("reftorch", "torch")

    return [(p.name, p.kind, text(p.default)) for p in parameters]


def signatures(value: Any) -> dict[str, Any]:
    """The signature of a function, or those of a class and of the public methods that the class itself defines."""
    if not inspect.isclass(value):
        return {"": signature(value)} if callable(value) else {}
    found = {"": signature(value)}
    for name, member in vars(value).items():
        if isinstance(member, classmethod | staticmethod):
            member = member.__func__
        if inspect.isfunction(member) and not name.startswith("_"):
            found[name] = signature(member)
    return found


def method_signature(cls: Any, name: str) -> Any:
    member = inspect.getattr_static(cls, name, None)
    if isinstance(member, classmethod | staticmethod):
        member = member.__func__
    return signature(member) if callable(member) else None


def differences(ours: Any, theirs: Any) -> list[str]:
    """The methods whose signatures differ; the empty name is that of the function or class itself."""
    found = []
    for name, expected in signatures(theirs).items():
        if expected is None or name == "forward":  # each library names the arguments of some forwards anew
            continue
        known = signature(ours) if name == "" else method_signature(ours, name)
        if known != expected and not (name == "" and known is None):
            found.append(name)
    return found


def of_torch(module: str) -> ModuleType:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return importlib.import_module(f"torch.{module}")


def of_ours(module: str) -> ModuleType | None:
    try:
        return importlib.import_module(f"reftorch.{module}")
    except ImportError:
        return None


@pytest.mark.parametrize("module", MODULES)
def test_the_table_has_every_name_of_torch(real_torch: ModuleType, module: str) -> None:
    assert sorted(row["name"] for row in ROWS if row["module"] == module) == public(of_torch(module))


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row['module']}.{row['name']}")
def test_the_table_is_right(real_torch_or_none: ModuleType | None, row: dict[str, str]) -> None:
    ours = of_ours(row["module"])
    assert row["state"] in ("same", "differs", "missing")
    assert hasattr(ours, row["name"]) == (row["state"] != "missing")
    assert bool(row["reason"]) == (row["state"] != "same")
    if real_torch_or_none is not None and row["state"] != "missing":
        value, theirs = getattr(ours, row["name"]), getattr(of_torch(row["module"]), row["name"])
        assert (not differences(value, theirs)) == (row["state"] == "same"), differences(value, theirs)
        if inspect.isclass(theirs) and issubclass(theirs, real_torch_or_none.nn.Module):
            assert value.__name__ == theirs.__name__
            assert value.__module__.startswith(theirs.__module__.replace("torch", "reftorch", 1))


def test_nothing_else_is_public() -> None:
    for module in MODULES:
        names = {row["name"] for row in ROWS if row["module"] == module}
        assert set(getattr(of_ours(module), "__all__", ())) - names <= SUBMODULES.get(module, set()), module


# Modules that stand in ``__all__`` here.
SUBMODULES = {
    "nn": {"common_types", "functional", "init", "modules", "parameter", "utils"},
    "nn.utils": {"fusion", "prune"},
}


def test_options_of_factories(real_torch: ModuleType) -> None:
    for lib in (importlib.import_module("reftorch"), real_torch):
        of = lib.nn.factory_kwargs
        assert of(None) == of({}) == {}
        assert of({"dtype": 1, "factory_kwargs": {"device": 2}}) == {"dtype": 1, "device": 2}
        with pytest.raises(TypeError, match="unexpected kwargs"):
            of({"foo": 1})
        with pytest.raises(TypeError, match="dtype specified twice"):
            of({"dtype": 1, "factory_kwargs": {"dtype": 2}})
