"""The places that make up an op: schema, function, kernel, formula, words, test, and where PyTorch has them.

Mirrors: nothing in PyTorch: there the way goes through generated code, which is in no repository.
Left out: ops that somebody registered outside the checkout.
"""

from __future__ import annotations

import difflib
import html
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from ._gdb_report import DIM, STYLE, link, table
from ._native import root

PREFIX = re.compile(r"^(reftorch|torch|Tensor|F|nn\.functional|aten)(\.|::)")
STUB = re.compile(r"\w+_stub\b")
CALLED = re.compile(r"\b(\w+?)\s*(?:<[\w:&<>, ]*>)?\(")
PYTORCH = "https://github.com/pytorch/pytorch/blob/main/"


@dataclass(frozen=True)
class Place:
    """One place; `path` is empty for a part that the op does without, and `text` says why."""

    part: str
    path: str
    line: int
    text: str


class Places:
    """What ``where_op`` found: text in a terminal, a table with links in a notebook."""

    def __init__(self, op: str, found: list[Place], pytorch: list[tuple[str, str]]) -> None:
        self.op, self.found, self.pytorch = op, found, pytorch

    def __str__(self) -> str:
        width = max(len(shown(place)) for place in self.found)
        rows = [(p.part, f"{shown(p):<{width}}  {p.text}" if p.path else p.text) for p in self.found]
        rows += [("in PyTorch", f"{path}  {text}".strip()) for path, text in self.pytorch]
        return "\n".join(table(rows, self.op))

    __repr__ = __str__

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        printer.text(str(self))

    def _repr_html_(self) -> str:
        rows = [(p.part, link(p.path, p.line) if p.path else "", p.text) for p in self.found]
        rows += [("in PyTorch", f'<a href="{PYTORCH}{path}">{path}</a>', text) for path, text in self.pytorch]
        left = "text-align:left;vertical-align:top"
        body = "".join(
            f'<tr><td style="{left};{DIM}">{part}</td><td style="{left}">{where}</td>'
            f'<td style="{left}"><code>{html.escape(text, quote=False)}</code></td></tr>'
            for part, where, text in rows
        )
        return f'<div style="{STYLE}"><b>{html.escape(self.op)}</b><table>{body}</table></div>'


def shown(place: Place) -> str:
    return f"{Path(place.path).relative_to(root())}:{place.line}" if place.path else ""


def where_op(name: str) -> Places:
    """The places in the source that make up an op.

    Args:
        name: as Python or the schema has it: ``mul``, ``torch.mul``, ``mul_``, ``mul.Tensor``.

    Raises:
        ValueError: there is no such op, with the nearest names; or reftorch was installed without its sources.

    Example:
        >>> from reftorch.debug import where_op
        >>> print(where_op("mul"))
        mul...
            schema      cpp/ATen/native/BinaryOps.cpp:...  m.def_structured("mul.Tensor(Tensor self, Tensor other) ...
            ...
            kernel      cpp/ATen/native/cpu/BinaryOpsKernel.cpp:...  void mul_kernel(TensorIterator& iter) {
            ...

    Mirrors nothing in PyTorch.
    """
    if not (root() / "cpp" / "ATen" / "native").is_dir():
        raise ValueError(f"where_op shows sources, and {root()} has none. Mend: use it in a checkout of reftorch.")
    base = op_called(name)
    found: list[Place] = []
    functions: list[tuple[str, Path]] = []
    for path, line, statement in definitions(base):
        alias = re.search(r'def_alias\("\w+", "(\w+)"', statement)
        if alias:
            return where_op(alias[1])
        found.append(Place("schema", str(path), line, statement.split("\n")[0].strip()))
        functions += [(function, path) for function in re.findall(r"TORCH_FN\((.*?)\)[,)]", statement)]
    if not found:  # no literal says its name: where its library begins is known all the same
        found += [Place("schema", s["file"], s["line"], s["schema"]) for s in all_schemas() if is_of(s["name"], base)]
    stubs: list[str] = []
    for function, path in dict.fromkeys(functions):
        stubs += STUB.findall(function)
        found += follow(function, path, stubs)
    found += kernels(list(dict.fromkeys(stubs)))
    found += formulas(base)
    found += grep("words", "reftorch/_torch_docs", rf'add_docstr\(\s*"{base}"')
    found += grep("test", "tests/op_db", rf'"{base}(\.\w+)?"')
    return Places(base, list(dict.fromkeys(found)), in_pytorch(base, found))


def all_schemas() -> list[dict[str, Any]]:
    import reftorch

    return reftorch._C._get_all_op_schemas()


@cache
def schemas() -> tuple[str, ...]:
    """The names of all ops with their overloads: ``mul.Tensor``."""
    return tuple(schema["name"].removeprefix("aten::") for schema in all_schemas())


def is_of(schema: str, base: str) -> bool:
    return schema.removeprefix("aten::").split(".")[0] == base


def op_called(name: str) -> str:
    known = {schema.split(".")[0] for schema in schemas()}
    asked = name.strip()
    while PREFIX.match(asked):
        asked = PREFIX.sub("", asked)
    asked = asked.split(".")[0]
    candidates = [asked.rstrip("_") if not asked.startswith("__") else asked, asked, f"linalg_{asked}"]
    found = next((candidate for candidate in candidates if candidate in known), None)
    if found is None:
        near = difflib.get_close_matches(asked, sorted(known), 4, 0.5)
        hint = f" The nearest: {', '.join(near)}." if near else ""
        raise ValueError(f"No op is called `{name}`.{hint}")
    return found


@cache
def lines_of(path: Path) -> str:
    return path.read_text(errors="replace")


def sources(folder: str, *suffixes: str) -> list[Path]:
    return sorted(path for path in (root() / folder).rglob("*") if path.suffix in suffixes)


def definitions(base: str) -> Iterator[tuple[Path, int, str]]:
    """(file, line, statement) of each m.def of an op. A few ops are defined in a loop over names: the name."""
    patterns = (rf'm\.def\w*\(\s*"{base}(?:\.\w+)?[("]', rf'"{base}[."(]')
    for pattern in patterns:
        found = False
        for path in sources("cpp/ATen/native", ".cpp"):
            text = lines_of(path)
            for match in re.finditer(pattern, text):
                found = True
                end = text.find(";\n", match.start())
                yield path, text.count("\n", 0, match.start()) + 1, text[match.start() : end]
        if found:
            return


def follow(function: str, path: Path, stubs: list[str], depth: int = 2) -> Iterator[Place]:
    """Where a function is defined; the stubs that its body and what it calls in its file mention are added."""
    name = function.split("<")[0].split("::")[-1].strip()
    place = definition(name, path)
    if place is None:
        return
    yield place
    body = re.split(r"\n}\n", "\n".join(lines_of(Path(place.path)).split("\n")[place.line - 1 :]), maxsplit=1)[0]
    stubs += STUB.findall(body)
    if depth > 1:
        for called in dict.fromkeys(CALLED.findall(body)):
            if called != name and definition(called, path) is not None and "check" not in called:
                yield from follow(called, path, stubs, depth - 1)


def definition(name: str, path: Path) -> Place | None:
    """Where a function begins: in `path`, or in its header."""
    for file in (path, path.with_suffix(".h")):
        text = lines_of(file) if file.exists() else ""
        match = re.search(
            rf"^(?:[\w:<>&*,\[\] ]+[ &*>])?{re.escape(name)}\([^;]*?\) *(?:const )?\{{", text, re.MULTILINE
        )
        if match:
            return Place("function", str(file), text.count("\n", 0, match.start()) + 1, match[0].split("\n")[0].strip())
    return None


def kernels(stubs: list[str]) -> Iterator[Place]:
    found = False
    for folder, part in (("cpu", "kernel"), ("cuda", "twin")):
        for path in sources(f"cpp/ATen/native/{folder}", ".cpp", ".cu"):
            for stub, kernel in re.findall(r"^REGISTER_DISPATCH\((\w+), (.+)\)$", lines_of(path), re.MULTILINE):
                if stub in stubs:
                    found = True
                    registered = next(grep(part, str(path), rf"^REGISTER_DISPATCH\({stub},"))
                    begins = definition(kernel.lstrip("&").split("<")[0], path)
                    yield Place(part, begins.path, begins.line, begins.text) if begins else registered
    if not found:
        yield Place("kernel", "", 0, "none of its own: it views, or is made of other ops")
    elif not (root() / "cpp/ATen/native/cuda").is_dir():
        yield Place("twin", "", 0, "none: no other device than the CPU has kernels")


def formulas(base: str) -> Iterator[Place]:
    import reftorch
    from reftorch.autograd.derivatives import FORMULAS

    names = [schema for schema in schemas() if is_of(schema, base)]
    functions = [function for name in names if name in FORMULAS for function in FORMULAS[name].functions]
    for code in (function.__code__ for function in functions):
        text = lines_of(Path(code.co_filename)).split("\n")[code.co_firstlineno - 1].strip()
        yield Place("formula", code.co_filename, code.co_firstlineno, text)
    if not functions:
        states = {reftorch._C._derivative_state(name) for name in names}
        composite = "none: autograd differentiates the ops that it is made of"
        yield Place("formula", "", 0, composite if "composite" in states else "none: there is nothing to differentiate")


def grep(part: str, folder: str, pattern: str) -> Iterator[Place]:
    """The first lines in each Python or C++ file below `folder` (or in that file) that match."""
    target = root() / folder
    for path in [target] if target.is_file() else sources(folder, ".py"):
        text = lines_of(path)
        match = re.search(pattern, text, re.MULTILINE)
        if match:
            line = text.count("\n", 0, match.end()) + 1
            yield Place(part, str(path), line, text.split("\n")[line - 1].strip())


def in_pytorch(base: str, found: list[Place]) -> list[tuple[str, str]]:
    """The files that ours say they mirror, and PyTorch's two tables."""
    out = [("aten/src/ATen/native/native_functions.yaml", f"func: {base}")]
    for part in ("function", "schema", "kernel", "formula"):
        for place in found:
            if place.part == part and place.path:
                mirrored = re.search(r"Mirrors: (.+)", lines_of(Path(place.path)))
                paths = re.findall(r"[\w/.]+/[\w.]+\.(?:cpp|h|cu|cuh|py|yaml)\b", mirrored[1]) if mirrored else []
                out += [(path, "") for path in paths]
    return list(dict.fromkeys(out))
