"""Which rank of which process group a thread is.

Mirrors: nothing in PyTorch: its gdb script knows tensors only.
Left out: core files, because the answer is a call into the process.

The library knows its groups (ProcessGroup::rankOfThread). gdb calls a C function for the answer, because reading the
list of groups by the types of C++ would make gdb read the debug info of many files, for half a minute.
"""

import gdb

from reftorch_gdb import stack

RANK = "reftorch_debug_rank"


def of_thread(thread):
    """Return `rank 1 of 2, group default_pg` for a thread, or an empty text."""
    try:
        return stack.call_in_this_thread(f"((const char*(*)(int)){RANK})({thread.ptid[1]})").string()
    except gdb.error:  # reftorch is not loaded
        return ""
