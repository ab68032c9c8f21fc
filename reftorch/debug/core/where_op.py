"""The places that make up an op: schema, function, kernel, element, formula, words, test, and where PyTorch has them.

Mirrors: nothing in PyTorch: there the way goes through generated code, which is in no repository.
Left out: ops that are registered outside the checkout.
"""

from __future__ import annotations

import difflib
import html
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

from reftorch.debug.common.display import DIM, STYLE, link
from reftorch.debug.common.expect import described
from reftorch.debug.common.native import root
from reftorch.debug.core import op_sources
from reftorch.debug.core.gdb_report import table
from reftorch.debug.core.op_sources import lines_of, sources

PYTORCH = "https://github.com/pytorch/pytorch/blob/v2.13.0/"


@dataclass(frozen=True)
class Place:
    """One place; `path` is empty for a part that the op does not have, and `text` says why."""

    part: str
    path: str
    line: int
    text: str


class Places:
    """The result of ``where_op``: text in a terminal, a table with links in a notebook."""

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


def where_op(name: str | Callable[..., Any]) -> Places:
    """Return the places in the source that make up an op.

    Args:
        name: the name of the op in Python or in its schema: ``mul``, ``torch.mul``, ``mul_``, ``mul.Tensor``; or the
            function itself: ``torch.mul``, ``torch.Tensor.mul``, ``torch.ops.aten.mul.Tensor``.

    Raises:
        TypeError: the argument is neither a name nor a function.
        ValueError: the op does not exist (the message lists similar names), reftorch was installed without its
            sources, or a source was renamed after the extension was built.

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
    if not op_sources.there():
        raise ValueError(f"where_op shows sources, and {root()} has none. Fix: use it in a checkout of reftorch.")
    base = op_called(name_of(name))
    if op_sources.alias_of(base):
        return where_op(op_sources.alias_of(base))
    found = [Place("schema", str(each.path), each.line, each.text) for each in op_sources.definitions(base)]
    functions, stubs = op_sources.behind(base)
    found += [Place("function", str(function.path), function.line, function.text) for function in functions]
    found += kernels(stubs)
    found += formulas(base)
    found += grep("words", "reftorch/_torch_docs", rf'add_docstr\(\s*"{base}"')
    found += tests(base)
    return Places(base, list(dict.fromkeys(found)), in_pytorch(base, found))


def name_of(op: Any) -> str:
    """Return the name of an op, given the name or the function."""
    name = op if isinstance(op, str) else getattr(op, "__name__", None)
    if not isinstance(name, str) or isinstance(op, (type, ModuleType)):
        raise TypeError(
            f"where_op: expected the name of an op or its function, got {described(op)}. Hint: where_op('mul')."
        )
    return name


def all_schemas() -> list[dict[str, Any]]:
    import reftorch

    return reftorch._C._get_all_op_schemas()


@cache
def schemas() -> tuple[str, ...]:
    """Return the names of all ops with their overloads: ``mul.Tensor``."""
    return tuple(schema["name"].removeprefix("aten::") for schema in all_schemas())


def is_of(schema: str, base: str) -> bool:
    return schema.removeprefix("aten::").split(".")[0] == base


def op_called(name: str) -> str:
    known = {schema.split(".")[0] for schema in schemas()}
    found = next((candidate for candidate in op_sources.names_of(name) if candidate in known), None)
    if found is None:
        near = difflib.get_close_matches(op_sources.base_of(name), sorted(known), 4, 0.5)
        hint = f" The nearest: {', '.join(near)}." if near else ""
        raise ValueError(f"No op is called `{name}`.{hint}")
    return found


def kernels(stubs: list[str]) -> Iterator[Place]:
    for device, part in (("CPU", "kernel"), ("CUDA", "twin")):
        for kernel in op_sources.kernels(stubs, device):
            yield Place(part, str(kernel.path), kernel.line, kernel.text)
    for element in (op_sources.elements()[stub] for stub in stubs if stub in op_sources.elements()):
        yield Place("element", str(element.path), element.line, element.text)
    if not stubs:
        yield Place("kernel", "", 0, "none of its own: it views, or is made of other ops")
    elif not (op_sources.NATIVE / "cuda").is_dir():
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
    """Return the first matching line of each Python or C++ file below `folder` (or of that file)."""
    target = root() / folder
    for path in [target] if target.is_file() else sources(target, ".py"):
        text = lines_of(path)
        match = re.search(pattern, text, re.MULTILINE)
        if match:
            line = text.count("\n", 0, match.end()) + 1
            yield Place(part, str(path), line, text.split("\n")[line - 1].strip())


def tests(base: str) -> Iterator[Place]:
    """Return where the op is tested: in the module of `tests/op_db` that has the name of the family of the op.

    The name of an op occurs in other modules too, as an argument of other ops (`gelu` has `approximate="tanh"`).
    """
    row, mention = rf'\w\(\s*"{base}(\.\w+)?"', rf"\b{base}(\.\w+)?\b"
    families = {op_sources.family_of(each.path) for each in op_sources.definitions(base)}
    modules = [f"tests/op_db/{family}.py" for family in sorted(families)]
    there = [path for path in modules if (root() / path).is_file()]
    for path in there or ["tests/op_db"]:
        found = next((places for pattern in (row, mention) if (places := [*grep("test", path, pattern)])), [])
        # A row whose name is put together from parts, as "max_pool2d", is nowhere in the text.
        whole = Place("test", str(root() / path), 1, lines_of(root() / path).split("\n")[0]) if path in there else None
        yield from found or ([whole] if whole else [])


def in_pytorch(base: str, found: list[Place]) -> list[tuple[str, str]]:
    """Return the files of PyTorch that our files mirror, and PyTorch's two tables."""
    out = [("aten/src/ATen/native/native_functions.yaml", f"func: {base}")]
    for part in ("function", "schema", "kernel", "formula"):
        for place in found:
            if place.part == part and place.path:
                mirrored = re.search(r"Mirrors: (.+)", lines_of(Path(place.path)))
                paths = re.findall(r"[\w/.]+/[\w.]+\.(?:cpp|h|cu|cuh|py|yaml)\b", mirrored[1]) if mirrored else []
                out += [(path, "") for path in paths]
    return list(dict.fromkeys(out))
