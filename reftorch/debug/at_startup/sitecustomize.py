"""Prepares a process for debuggers: they may attach from the first line on, and Python's threads have names in gdb.

Mirrors: nothing in PyTorch: its developers set up their own machines.
Left out: what is asked for by no environment variable: nothing happens without REFTORCH_ALLOW_PTRACE=1.

Python imports ``sitecustomize`` when it starts. The debug configurations put this folder on PYTHONPATH, because where
Yama guards (ptrace_scope=1) a process must allow an attach itself, and an editor attaches before reftorch is imported.
"""

import contextlib
import ctypes
import importlib
import os
import sys
import threading
from typing import Any

PR_SET_PTRACER = 0x59616D61
ANY = ctypes.c_ulong(-1)


def allow_ptrace() -> None:
    libc = ctypes.CDLL(None)
    if hasattr(libc, "prctl"):
        libc.prctl(PR_SET_PTRACER, ANY, 0, 0, 0)


def name_threads() -> None:
    """Give each thread that Python starts from now on its Python name in the system, as Python 3.14 does by itself."""
    begin = threading.Thread._set_native_id  # type: ignore[attr-defined]  # what a new thread calls first

    def begin_with_a_name(self: Any) -> None:
        begin(self)
        with contextlib.suppress(OSError), open("/proc/thread-self/comm", "wb") as file:  # a name is a help only
            file.write(self.name.encode()[:15])

    threading.Thread._set_native_id = begin_with_a_name  # type: ignore[attr-defined]


def import_the_next_one() -> None:
    """Import the sitecustomize that this one hides, if there is one."""
    here = os.path.dirname(os.path.abspath(__file__))
    hidden = [entry for entry in sys.path if os.path.abspath(entry) == here]
    if not hidden:
        return
    before, sys.path[:] = list(sys.path), [entry for entry in sys.path if entry not in hidden]
    this = sys.modules.pop("sitecustomize", None)
    try:
        importlib.import_module("sitecustomize")
    except ModuleNotFoundError as error:
        if error.name != "sitecustomize":
            raise
        if this is not None:
            sys.modules["sitecustomize"] = this
    finally:
        sys.path[:] = before


if os.environ.get("REFTORCH_ALLOW_PTRACE") == "1":
    allow_ptrace()
    os.register_at_fork(after_in_child=allow_ptrace)
    if sys.version_info < (3, 14):
        name_threads()
if __name__ == "sitecustomize":
    import_the_next_one()
