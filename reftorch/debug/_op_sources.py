"""What stands behind an op in the C++ sources: its definitions, their functions, the kernels that those call.

Mirrors: nothing in PyTorch: there the way goes through generated code, which is in no repository.
Left out: ops that somebody registered outside the checkout.

Read as text, by ``where_op`` and, inside gdb, by ``rt-op``: gdb's Python is another one and has no reftorch, so nothing
of the package is imported here.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[2]
NATIVE = ROOT / "cpp" / "ATen" / "native"
FOLDERS = (NATIVE, ROOT / "cpp" / "csrc" / "autograd")  # where ops are defined

DEFINITION = r'm\.def\w*\(\s*"{}(?:\.\w+)?[("]'
# A few ops are defined in a loop over names, or by a function that is given the name.
NAME = r'"{}[."(]'
DEFINES = re.compile(r"\bm\.def|\(m, ")
LITERAL = re.compile(r'm\.def\w*\(\s*"(\w+?)(?:\.\w+)?[("]')
ALIAS = re.compile(r'def_alias\("\w+", "(\w+)"')
FUNCTION = re.compile(r"TORCH_FN\(((?:[^()]|\([^()]*\))*)\)")
CALLED = re.compile(r"\b(\w+?)\s*(?:<[\w:&<>, ]*>)?\(")
WORD = re.compile(r"\w+")
PREFIX = re.compile(r"^(reftorch|torch|Tensor|F|nn\.functional|aten)(\.|::)")
PACKAGE = re.compile(r"^(linalg|special)\.")
REGISTERED = re.compile(r"^REGISTER_\w+_DISPATCH\((\w+), (.+)\)$", re.MULTILINE)
# What nearly every op may call beside its own work: of it only who has nothing else is the user.
HELPERS = ("copy_stub", "fill_stub")


class Definition(NamedTuple):
    """An m.def of an op."""

    path: Path
    line: int
    text: str  # the whole statement

    @property
    def is_composite(self) -> bool:
        """Whether it is made of other ops."""
        return "def_composite" in self.text

    @property
    def alias_of(self) -> str:
        """The op that it is another name of; empty for none."""
        found = ALIAS.search(self.text)
        return found[1] if found else ""

    @property
    def functions(self) -> list[str]:
        """What it names as TORCH_FN, with the template's arguments."""
        return FUNCTION.findall(self.text)


class Function(NamedTuple):
    """A function where it is defined."""

    name: str
    path: Path
    line: int
    text: str  # its first line


class Behind(NamedTuple):
    """What stands behind an op."""

    functions: list[Function]  # those that its definitions name, then those of the same file that they call
    stubs: list[str]  # the kernels' seams that they mention


def base_of(asked: str) -> str:
    """Without module, class and overload: ``torch.mul`` and ``mul.Tensor`` are mul, ``linalg.qr`` is linalg_qr."""
    asked = asked.strip()
    while PREFIX.match(asked):
        asked = PREFIX.sub("", asked)
    return PACKAGE.sub(r"\1_", asked).split(".")[0]


def names_of(asked: str) -> list[str]:
    """The ops that somebody may mean, the likeliest first; none for what no op can be called."""
    base = base_of(asked)
    plain = base if base.startswith("__") else base.rstrip("_")
    return [name for name in (plain, base, f"linalg_{base}") if base.isidentifier()]


def there() -> bool:
    """Whether the sources are here: an installed reftorch has none."""
    return NATIVE.is_dir()


@cache
def lines_of(path: Path) -> str:
    return path.read_text(errors="replace")


@cache
def sources(folder: Path, *suffixes: str) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.suffix in suffixes)


def defining() -> list[Path]:
    """The files that define ops."""
    files = [path for folder in FOLDERS for path in sources(folder, ".cpp")]
    return [path for path in files if "TORCH_LIBRARY_FRAGMENT(aten" in lines_of(path)]


def definitions(op: str) -> list[Definition]:
    """Each m.def of an op, by its name without overload."""
    names = [(DEFINITION, op), (NAME, op), (NAME, op.removeprefix("special_"))]
    for pattern, name in names:
        found = []
        for path in defining():
            text = lines_of(path)
            for match in re.finditer(pattern.format(name), text):
                begin, end = text.rfind("\n", 0, match.start()) + 1, text.find(";\n", match.start())
                statement = text[begin:end].strip()
                if DEFINES.search(statement):
                    found.append(Definition(path, text.count("\n", 0, match.start()) + 1, statement))
        if found:
            return found
    return []


@cache
def registered() -> dict[str, list[tuple[Path, str]]]:
    """The kernels of each stub, as (file, function), of all devices."""
    found: dict[str, list[tuple[Path, str]]] = {}
    for folder in ("cpu", "cuda"):
        for path in sources(NATIVE / folder, ".cpp", ".cu"):
            for stub, kernel in REGISTERED.findall(lines_of(path)):
                found.setdefault(stub, []).append((path, kernel.lstrip("&").split("<")[0]))
    return found


def stubs_in(text: str) -> list[str]:
    return [word for word in WORD.findall(text) if word in registered()]


def defined(name: str, path: Path) -> Function | None:
    """Where a function begins: in `path`, or in its header."""
    begins = re.compile(rf"^(?:[\w:<>&*,\[\] ]+[ &*>])?{re.escape(name)}\([^;]*?\) *(?:const )?\{{", re.MULTILINE)
    for file in (path, path.with_suffix(".h")):
        found = begins.search(lines_of(file)) if file.exists() else None
        if found:
            line = lines_of(file).count("\n", 0, found.start()) + 1
            return Function(name, file, line, found[0].split("\n")[0].strip())
    return None


def plain(function: str) -> str:
    """A function's name without namespaces and the template's arguments."""
    return function.split("<")[0].split("::")[-1].strip()


def follow(function: str, path: Path, stubs: list[str], depth: int = 2) -> Iterator[Function]:
    """The function and those of its file that it calls; the stubs that they mention are added."""
    stubs += stubs_in(function)
    name = plain(function)
    place = defined(name, path)
    if place is None:
        return
    yield place
    body = re.split(r"\n}\n", "\n".join(lines_of(place.path).split("\n")[place.line - 1 :]), maxsplit=1)[0]
    stubs += stubs_in(body)
    if depth > 1:
        for called in dict.fromkeys(CALLED.findall(body)):
            if called != name and defined(called, path) is not None and "check" not in called:
                yield from follow(called, path, stubs, depth - 1)


def behind(found: list[Definition]) -> Behind:
    """What stands behind these definitions of an op."""
    functions: list[Function] = []
    stubs: list[str] = []
    for definition in found:
        stubs += stubs_in(definition.text)
        for function in definition.functions:
            functions += follow(function, definition.path, stubs)
    return Behind(list(dict.fromkeys(functions)), list(dict.fromkeys(stubs)))


def kernels(stubs: list[str], device: str = "cpu") -> list[Function]:
    """The functions that are registered for these stubs on a device, where they begin."""
    found = [(path, name) for stub in stubs for path, name in registered()[stub] if path.parent.name == device]
    return [function for path, name in dict.fromkeys(found) if (function := defined(name, path)) is not None]


def starts(op: str) -> list[Function]:
    """Where to stop for an op, by its name without overload: at its kernels, or at what it has in their place.

    An op that is made of other ops stops where its own function starts, and so does one that only views."""
    found = definitions(op)
    alias = next((definition.alias_of for definition in found if definition.alias_of), "")
    if alias:
        return starts(alias)
    functions, stubs = behind(found)
    own = [stub for stub in stubs if stub not in HELPERS] or stubs
    if own and not all(definition.is_composite for definition in found):
        return kernels(own)
    named = {plain(function) for definition in found for function in definition.functions}
    return [function for function in functions if function.name in named]


def all_names() -> set[str]:
    """The names of the ops that are defined by a literal: nearly all."""
    return {name for path in defining() for name in LITERAL.findall(lines_of(path))}
