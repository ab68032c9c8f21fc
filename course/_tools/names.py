"""Find the file that defines a name, for tools that are asked in words: `computeStride`, `expand in TensorShape.cpp`.

Mirrors: nothing in PyTorch: the course's own.
Leaves out: names of ops; an op is registered, and the function it is registered with has a name of its own.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

from course._tools import source_map
from course._tools.definitions import definitions_in
from course._tools.layout import in_checkout, on_disk

FOLDERS = ("cpp", "reftorch", "course/_tools")
SUFFIXES = (".cpp", ".h", ".cu", ".cuh", ".py")


class Named(NamedTuple):
    """A name as its file defines it, and the file, from the root of the checkout."""

    path: str
    name: str


def is_path(text: str) -> bool:
    """Return whether `text` is the path of a file, not words."""
    return " " not in text and text.endswith(SUFFIXES)


def find_definition(words: str) -> Named:
    """The place of a definition, by its name alone or by `NAME in FILE`.

    A name alone is looked up in the source map's table, then among Python's public names, then in every file. `FILE` is
    the end of a path: `TensorShape.cpp`, or `cpu/SumKernel.cpp` where several files have one name.

    Raises:
        LookupError: nothing has that name, or several files define the name; the message names them.

    Example::

        >>> find_definition("computeStride")
        Named(path='cpp/ATen/TensorUtils.cpp', name='computeStride')
        >>> find_definition("Linear.forward in linear.py").path
        'reftorch/nn/modules/linear.py'
    """
    name, _, file = words.partition(" in ")
    name, file = name.strip(), file.strip()
    found = _in_files(name, _files_called(file)) if file else _by_name(name)
    if not found:
        raise LookupError(
            f"no definition of {name!r} in {file or 'the checkout'}; a name is written as its file has it"
        )
    if len(found) > 1:
        choices = ", ".join(f'"{name} in {each.path.split("/", 1)[1]}"' for each in found[:6])
        raise LookupError(f"{name!r} is defined in {len(found)} files; choose one: {choices}")
    return found[0]


def _by_name(name: str) -> list[Named]:
    rows = [Named(place.path, place.name) for place in source_map.table() if source_map.answers_to(place, name)]
    if len(rows) == 1:
        return rows
    if "::" not in name and (place := source_map.python_place(name)):
        return [Named(place[0].path, inspect.unwrap(source_map.resolve(place[0].name)).__qualname__)]
    return _in_files(name, _files())


def _in_files(name: str, files: Iterator[tuple[str, str]]) -> list[Named]:
    last = name.replace("::", ".").split(".")[-1]
    return [Named(path, name) for path, text in files if last in text and definitions_in(path, text, name)]


def _files() -> Iterator[tuple[str, str]]:
    return ((path, on_disk(path).read_text()) for path in _paths())


def _files_called(end: str) -> Iterator[tuple[str, str]]:
    return ((path, on_disk(path).read_text()) for path in _paths() if f"/{path}".endswith(f"/{end}"))


@lru_cache
def _paths() -> tuple[str, ...]:
    files = (file for folder in FOLDERS for file in on_disk(folder).rglob("*") if file.suffix in SUFFIXES)
    return tuple(sorted({path for file in files if (path := in_checkout(file))}))  # `reftorch` may contain `cpp`
