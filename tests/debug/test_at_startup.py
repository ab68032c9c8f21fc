"""What lets an editor's debugger attach before reftorch is imported.

Mirrors: nothing in PyTorch: tests of tools that it does not have.
Left out: Yama itself, which not every machine has.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

FOLDER = Path(__file__).resolve().parents[2] / "reftorch" / "debug" / "at_startup"
# What prctl is asked for, in this process and in a forked child.
SPY = """
import ctypes, os, sys
class Library:
    def prctl(self, option, *rest):
        print(os.getpid() == PARENT, hex(option), flush=True)
PARENT = os.getpid()
ctypes.CDLL = lambda name: Library()
import sitecustomize
print("hidden one:", getattr(sys.modules["sitecustomize"], "MARK", None), flush=True)
if os.fork() == 0:
    os._exit(0)
os.wait()
"""


def run(hidden: Path, **environment: str) -> list[str]:
    clean = {name: value for name, value in os.environ.items() if name != "REFTORCH_ALLOW_PTRACE"}
    search_path = os.pathsep.join([str(FOLDER), str(hidden)])
    command = [sys.executable, "-S", "-c", SPY]  # -S: the spy imports it, and not Python itself
    environment = clean | {"PYTHONPATH": search_path} | environment
    return subprocess.run(command, env=environment, check=True, capture_output=True, text=True).stdout.splitlines()


def test_a_tracer_is_allowed_here_and_in_forks_where_asked(tmp_path: Path) -> None:
    assert run(tmp_path, REFTORCH_ALLOW_PTRACE="1") == ["True 0x59616d61", "hidden one: None", "False 0x59616d61"]


def test_nothing_happens_unasked_and_the_hidden_one_still_runs(tmp_path: Path) -> None:
    (tmp_path / "sitecustomize.py").write_text("MARK = 7\n")
    assert run(tmp_path) == ["hidden one: 7"]


def test_python_takes_it_up_at_start(tmp_path: Path) -> None:
    (tmp_path / "sitecustomize.py").write_text("print('the hidden one ran')\n")
    search_path = os.pathsep.join([str(FOLDER), str(tmp_path)])
    done = subprocess.run(
        [sys.executable, "-c", "pass"], env=os.environ | {"PYTHONPATH": search_path}, capture_output=True, text=True
    )
    assert (done.returncode, done.stdout) == (0, "the hidden one ran\n")
