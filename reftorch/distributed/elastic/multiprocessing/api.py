"""One worker: a process of the job, and where its output goes.

Mirrors: torch/distributed/elastic/multiprocessing/api.py, torch/distributed/elastic/multiprocessing/tail_log.py
Leaves out: workers that run a function.
"""

from __future__ import annotations

import contextlib
import ctypes
import enum
import json
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any, BinaryIO

__all__ = ["SignalException", "Std", "WorkerProcess"]

_PR_SET_PDEATHSIG = 1
_libc = ctypes.CDLL(None)


class SignalException(Exception):
    """The launcher was told to end.

    Mirrors torch/distributed/elastic/multiprocessing/api.py, ``SignalException``.
    """

    def __init__(self, msg: str, sigval: signal.Signals) -> None:
        super().__init__(msg)
        self.sigval = sigval


class Std(enum.IntFlag):
    """Streams of a worker.

    Example:
        >>> from reftorch.distributed.elastic.multiprocessing.api import Std
        >>> Std.from_str("3", 2) == {0: Std.ALL, 1: Std.ALL}
        True
        >>> Std.from_str("1:2", 2)[1] == Std.ERR
        True

    Mirrors torch/distributed/elastic/multiprocessing/api.py, ``Std``.
    """

    NONE = 0
    OUT = 1
    ERR = 2
    ALL = OUT | ERR

    @classmethod
    def from_str(cls, text: str, workers: int) -> dict[int, Std]:
        """Return the streams of each worker: ``"3"`` for all workers, or ``"0:3,1:1"`` for some.

        Raises:
            ValueError: the text is not of this form.
        """
        try:
            if ":" not in text:
                return dict.fromkeys(range(workers), cls(int(text)))
            chosen = dict.fromkeys(range(workers), cls.NONE)
            for pair in text.split(","):
                worker, _, streams = pair.partition(":")
                chosen[int(worker)] = cls(int(streams))
            return chosen
        except ValueError as error:
            raise ValueError(f"expected 0, 1, 2 or 3, or a list such as 0:3,1:1, got {text!r}") from error


def _die_with_the_agent() -> None:
    """Run in the worker before it becomes the program: a launcher that is killed leaves no worker behind."""
    _libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


class WorkerProcess:
    """One worker.

    Args:
        command: what to run.
        environment: that of the worker.
        local_rank: the worker's number on this machine.
        folder: for the worker's files.
        redirects: streams that go to files.
        tee: streams that go to files and to the terminal, with the worker's number before each line.
        prefix: what stands before the number there.
        shown: whether the worker's output is shown at all.
    """

    def __init__(
        self,
        command: list[str],
        environment: dict[str, str],
        local_rank: int,
        folder: Path,
        redirects: Std,
        tee: Std,
        prefix: str,
        shown: bool,
    ) -> None:
        self.local_rank, self.rank = local_rank, int(environment["RANK"])
        self.was_stopped = False  # by us
        self.ended_at = 0.0
        folder.mkdir(parents=True, exist_ok=True)
        self.error_file = folder / "error.json"
        self._threads: list[threading.Thread] = []
        streams: dict[str, Any] = {}
        files = []
        for stream, name in ((Std.OUT, "stdout"), (Std.ERR, "stderr")):
            if stream & tee:
                streams[name] = subprocess.PIPE
            elif stream & redirects:
                files.append((folder / f"{name}.log").open("wb"))
                streams[name] = files[-1]
            elif not shown:
                streams[name] = subprocess.DEVNULL
        # A session of its own: what the worker starts is ended with it, as a group.
        self.process = subprocess.Popen(
            command,
            env={**environment, "TORCHELASTIC_ERROR_FILE": str(self.error_file)},
            preexec_fn=_die_with_the_agent,
            start_new_session=True,
            **streams,
        )
        for file in files:
            file.close()
        for stream, name in ((Std.OUT, "stdout"), (Std.ERR, "stderr")):
            if stream & tee:
                terminal = getattr(sys, name).buffer if shown else None
                arguments = (getattr(self.process, name), terminal, folder / f"{name}.log", f"[{prefix}{local_rank}]:")
                self._threads.append(threading.Thread(target=self._tee, args=arguments, daemon=True))
                self._threads[-1].start()

    @staticmethod
    def _tee(source: BinaryIO, terminal: BinaryIO | None, path: Path, prefix: str) -> None:
        with path.open("wb") as file:
            for line in source:
                file.write(line)
                file.flush()
                if terminal is not None:
                    terminal.write(prefix.encode() + line)
                    terminal.flush()

    def poll(self) -> int | None:
        """Return the exit code, the negative number of a signal, or None if the worker runs."""
        code = self.process.poll()
        if code is not None and not self.ended_at:
            self.ended_at = time.time()
        return code

    def stop(self, number: signal.Signals) -> None:
        """Send a signal to the worker, if it runs."""
        if self.poll() is None:
            self.was_stopped = True
            self.process.send_signal(number)

    def finish(self, timeout: float) -> None:
        """Wait for the worker; kill it at the end of ``timeout``, and then what it has started."""
        try:
            self.process.wait(max(0.0, timeout))
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.poll()
        with contextlib.suppress(ProcessLookupError):  # nothing of its group runs
            os.killpg(self.process.pid, signal.SIGKILL)
        for thread in self._threads:
            thread.join(5)

    def error(self) -> dict[str, Any] | None:
        """Return what the worker wrote about its failure: ``message``, ``py_callstack`` and ``timestamp``."""
        try:
            message = json.loads(self.error_file.read_text(encoding="utf-8"))["message"]
        except (OSError, ValueError, KeyError):
            return None
        return {"message": message["message"], **message["extraInfo"]}

    def failed_at(self) -> float:
        """Return when the worker failed, as far as that is known."""
        error = self.error()
        return float(error["timestamp"]) if error else self.ended_at
