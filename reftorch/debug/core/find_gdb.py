"""The search for a suitable gdb: version 12 or newer, with Python inside.

Mirrors: nothing in PyTorch: it leaves the choice to its developers.
Left out: lldb.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

MINIMUM = (12, 0)  # this version reads gcc 12's debug information, and has the Python API that our printers use
MINIMUM_FOR_DAP = (14, 1)
# The second command needs a process. It writes a vector register of x86; other processors have none of this name, and
# say so. Where no process may be traced, it says so, too, and whoever attaches explains this better.
PROBE = ("python print('python', __import__('sys').version_info[0])", "starti", "set var $ymm0.v8_int32[0] = 1")
# gdb 13 (Debian 12) does not know the large registers of processors with AMX (Intel's servers since 2023). It cannot
# write the registers back after a call into the process, and the process dies.
REGISTERS_NOT_WRITTEN = "Couldn't write extended state"


class Gdb(NamedTuple):
    """A gdb that was started once as a test."""

    path: str
    version: tuple[int, int]

    @property
    def speaks_dap(self) -> bool:
        """Whether an editor can drive this gdb by ``gdb -i=dap``."""
        return self.version >= MINIMUM_FOR_DAP


class GdbNotFound(RuntimeError):
    """No gdb is suitable; the message says what was found and what to install."""


def gdb_environment() -> dict[str, str]:
    """Return the environment of this process without the variables that would affect the Python inside gdb.

    Where the locale is not one of UTF-8, gdb gets one, because it would otherwise refuse to run a script or to show a
    source whose path has other letters than those of the locale.
    """
    unwanted = ("PYTHON", "PYDEVD", "DEBUGPY", "LD_PRELOAD")
    environment = {name: value for name, value in os.environ.items() if not name.startswith(unwanted)}
    locale = next(filter(None, map(environment.get, ("LC_ALL", "LC_CTYPE", "LANG"))), "C")
    return environment if re.search("utf-?8", locale, re.I) else environment | {"LC_ALL": "C.UTF-8"}


@lru_cache
def probe(path: str) -> Gdb | str:
    """Return the gdb at `path`, or the reason why it is not suitable."""
    commands = [word for line in ("show version", *PROBE) for word in ("-ex", line)]
    command = [path, "-nx", "-batch", *commands, shutil.which("true") or sys.executable]
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=120, env=gdb_environment(), stdin=subprocess.DEVNULL
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"does not start ({error})"
    found = re.search(r"GNU gdb .*?(\d+)\.(\d+)", done.stdout)
    if not found:
        return "does not start: " + (done.stderr.strip().splitlines() or ["no output"])[-1]
    version = (int(found[1]), int(found[2]))
    if version < MINIMUM:
        return f"is version {version[0]}.{version[1]}, older than {MINIMUM[0]}"
    if "python 3" not in done.stdout:
        return "was built without Python"
    if REGISTERS_NOT_WRITTEN in done.stderr:
        return f"is version {version[0]}.{version[1]}, which cannot write the registers of this processor"
    return Gdb(path, version)


def candidates() -> list[str]:
    """Return the paths at which a gdb may be, in the order in which they are tried."""
    asked = os.environ.get("REFTORCH_GDB")
    if asked:
        return [asked]
    beside_python = Path(sys.prefix, "bin", "gdb")
    on_path = shutil.which("gdb")
    found = ["/usr/bin/gdb", on_path, str(beside_python)]
    return [path for i, path in enumerate(found) if path and path not in found[:i] and os.path.exists(path)]


def find_gdb(dap: bool = False) -> Gdb:
    """Return the first suitable gdb: ``$REFTORCH_GDB``, else the system's, else the one of the environment.

    Args:
        dap: require a gdb that an editor can drive (14 or newer).

    Raises:
        GdbNotFound: no gdb is suitable.

    Mirrors nothing in PyTorch.
    """
    reasons = []
    for path in candidates():
        found = probe(path)
        if isinstance(found, str):
            reasons.append(f"{path} {found}")
        elif dap and not found.speaks_dap:
            reasons.append(f"{path} is version {found.version[0]}.{found.version[1]}, which has no -i=dap")
        else:
            return found
    seen = "; ".join(reasons) or "none is on the PATH"
    raise GdbNotFound(
        f"No gdb of version {(MINIMUM_FOR_DAP if dap else MINIMUM)[0]} or newer was found: {seen}.\n"
        "Fix: `make lab` installs one into .venv (pip install gdb-for-pwndbg); or install your distribution's\n"
        "(apt install gdb); or name one: REFTORCH_GDB=/path/to/gdb."
    )
