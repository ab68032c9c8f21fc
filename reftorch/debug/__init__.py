"""Tools to look inside: the call tree, stops in C++ from a notebook, one stack for both languages.

    from reftorch.debug import call_tree            # in a program or a notebook
    %load_ext reftorch.debug                        # in a notebook: %%gdb, %%native_trace, %%calltree, %bt
    gdb -x reftorch/debug/gdb/init.py --args python script.py

Mirrors: nothing in PyTorch: this is the one new name.
Left out: see each tool.
"""

from __future__ import annotations

from typing import Any

from ._backtrace import backtrace
from ._call_tree import call_tree
from ._draw_graph import draw_graph, formula_source

__all__ = ["backtrace", "call_tree", "draw_graph", "formula_source", "load_ipython_extension"]


def load_ipython_extension(shell: Any) -> None:
    """What ``%load_ext reftorch.debug`` calls. IPython is imported only here."""
    from .magics import load_ipython_extension as load

    load(shell)
