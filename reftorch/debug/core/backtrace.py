"""The stack of the calling line, with the C++ frames between the Python frames.

Mirrors: nothing in PyTorch: torch.utils.CapturedTraceback shows C++ frames only where it was built for it.
Left out: other threads.
"""

from __future__ import annotations

from reftorch.debug.core.gdb_report import GdbReport
from reftorch.debug.core.gdb_session import backtrace_events


def backtrace() -> GdbReport:
    """Return the stack of the calling line in both languages. gdb attaches for a moment to read the stack.

    The stack is most useful inside a hook during ``backward``: it shows the formula, the engine and the call of
        ``backward``.

    Raises:
        GdbNotFound, GdbFailed: gdb is missing or failed; the message says how to fix this.

    Mirrors nothing in PyTorch.
    """
    return GdbReport(backtrace_events())
