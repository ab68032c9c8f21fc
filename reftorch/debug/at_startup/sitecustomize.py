"""Lets a debugger attach to this process and to those it forks, before the first line of the program.

Mirrors: nothing in PyTorch: its developers set up their own machines.
Left out: what is asked for by no environment variable: nothing happens without REFTORCH_ALLOW_PTRACE=1.

Python imports ``sitecustomize`` when it starts. The debug configurations put this folder on PYTHONPATH, because where
Yama guards (ptrace_scope=1) a process must allow an attach itself, and an editor attaches before reftorch is imported.
"""

import ctypes
import importlib
import os
import sys

PR_SET_PTRACER = 0x59616D61
ANY = ctypes.c_ulong(-1)


def allow_ptrace() -> None:
    libc = ctypes.CDLL(None)
    if hasattr(libc, "prctl"):
        libc.prctl(PR_SET_PTRACER, ANY, 0, 0, 0)


def import_the_next_one() -> None:
    """The sitecustomize that this one hides, if there is one."""
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
if __name__ == "sitecustomize":
    import_the_next_one()
