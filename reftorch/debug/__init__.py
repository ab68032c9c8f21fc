"""Tools to look inside: the call tree, stops in C++ from a notebook, one stack for both languages;
and, of a model, what its modules compute, where a NaN came from, which gradients are wrong, what memory is shared.

    from reftorch.debug import call_tree            # in a program or a notebook
    %load_ext reftorch.debug                        # in a notebook: %%gdb, %%calltree, %%ranks, %bt; README.md has all
    gdb -x reftorch/debug/gdb/init.py --args python script.py
    reftorch.debug.doctor()                         # what of this works here, and what to do where it does not

README.md beside this file explains each, and the configurations for VS Code. The packages are named after those whom
the tools serve: ``notebook`` after a learner there, ``model`` after a user with one, ``core`` after a reader of it,
``kernels`` after a writer of CUDA kernels.

Mirrors: nothing in PyTorch: this is the one new name.
Left out: see each tool.
"""

from __future__ import annotations

from typing import Any

from reftorch.debug.core.backtrace import backtrace
from reftorch.debug.core.doctor import doctor
from reftorch.debug.core.rank_stacks import rank_stacks
from reftorch.debug.core.where_op import where_op
from reftorch.debug.kernels.watch import watch_kernels
from reftorch.debug.model.check_gradients import check_gradients
from reftorch.debug.model.compare import compare
from reftorch.debug.model.diagnosis.checklist import diagnose
from reftorch.debug.model.diagnosis.findings import Diagnosis
from reftorch.debug.model.draw_activations import draw_activations
from reftorch.debug.model.find_nan import NonFinite, find_nan
from reftorch.debug.model.find_wrong_gradient import find_wrong_gradient
from reftorch.debug.model.memory_by_line import memory_by_line
from reftorch.debug.model.memory_snapshot import memory_snapshot
from reftorch.debug.model.record_tensors import record_tensors
from reftorch.debug.model.summary import summary
from reftorch.debug.notebook.call_tree import call_tree
from reftorch.debug.notebook.draw_graph import draw_graph, formula_source
from reftorch.debug.notebook.draw_storage import draw_storage
from reftorch.debug.notebook.rank_timeline import draw_rank_timeline, rank_timeline

__all__ = [
    "Diagnosis",
    "NonFinite",
    "backtrace",
    "call_tree",
    "check_gradients",
    "compare",
    "diagnose",
    "doctor",
    "draw_activations",
    "draw_graph",
    "draw_rank_timeline",
    "draw_storage",
    "find_nan",
    "find_wrong_gradient",
    "formula_source",
    "load_ipython_extension",
    "memory_by_line",
    "memory_snapshot",
    "rank_stacks",
    "rank_timeline",
    "record_tensors",
    "summary",
    "watch_kernels",
    "where_op",
]


def load_ipython_extension(shell: Any) -> None:
    """Register the magics, for ``%load_ext reftorch.debug``. IPython is imported only here."""
    from .notebook.magics import load_ipython_extension as load

    load(shell)
