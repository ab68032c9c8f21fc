"""The strategy by which memory is shared, and the names of shared memory under /dev/shm.

This file stands below ``reftorch.storage``, which needs it, and :mod:`reftorch.multiprocessing`, which has the public
functions.

Mirrors: torch/multiprocessing/__init__.py (the sharing strategy), torch/lib/libshm (what removes names)
Leaves out: the daemon of libshm, which also removes the names of processes that were killed.
"""

from __future__ import annotations

import atexit
import contextlib
import functools
import itertools
import os
from multiprocessing import current_process, parent_process

__all__: list[str] = []

strategy = "file_descriptor"
STRATEGIES = {"file_descriptor", "file_system"}

_count = itertools.count()
_arrived: dict[str, int] = {}  # the front of the names of a process -> the highest number that came from there


def uses_names() -> bool:
    """Whether memory that is shared from now on gets a name."""
    return strategy == "file_system"


def family() -> str:
    """The front of the names of all processes of this program: these processes have one secret key in common."""
    import hashlib  # here, because `import reftorch` would pay for it

    return f"/torch_{hashlib.sha256(bytes(current_process().authkey)).hexdigest()[:16]}_"


def new_name() -> str:
    """A new name for shared memory."""
    clean_up_at_exit()
    return f"{family()}{os.getpid()}_{next(_count)}"


def note_arrival(name: str) -> None:
    """Remember that a message with this name has arrived here."""
    clean_up_at_exit()
    front, _, number = name.rpartition("_")
    _arrived[front] = max(int(number), _arrived.get(front, -1)) if number.isdecimal() else -1


def remove_names_of_worker(pid: int) -> None:
    """Remove the names that a worker of a loader has given to batches which have not arrived, when it has ended.

    Its names are numbered, and its batches arrive in the order in which it sent them. So the names above the highest
    number that arrived belong to batches that were on their way, or that a killed worker was about to send.
    """
    front = f"{family()}{pid}"
    highest = _arrived.pop(front, -1)
    _remove(f"{front}_", highest)


@functools.cache
def clean_up_at_exit() -> None:
    """Make the program remove what is left of its names at its end. A process that uses names calls this."""
    atexit.register(_remove_names)


def _remove_names() -> None:
    """Remove the names of messages that nobody has received, unless this process is not the first of the program."""
    if parent_process() is None:
        _remove(family())


def _remove(front: str, highest: int = -1) -> None:
    """Remove the names that begin with ``front`` and end with a number above ``highest``."""
    try:
        left = [name for name in os.listdir("/dev/shm") if name.startswith(front[1:])]
    except OSError:
        return
    for name in left:
        if int(name.rpartition("_")[2]) > highest:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(f"/dev/shm/{name}")
