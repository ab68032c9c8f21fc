"""The stack of the calling line, C++ frames between the Python frames.

Mirrors: nothing in PyTorch: torch.utils.CapturedTraceback shows C++ frames only where it was built for it.
Left out: other threads.
"""

from __future__ import annotations

from ._gdb_report import Report
from ._gdb_session import backtrace_events


def backtrace() -> Report:
    """The stack from here outwards, both languages; gdb attaches for a moment to see it.

    Most telling inside a hook during ``backward``: the formula, the engine and the call of ``backward`` in one stack.

    Raises:
        GdbNotFound, GdbFailed: with what mends it.

    Mirrors nothing in PyTorch.
    """
    return Report(backtrace_events())
