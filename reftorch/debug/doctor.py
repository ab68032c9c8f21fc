"""The state of this machine and checkout: what works, what does not, and how to mend it.

Mirrors: torch/utils/collect_env.py
Left out: package managers, cloud and driver details; here only what building and debugging reftorch needs.

Run by path (``make doctor``), not as a module: it must speak where the extension is not built and ``import reftorch``
fails. Standard library only, for the same reason.
"""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import struct
import subprocess
import sys
import sysconfig
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

ROOT = Path(__file__).resolve().parents[2]
OLDEST_GDB = 12  # reads what gcc 12 writes, and has the Python API our printers use
OLDEST_DAP_GDB = 14


@dataclass
class Finding:
    """One line of the report: ``state`` is ok, warn or fail; ``mends`` say what to do about the last two."""

    state: str
    subject: str
    text: str
    mends: tuple[str, ...] = ()


def module_at(path: Path) -> ModuleType:
    """A file of ours as a module, without importing the package it lies in."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def first_line(*command: str) -> str | None:
    """What a program says first, or None where it does not run."""
    try:
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=20)
    except (OSError, subprocess.TimeoutExpired):
        return None
    lines = done.stdout.strip().splitlines()
    return lines[0] if done.returncode == 0 and lines else None


def check_tools() -> Iterator[Finding]:
    environment = module_at(ROOT / ".ci" / "environment.py")
    compiler = os.environ.get("CXX") or next((c for c in ("c++", "g++", "clang++") if shutil.which(c)), "c++")
    facts = {
        "python": (environment.check_python, f"{sys.version.split()[0]} at {sys.executable}"),
        "headers": (environment.check_headers, f"{sysconfig.get_path('include')}/Python.h"),
        "compiler": (environment.check_compiler, f"{first_line(*compiler.split(), '--version')}"),
    }
    for subject, (check, text) in facts.items():
        problem = check()
        yield Finding("fail", subject, problem[0], tuple(problem[1])) if problem else Finding("ok", subject, text)
    if shutil.which("ccache"):
        yield Finding("ok", "ccache", f"{first_line('ccache', '--version')}")
    else:
        yield Finding("ok", "ccache", "not installed; it would only make repeated full builds quicker")


def check_environment() -> Iterator[Finding]:
    venv_python = ROOT / ".venv" / "bin" / "python"
    if not venv_python.exists():
        yield Finding("fail", ".venv", "not there", ("make debug",))
        return
    stamps = ROOT / ".venv" / ".stamps"
    missing = [name for name in ("build-tools", "everything") if not (stamps / name).exists()]
    if missing:
        yield Finding(
            "warn", ".venv", f"not complete ({', '.join(missing)} not installed)", ("make lab, or make test",)
        )
    else:
        yield Finding("ok", ".venv", f"complete, {first_line(str(venv_python), '--version')}")
    torch_spec = importlib.util.find_spec("torch")
    if torch_spec is None:
        yield Finding("ok", "torch", "not installed; the tests then compare with stored values only")
    else:
        yield Finding("ok", "torch", f"at {Path(torch_spec.origin or '').parent}; the tests compare with it")


def elf_sections(path: Path) -> set[str]:
    """Names of the sections of a 64-bit little-endian ELF file; empty for any other file."""
    data = path.read_bytes()
    if data[:6] != b"\x7fELF\x02\x01":
        return set()
    (table,) = struct.unpack_from("<Q", data, 0x28)
    size, count, names_index = struct.unpack_from("<HHH", data, 0x3A)
    headers = [struct.unpack_from("<IIQQQQ", data, table + i * size) for i in range(count)]
    names = headers[names_index][4]
    return {data[names + h[0] : data.index(b"\0", names + h[0])].decode() for h in headers}


def newest_source() -> float:
    return max(path.stat().st_mtime for path in (ROOT / "cpp").rglob("*") if path.suffix in (".h", ".cpp", ".txt"))


def check_build() -> Iterator[Finding]:
    load = module_at(ROOT / "reftorch" / "_load.py")
    try:
        chosen = load.chosen_extension()
    except (ImportError, ValueError) as error:
        yield Finding("fail", "build", str(error), ("make debug",))
        return
    for build_type in load.BUILD_TYPES:
        path = load.extension_path(build_type)
        if not path.exists():
            continue
        built = path.stat().st_mtime
        text = f"{build_type}, {path.stat().st_size / 1e6:.1f} MB, {time.strftime('%F %T', time.localtime(built))}"
        text += ", loaded by import reftorch" if path == chosen else ""
        if newest_source() > built:
            yield Finding("warn", "build", text + "; older than its sources", (f"make {build_type.lower()}",))
        else:
            yield Finding("ok", "build", text)
    said = subprocess.run(
        [sys.executable, "-c", "import reftorch; reftorch.ones(2) + 1"], cwd=ROOT, text=True, capture_output=True
    )
    if said.returncode == 0:
        yield Finding("ok", "import", "import reftorch works")
    else:
        last = (said.stderr.strip().splitlines() or ["it died without a word"])[-1]
        yield Finding("fail", "import", f"import reftorch fails: {last}", ("make debug",))
    yield check_symbols(load.extension_path("Debug"))


def check_symbols(library: Path) -> Finding:
    if not library.exists():
        return Finding("warn", "symbols", "no Debug build to step through", ("make debug",))
    if not {".debug_info", ".debug_line"} <= elf_sections(library):
        return Finding("fail", "symbols", f"{library.name} has none", ("rm -rf build/Debug && make debug",))
    cache = ROOT / "build" / "Debug" / "CMakeCache.txt"
    home = re.search(r"^CMAKE_HOME_DIRECTORY:INTERNAL=(.*)$", cache.read_text(), re.M) if cache.exists() else None
    if home and Path(home[1]).resolve() != ROOT / "cpp":
        text = f"they name {home[1]}, but the checkout is {ROOT}: breakpoints by path will not be found"
        return Finding("fail", "symbols", text, ("make clean && make debug",))
    return Finding("ok", "symbols", "lines and types are in the Debug build")


def gdb_version(gdb: str) -> int | None:
    said = first_line(gdb, "--version")
    found = re.search(r"(\d+)\.\d+", said) if said else None
    return int(found[1]) if found else None


def check_gdb() -> Iterator[Finding]:
    places = {".venv": str(ROOT / ".venv" / "bin" / "gdb"), "system": shutil.which("gdb", path=path_without_venv())}
    usable = False
    for place, gdb in places.items():
        version = gdb_version(gdb) if gdb else None
        if gdb is None or version is None:
            yield Finding("ok", "gdb", f"none in the {place}" if place == "system" else f"none in {place}")
            continue
        if first_line(gdb, "-nx", "-batch", "-ex", "python print('python')") != "python":
            yield Finding(
                "warn", "gdb", f"{place}: {version}, without Python: our printers cannot run in it", ("make lab",)
            )
            continue
        usable = usable or version >= OLDEST_GDB
        dap = "speaks DAP" if version >= OLDEST_DAP_GDB else "no DAP"
        yield Finding("ok" if version >= OLDEST_GDB else "warn", "gdb", f"{place}: {version}, {dap} ({gdb})")
    if not usable:
        mends = ("make lab (it installs one into .venv)", "or: sudo apt install gdb")
        yield Finding("fail", "gdb", f"none of version {OLDEST_GDB} or newer", mends)


def path_without_venv() -> str:
    own = str(ROOT / ".venv" / "bin")
    return os.pathsep.join(part for part in os.environ.get("PATH", "").split(os.pathsep) if part != own)


# A process that lets anyone trace it where Yama asks for that (PR_SET_PTRACER, PR_SET_PTRACER_ANY), or not.
TRACEE = """
import ctypes, sys
if sys.argv[1] == "allow":
    ctypes.CDLL(None).prctl(0x59616d61, ctypes.c_ulong(-1 % 2**64), 0, 0, 0)
print("ready", flush=True)
sys.stdin.read()
"""
# Attach as gdb does from a notebook: by a process that is no ancestor of the traced one (PTRACE_SEIZE).
TRACER = """
import ctypes, sys
libc = ctypes.CDLL(None, use_errno=True)
sys.exit(0 if libc.ptrace(0x4206, int(sys.argv[1]), None, None) == 0 else ctypes.get_errno())
"""


def attach(mode: str) -> int:
    """Attach one new process to another: 0, or the errno with which ptrace refused."""
    command = [sys.executable, "-c", TRACEE, mode]
    with subprocess.Popen(command, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as tracee:
        assert tracee.stdout is not None
        tracee.stdout.readline()
        return subprocess.run([sys.executable, "-c", TRACER, str(tracee.pid)]).returncode


def check_ptrace() -> Iterator[Finding]:
    scope_file = Path("/proc/sys/kernel/yama/ptrace_scope")
    scope = scope_file.read_text().strip() if scope_file.exists() else None
    yama = "no Yama" if scope is None else f"Yama ptrace_scope={scope}"
    refused = attach("plain")
    if refused == 0:
        yield Finding("ok", "ptrace", f"{yama}; a debugger may attach to any process of yours")
        return
    if attach("allow") == 0:
        yield Finding(
            "warn", "ptrace", f"{yama}; a debugger may attach only to a process that allows it",
            ("REFTORCH_ALLOW_PTRACE=1 in the process's environment; the notebook magics set it",
             "for every process: sudo sysctl kernel.yama.ptrace_scope=0"),
        )  # fmt: skip
        return
    yield Finding(
        "fail", "ptrace", f"{yama}; attaching is refused ({os.strerror(refused)})",
        ("in a container: run it with --cap-add=SYS_PTRACE",
         "with ptrace_scope 2 or 3: sudo sysctl kernel.yama.ptrace_scope=1",
         "what still works: call trees, %%gdb --fresh, gdb --args python x.py"),
    )  # fmt: skip


def check_cuda() -> Finding:
    gpu = first_line("nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader")
    nvcc = shutil.which("nvcc")
    machine = f"GPU: {gpu or 'none'}; nvcc: {nvcc or 'none'}"
    return Finding("ok", "cuda", f"{machine}; reftorch is built without CUDA")


def findings() -> Iterator[Finding]:
    yield from check_tools()
    yield from check_environment()
    yield from check_build()
    yield from check_gdb()
    yield from check_ptrace()
    yield check_cuda()


def main() -> int:
    """Print the report; return 1 where something fails."""
    if not (ROOT / ".ci" / "environment.py").exists():
        print(f"doctor: {ROOT} is no checkout of reftorch; it looks after checkouts only", file=sys.stderr)
        return 1
    failed = False
    for finding in findings():
        failed = failed or finding.state == "fail"
        print(f"{finding.state:5} {finding.subject:9} {finding.text}")
        for mend in finding.mends:
            print(f"{'':15} -> {mend}")
    return int(failed)


if __name__ == "__main__":
    sys.path.pop(0)  # this folder; its modules must not stand in for the standard library's
    sys.exit(main())
