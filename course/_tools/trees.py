"""Questions to a recorded call tree, for exercises that are checked against the running program.

Mirrors: nothing in PyTorch: the course's own.
Leaves out: recording and showing; that is `reftorch.debug.call_tree`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from course._tools.layout import ROOT
from reftorch.debug.core.op_sources import registered

KERNELS = "/cpp/ATen/native/cpu/"  # where all kernels of the CPU are


def called(tree: Any) -> list[str]:
    """The names of all functions in a tree, in the order they were entered, without namespaces and arguments."""
    return [bare(node.name) for node, _ in _walk(tree)]


def kernels(tree: Any) -> list[str]:
    """The kernels in a tree, in the order they were entered: the functions that a stub of an op has for the CPU."""
    named = {devices["CPU"]["function"] for devices in registered().values() if "CPU" in devices}
    return [bare(node.name) for node, _ in _walk(tree) if KERNELS in node.file and bare(node.name) in named]


def callers(tree: Any, function: str) -> list[tuple[str, str]]:
    """Name and file of what leads to the first call of `function`, outermost first; empty where there is none."""
    for node, above in _walk(tree):
        if bare(node.name) == function:
            return [(bare(caller.name), _in_checkout(caller.file)) for caller in above]
    return []


def is_first_kernel(tree: Any, name: str) -> bool:
    """Return whether the first kernel of a tree has this name: what a check may ask without saying the name."""
    return kernels(tree)[:1] == [name]


def leads_to_first_kernel(tree: Any, function: str, file: str) -> bool:
    """Return whether the nearest caller of the first kernel outside of the kernel's file is this function of `file`."""
    kernel = kernels(tree)[0]
    own = next(_in_checkout(node.file) for node, _ in _walk(tree) if bare(node.name) == kernel)
    above = [each for each in callers(tree, kernel) if each[1].endswith(".cpp") and each[1] != own]
    return above[-1:] == [(function, file)]


def bare(name: str) -> str:
    """Return a bare name: `add_kernel` for `at::native::add_kernel(TensorIterator&)`."""
    name = name.replace("(anonymous namespace)::", "")
    while (without := re.sub(r"<[^<>]*>", "", name)) != name:
        name = without
    found = re.search(r"(operator\(\)|[^:\s(]+)(?:\(.*)?$", name)
    return found[1] if found else name


def _in_checkout(file: str) -> str:
    return file.removeprefix(f"{ROOT}/")


def _walk(tree: Any) -> Iterator[tuple[Any, tuple[Any, ...]]]:
    stack = [(node, ()) for nodes in reversed(tree.threads) for node in reversed(nodes)]
    while stack:
        node, above = stack.pop()
        if node.name:
            yield node, above
        below = (*above, node) if node.name else above
        stack += [(child, below) for child in reversed(node.children)]
