"""A report on this machine and checkout: what works, what does not work, and how to fix it.

Mirrors: torch/utils/collect_env.py
Left out: package managers, cloud and driver details; here only what building and debugging reftorch needs. An installed
reftorch is only debugged, so the report on it says nothing of building.

The file is run by path (``make doctor``), not as a module: it must work if the extension is not built and ``import
reftorch`` fails. So it imports the standard library only. `make` runs it with ``python -I``, so that it also works if
``PYTHONPATH`` names a folder that breaks other programs; the programs that it starts get the user's environment.
"""

from __future__ import annotations

import importlib.metadata
import importlib.util
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import time
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

ROOT = Path(__file__).resolve().parents[3]
IS_CHECKOUT = (ROOT / ".ci" / "environment.py").exists()
TORCH = "2.13"  # the version with which the tests and the lessons compare
BUILD_AGAIN = ("make debug",) if IS_CHECKOUT else ("pip install --force-reinstall reftorch",)


def module_at(path: Path) -> ModuleType:
    """Import a file of reftorch as a module, without importing its package."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


debuggers = module_at(Path(__file__).with_name("doctor_debuggers.py"))
Check, first_line = debuggers.Check, debuggers.first_line


def check_tools() -> Iterator[Any]:
    if not IS_CHECKOUT:
        yield from check_tools_of_the_installed()
        return
    environment = module_at(ROOT / ".ci" / "environment.py")
    compiler = os.environ.get("CXX") or next((c for c in ("c++", "g++", "clang++") if shutil.which(c)), "c++")
    facts = {
        "python": (environment.check_python, f"{sys.version.split()[0]} at {sys.executable}"),
        "headers": (environment.check_headers, f"{sysconfig.get_path('include')}/Python.h"),
        "compiler": (environment.check_compiler, f"{first_line(*compiler.split(), '--version')}"),
    }
    for subject, (check, text) in facts.items():
        problem = check()
        yield Check("fail", subject, problem[0], tuple(problem[1])) if problem else Check("ok", subject, text)
    if shutil.which("ccache"):
        yield Check("ok", "ccache", f"{first_line('ccache', '--version')}")
    else:
        yield Check("ok", "ccache", "not installed; it would only make repeated full builds quicker")


def check_tools_of_the_installed() -> Iterator[Any]:
    """Check the compiler. In an installed reftorch, only ``load_inline`` and cells of C++ need one."""
    yield Check("ok", "python", f"{sys.version.split()[0]} at {sys.executable}")
    compiler = os.environ.get("CXX", "c++").split()[0]
    fix = "where a lesson asks for one: sudo apt install g++ python3-dev"
    if shutil.which(compiler) is None:
        yield Check("warn", "compiler", f"no {compiler}; only load_inline and cells of C++ need one", (fix,))
    elif not Path(sysconfig.get_path("include"), "Python.h").exists():
        yield Check("warn", "compiler", f"{first_line(compiler, '--version')}, but load_inline needs Python.h", (fix,))
    else:
        yield Check("ok", "compiler", f"{first_line(compiler, '--version')}")


def check_environment() -> Iterator[Any]:
    yield from check_venv() if IS_CHECKOUT else ()
    yield from check_exported()
    yield check_torch()


# What a variable does to each Python that the user starts; the targets of `make` do not get these variables.
EXPORTED = {
    "REFTORCH_BUILD": "`import reftorch` loads this build",
    "PYTHONPATH": "Python imports from there first, also numpy and other packages of other versions",
    "PYTHONHOME": "Python takes its standard library from there",
    "PYTHONOPTIMIZE": "Python leaves out every assert",
}


def check_exported() -> Iterator[Any]:
    for name, effect in EXPORTED.items():
        if value := os.environ.get(name):
            state = "ok" if name == "REFTORCH_BUILD" else "warn"
            text = f"{name}={value}: {effect}" + ("; `make` takes no notice" if IS_CHECKOUT else "")
            yield Check(state, "exported", text, () if state == "ok" else (f"unset {name}",))


def check_torch() -> Any:
    """Say what uses the torch that is installed, or what does without one; nothing that is installed needs it."""
    spec = importlib.util.find_spec("torch")
    if spec is None or spec.origin is None:  # without an origin it is only a folder of this name
        own = ROOT / ".venv-torch" / "bin" / "python"
        cells = "%%real_torch runs cells in .venv-torch" if own.exists() else "%%real_torch shows its stored outputs"
        tests = "the tests compare with its stored answers, " if IS_CHECKOUT else ""
        return Check("ok", "torch", f"not installed, and not needed: {tests}{cells}")
    try:
        version = importlib.metadata.version("torch")
    except importlib.metadata.PackageNotFoundError:
        version = "of an unknown version"
    text = f"{version} at {Path(spec.origin).parent}; "
    if version.startswith(f"{TORCH}."):
        return Check(
            "ok", "torch", text + ("the tests and %%real_torch" if IS_CHECKOUT else "%%real_torch") + " use it"
        )
    written = "the tests and the lessons are" if IS_CHECKOUT else "the lessons are"
    fixes = (f"{sys.executable} -m pip install torch=={TORCH}.0",)
    return Check("warn", "torch", f"{text}{written} written for {TORCH}", fixes)


def check_venv() -> Iterator[Any]:
    venv_python = ROOT / ".venv" / "bin" / "python"
    if not venv_python.exists():
        yield Check("fail", ".venv", "not there", ("make debug",))
        return
    stamps = ROOT / ".venv" / ".stamps"
    missing = [name for name in ("build-tools", "everything") if not (stamps / name).exists()]
    if missing:
        yield Check("warn", ".venv", f"not complete ({', '.join(missing)} not installed)", ("make lab, or make test",))
    else:
        yield Check("ok", ".venv", f"complete, {first_line(str(venv_python), '--version')}")


def elf_sections(path: Path) -> set[str]:
    """Return the names of the sections of an ELF file, by readelf of binutils; empty for any other file."""
    command = ["readelf", "--wide", "--section-headers", str(path)]
    said = subprocess.run(command, text=True, capture_output=True, env={**os.environ, "LC_ALL": "C"})
    return set(re.findall(r"^ *\[ *\d+\] (\.\S+)", said.stdout, re.M))


def newest_source() -> float:
    return max(path.stat().st_mtime for path in (ROOT / "cpp").rglob("*") if path.suffix in (".h", ".cpp", ".txt"))


def run_reftorch(program: str) -> subprocess.CompletedProcess[str]:
    """Run a program that imports reftorch in a process of its own, because this process may hold an older build."""
    return subprocess.run([sys.executable, "-c", program], cwd=ROOT, text=True, capture_output=True)


def import_mends() -> tuple[str, ...]:
    """Return what may help if ``import reftorch`` fails; an exported variable is a likelier cause than the build."""
    return debuggers.exported(*EXPORTED) or BUILD_AGAIN


def check_build() -> Iterator[Any]:
    load = module_at(ROOT / "reftorch" / "_load.py")
    chosen = None
    try:
        chosen = load.chosen_extension()
    except (ImportError, ValueError) as error:
        yield Check("fail", "build", str(error), import_mends())
    for build_type in load.BUILD_TYPES:
        path = load.extension_path(build_type)
        if not path.exists():
            continue
        built = path.stat().st_mtime
        text = f"{build_type}, {path.stat().st_size / 1e6:.1f} MB, {time.strftime('%F %T', time.localtime(built))}"
        text += ", loaded by import reftorch" if path == chosen else ""
        if IS_CHECKOUT and newest_source() > built:
            yield Check("warn", "build", text + "; older than its sources", (f"make {build_type.lower()}",))
        else:
            yield Check("ok", "build", text)
    if chosen is None:
        return
    said = run_reftorch("import reftorch; reftorch.ones(2) + 1")
    if said.returncode == 0:
        yield Check("ok", "import", "import reftorch works")
    else:
        last = (said.stderr.strip().splitlines() or ["it died without a word"])[-1]
        yield Check("fail", "import", f"import reftorch fails: {last}", import_mends())
    yield check_symbols(load.extension_path("Debug"))


def check_symbols(library: Path) -> Any:
    if not library.exists():
        return Check("warn", "symbols", "no Debug build to step through", BUILD_AGAIN)
    if shutil.which("readelf") is None:
        fix = "install binutils (apt install binutils); it comes with gcc"
        return Check("warn", "symbols", "unknown, because readelf is missing", (fix,))
    build_again = ("rm -rf build/Debug && make debug",) if IS_CHECKOUT else BUILD_AGAIN
    if not {".debug_info", ".debug_line"} <= elf_sections(library):
        return Check("fail", "symbols", f"{library.name} has none", build_again)
    if moved := module_at(ROOT / "reftorch" / "_source_paths.py").built_at() if IS_CHECKOUT else ():
        text = f"they name {moved[0]}, from where this checkout was moved: our tools look here, other debuggers there"
        return Check("warn", "symbols", text, ("make debug",))
    return Check("ok", "symbols", "lines and types are in the Debug build")


CUDA_BUILDS = {
    "off": "reftorch is built without CUDA",
    "sim": "reftorch is built with the simulator: REFTORCH_CUDA_SIM=2 wakes it",
    "on": "reftorch is built for a GPU",
}


def check_cuda() -> Any:
    gpu = first_line("nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader")
    nvcc = shutil.which("nvcc")
    config = run_reftorch("import reftorch; print(reftorch.__config__.show())").stdout
    built = re.search(r"CUDA: (\w+)", config)
    text = CUDA_BUILDS.get(built[1] if built else "", "reftorch cannot be imported, so its build is unknown")
    return Check("ok", "cuda", f"GPU: {gpu or 'none'}; nvcc: {nvcc or 'none'}; {text}")


def check_this_process() -> Iterator[Any]:
    """If reftorch is imported already, check whether a debugger would see the lines that run."""
    loaded = sys.modules.get("reftorch._C")
    if loaded is None:
        return
    library = str(loaded.__file__)
    if module_at(ROOT / "reftorch" / "debug" / "common" / "native.py").stale_library(library):
        text = "reftorch was rebuilt after this process imported it: a debugger would show the wrong lines"
        yield Check("warn", "process", text, ("restart the kernel, or the program",))
    elif f"{os.sep}Release{os.sep}" in library:
        text = "this process runs the Release build, which has no lines to stop at"
        yield Check("warn", "process", text, ("REFTORCH_BUILD=debug before Python starts",))
    else:
        yield Check("ok", "process", f"runs {os.path.relpath(library, ROOT)}")


def findings() -> Iterator[Any]:
    yield from debuggers.check_platform()
    yield from check_tools()
    yield from check_environment()
    yield from check_build()
    yield from check_this_process()
    yield from debuggers.check()
    yield check_cuda()


class DoctorReport(list[Any]):
    """The checks, each with ``state`` (ok, warn, fail), ``subject``, ``text`` and ``fixes``; shown as text."""

    @property
    def ok(self) -> bool:
        """Whether nothing failed."""
        return all(finding.state != "fail" for finding in self)

    def __repr__(self) -> str:
        return "\n".join(map(text_of, self))


def text_of(finding: Any) -> str:
    fixes = [f"{'':15} -> {fix}" for fix in finding.fixes]
    return "\n".join([f"{finding.state:5} {finding.subject:9} {finding.text}", *fixes])


def doctor() -> DoctorReport:
    """Test on this machine what building and debugging reftorch need, and report how to fix what does not work.

    gdb attaches to a child, stops in a kernel, reads a tensor and detaches; version numbers alone are not trusted. The
    test takes some seconds. If ``import reftorch`` fails, ``make doctor`` runs the same test. In a terminal:
    ``python -m reftorch.debug``.

    Returns:
        The findings, a list that is shown as text.

    Example:
        >>> import reftorch.debug
        >>> report = reftorch.debug.doctor()
        >>> {finding.state for finding in report} <= {"ok", "warn", "fail"}
        True

    Mirrors torch/utils/collect_env.py, which collects facts and tests nothing.
    """
    return DoctorReport(findings())


def main() -> int:
    """Print the report, each line as soon as it is known; return 1 if a check fails."""
    failed = False
    for finding in findings():
        failed = failed or finding.state == "fail"
        print(text_of(finding), flush=True)
    return int(failed)


if __name__ == "__main__":
    # Without this folder, whose modules must not be imported in place of the standard library's; `-I` has left it out.
    sys.path[:] = [folder for folder in sys.path if Path(folder) != Path(__file__).resolve().parent]
    sys.exit(main())
