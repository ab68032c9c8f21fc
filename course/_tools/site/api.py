"""Writes the pages of the API: each public name with its signature, its docstring, and links to both sources.

Mirrors: docs/source/conf.py (``linkcode_resolve``) and the pages that PyTorch's docs make with autosummary
Leaves out: names without a docstring have their place in the source alone.
"""

from __future__ import annotations

import functools
import importlib
import inspect
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import reftorch
from course._tools.listing import PYTORCH
from course._tools.site.catalogue import OURS, ROOT, Catalogue, Entry, Page, mirrored, place_of
from course._tools.site.docstrings import split, to_rst

PATH = re.compile(r"[\w./-]+/[\w.-]+\.\w+|setup\.py|CMakeLists\.txt")
# Where PyTorch's docs say more than a family's file can: a module of which only some parts are one page each.
INTRODUCTIONS = {"torch": "reftorch"}


def write_api(folder: Path, catalogue: Catalogue) -> int:
    """Write a page for each module to `folder`, and the list of them; returns how many names are described."""
    folder.mkdir(parents=True, exist_ok=True)
    seen: set[str] = set()
    for page in catalogue.pages.values():
        (folder / f"{page.name}.rst").write_text(_page(page, catalogue, page.module not in seen))
        seen.add(page.module)
    (folder / "index.rst").write_text(_index(catalogue))
    return len(catalogue.names)


def _index(catalogue: Catalogue) -> str:
    groups: dict[str, list[Page]] = {}
    for page in catalogue.pages.values():
        top = ".".join(page.module.split(".")[:2])
        groups.setdefault(top, []).append(page)
    order = sorted(groups, key=lambda top: (top != "torch", top == OURS, top))
    lines = [
        _title("The API"),
        "A page for each module of PyTorch that is here, with the docstring of each public name, a link to its source "
        "here, and a link to the file of PyTorch 2.13 that it mirrors. Tests run the examples, in which ``torch`` is "
        "reftorch. :doc:`/names` has what is missing. Programs write ``import reftorch as torch``, or run as they are "
        "by ``python -m reftorch``.",
        "",
    ]
    for top in order:
        pages = sorted(groups[top], key=lambda page: (page.name.count("."), page.title.lower()))
        rows = [f"- :doc:`{page.title} <{page.name}>`: {_count(page)}" for page in pages]
        lines += [_title(top, "-"), *rows, ""]
    lines += [".. toctree::", "   :hidden:", ""]
    for top in order:
        lines += [f"   {page.name}" for page in sorted(groups[top], key=lambda page: (page.name.count("."), page.name))]
    return "\n".join(lines) + "\n"


def _count(page: Page) -> str:
    number = sum(1 + len(entry.members) for entry in page.entries)
    return f"{number} name{'s' * (number > 1)}"


def _title(text: str, mark: str = "=") -> str:
    return f"{text}\n{mark * max(len(text), 3)}\n"


def _page(page: Page, catalogue: Catalogue, first: bool) -> str:
    directive = "module" if first and page.module not in catalogue.names else "currentmodule"
    title = page.title if page.title.startswith(("torch", "reftorch")) else f"torch: {page.title}"
    lines = [_title(title), f".. py:{directive}:: {page.module}", ""]
    if page.title == page.module:
        lines += [_introduction(page, catalogue), ""]
    lines += [_entry(entry, catalogue, 0) for entry in page.entries]
    return "\n".join(lines)


def _introduction(page: Page, catalogue: Catalogue) -> str:
    """The docstring of the module, and where the module is."""
    module = importlib.import_module(page.module.replace("torch", "reftorch", 1) if page.module != OURS else OURS)
    anchor = Entry(page.module, "__init__", module, page.name)
    text = to_rst(module.__doc__ or "", functools.partial(catalogue.resolve, entry=anchor))
    file = Path(inspect.getsourcefile(module) or "")
    links = _links(file.relative_to(ROOT).as_posix(), 1, "") if file.is_relative_to(ROOT) else ""
    return f"{text}\n\n{links}"


def _links(path: str, line: int, mirrors: str) -> str:
    """A line with the place here and the place in PyTorch."""
    here = f"`{path}:{line} <../source/{path}.html#line-{line}>`__"
    said = mirrors or mirrored(path)
    paths = list(dict.fromkeys(PATH.findall(said))) if not said.startswith("nothing in PyTorch") else []
    there = ", ".join(f"`{each} <{PYTORCH}/{each}>`__" for each in paths)
    return f".. rst-class:: places\n\nSource: {here}" + (f"; PyTorch 2.13: {there}" if there else "")


def _entry(entry: Entry, catalogue: Catalogue, depth: int) -> str:
    """The directive of one name, with its members."""
    signatures, text = split(entry.doc)
    kind, drawn = _kind(entry)
    if not signatures or kind == "class":
        signatures = [entry.name + drawn]
    elif entry.value is not None:
        signatures = [re.sub(r"^[\w.]+\(", f"{entry.name}(", each) for each in signatures]
    signatures = [_qualified(each, functools.partial(catalogue.resolve, entry=entry), catalogue) for each in signatures]
    lines = [f".. py:{kind}:: {signatures[0]}"]
    lines += [" " * len(f".. py:{kind}:: ") + each for each in signatures[1:]]
    body = _body(entry, text, catalogue)
    members = [_entry(member, catalogue, depth + 1) for member in entry.members]
    inner = "\n\n".join(part for part in [body, *members] if part)
    block = "\n".join(lines) + ("\n\n" + _inset(inner) if inner else "") + "\n"
    return block


def _inset(text: str) -> str:
    return "\n".join("    " + line if line.strip() else "" for line in text.splitlines())


def _body(entry: Entry, text: str, catalogue: Catalogue) -> str:
    resolve = functools.partial(catalogue.resolve, entry=entry)
    place = place_of(entry)
    found = re.search(r"^Mirrors:? (.+?)(?:;|\n\n|\Z)", text, re.M | re.S)
    mirrors = found[1] if found else ""
    links = _links(*place, mirrors) if place else ""
    if entry.same_as:
        return f"The same as :py:obj:`{entry.same_as}`."
    function = catalogue.names.get(f"torch.{entry.name}") or catalogue.names.get(f"torch.{entry.name.rstrip('_')}")
    if entry.owner == "torch.Tensor" and function and "As a method, " in text:
        first = to_rst(text.split("\n\n")[0], resolve)
        return f"{first}\n\nSee :py:obj:`{function.same_as or function.full}`; here ``input`` is the tensor itself."
    if not text and not inspect.isclass(entry.value) and not callable(entry.value):
        shown = repr(entry.value)
        plain = len(shown) < 80 and " at 0x" not in shown and not isinstance(entry.value, property)
        return (f"``{shown}``" if plain and "`" not in shown else "") + ("\n\n" + links if links else "")
    return "\n\n".join(part for part in [to_rst(text, resolve), links] if part)


def _kind(entry: Entry) -> tuple[str, str]:
    """The directive of a name, and the signature as Python knows it."""
    value = entry.value
    in_class = inspect.isclass(_owner_value(entry))
    if inspect.isclass(value):
        if issubclass(value, BaseException):
            return "exception", ""
        return "class", _signature(value).removesuffix(" -> None")
    if isinstance(value, property | functools.cached_property) or inspect.isdatadescriptor(value):
        return ("property" if in_class else "data"), ""
    if inspect.isroutine(value) or (callable(value) and hasattr(value, "__name__")):
        return ("method" if in_class else "function"), _signature(value, drop_self=in_class)
    return ("attribute" if in_class else "data"), ""


def _owner_value(entry: Entry) -> Any:
    value: Any = reftorch
    if entry.owner.startswith(OURS):
        value = importlib.import_module(OURS)
        parts = entry.owner.removeprefix(OURS).split(".")[1:]
    else:
        parts = entry.owner.split(".")[1:]
    for part in parts:
        value = getattr(value, part, None)
    return value


def _signature(value: Any, drop_self: bool = False) -> str:
    """The signature as text that Sphinx parses: without quotes, addresses and the names of our modules."""
    try:
        signature = inspect.signature(value)
    except (TypeError, ValueError):
        return "(...)"
    text = str(signature)
    if drop_self:
        text = re.sub(r"^\((?:self|cls)(?:: [\w.'\[\]]+)?(?:, /)?(?:, )?", "(", text)
    text = re.sub(r"'([\w.\[\], |]+?)'(?=[,)=\s]|$)", lambda m: m[1] if _is_annotation(text, m.start()) else m[0], text)
    text = re.sub(r"<class '(?:[\w.]+\.)?(\w+)'>", r"\1", text)
    text = re.sub(r"<(?:function|built-in function|method) ([\w.]+)[^>]*>", r"\1", text)
    text = re.sub(r"<[^<>]*>", "...", text)
    text = re.sub(r"\b(?:typing|collections\.abc|types)\.", "", text)
    text = re.sub(r"\breftorch\.(?:_\w+\.)*", "torch.", text).replace("torch.Tensor", "Tensor")
    return text.replace("\n", " ").replace("\\", r"\\")


def _qualified(signature: str, resolve: Callable[[str], str | None], catalogue: Catalogue) -> str:
    """The signature with full names of classes, of which Sphinx shows the last part; a short name may be ambiguous."""

    def full(found: re.Match[str]) -> str:
        name = resolve(found[0])
        return name if name and inspect.isclass(catalogue.names[name].value) else found[0]

    head, bracket, rest = signature.partition("(")
    rest = re.sub(r"(?<![\w.'\"])[A-Z]\w*(?![\w.('\"=:])", full, rest)
    rest = re.sub(r"(?:(?<=: )|(?<=\| )|(?<=\[)|(?<=-> ))type\b", "builtins.type", rest)
    return head + bracket + rest


def _is_annotation(text: str, start: int) -> bool:
    return text[:start].endswith((": ", "-> "))
