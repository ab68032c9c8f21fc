"""Tools to look inside: the call tree, stops in C++ from a notebook, one stack for both languages;
and, of a model, what its modules compute, where a NaN came from, which gradients are wrong, what memory is shared.

    from reftorch.debug import call_tree            # in a program or a notebook
    %load_ext reftorch.debug                        # in a notebook: %%gdb, %%native_trace, %%calltree, %bt, %where_op
    gdb -x reftorch/debug/gdb/init.py --args python script.py
    reftorch.debug.doctor()                         # what of this works here, and what to do where it does not

README.md beside this file explains each, and the configurations for VS Code.

Mirrors: nothing in PyTorch: this is the one new name.
Left out: see each tool.
"""

from __future__ import annotations

from typing import Any

from ._backtrace import backtrace
from ._call_tree import call_tree
from ._check_gradients import check_gradients
from ._compare import compare
from ._draw_graph import draw_graph, formula_source
from ._draw_storage import draw_storage
from ._find_nan import NonFinite, find_nan
from ._memory_snapshot import memory_snapshot
from ._record_tensors import record_tensors
from ._summary import summary
from ._where_op import where_op
from .doctor import doctor

__all__ = [
    "NonFinite",
    "backtrace",
    "call_tree",
    "check_gradients",
    "compare",
    "doctor",
    "draw_graph",
    "draw_storage",
    "find_nan",
    "formula_source",
    "load_ipython_extension",
    "memory_snapshot",
    "record_tensors",
    "summary",
    "where_op",
]


def load_ipython_extension(shell: Any) -> None:
    """What ``%load_ext reftorch.debug`` calls. IPython is imported only here."""
    from .magics import load_ipython_extension as load

    load(shell)
