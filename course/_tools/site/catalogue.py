"""The public names of reftorch as the site shows them: what each is, its page, and its places here and in PyTorch.

The names come from the table ``reftorch/_api/names.csv`` (PyTorch's) and from ``reftorch.debug`` (ours). A name is
described once: where the same object has a second name, that name refers to the first.

Mirrors: docs/source/index.rst (the list of pages by module)
Leaves out: names of PyTorch that are not here; the page of the table has them.
"""

from __future__ import annotations

import functools
import importlib
import inspect
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any

import reftorch
from course._tools.definitions import mirrors_of
from course._tools.site.sections import section_of
from course._tools.source_map import source_of
from reftorch import _api

ROOT = Path(__file__).resolve().parents[3]
# These modules come first, so that a name is described where PyTorch's docs describe it.
FIRST = ("torch.nn.functional", "torch.special", "torch.linalg", "torch.nn", "torch.optim", "torch.utils.data")
OURS = "reftorch.debug"


@dataclass
class Entry:
    """One name: `owner` is its module or class, and `value` what the name means here."""

    owner: str
    name: str
    value: Any
    page: str
    same_as: str = ""  # the full name under which the object is described
    members: list[Entry] = field(default_factory=list)

    @property
    def full(self) -> str:
        return f"{self.owner}.{self.name}"

    @property
    def doc(self) -> str:
        """The docstring, if it is the object's own."""
        value = self.value
        text = getattr(value, "__doc__", None)
        if isinstance(value, property | functools.cached_property):
            return text or ""
        own = inspect.isclass(value) or callable(value) or isinstance(value, ModuleType)
        if not own and text == getattr(type(value), "__doc__", None):
            return ""
        return text if isinstance(text, str) else ""


@dataclass
class Page:
    """A page of the API: one module, or a part of `torch`."""

    name: str  # of the file
    title: str
    module: str
    entries: list[Entry] = field(default_factory=list)


class Catalogue:
    """All pages, and all names by their full name."""

    def __init__(self) -> None:
        self.pages: dict[str, Page] = {}
        self.names: dict[str, Entry] = {}
        self._described: dict[int, str] = {}
        self._last: dict[str, list[str]] = {}
        owners: dict[str, list[str]] = {}
        for (owner, name), row in _api.rows().items():
            if row.state in ("there", "partly"):
                owners.setdefault(owner, []).append(name)
        owners[OURS] = list(importlib.import_module(OURS).__all__)
        order = sorted(owners, key=lambda owner: (owner not in FIRST, owner == OURS, owner.count("."), owner))
        classes = [owner for owner in order if not isinstance(owner_of(owner), ModuleType)]
        for owner in order:
            if owner not in classes:
                self._add_module(owner, sorted(owners[owner], key=str.lower))
        for owner in classes:
            self._add_members(owner, sorted(owners[owner], key=str.lower))
        for entry in list(self.names.values()):
            if inspect.isclass(entry.value) and not entry.same_as and not entry.members:
                self._add_own_methods(entry)
        for full in self.names:
            self._last.setdefault(full.rsplit(".", 1)[-1], []).append(full)

    def _add_module(self, owner: str, names: list[str]) -> None:
        for name in names:
            value = found(f"{owner}.{name}")
            if isinstance(value, ModuleType):
                continue
            if owner == "torch":
                title = section_of(name, value)
                key = "torch-" + title.lower().replace(",", "").replace(" ", "-")
            else:
                key, title = owner, owner
            if owner == "torch" and name == "Tensor":
                key, title = "torch.Tensor", "torch.Tensor"
            page = self.pages.setdefault(key, Page(key, title, owner))
            self._add(page.entries, owner, name, value, key)

    def _add(self, entries: list[Entry], owner: str, name: str, value: Any, page: str) -> Entry:
        entry = Entry(owner, name, value, page)
        if (callable(value) or inspect.isclass(value)) and getattr(value, "__doc__", None):
            first = self._described.setdefault(id(value), entry.full)
            entry.same_as = first if first != entry.full else ""
        entries.append(entry)
        self.names[entry.full] = entry
        return entry

    def _add_members(self, owner: str, names: list[str]) -> None:
        module, _, last = owner.rpartition(".")
        entry = self.names.get(owner) or self._add(self.pages[module].entries, module, last, owner_of(owner), module)
        entry = self.names[entry.same_as or owner]
        for name in names:
            value = inspect.getattr_static(entry.value, name, None)
            value = getattr(entry.value, name, None) if isinstance(value, staticmethod | classmethod) else value
            member = Entry(entry.full, name, value, entry.page)
            entry.members.append(member)
            self.names[member.full] = self.names[f"{owner}.{name}"] = member

    def _add_own_methods(self, entry: Entry) -> None:
        """The public methods that a class defines itself and describes."""
        for name, value in vars(entry.value).items():
            plain = value.__func__ if isinstance(value, staticmethod | classmethod) else value
            known = inspect.isroutine(plain) or isinstance(plain, property | functools.cached_property)
            if name.startswith("_") or not known or not getattr(plain, "__doc__", None):
                continue
            member = Entry(entry.full, name, plain, entry.page)
            entry.members.append(member)
            self.names[member.full] = member

    def resolve(self, target: str, entry: Entry) -> str | None:
        """The full name that a cross reference in the docstring of `entry` means; None if the site has no such name."""
        if target.startswith("reftorch.") and not target.startswith(OURS):
            target = "torch." + target.removeprefix("reftorch.")
        module = self.module_of(entry)
        near = [f"{entry.full}.{target}", f"{entry.owner}.{target}", f"{module}.{target}", f"torch.{target}", target]
        near += [f"torch.nn.functional.{target}", f"torch.nn.{target}", f"torch.Tensor.{target}"]
        for full in near:
            if full in self.names:
                return self.names[full].same_as or full
        if target in self.pages or f"torch.{target}" in self.pages:
            return None
        last = target.rsplit(".", 1)[-1]
        candidates = [
            full for full in self._last.get(last, []) if full.endswith(f".{target}") and not self.names[full].same_as
        ]
        close = [full for full in candidates if full.startswith(f"{module}.")]
        candidates = sorted(close or candidates, key=lambda full: (full.count("."), full))
        return candidates[0] if candidates else None

    def module_of(self, entry: Entry) -> str:
        owner = entry.owner
        while owner in self.names:
            owner = self.names[owner].owner
        return owner

    def all_entries(self) -> Iterator[Entry]:
        yield from self.names.values()


def found(full: str) -> Any:
    """The object with a public name, here; a module is imported if it has the name."""
    owner, _, name = full.rpartition(".")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return getattr(owner_of(owner), name)
        except AttributeError:
            return importlib.import_module(full.replace("torch", "reftorch", 1))


@functools.cache
def owner_of(full: str) -> Any:
    """The module with a public name, or the class; a function may have the name of the module that defines it."""
    if full.startswith("reftorch"):
        return importlib.import_module(full)
    path = full.replace("torch", "reftorch", 1)
    try:
        return importlib.import_module(path)
    except ModuleNotFoundError:
        return found(full)


def place_of(entry: Entry) -> tuple[str, int] | None:
    """The file here that defines a name, and the line; None for a value that no file defines by itself."""
    value = entry.value
    if isinstance(value, property):
        value = value.fget
    if isinstance(value, functools.cached_property):
        value = value.func
    op = _ops().get(getattr(value, "__name__", "")) if not inspect.isclass(value) else None
    try:
        value = inspect.unwrap(value)
        file, line = source_of(value)
        if file and Path(file).is_relative_to(ROOT) and "_C" not in Path(file).parts:
            return Path(file).relative_to(ROOT).as_posix(), max(line, 1)
    except (TypeError, OSError, ValueError):
        pass
    return op if op and callable(value) else None


@functools.cache
def _ops() -> dict[str, tuple[str, int]]:
    """The place of each op's registration, by the op's name."""
    places: dict[str, tuple[str, int]] = {}
    for op in reftorch._C._get_all_op_schemas():
        name = op["name"].removeprefix("aten::").split(".")[0]
        path = Path(op["file"])
        if path.is_relative_to(ROOT):
            places.setdefault(name, (path.relative_to(ROOT).as_posix(), op["line"]))
    return places


@functools.cache
def mirrored(path: str) -> str:
    """Return what the first lines of a file here say about the file of PyTorch that it mirrors."""
    try:
        return mirrors_of(path)
    except (LookupError, FileNotFoundError):
        return ""
