"""A process that loads torch once and runs each program of a check in a fork, so that gates do not wait for imports.

Mirrors: nothing in PyTorch: PyTorch ships no course.
Leaves out: what torch does during its import; a program that watches the import needs a process of its own.
"""

from __future__ import annotations

import contextlib
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from course._tools.in_torch import LOADED
from course._tools.real_torch import find_torch

# Run by the interpreter that has torch. `torch._dynamo` is what takes long in the first step of an optimizer and in
# the first call of a mode. The process ends with the one that has started it, however that one ends.
PROGRAM = """\
import contextlib
import ctypes
import io
import os
from multiprocessing.connection import Listener

ctypes.CDLL(None).prctl(1, 9)  # PR_SET_PDEATHSIG, SIGKILL

import torch._dynamo

with Listener({address!r}, "AF_UNIX") as listener:
    print("ready", flush=True)
    while True:
        with listener.accept() as asked:
            program = asked.recv()
            child = os.fork()
            if child == 0:
                printed, error = io.StringIO(), ""
                try:
                    with contextlib.redirect_stdout(printed):
                        exec(compile(program, "the runner", "exec"), {{"__name__": "__main__"}})
                except Exception as raised:
                    error = f"{{type(raised).__name__}}: {{raised}}"
                asked.send((printed.getvalue(), error))
                os._exit(0)
            os.waitpid(child, 0)
"""


@contextlib.contextmanager
def loaded_torch(folder: Path) -> Iterator[None]:
    """Start the process, and name its address in the environment. Where torch is missing, nothing is started."""
    found, address = find_torch(), str(folder / "torch")
    if found is None:
        yield
        return
    command = [found.python, "-c", PROGRAM.format(address=address)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
        try:
            assert process.stdout is not None
            assert process.stdout.readline() == b"ready\n"
            with pytest.MonkeyPatch.context() as patch:
                patch.setenv(LOADED, address)
                yield
        finally:
            process.kill()
