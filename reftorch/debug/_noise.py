"""Which calls a reader of a call tree is spared unless they ask: other people's code, and small change.

Mirrors: nothing in PyTorch: its developers bring their own tools.
Left out: judgement by time.
"""

from __future__ import annotations

import re
import sysconfig
from functools import cache

from ._native import root
from ._tree import Node

LIBRARY_FOLDERS = tuple({sysconfig.get_path("stdlib"), sysconfig.get_path("platstdlib")})
TOOLS = (f"{root()}/reftorch/debug/", f"{root()}/cpp/csrc/debug/")

# What every tensor does all the time: never what one looks for, and different once the allocator's cache is warm.
HOUSEKEEPING = re.compile(r"/c10/util/|/c10/core/(\w*Allocator|ScalarType|Device)\.(cpp|h)$")


def is_foreign(node: Node) -> bool:
    """Code of nobody who reads this: Python's library, installed packages, these tools, what has no place."""
    return is_foreign_place(node.file, node.name)


@cache
def is_foreign_place(file: str, name: str) -> bool:
    if file.startswith("<"):
        # collections and dataclasses make functions from strings
        return file.startswith("<frozen") or (file == "<string>" and name.startswith(("<lambda>", "__cr")))
    if not file or file.startswith((*TOOLS, *LIBRARY_FOLDERS)):
        return True
    if "/site-packages/" in file or "/dist-packages/" in file:
        return True
    return is_native(file) and not file.startswith(f"{root()}/")


def is_native(file: str) -> bool:
    return file.endswith((".cpp", ".h", ".cc", ".hpp"))


def is_accessor(node: Node) -> bool:
    """Small change: destructors, memory, inline functions of a line or so (size(), a smart pointer's copy); and what
    calls nothing worth showing if it is a short inline function or belongs to c10."""
    return is_small(node.file, node.line, node.name, bool(node.children))


@cache
def is_small(file: str, line: int, name: str, calls_others: bool) -> bool:
    if not is_native(file):
        return False
    if "::~" in name or name == "__tls_init" or HOUSEKEEPING.search(file):
        return True
    in_header = file.endswith(".h") and "/ATen/native/cpu/" not in file  # those are kernels, however short
    if calls_others:
        return in_header and is_short(file, line, 3)
    return "/cpp/c10/" in file or (in_header and is_short(file, line, 9))


def is_short(file: str, line: int, limit: int) -> bool:
    """Whether the function that begins here has at most `limit` lines, or is nowhere in the source: a macro's, or one
    that the compiler wrote."""
    lines = source(file)[line - 1 : line - 1 + limit]
    if not any("{" in text for text in lines[:2]) or re.match(r"\s*(struct|class|union)\b", lines[0]):
        return True
    depth = 0
    for c in "".join(text.split("//")[0] for text in lines):
        depth += (c == "{") - (c == "}")
        if c == "}" and depth == 0:
            return True
    return False


@cache
def source(file: str) -> list[str]:
    try:
        with open(file, errors="replace") as f:
            return f.read().split("\n")
    except OSError:
        return []
