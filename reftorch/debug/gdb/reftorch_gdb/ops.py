"""Finds the places in the library for a breakpoint, from the name that the user gives.

Mirrors: nothing in PyTorch, where users must know the name of the kernel.
Left out: ops that are registered outside the checkout.
"""

import difflib
import importlib.util
import mmap
import os
import re
import sys

from reftorch_gdb import stack

# A function of at::native in the library's symbol table. A mangled name contains the length of a name, then the name.
NATIVE = re.compile(rb"_ZN8reftorch2at6native(?:L|12_GLOBAL__N_1)?(\d+)([a-z]\w+)")
LINE = re.compile(r":\d+$")
# A name in a namespace of the library's, as `%%gdb` and rt-bt show it: without its parameters.
QUALIFIED = re.compile(r"(?:reftorch::)?(?:at|c10|torch)::(?:\w+::)*[a-z]\w*")


def sources():
    """Load reftorch/debug/core/op_sources.py by its path, because gdb's Python cannot import reftorch."""
    name = "op_sources"
    if name not in sys.modules:
        path = os.path.join(stack.root(), "reftorch", "debug", "core", f"{name}.py")
        spec = importlib.util.spec_from_file_location(name, path)
        assert spec is not None and spec.loader is not None
        sys.modules[name] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(sys.modules[name])
    return sys.modules[name]


def is_line(name):
    """Return whether a name has the form FILE:LINE."""
    return bool(LINE.search(name))


def starts(name):
    """Return the locations for `break` of an op's kernels; empty if the name is not an op."""
    if is_line(name) or not sources().there():
        return []
    for op in sources().names_of(name):
        found = sources().starts(op)
        if found:
            # The location names the file: another function may have the same name, and gdb would search all symbols.
            return [f"{os.path.relpath(each.path, sources().ROOT)}:{each.name}" for each in found]
    return []


def others(name, library):
    """Return further locations to try, in this order: a kernel, a function of at::native, any function, FILE:LINE."""
    # The unqualified name is tried too, because kernels are in an anonymous namespace. gdb would read all symbols, for
    # ten seconds, to find out that no function has the name of the namespace around it.
    locations = [name, name.split("::")[-1]]
    if QUALIFIED.fullmatch(name) and not contains(library, *mangled(name)):
        del locations[0]
    op = name.split(".")[0]
    if op.isidentifier() and not is_line(name):
        # gdb needs seconds to find out that at::native has no such function, and would search every namespace without
        # -qualified. So gdb is asked only for the functions that the library's file names.
        native = [each for each in (op, f"{op}_out") if is_native(each, library)]
        locations = [op + "_kernel", *(f"-qualified -function reftorch::at::native::{each}" for each in native), name]
    return locations


def is_native(function, library):
    """Return whether a library has a function of this name in the namespace at::native."""
    return contains(library, mangled(f"reftorch::at::native::{function}")[0])


def mangled(name):
    """Return how the names in a library's symbol table contain the name of a function, and of a static function."""
    *spaces, function = [f"{len(part)}{part}" for part in name.split("::")]
    return ["".join([*spaces, static, function]) for static in ("", "L")]


def contains(library, *texts):
    """Return whether the file of a library contains one of these texts."""
    if library is None:
        return False
    with open(library, "rb") as f, mmap.mmap(f.fileno(), 0, access=mmap.ACCESS_READ) as content:
        return any(content.find(text.encode()) >= 0 for text in texts)


def nearest(name, library):
    """Return names of ops that are similar to `name`, the most similar first.

    The names are read from the library's file, because gdb would take a minute to read all its symbols."""
    known = sources().all_names() if sources().there() else set()
    if library is not None:
        with open(library, "rb") as f, mmap.mmap(f.fileno(), 0, access=mmap.ACCESS_READ) as content:
            functions = {match[2][: int(match[1])].decode() for match in NATIVE.finditer(content)}
        known |= {re.sub("_(kernel|out)$", "", function) for function in functions if "_stub" not in function}
    return difflib.get_close_matches(name, sorted(known), 3, 0.6)
