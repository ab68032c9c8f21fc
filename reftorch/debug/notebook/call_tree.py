"""A tree of the functions that ran, in both languages, in their order. No debugger is needed.

Mirrors: nothing in PyTorch: its profiler records ops, not functions.
Left out: times and arguments.
"""

from __future__ import annotations

import copy
import functools
import html
import re
import sys
from collections.abc import Callable
from types import TracebackType
from typing import Any, TypeVar

from reftorch._source_paths import here
from reftorch.debug.common.display import DIM, STYLE, link, show
from reftorch.debug.common.native import NeedsDebugBuild, StaleLibrary, changed_since_build, native, stale_library
from reftorch.debug.core.symbols import SymbolTable
from reftorch.debug.notebook.noise import is_accessor, is_foreign
from reftorch.debug.notebook.tree import Node, build, cut, fold, hoist, keep, label, place
from reftorch.debug.notebook.tree_diff import TreeDiff

MAX_CALLS = 1_000_000
OPEN_LEVELS = 3  # how deep the HTML tree is unfolded at first

F = TypeVar("F", bound=Callable[..., Any])


class call_tree:
    """Record the calls of a block: Python and C++ frames in one tree, each with its file and line.

    The tree shows the Python functions, and the C++ functions of ``cpp/`` that report their calls. A report costs time
    even while nothing is recorded, so some functions do not report, and the functions that they call are shown under
    their caller:

    - functions that are called very often: the headers of ``c10/``, ``Tensor.h``, ``ivalue.h``, ``Dispatch.h`` and
      ``TensorIterator.h``;
    - functions that are called for every element: lambdas, and the arithmetic in ``*Functors.h``, ``SharedReduceOps.h``
      and ``VectorMath*.h``. So ``mul_kernel`` ends in the loop that runs over the elements; the multiplication itself
      is in ``MulFunctor``;
    - the table that maps an op to its kernel (``DispatchStub``): the compiler takes its name for the name of a lambda;
    - the binding (the ``python_*`` files, ``Module.cpp``, ``Exceptions.cpp``), which is optimized. So the C++ function
      that Python calls (``call_operator``, ``op_vectorcall``) is absent, and the dispatcher is directly under the line
      of Python.

    ``%%gdb mul`` and ``rt-bt`` show the frames of all functions. Each thread has its own tree, and the tree of the
    calling thread is first. If an exception ends a call, the tree continues with the function that caught the
    exception.

    A function is shown under its caller. Equal consecutive calls are one line with a count. In a notebook the tree can
    be folded, and each place links to the line in the file.

    Args:
        only: a pattern for ``file function``; the tree keeps the calls that match, and their callers.
        hide: a pattern for ``file function``; calls that match are hidden, and the calls below them move up.
        accessors: show also small functions of headers, destructors and the allocator, if they report.
        depth: the number of levels to show.

    Raises:
        NeedsDebugBuild: the loaded build has no call hooks.
        StaleLibrary: the library was rebuilt after it was loaded.
        RuntimeError: a recording is running already.

    Example::

        >>> from reftorch.debug import call_tree
        >>> with call_tree(only="mul_kernel") as tree:
        ...     _ = torch.ones(2) * torch.ones(2)
        >>> print(tree)  # doctest: +ELLIPSIS
        at...

    Mirrors nothing in PyTorch.
    """

    def __init__(
        self,
        *,
        only: str | None = None,
        hide: str | None = None,
        accessors: bool = False,
        depth: int | None = None,
        max_calls: int = MAX_CALLS,
    ) -> None:
        self._only = re.compile(only) if only else None
        self._hide = re.compile(hide) if hide else None
        self._accessors = accessors
        self._depth = depth
        self._max_calls = max_calls
        self.threads: list[list[Node]] = []
        self.lost = 0
        self.changed = ""  # what there is to say of sources that are younger than the library

    def __enter__(self) -> call_tree:
        if not has_hooks():
            raise NeedsDebugBuild("call_tree")
        if stale_library(native().library):
            raise StaleLibrary
        self._profile = sys.getprofile()
        native().debug.start_call_tree(self._max_calls)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        recorded = native().debug.stop_call_tree()
        sys.setprofile(self._profile)
        offsets = {key for _, calls in recorded for _, _, key in calls if isinstance(key, int)}
        found = symbol_table().look_up(offsets)
        symbols = {offset: symbol._replace(file=here(symbol.file)) for offset, symbol in found.items()}
        self.lost = sum(lost for lost, _ in recorded)
        shown = [self._shown(build(calls, symbols)) for _, calls in recorded]
        self.threads = [shown[0], *filter(None, shown[1:])]
        self.changed = changed_since_build((symbol.file for symbol in symbols.values()), native().library)

    def __call__(self, function: F) -> F:
        """Decorate `function`: each call shows its tree."""

        @functools.wraps(function)
        def recorded(*args: Any, **kwargs: Any) -> Any:
            # A copy for the tree of this call, because `function` may be called again while the tree is shown.
            tree = copy.copy(self)
            with tree:
                result = function(*args, **kwargs)
            show(tree)
            return result

        return recorded  # type: ignore[return-value]

    def diff(self, other: call_tree, context: int = 2) -> TreeDiff:
        """Return the calls that only one of the two trees has; the result is true if the trees differ.

        Args:
            other: the later recording.
            context: the number of common rows to show around each difference.

        Example::

            >>> from reftorch.debug import call_tree
            >>> a = torch.ones(2)
            >>> with call_tree(only="(mul|add)_kernel$") as before:
            ...     _ = a * a
            >>> with call_tree(only="(mul|add)_kernel$") as after:
            ...     _ = a + a
            >>> rows = str(before.diff(after)).splitlines()
            >>> print("\\n".join(row for row in rows if "_kernel " in row))  # doctest: +ELLIPSIS
            -...mul_kernel...
            +...add_kernel...

        Mirrors nothing in PyTorch.
        """
        return TreeDiff(self.threads, other.threads, context)

    def _shown(self, nodes: list[Node]) -> list[Node]:
        def hidden(node: Node) -> bool:
            if is_foreign(node) or (not self._accessors and is_accessor(node)):
                return True
            return self._hide is not None and bool(self._hide.search(described(node)))

        nodes = hoist(nodes, hidden)
        only = self._only
        if only is not None:
            nodes = keep(nodes, lambda node: bool(only.search(described(node))))
        nodes = fold(nodes)
        return nodes if self._depth is None else cut(nodes, self._depth)

    def __str__(self) -> str:
        rows: list[tuple[str, str]] = []
        for number, nodes in enumerate(self.threads):
            if number:
                rows.append((f"thread {number + 1}", ""))
            text_rows(nodes, "", rows)
        width = max((len(left) for left, right in rows if right), default=0)
        lines = [f"{left:<{width}}  {right}".rstrip() for left, right in rows]
        return "\n".join(lines + self._remarks())

    def __repr__(self) -> str:
        return str(self)

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        printer.text(str(self))

    def _repr_html_(self) -> str:
        parts = []
        for number, nodes in enumerate(self.threads):
            if number:
                parts.append(f"<div><b>thread {number + 1}</b></div>")
            parts += [html_node(node, OPEN_LEVELS) for node in nodes]
        parts += [f"<div>{html.escape(remark)}</div>" for remark in self._remarks()]
        return f'<div style="{STYLE}">{"".join(parts)}</div>'

    def _remarks(self) -> list[str]:
        remarks = self.changed.splitlines()
        if self.lost:
            remarks.append(f"({self.lost} calls more than max_calls={self._max_calls} were not recorded)")
        elif not any(self.threads):
            remarks.append("(no call of reftorch or of your code)")
        return remarks


@functools.lru_cache
def symbol_table() -> SymbolTable:
    return SymbolTable(native().library)


@functools.lru_cache
def has_hooks() -> bool:
    """Return whether the library's functions report. The test calls one."""
    import reftorch

    debug = native().debug
    profile = sys.getprofile()
    debug.start_call_tree(1000)
    try:
        reftorch.zeros(1)
    finally:
        recorded = debug.stop_call_tree()
        sys.setprofile(profile)
    return any(isinstance(key, int) for _, calls in recorded for _, _, key in calls)


def described(node: Node) -> str:
    """Return the text that is matched with the patterns."""
    return f"{place(node)} {node.name}"


def text_rows(nodes: list[Node], indent: str, rows: list[tuple[str, str]], top: bool = True) -> None:
    for i, node in enumerate(nodes):
        last = i == len(nodes) - 1
        branch = "" if top else "`- " if last else "|- "
        rows.append((indent + branch + label(node), place(node)))
        below = "" if top else "   " if last else "|  "
        text_rows(node.children, indent + below, rows, top=False)


def html_node(node: Node, unfolded: int) -> str:
    where = ""
    if node.file:
        where = f' <span style="{DIM}">{link(node.file, node.line)}</span>'
    head = f"{html.escape(label(node), quote=False)}{where}"
    if not node.children:
        return f'<div style="padding-left:14px">{head}</div>'
    inside = "".join(html_node(child, unfolded - 1) for child in node.children)
    opened = " open" if unfolded > 0 else ""
    body = f'<div style="padding-left:18px">{inside}</div>'
    return f"<details{opened}><summary>{head}</summary>{body}</details>"
