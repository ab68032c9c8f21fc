"""Python's ``multiprocessing`` for tensors: a tensor that is sent to another process shares its memory with it.

``import reftorch.multiprocessing as mp`` has every name of ``multiprocessing``. The import teaches the pickler of
``multiprocessing`` to send the memory of a tensor as a file descriptor or as a name, and not as bytes; see
:mod:`reftorch.multiprocessing.reductions`.

A tensor on a CUDA device is sent as a handle that opens its memory. The sender has to live until the receivers have
dropped such tensors; a receiver must not send them on, and should drop them as soon as it can. The processes are
started by ``spawn`` or ``forkserver``, because CUDA does not survive ``fork``.

Mirrors: torch/multiprocessing/__init__.py
"""

from __future__ import annotations

import contextlib
import multiprocessing
from multiprocessing import *  # noqa: F403

from reftorch import _shared_memory
from reftorch.multiprocessing.reductions import init_reductions
from reftorch.multiprocessing.spawn import ProcessContext as ProcessContext
from reftorch.multiprocessing.spawn import ProcessExitedException as ProcessExitedException
from reftorch.multiprocessing.spawn import ProcessRaisedException as ProcessRaisedException
from reftorch.multiprocessing.spawn import SpawnContext as SpawnContext
from reftorch.multiprocessing.spawn import spawn as spawn
from reftorch.multiprocessing.spawn import start_processes as start_processes

__all__ = [  # as in PyTorch, the functions of spawn.py are not among them
    "get_all_sharing_strategies",
    "get_sharing_strategy",
    "set_sharing_strategy",
    *multiprocessing.__all__,
]


def set_sharing_strategy(new_strategy: str) -> None:
    """Choose how the memory of CPU tensors is passed to another process.

    - ``"file_descriptor"`` (default): the memory has no name, and vanishes with the last process that has it. Each
      shared storage keeps a file descriptor open, of which a process has ``ulimit -n``.
    - ``"file_system"``: the memory is a file under /dev/shm. A process that is killed may leave the file behind.

    A storage that is shared already stays as it is.

    Raises:
        AssertionError: there is no such strategy.

    Example:
        >>> import reftorch.multiprocessing as mp
        >>> mp.set_sharing_strategy("file_descriptor")
        >>> mp.get_sharing_strategy()
        'file_descriptor'

    Mirrors torch/multiprocessing/__init__.py, ``set_sharing_strategy``.
    """
    if new_strategy not in _shared_memory.STRATEGIES:
        raise AssertionError(
            f"invalid sharing strategy {new_strategy!r}, expected one of {sorted(_shared_memory.STRATEGIES)}"
        )
    _shared_memory.strategy = new_strategy
    if _shared_memory.uses_names():
        _shared_memory.clean_up_at_exit()


def get_sharing_strategy() -> str:
    """Return the current strategy; see :func:`set_sharing_strategy`.

    Mirrors torch/multiprocessing/__init__.py, ``get_sharing_strategy``.
    """
    return _shared_memory.strategy


def get_all_sharing_strategies() -> set[str]:
    """Return the names of the strategies.

    Example:
        >>> import reftorch.multiprocessing as mp
        >>> sorted(mp.get_all_sharing_strategies())
        ['file_descriptor', 'file_system']

    Mirrors torch/multiprocessing/__init__.py, ``get_all_sharing_strategies``.
    """
    return _shared_memory.STRATEGIES


def _set_thread_name(name: str) -> None:
    """Give the calling thread a name of at most 15 bytes, which ``top``, gdb and the picker of VS Code show.

    The name of the main thread is also the name of the process.
    """
    with contextlib.suppress(OSError), open("/proc/thread-self/comm", "wb") as file:  # a name is a help only
        file.write(name.encode())


def _get_thread_name() -> str:
    """Return the name of the calling thread."""
    with open("/proc/thread-self/comm") as file:
        return file.read().rstrip("\n")


init_reductions()
