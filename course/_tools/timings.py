"""Measures how long the same work takes in each build of reftorch that is here, and in PyTorch if it is installed.

Mirrors: nothing in PyTorch: the course's own; `torch.utils.benchmark` measures one library.
Leaves out: several threads, and statistics: the shortest of twenty runs is the one that was disturbed least.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from course._tools.layout import ROOT
from course._tools.real_torch import find_torch
from reftorch import _C

BUILDS = ("Debug", "Release")  # those that are compared: the others look for errors and are slow for that reason
STALE = 75  # the status of a process whose build is older than the Python beside it, and does not import
MEASURE = """
import sys, timeit
try:
    torch = __import__(sys.argv[1])
except (ImportError, RuntimeError):
    sys.exit(STALE)
torch.set_num_threads(1)
space = {"torch": torch, "a": torch.rand(1_000_000)}
print(1000 * min(timeit.repeat(sys.argv[2], globals=space, number=1, repeat=20)))
""".replace("STALE", str(STALE))


def milliseconds_of_each_build(work: str) -> dict[str, float]:
    """The time of `work` in milliseconds, on one thread, by the name of the library.

    Each library runs in a process of its own, because a process has one build only. A build that does not import is
    left out, and a printed line says so: after a change of the library only the build that is in use is built again.

    Args:
        work: a line of Python; `a` in it is a tensor of a million floats.

    Raises:
        subprocess.CalledProcessError: the line raised in one of the libraries.
    """
    built = [name for name in BUILDS if list((ROOT / "reftorch" / "lib" / name).glob("_C.*.so"))]
    times = {}
    for name in built:
        try:
            times[f"{name} build"] = _milliseconds(work, sys.executable, "reftorch", name)
        except subprocess.CalledProcessError as error:
            if error.returncode != STALE or name == Path(_C.__file__).parent.name:
                raise
            print(f"The {name} build is older than the library and is left out: `make {name.lower()}` builds it again.")
    if torch := find_torch():
        times[f"PyTorch {torch.version}"] = _milliseconds(work, torch.python, "torch")
    return times


def _milliseconds(work: str, python: str, library: str, build: str = "") -> float:
    environment = {**os.environ, "REFTORCH_BUILD": build}
    command = [python, "-c", MEASURE, library, work]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True, cwd=ROOT)
    return float(f"{float(done.stdout):.3g}")  # the digits after the third are noise
