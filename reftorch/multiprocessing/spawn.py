"""Run a function in several processes, and learn of the first that fails.

Mirrors: torch/multiprocessing/spawn.py
Leaves out: the parallel start of processes by TORCH_MP_PARALLEL_START.
"""

from __future__ import annotations

import multiprocessing
import os
import pickle
import signal
import sys
import time
import traceback
from collections.abc import Callable
from typing import Any

from reftorch._warnings import warn

__all__ = [
    "ProcessContext",
    "ProcessException",
    "ProcessExitedException",
    "ProcessRaisedException",
    "SpawnContext",
    "spawn",
    "start_processes",
]

_PR_SET_PDEATHSIG = 1


class ProcessException(Exception):
    """A process failed.

    Attributes:
        msg: what happened.
        error_index: the number of the process, from 0.
        error_pid: its process id.
    """

    def __init__(self, msg: str, error_index: int, error_pid: int) -> None:
        super().__init__(msg)
        self.msg = msg
        self.error_index = error_index
        self.error_pid = error_pid

    def __reduce__(self) -> Any:
        return type(self), (self.msg, self.error_index, self.error_pid)


class ProcessRaisedException(ProcessException):
    """The function raised an exception, whose traceback is in the message."""


class ProcessExitedException(ProcessException):
    """The process ended with an exit code other than 0, or a signal ended it.

    Attributes:
        exit_code: the exit code; for a signal, the negative of its number.
        signal_name: the name of the signal, or None.
    """

    def __init__(
        self, msg: str, error_index: int, error_pid: int, exit_code: int, signal_name: str | None = None
    ) -> None:
        super().__init__(msg, error_index, error_pid)
        self.exit_code = exit_code
        self.signal_name = signal_name

    def __reduce__(self) -> Any:
        return type(self), (self.msg, self.error_index, self.error_pid, self.exit_code, self.signal_name)


def _wrap(fn: Callable[..., None], i: int, args: tuple[Any, ...], error_file: str) -> None:
    """What a process runs: the function. The traceback of an exception goes into a file, which the parent reads."""
    import ctypes  # not at the top: the processes that start others do not need it

    # If the parent dies, the kernel ends this process with SIGINT, so that no process is left behind.
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGINT)
    try:
        fn(i, *args)
    except KeyboardInterrupt:
        pass  # the parent ended, or ended this process
    except Exception:
        with open(error_file, "wb") as file:
            pickle.dump(traceback.format_exc(), file)
        sys.exit(1)


class ProcessContext:
    """Processes that were started together.

    Attributes:
        processes: the ``multiprocessing.Process`` objects.
    """

    def __init__(self, processes: list[Any], error_files: list[str]) -> None:
        self.processes = processes
        self.error_files = error_files
        self.sentinels = {process.sentinel: index for index, process in enumerate(processes)}

    def pids(self) -> list[int]:
        """The process ids."""
        return [int(process.pid) for process in self.processes]

    def _join_together(self, timeout: float) -> None:
        end = time.monotonic() + timeout
        for process in self.processes:
            process.join(max(0.0, end - time.monotonic()))

    def join(self, timeout: float | None = None, grace_period: float | None = None) -> bool:
        """Wait until one process fails, or until all that were running have ended.

        When a process fails, the others are ended: after ``grace_period`` by SIGTERM, and after as long again (30 s if
        there is no grace period) by SIGKILL.

        Args:
            timeout: the longest time to wait, in seconds; None waits as long as it takes.
            grace_period: how long the others may go on after one has failed, in seconds.

        Returns:
            Whether all processes have ended. Call ``join`` again while the answer is False.

        Raises:
            ProcessRaisedException: the function raised in one of them.
            ProcessExitedException: one of them ended with another exit code than 0, or by a signal.

        Mirrors torch/multiprocessing/spawn.py, ``ProcessContext.join``.
        """
        from multiprocessing import connection  # here, because `import reftorch` would pay for it

        if not self.sentinels:
            return True
        failed = None
        for sentinel in connection.wait(list(self.sentinels), timeout=timeout):
            index = self.sentinels.pop(sentinel)
            self.processes[index].join()
            if self.processes[index].exitcode != 0:
                failed = index
                break
        if failed is None:
            return not self.sentinels
        self._end_all(grace_period)
        raise self._error_of(failed)

    def _end_all(self, grace_period: float | None) -> None:
        if grace_period is not None:
            self._join_together(grace_period)
        for process in self.processes:
            if process.is_alive():
                process.terminate()
        self._join_together(30 if grace_period is None else grace_period)
        for process in self.processes:
            if process.is_alive():
                process.kill()
            process.join()

    def _error_of(self, index: int) -> ProcessException:
        process = self.processes[index]
        try:
            with open(self.error_files[index], "rb") as file:
                text = pickle.load(file)
            os.unlink(self.error_files[index])
        except FileNotFoundError:
            return _error_of_exit(index, process.pid, process.exitcode)
        message = f"\n\n-- Process {index} terminated with the following error:\n{text}"
        return ProcessRaisedException(message, index, process.pid)


def _error_of_exit(index: int, pid: int, code: int) -> ProcessExitedException:
    if code >= 0:
        return ProcessExitedException(f"process {index} terminated with exit code {code}", index, pid, code)
    try:
        name = signal.Signals(-code).name
    except ValueError:
        name = f"<Unknown signal {-code}>"
    return ProcessExitedException(f"process {index} terminated with signal {name}", index, pid, code, name)


class SpawnContext(ProcessContext):
    """The former name of :class:`ProcessContext`."""

    def __init__(self, processes: list[Any], error_files: list[str]) -> None:
        warn("SpawnContext is renamed to ProcessContext since 1.4 release.")
        super().__init__(processes, error_files)


def start_processes(
    fn: Callable[..., None],
    args: tuple[Any, ...] = (),
    nprocs: int = 1,
    join: bool = True,
    daemon: bool = False,
    start_method: str = "spawn",
) -> ProcessContext | None:
    """Run ``fn(i, *args)`` in ``nprocs`` processes, where ``i`` counts from 0.

    If a process fails, the others are ended, and its error is raised here with the traceback it had there. Tensors in
    ``args`` are shared: every process reads and writes the same memory.

    Args:
        fn: a function; with ``"spawn"`` and ``"forkserver"`` one that stands at the top level of a module.
        args: its further arguments.
        nprocs: the number of processes.
        join: whether to wait until all have ended.
        daemon: whether the processes end with this one.
        start_method: ``"spawn"``, ``"fork"`` or ``"forkserver"``; see Python's ``multiprocessing``.

    Returns:
        None, or a :class:`ProcessContext` if ``join`` is False.

    Raises:
        ProcessRaisedException: ``fn`` raised in a process (only if ``join`` is True).
        ProcessExitedException: a process ended with another exit code than 0, or by a signal (likewise).

    Example:
        >>> import reftorch.multiprocessing as mp
        >>> def add(i, total):
        ...     total[i] += i + 1
        >>> total = torch.zeros(3).share_memory_()
        >>> mp.start_processes(add, (total,), nprocs=3, start_method="fork")
        >>> total
        tensor([1., 2., 3.])

    Mirrors torch/multiprocessing/spawn.py, ``start_processes``.
    """
    import tempfile  # here, because `import reftorch` would pay for it

    context = multiprocessing.get_context(start_method)
    processes, error_files = [], []
    for i in range(nprocs):
        # The file comes into being only if the process fails; only its name is needed now.
        handle, name = tempfile.mkstemp(prefix="reftorch-error-", suffix=".pickle")
        os.close(handle)
        os.unlink(name)
        process = context.Process(target=_wrap, args=(fn, i, args, name), daemon=daemon)  # type: ignore[attr-defined]
        process.start()
        processes.append(process)
        error_files.append(name)
    started = ProcessContext(processes, error_files)
    if not join:
        return started
    while not started.join():
        pass
    return None


def spawn(
    fn: Callable[..., None],
    args: tuple[Any, ...] = (),
    nprocs: int = 1,
    join: bool = True,
    daemon: bool = False,
    start_method: str = "spawn",
) -> ProcessContext | None:
    """Run ``fn(i, *args)`` in ``nprocs`` new processes: :func:`start_processes` with ``start_method="spawn"``.

    Each process starts a fresh Python, imports the module of ``fn`` and calls it. A script must therefore call
    ``spawn`` below ``if __name__ == "__main__":`` only.

    Raises:
        ProcessRaisedException: ``fn`` raised in a process (only if ``join`` is True).
        ProcessExitedException: a process ended with another exit code than 0, or by a signal (likewise).

    Mirrors torch/multiprocessing/spawn.py, ``spawn``.
    """
    if start_method != "spawn":
        warn(
            f"This method only supports start_method=spawn (got: {start_method}).\nTo use a different start_method "
            "use:\n\t\t torch.multiprocessing.start_processes(...)"
        )
    return start_processes(fn, args, nprocs, join, daemon, start_method="spawn")
