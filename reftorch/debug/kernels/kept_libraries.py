"""The instrumented copies of the library's kernels in the folder of extensions, at most so many bytes of them.

Mirrors: nothing in PyTorch, whose users run a program under NVIDIA's compute-sanitizer.
Leaves out: the other extensions of that folder, which belong to programs of the user.

A copy belongs to one build and one state of its source, so a new build makes new copies, and nobody asks for the old
ones again. Whoever puts a copy there removes those that were used longest ago. A process holds a shared lock of each
copy that it has loaded (flock, which ends with the process), and a locked copy is not removed, because debuggers and
addr2line read it by its name.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
from collections.abc import Iterator
from pathlib import Path

MOST_BYTES = 400 << 20  # all copies of one build take 130 MB
NAMES = "watched_*.so"


@contextlib.contextmanager
def alone(folder: Path) -> Iterator[None]:
    """Be the only process that adds, takes or removes copies. Without such locks, no copy is ever removed."""
    with contextlib.ExitStack() as stack:
        with contextlib.suppress(OSError):
            fcntl.flock(stack.enter_context((folder / "watched.lock").open("w")), fcntl.LOCK_EX)
        yield


def hold(library: Path) -> bool:
    """Keep a copy from being removed for as long as this process lives; return False if it is not there."""
    try:
        file = os.open(library, os.O_RDONLY)  # stays open: the lock ends with it
    except FileNotFoundError:
        return False
    with contextlib.suppress(OSError):
        fcntl.flock(file, fcntl.LOCK_SH)
        os.utime(library)  # the last use
    return True


def take(library: Path) -> bool:
    """Hold a copy that is there; return whether it is."""
    with alone(library.parent):
        return hold(library)


def put(unfinished: Path, library: Path) -> None:
    """Give a new copy its name, hold it, and remove others if there are too many."""
    with alone(library.parent):
        os.replace(unfinished, library)  # other processes may have made the same
        hold(library)
        remove_unused(library.parent)


def remove_unused(folder: Path) -> None:
    """Remove the copies that were used longest ago and that no process holds, until the rest is small enough."""
    found = []
    for each in folder.glob(NAMES):
        with contextlib.suppress(FileNotFoundError):  # its user may clean up, too
            found.append((each.stat().st_mtime_ns, each.stat().st_size, each))
    total = sum(size for _, size, _ in found)
    for _, size, each in sorted(found):
        if total <= MOST_BYTES:
            break
        with contextlib.suppress(OSError), each.open("rb") as file:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)  # raises if a process holds it
            each.unlink()
            total -= size
