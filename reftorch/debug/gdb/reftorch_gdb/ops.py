"""The search for breakpoints: from a name that the user gives to places in the library.

Mirrors: nothing in PyTorch, where users must know the name of the kernel.
Left out: ops that somebody registered outside the checkout.
"""

import difflib
import importlib.util
import mmap
import os
import re
import sys

from reftorch_gdb import stack

# A function of at::native in the library's table of symbols, as the compiler writes it: its length, then its name.
NATIVE = re.compile(rb"_ZN8reftorch2at6native(?:L|12_GLOBAL__N_1)?(\d+)([a-z]\w+)")
LINE = re.compile(r":\d+$")


def sources():
    """reftorch/debug/_op_sources.py: by its path, for this Python has no reftorch."""
    name = "_op_sources"
    if name not in sys.modules:
        path = os.path.join(stack.root(), "reftorch", "debug", f"{name}.py")
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
            # With the file, for a bare name may be a helper's, too, and costs a search through all that gdb knows.
            return [f"{os.path.relpath(each.path, sources().ROOT)}:{each.name}" for each in found]
    return []


def others(name):
    """What else the name may be, to be tried in order: a kernel, a function of at::native, any function, FILE:LINE."""
    # A kernel's namespace is anonymous, which a qualified name does not say.
    locations = [name, name.split("::")[-1]]
    op = name.split(".")[0]
    if op.isidentifier() and not is_line(name):
        # -qualified: else gdb looks through every namespace, for seconds.
        native = [f"-qualified -function reftorch::at::native::{op}{suffix}" for suffix in ("", "_out")]
        locations = [op + "_kernel", *native, name]
    return locations


def nearest(name, library):
    """Names of ops like `name`, nearest first. From the file itself: gdb would read all that it knows, for a minute."""
    known = sources().all_names() if sources().there() else set()
    if library is not None:
        with open(library, "rb") as f, mmap.mmap(f.fileno(), 0, access=mmap.ACCESS_READ) as content:
            functions = {match[2][: int(match[1])].decode() for match in NATIVE.finditer(content)}
        known |= {re.sub("_(kernel|out)$", "", function) for function in functions if "_stub" not in function}
    return difflib.get_close_matches(name, sorted(known), 3, 0.6)
