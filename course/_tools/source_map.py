"""The source map: each public symbol of reftorch with its place here, and its name and path in PyTorch 2.13.

Mirrors: nothing in PyTorch: the course's own.
Leaves out: line numbers in PyTorch, which move with every commit there; a name is searched for.

Three sources. The ops say themselves where they are registered. Python's public names are found by importing them. What
is neither, the classes and functions of C++ that a debugger shows, is in `source_table`. The path in PyTorch is
what the file's `Mirrors:` line says, where the table gives none.
"""

from __future__ import annotations

import difflib
import importlib
import inspect
import linecache
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from types import ModuleType
from typing import Any

from course._tools.definitions import first_line, mirrors_of
from course._tools.layout import in_checkout
from course._tools.source_table import ELSEWHERE, OVERLOADS, TABLE
from reftorch._source_paths import here

PACKAGE = "reftorch"
# What a user imports from; names in other modules are reached through these, or are not public.
PUBLIC_MODULES = (
    "", "autograd", "autograd.forward_ad", "autograd.functional", "autograd.graph", "autograd.profiler", "func",
    "linalg", "nn", "nn.functional", "nn.init", "nn.utils",
    "optim", "special", "testing", "utils", "utils.data",
)  # fmt: skip
PUBLIC_CLASSES = ("Tensor", "nn.Module", "optim.Optimizer", "utils.data.DataLoader")


@dataclass(frozen=True)
class Place:
    """One symbol: its `name` in `path`:`line` here, and `there` in `there_path` in PyTorch."""

    name: str
    path: str
    line: int
    there: str
    there_path: str

    @property
    def is_cpp(self) -> bool:
        """Whether its name in PyTorch is one of C++."""
        return not self.there.startswith("torch.")


def find(name: str) -> list[Place]:
    """The places of a symbol, by any name it goes by: `add`, `add.Tensor`, `nn.Linear`, `Dispatcher`.

    Raises:
        LookupError: nothing has that name; the message names what comes near.
    """
    wanted = name.strip().removeprefix(f"{PACKAGE}.").removeprefix("torch.").removeprefix("aten::")
    found = [place for place in table() if answers_to(place, wanted)]
    found += [place for place in ops() if wanted in (place.name, place.name.split(".")[0])]
    found += [] if "::" in wanted else python_place(wanted)
    if not found:
        known = {place.name for place in (*table(), *ops(), *python_symbols())}
        near = ", ".join(difflib.get_close_matches(wanted, known, n=5)) or "nothing comes near"
        raise LookupError(f"the source map has no {name!r}; did you mean: {near}?")
    return found


def answers_to(place: Place, wanted: str) -> bool:
    """Return whether `wanted` is one of the names of a place, here or in PyTorch."""
    names = (place.name, place.there, place.name.split("::")[-1], place.there.split("::")[-1])
    return wanted in (*names, place.there.removeprefix("torch."))


@lru_cache
def table() -> tuple[Place, ...]:
    """The small table, each row with its line here as it is now.

    Raises:
        LookupError: a file here does not define a row's name (any more).
    """
    return tuple(
        Place(
            row.name,
            row.path,
            first_line(row.path, row.name),
            row.there,
            row.there_path or mirrors_of(row.path),
        )
        for row in TABLE.values()
    )


@lru_cache
def ops() -> tuple[Place, ...]:
    """Every op that the library registers, by overload."""
    places = []
    for op in _library()._C._get_all_op_schemas():
        name = op["name"].removeprefix("aten::")
        path = _in_checkout(op["file"])
        if path is None:  # an op that a cell has registered is nobody's public symbol
            continue
        stands_with = (op["functional"] or name).removeprefix("aten::") if name.endswith("out") else name
        there = OVERLOADS.get(stands_with, stands_with).replace(".", "_")
        places.append(Place(name, path, op["line"], f"at::_ops::{there}::call", mirrors_of(path)))
    return tuple(places)


@lru_cache
def python_symbols() -> tuple[Place, ...]:
    """The public names that are written in Python: functions, classes, and methods of the main classes."""
    places = [
        place
        for module in PUBLIC_MODULES
        for name in _public_names(resolve(module))
        for place in python_place(f"{module}.{name}".lstrip("."))
    ]
    for cls in PUBLIC_CLASSES:
        methods = [name for name in dir(resolve(cls)) if not name.startswith("_")]
        places += [place for name in methods for place in python_place(f"{cls}.{name}")]
    return tuple(places)


def public_symbols() -> tuple[Place, ...]:
    """Return the places of all public symbols."""
    return (*table(), *ops(), *python_symbols())


def _public_names(module: ModuleType) -> Iterator[str]:
    for name in getattr(module, "__all__", dir(module)):
        value = getattr(module, name)
        ours = getattr(value, "__module__", None) or ""
        if not name.startswith("_") and callable(value) and isinstance(ours, str) and ours.startswith(PACKAGE):
            yield name


def source_of(value: Any) -> tuple[str, int]:
    """The file and the line of a class or function, which may say another module than that of its file."""
    from reftorch import _places

    file, lines = inspect.getsourcefile(value) or "", None
    home = getattr(_places.defining_module(value), "__file__", None)
    if isinstance(value, type) and home is not None and home != file:
        pattern = re.compile(rf"class {re.escape(value.__name__)}\b")
        lines = [number for number, text in enumerate(linecache.getlines(home), 1) if pattern.match(text)]
    return (home, lines[0]) if lines else (file, inspect.getsourcelines(value)[1])


def python_place(dotted: str) -> list[Place]:
    """The place of a name under `reftorch`; none where there is no such name, or it is not written in Python."""
    try:
        value = inspect.unwrap(resolve(dotted))
        path, line = source_of(value)
        file = _in_checkout(path)
    except (AttributeError, ImportError, TypeError, OSError):
        return []
    if file is None:
        return []
    there, there_path = ELSEWHERE.get(dotted) or (f"torch.{dotted}", mirrors_of(file))
    return [Place(dotted, file, max(line, 1), there, there_path)]


def resolve(dotted: str) -> Any:
    """The object under `reftorch` with this name; modules on the way are imported."""
    value: Any = _library()
    path = PACKAGE
    for part in filter(None, dotted.split(".")):
        path += f".{part}"
        if not hasattr(value, part) and isinstance(value, ModuleType):
            importlib.import_module(path)
        value = getattr(value, part)
    return value


def _library() -> Any:
    return importlib.import_module(PACKAGE)


def _in_checkout(file: str) -> str | None:
    return in_checkout(Path(here(file)))
