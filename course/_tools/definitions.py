"""Where a definition is in a file of the checkout, and which file of PyTorch the file mirrors.

Mirrors: nothing in PyTorch: the course shows source by name, so that prose quotes no line numbers.
Leaves out: which file defines a name; `names` finds that.
"""

from __future__ import annotations

import ast
import re
from itertools import islice

from course._tools import cxx
from course._tools.layout import on_disk

MIRRORS = re.compile(r"^(?:// ?|# ?)?Mirrors: *(?P<what>.+?)\.?$", re.M)
# How a list of paths goes on in the next line: the end of a bracket, or one more path after a comma.
REST_OF_BRACKET = re.compile(r"\s*(?://)?\s*([^()]*\),?)")
ONE_MORE_PATH = re.compile(r"\s*(?://)?\s*([\w.-]+/[\w./-]+\w(?: \([^()]*\))?,?)")


def definitions_in(path: str, text: str, name: str) -> list[tuple[int, int]]:
    """First and last line of each definition of `name` in the `text` of the file `path`, counted from 1."""
    return _python_definitions(text, name) if path.endswith(".py") else cxx.definitions(text, name)


def definition(path: str, text: str, name: str, nth: int | None) -> tuple[int, int]:
    """First and last line of the definition of `name`.

    Raises:
        LookupError: nothing has the name, or several definitions have it and `nth` does not choose one.
    """
    found = definitions_in(path, text, name)
    if not found:
        raise LookupError(f"{path}: no definition of {name!r}")
    if nth is None and len(found) > 1:
        where = ", ".join(str(begin) for begin, _ in found)
        raise LookupError(f"{path}: {name!r} is defined {len(found)} times, in lines {where}; choose with nth=")
    return found[nth or 0]


def first_line(path: str, name: str) -> int:
    """The line that the first definition of `name` begins on.

    Raises:
        FileNotFoundError: there is no such file.
        LookupError: nothing in the file has the name.
    """
    return definition(path, text_of(path), name, 0)[0]


def text_of(path: str) -> str:
    """The text of a file of the checkout.

    Raises:
        FileNotFoundError: there is no such file.
    """
    file = on_disk(path)
    if not file.is_file():
        raise FileNotFoundError(f"{path}: no such file in the checkout")
    return file.read_text()


def mirrors_of(path: str) -> str:
    """Return the text of the `Mirrors:` line at the head of a file, with the lines that continue it."""
    with on_disk(path).open() as file:
        head = "".join(islice(file, 60))  # a docstring may come first
    found = MIRRORS.search(head)
    if found is None:
        raise LookupError(f"{path} opens without a `Mirrors:` line")
    what, position = found["what"], found.end()
    while what.count("(") > what.count(")") or what.endswith(","):
        pattern = ONE_MORE_PATH if what.endswith(",") and what.count("(") == what.count(")") else REST_OF_BRACKET
        more = pattern.match(head, position)
        if more is None:
            break
        what, position = f"{what} {more[1]}", more.end()
    return what.rstrip(",.")


def _python_definitions(text: str, name: str) -> list[tuple[int, int]]:
    scopes: list[ast.AST] = [ast.parse(text)]
    for part in name.split("."):
        scopes = [
            node
            for scope in scopes
            for node in ast.iter_child_nodes(scope)
            if isinstance(node, (ast.FunctionDef, ast.ClassDef, ast.AsyncFunctionDef)) and node.name == part
        ]
    return [(min([n.lineno, *(d.lineno for d in n.decorator_list)]), n.end_lineno) for n in scopes]
