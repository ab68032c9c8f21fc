"""The public names of PyTorch 2.13: which of them are here, and what is said about one that is not.

``names.csv``, beside this file, has a row for each public name in the scope of this project: its module, the name, a
state, PyTorch's signature, the file of PyTorch that defines the name, and the reason where the state is not ``there``.
The states are

- ``there``: the name is here, with PyTorch's signature as far as Python can see it;
- ``partly``: the name is here, and its signature differs as the reason says;
- ``not yet``: the name is missing and could come;
- ``not planned``: the name is missing because the reason keeps it out of scope.

The table is written by ``make api`` (``tests/_api/generate.py``, which needs torch), and is read only if a program asks
for a name that does not exist. Importing reftorch does not read the table.

Mirrors: nothing in PyTorch: it has no other library to be compared with.
"""

from __future__ import annotations

import functools
import importlib
import sys
from collections.abc import Callable, Mapping, Sequence
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

from reftorch._places import called, in_torch

__all__ = ["TABLE", "Row", "getattr_of", "install", "missing", "rows"]

TABLE = Path(__file__).with_name("names.csv")


class Row(NamedTuple):
    """One public name of PyTorch. The fields are the columns of ``names.csv``."""

    module: str
    name: str
    state: str
    signature: str
    file: str
    reason: str


@functools.cache
def rows() -> dict[tuple[str, str], Row]:
    """Return the table, by module (``"torch.nn"``) and name."""
    import csv

    with TABLE.open(newline="", encoding="utf-8") as file:
        lines = csv.reader(file)
        next(lines)
        return {(line[0], line[1]): Row(*line) for line in lines}


def missing(module: str, name: str) -> str | None:
    """Say why ``module`` of reftorch lacks ``name``; return None if PyTorch has no such public name either.

    Example:
        >>> from reftorch._api import missing
        >>> print(missing("reftorch", "onnx"))  # doctest: +ELLIPSIS
        not in reftorch: torch.onnx (PyTorch: torch/onnx); ...; see the table reftorch/_api/names.csv
    """
    place = in_torch(module, name)[0]
    row = rows().get((place, name))
    if row is None or row.state in ("there", "partly"):
        return None
    file = f" (PyTorch: {row.file})" if row.file else ""
    return f"not in reftorch: {place}.{name}{file}; {row.reason}; see the table reftorch/_api/names.csv"


def getattr_of(module: str, lazy: Sequence[str] = (), of_lazy: Mapping[str, str] | None = None) -> Callable[[str], Any]:
    """Return the ``__getattr__`` of a module: an AttributeError that says whether PyTorch has the name.

    Args:
        module: the name of the module.
        lazy: its submodules that are imported at their first use, because most programs use none of them.
        of_lazy: names that other modules define, which are imported at their first use, and these modules.
    """

    def __getattr__(name: str) -> Any:
        if name in lazy:
            return importlib.import_module(f"{module}.{name}")
        if of_lazy and name in of_lazy:
            return getattr(importlib.import_module(of_lazy[name]), name)
        owner = sys.modules.get(module)
        message = f"module '{owner.__name__ if owner else module}' has no attribute '{name}'"
        why = None if name.startswith("_") else missing(module, name)
        raise AttributeError(f"{message}: {why}" if why else message, name=name, obj=owner)

    return __getattr__


class _MissingNames:
    """The last finder of the import system: explains a failed import of a name that PyTorch has.

    ``from reftorch import stft`` first asks for the attribute, and then for a module ``reftorch.stft``. Python replaces
    the AttributeError by a message of its own, so the explanation is raised where the module is looked for. This finder
    finds nothing, and is silent where a program only asks whether a module exists (``importlib.util.find_spec``).
    """

    @staticmethod
    def find_spec(name: str, path: Sequence[str] | None = None, target: ModuleType | None = None) -> ModuleSpec | None:
        package = name.partition(".")[0]
        if package not in ("reftorch", called()):
            return None
        module, _, last = name.rpartition(".")
        callers: list[str] = []
        frame = sys._getframe(1)
        while frame.f_back is not None and len(callers) < 6:
            callers.append(frame.f_code.co_name)
            frame = frame.f_back
        if last.startswith("_") or "_find_and_load_unlocked" not in callers:
            return None
        why = missing(module, last)
        if why is None and package == "torch" and "_handle_fromlist" not in callers:
            why = "reftorch, which stands for torch in this process, does not have it"
        if why is None:
            return None
        if "_handle_fromlist" in callers:
            file = getattr(sys.modules.get(module), "__file__", None)
            raise ImportError(f"cannot import name '{last}' from '{module}': {why}", name=module, path=file)
        raise ModuleNotFoundError(f"No module named '{name}': {why}", name=name)


# Modules that are imported with the package and have no ``__getattr__`` of their own.
_MODULES = ("accelerator", "autograd", "backends", "cuda", "func", "linalg", "multiprocessing", "nn", "nn.functional",
            "nn.init", "random", "serialization")  # fmt: skip


def install() -> None:
    """Let a missing attribute of a module, and a failed import from reftorch, say what the table says."""
    for name in _MODULES:
        module = sys.modules[f"reftorch.{name}"]
        place = "_missing" if "_parts" in vars(module) else "__getattr__"  # see _places.split
        if vars(module).get(place) is None:
            vars(module)[place] = getattr_of(module.__name__, ("attention",) if name == "nn" else ())
    if not any(finder is _MissingNames for finder in sys.meta_path):
        sys.meta_path.append(_MissingNames)
