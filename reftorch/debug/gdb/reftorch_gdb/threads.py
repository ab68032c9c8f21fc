"""The names of the library's threads in words, which an editor shows beside each thread.

Mirrors: nothing in PyTorch: the names that the system knows are PyTorch's, where PyTorch gives one.
Left out: other threads that nobody named. They keep the name of the thread that made them.
"""

import re

import gdb

# The name that the library gives to a thread (setThreadName, _set_thread_name), and the words for the name.
WORDS = {
    r"pt_autograd_(\d+)": r"autograd device \1",
    r"pt_data_pin": "DataLoader pin",
    r"pt_data_worker": "DataLoader worker",
    r"pt_parallel_for": "parallel_for helper",
    r"pt_fresh_stack": "autograd, deep graph",
    r"cuda:(\d+)": r"CUDA stream of device \1",
    r"cuda blocks": "CUDA blocks",
    r"pg_gloo": "collectives of a group",
    r"pg_mailbox": "messages of a group",
    r"pg_stack": "stack for another rank",
    r"pg_futures": "futures of groups",
    r"store_server": "TCPStore",
}


def words(name):
    """Return the words for a thread's name in the system, or None."""
    for pattern, text in WORDS.items():
        found = re.fullmatch(pattern, name)
        if found:
            return found.expand(text)
    return None


# The function in which another library's thread waits for work. The library gives its threads no names.
WAITS_IN = {"blas_thread_server": "OpenBLAS helper"}
DEEP = 12  # calls
looked_at: set = set()


def maker(thread):
    """Return the words for a thread that another library has made, or None. The stack is read once for each thread."""
    if thread.ptid in looked_at:
        return None
    looked_at.add(thread.ptid)
    selected, frame = gdb.selected_thread(), None
    try:
        thread.switch()
        frame = gdb.newest_frame()
        for _ in range(DEEP):
            if frame is None or frame.name() in WAITS_IN:
                return WAITS_IN[frame.name()] if frame is not None else None
            frame = frame.older()
    except gdb.error:
        pass
    finally:
        selected.switch()
    return None


def name_all(_event=None):
    """Name the threads of the process. The first thread is `main`, unless the library gave the process a name."""
    for thread in gdb.selected_inferior().threads():
        pid, lwp, _ = thread.ptid
        try:
            with open(f"/proc/{pid}/task/{lwp}/comm") as file:
                name = words(file.read().rstrip("\n"))
        except OSError:  # a core file, or a process on another machine
            return
        if name is None:
            name = "main" if lwp == pid else maker(thread)
        if name is not None and thread.name != name:
            thread.name = name
