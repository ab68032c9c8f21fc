"""The doctor's checks of debuggers: search for gdb, test whether it may attach, and try a stop in a kernel.

Mirrors: nothing in PyTorch, whose developers use their own debuggers.
Left out: lldb; Windows.

Loaded by path, before anything is built (see doctor.py): standard library only.
"""

from __future__ import annotations

import errno
import importlib.util
import os
import re
import runpy
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[3]
YAMA = Path("/proc/sys/kernel/yama/ptrace_scope")
IS_CHECKOUT = (ROOT / ".ci" / "environment.py").exists()
LAB = "make lab (it installs one into .venv)" if IS_CHECKOUT else "pip install gdb-for-pwndbg"
DEBUGPY = "make lab" if IS_CHECKOUT else "pip install debugpy"
REBUILD = (
    ("make debug; if that does not help: rm -rf build/Debug && make debug",)
    if IS_CHECKOUT
    else ("pip install --force-reinstall reftorch",)
)
# The search for a gdb. Its file is run by path, because `import reftorch` may fail.
finder = SimpleNamespace(**runpy.run_path(str(Path(__file__).with_name("find_gdb.py"))))
OLDEST_GDB, OLDEST_DAP_GDB = finder.MINIMUM[0], finder.MINIMUM_FOR_DAP[0]
PATIENCE = 240  # seconds for one trial, which takes about two seconds on an idle machine


class Check(NamedTuple):
    """One line of the report: ``state`` is ok, warn or fail; ``fixes`` describe how to fix a warning or a failure."""

    state: str
    subject: str
    text: str
    fixes: tuple[str, ...] = ()


def first_line(*command: str) -> str | None:
    """Return the first line that a program prints, or None if it does not run."""
    try:
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=PATIENCE)
        lines = done.stdout.strip().splitlines()
        return lines[0] if done.returncode == 0 and lines else None
    except (OSError, subprocess.TimeoutExpired):
        return None


# --- the platform -----------------------------------------------------------------------------------------------------


def check_platform() -> Iterator[Check]:
    platform = str(sys.platform)  # mypy would report the lines for other platforms as unreachable
    if platform == "darwin":
        lldb = "lldb is there" if shutil.which("lldb") else "lldb is not there either"
        yield Check(
            "fail", "platform", f"macOS: reftorch is built and debugged on Linux only ({lldb})",
            ("a Linux container or virtual machine with this checkout in it: there all of it works",
             "not there with lldb: printers of tensors, rt-bt and its kin, %%gdb, %%native_trace, %bt, every VS Code",
             "configuration with C++ in its name; gdb itself does not run on Apple's processors"),
        )  # fmt: skip
    elif not platform.startswith("linux"):
        yield Check("fail", "platform", f"{platform}: reftorch is built on Linux only", ("Windows: use WSL2",))


# --- which gdb --------------------------------------------------------------------------------------------------------


def path_without_venv() -> str:
    own = str(ROOT / ".venv" / "bin")
    return os.pathsep.join(part for part in os.environ.get("PATH", "").split(os.pathsep) if part != own)


def places() -> dict[str, str]:
    """Return the paths at which a gdb may be."""
    first = shutil.which("gdb", path=path_without_venv())
    own = ROOT / ".venv" / "bin" / "gdb"
    if not own.exists():  # reftorch was installed into an environment
        own = Path(sys.prefix, "bin", "gdb")
    found = {".venv": str(own), "system": "/usr/bin/gdb"}
    if first and os.path.realpath(first) != os.path.realpath(found["system"]):
        found["first on PATH"] = first
    return {place: path for place, path in found.items() if os.path.exists(path)}


def check_gdb() -> Iterator[Check]:
    """Report the gdbs of this machine. `check_stops` tries those that are suitable."""
    speaks_dap = usable = False
    for place, gdb in places().items():
        found = finder.probe(gdb)  # the reason if it is not suitable
        if not isinstance(found, str):
            usable, speaks_dap = True, speaks_dap or found.speaks_dap
            dap = "speaks DAP" if found.speaks_dap else "no DAP"
            yield Check("ok", "gdb", f"{place}: {found.version[0]}, {dap} ({gdb})")
        elif place == "first on PATH":
            first = "notebooks and VS Code pass it over; in a terminal say .venv/bin/gdb, or change PATH"
            yield Check("warn", "gdb", f"{gdb}, the first on PATH, {found}", (first,))
        else:
            yield Check("warn", "gdb", f"{place}: {gdb} {found}", (LAB,))
    fixes = (LAB, "or: sudo apt install gdb")
    if not usable:
        yield Check("fail", "gdb", f"none of version {OLDEST_GDB} or newer with Python", fixes)
    elif not speaks_dap:
        text = f"none is {OLDEST_DAP_GDB} or newer: VS Code's configurations stop in no C++"
        yield Check("warn", "gdb", text, fixes[:1])


def check_debugpy() -> Iterator[Check]:
    if importlib.util.find_spec("debugpy"):
        yield Check("ok", "debugpy", "installed: Python's half of VS Code and JupyterLab")
    else:
        yield Check("warn", "debugpy", f"not installed for {sys.executable}", (DEBUGPY,))


# --- may a debugger attach? -------------------------------------------------------------------------------------------

# A process that lets anyone trace it where Yama asks for that (PR_SET_PTRACER, PR_SET_PTRACER_ANY), or not.
TRACEE = """
import ctypes, sys
if sys.argv[1] == "allow":
    ctypes.CDLL(None).prctl(0x59616d61, ctypes.c_ulong(-1 % 2**64), 0, 0, 0)
print("ready", flush=True)
sys.stdin.read()
"""
# Attach as gdb does from a notebook: by a process that is not an ancestor of the traced one (PTRACE_SEIZE).
TRACER = """
import ctypes, sys
libc = ctypes.CDLL(None, use_errno=True)
sys.exit(0 if libc.ptrace(0x4206, int(sys.argv[1]), None, None) == 0 else ctypes.get_errno())
"""
# Be traced by who started us (PTRACE_TRACEME), as a program that gdb starts.
TRACED_CHILD = """
import ctypes, sys
libc = ctypes.CDLL(None, use_errno=True)
sys.exit(0 if libc.ptrace(0, 0, None, None) == 0 else ctypes.get_errno())
"""


def attach(mode: str) -> int:
    """Attach one new process to another; return 0, or the errno of ptrace."""
    command = [sys.executable, "-c", TRACEE, mode]
    with subprocess.Popen(command, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as tracee:
        assert tracee.stdout is not None
        tracee.stdout.readline()
        return subprocess.run([sys.executable, "-c", TRACER, str(tracee.pid)]).returncode


def start_traced() -> int:
    return subprocess.run([sys.executable, "-c", TRACED_CHILD]).returncode


def check_ptrace() -> Iterator[Check]:
    scope = YAMA.read_text().strip() if YAMA.exists() else None
    yama = "no Yama" if scope is None else f"Yama ptrace_scope={scope}"
    refused = attach("plain")
    if refused == 0:
        yield Check("ok", "ptrace", f"{yama}; a debugger may attach to any process of yours")
        return
    if attach("allow") == 0:
        yield Check(
            "warn", "ptrace", f"{yama}; a debugger may attach only to a process that allows it",
            ("REFTORCH_ALLOW_PTRACE=1 in the process's environment; the notebook and VS Code set it",
             "for every process: sudo sysctl kernel.yama.ptrace_scope=0"),
        )  # fmt: skip
        return
    fixes = {
        "2": ("sudo sysctl kernel.yama.ptrace_scope=1 (2 lets only root attach)",),
        "3": ("kernel.yama.ptrace_scope = 1 in /etc/sysctl.d/10-ptrace.conf, then reboot: 3 holds until then",),
    }.get(
        scope or "",
        ("in a container: docker run --cap-add=SYS_PTRACE; in Kubernetes capabilities.add: [SYS_PTRACE]",
         "where that is not enough: --security-opt seccomp=unconfined"),
    )  # fmt: skip
    if refused == errno.ENOSYS:
        fixes = (
            "the processor is emulated, without ptrace: take an image for this machine's own processor;",
            "on an Apple laptop: docker run --platform=linux/arm64",
        )
    if start_traced() == 0:
        works = "what still works: call trees, Python's debugger, %%gdb --fresh, VS Code's `C++ only: this file`"
    else:
        works = "what still works: call trees and Python's debugger"
    yield Check("fail", "ptrace", f"{yama}; attaching is refused ({os.strerror(refused)})", (*fixes, works))


# --- a stop, tried ----------------------------------------------------------------------------------------------------

# Multiplies once gdb is attached and has let it run on: until then it cannot see that it is traced.
STOPPED = """
import ctypes, time
ctypes.CDLL(None).prctl(0x59616d61, ctypes.c_ulong(-1 % 2**64), 0, 0, 0)
import reftorch as torch
a = torch.tensor([[1.0, 2.0], [3.0, 4.0]])
print("ready", flush=True)
end = time.monotonic() + 240
while "TracerPid:\\t0\\n" in open("/proc/self/status").read() and time.monotonic() < end:
    time.sleep(0.02)
print((a * a).tolist(), flush=True)
"""
COMMANDS = ("rt-op mul", "continue", "print iter", "rt-bt", "detach")


def check_stops() -> Iterator[Check]:
    """Try each suitable gdb: attach to a child, stop in a kernel, read a tensor and both stacks, and detach."""
    for place, gdb in places().items():
        if not isinstance(finder.probe(gdb), str):
            yield try_stop(place, gdb)


def exported(*names: str) -> tuple[str, ...]:
    """Return how to take back those of these variables that are exported, which may be why an import fails."""
    return tuple(f"unset {name}" for name in names if os.environ.get(name))


def try_stop(place: str, gdb: str) -> Check:
    environment = os.environ | {"REFTORCH_BUILD": "debug", "OMP_NUM_THREADS": "1"}
    child = subprocess.Popen(
        [sys.executable, "-c", STOPPED], cwd=ROOT, env=environment, text=True, stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )  # fmt: skip
    assert child.stdout is not None
    try:
        if child.stdout.readline().strip() != "ready":
            text = f"{place}: not tried, the Debug build does not import"
            return Check("warn", "stop", text, exported("PYTHONPATH", "PYTHONHOME") or REBUILD[:1])
        said = gdb_says(gdb, child.pid)
        if refusal(said):
            child.kill()  # the child waits for a tracer that will not attach
        printed, _ = child.communicate(timeout=PATIENCE)
    except subprocess.TimeoutExpired:
        text = f"{place}: gdb or the process it let go did not end in {PATIENCE} s"
        return Check("fail", "stop", text, ("the machine may be busy with other things: try again",))
    finally:
        child.kill()
        child.communicate()
    return verdict(place, said, printed.strip(), child.returncode)


def gdb_says(gdb: str, pid: int) -> str:
    """Return gdb's output for one trial on the process `pid`."""
    command = [gdb, "-nx", "-q", "-batch", "-x", str(ROOT / "reftorch" / "debug" / "gdb" / "init.py"), "-p", str(pid)]
    command += [word for each in COMMANDS for word in ("-ex", each)]
    done = subprocess.run(
        command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        errors="replace", env=finder.gdb_environment(), timeout=PATIENCE,
    )  # fmt: skip
    return done.stdout


def refusal(said: str) -> str | None:
    """Return the line in which gdb says that it may not attach."""
    return next((line for line in said.splitlines() if "ptrace:" in line or "Could not attach" in line), None)


def verdict(place: str, said: str, printed: str, status: int) -> Check:
    """Return the result of a trial: the first failed step, from gdb's output and the end of the process."""
    if refused := refusal(said):
        return Check("fail", "stop", f"{place}: gdb could not attach to a child: {refused}", ("see ptrace, above",))
    if not re.search(r"^Thread .*hit (Temporary )?Breakpoint|^Breakpoint 1, ", said, re.M) or "mul_kernel" not in said:
        return Check("fail", "stop", f"{place}: gdb attached to a child, but did not stop in mul_kernel", REBUILD)
    if "[1, 2, 3, 4]" not in said:
        return Check("fail", "stop", f"{place}: gdb stopped in mul_kernel, but could not read its tensors", REBUILD)
    if not re.search(r"^#\d+ +py ", said, re.M):
        text = f"{place}: gdb stopped in mul_kernel, but found no frame of Python on the stack"
        return Check("fail", "stop", text, REBUILD)
    if status != 0 or printed != "[[1.0, 4.0], [9.0, 16.0]]":
        return Check("fail", "stop", f"{place}: the child did not end well after gdb let it go (status {status})")
    text = f"{place}: gdb attached to a child, stopped in mul_kernel, read a tensor and both stacks, let go"
    return Check("ok", "stop", text)


def check() -> Iterator[Check]:
    """Run all checks above that make sense on this machine."""
    yield from check_gdb()
    yield from check_debugpy()
    if sys.platform.startswith("linux"):
        yield from check_ptrace()
        yield from check_stops()
