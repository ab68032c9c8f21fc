"""The doctor speaks where nothing works yet, and what it says is true.

Mirrors: nothing in PyTorch: torch/utils/collect_env.py has no test of its findings.
"""

import errno
import importlib
import importlib.util
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parents[3]
DOCTOR = ROOT / "reftorch" / "debug" / "core" / "doctor.py"


@pytest.fixture
def doctor() -> ModuleType:
    spec = importlib.util.spec_from_file_location("doctor", DOCTOR)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def debuggers(doctor: ModuleType) -> ModuleType:
    return doctor.debuggers


def test_a_bare_checkout_gets_a_report_with_mends(tmp_path: Path) -> None:
    debug = ("core/doctor.py", "core/doctor_debuggers.py", "core/find_gdb.py", "common/native.py")
    for name in (*(f"reftorch/debug/{each}" for each in debug), "reftorch/_load.py", ".ci/environment.py"):
        target = tmp_path / name
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, target)
    # The interpreter of .venv would find this checkout's reftorch, and gdb would stop in it.
    python = Path(sys.base_prefix, "bin", "python3")
    done = subprocess.run([python, tmp_path / "reftorch/debug/core/doctor.py"], text=True, capture_output=True)
    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    lines = done.stdout.splitlines()
    build = next(i for i, line in enumerate(lines) if line.startswith("fail  build"))
    assert "reftorch is not built" in lines[build]
    assert lines[build + 1].strip() == "-> make debug"
    assert any(line.startswith("ok    python") for line in lines)
    assert any(line.split()[1:2] == ["ptrace"] for line in lines)
    stops = [line for line in lines if line.split()[1:2] == ["stop"]]
    assert all("not tried, the Debug build does not import" in line for line in stops), stops


def test_of_an_installed_package_it_says_nothing_of_building(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("debug/core/doctor.py", "debug/core/doctor_debuggers.py", "debug/core/find_gdb.py", "_load.py"):
        (tmp_path / "reftorch" / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / "reftorch" / name, tmp_path / "reftorch" / name)
    (tmp_path / "reftorch" / "cpp").mkdir()
    spec = importlib.util.spec_from_file_location("doctor", tmp_path / "reftorch/debug/core/doctor.py")
    assert spec is not None and spec.loader is not None
    doctor = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(doctor)
    monkeypatch.setenv("CXX", "/nowhere/c++")
    said = "\n".join(map(doctor.text_of, [*doctor.check_tools(), *doctor.check_environment(), *doctor.check_build()]))
    assert "make " not in said
    assert "warn  compiler  no /nowhere/c++; only load_inline and cells of C++ need one" in said
    assert "-> pip install --force-reinstall reftorch" in said


def test_torch_is_named_with_its_version_and_with_what_uses_it(
    doctor: ModuleType, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for name in list(sys.modules):
        if name.split(".")[0] == "torch":
            monkeypatch.delitem(sys.modules, name)
    monkeypatch.setattr(sys, "path", [str(tmp_path)])
    monkeypatch.setattr(doctor, "ROOT", tmp_path)

    def said() -> str:
        importlib.invalidate_caches()
        return doctor.text_of(doctor.check_torch())

    (tmp_path / "torch").mkdir()  # a folder, which Python would take for a package
    assert said() == (
        "ok    torch     not installed, and not needed: the tests compare with its stored answers, "
        "%%real_torch shows its stored outputs"
    )
    (tmp_path / ".venv-torch/bin").mkdir(parents=True)
    (tmp_path / ".venv-torch/bin/python").touch()
    assert said().endswith(", %%real_torch runs cells in .venv-torch")
    (tmp_path / "torch/__init__.py").touch()
    assert said().startswith("warn  torch     of an unknown version at ")
    for version in ("2.13.0+cpu", "2.1.0"):
        (tmp_path / "torch-0.dist-info").mkdir(exist_ok=True)
        (tmp_path / "torch-0.dist-info/METADATA").write_text(f"Name: torch\nVersion: {version}\n")
        state = {"2.13.0+cpu": "ok    ", "2.1.0": "warn  "}[version]
        assert said().startswith(f"{state}torch     {version} at {tmp_path}/torch; the tests and ")
    monkeypatch.setattr(doctor, "IS_CHECKOUT", False)
    assert "tests" not in said()
    assert f"-> {sys.executable} -m pip install torch==2.13.0" in said()


def test_debug_sections_are_found(doctor: ModuleType, tmp_path: Path) -> None:
    source = tmp_path / "one.cpp"
    source.write_text("int one() { return 1; }\n")
    compiler = os.environ.get("CXX", "c++").split()
    for flag, expected in (("-g", True), ("-g0", False)):
        library = tmp_path / f"one{flag}.so"
        subprocess.run([*compiler, flag, "-shared", "-fPIC", source, "-o", library], check=True)
        assert (".debug_info" in doctor.elf_sections(library)) is expected
    assert doctor.elf_sections(source) == set()


def test_missing_symbols_fail_with_a_mend(doctor: ModuleType, tmp_path: Path) -> None:
    stripped = tmp_path / "_C.so"
    stripped.write_bytes(b"not an ELF file")
    finding = doctor.check_symbols(stripped)
    assert finding.state == "fail"
    assert "make debug" in finding.fixes[0]


def test_a_stripped_build_is_told(doctor: ModuleType, tmp_path: Path) -> None:
    load = doctor.module_at(ROOT / "reftorch" / "_load.py")
    stripped = tmp_path / "_C.so"
    assert doctor.check_symbols(load.extension_path("Debug")).state == "ok"
    subprocess.run(["strip", "--strip-debug", "-o", stripped, load.extension_path("Debug")], check=True)
    finding = doctor.check_symbols(stripped)
    assert (finding.state, finding.text) == ("fail", "_C.so has none")


def test_a_stale_build_is_told(doctor: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor, "newest_source", lambda: time.time())
    stale = [finding for finding in doctor.check_build() if "older than its sources" in finding.text]
    assert stale
    assert all(finding.state == "warn" and finding.fixes[0].startswith("make ") for finding in stale)


def test_the_report_on_cuda_agrees_with_the_build(doctor: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    import reftorch

    built = reftorch.__config__.show().split("CUDA: ")[1].strip()
    assert doctor.check_cuda().text.endswith("; " + doctor.CUDA_BUILDS[built])
    done = subprocess.CompletedProcess([], 1, stdout="", stderr="ImportError")
    monkeypatch.setattr(doctor, "run_reftorch", lambda program: done)
    assert "its build is unknown" in doctor.check_cuda().text


def test_a_build_replaced_under_this_process_is_told(doctor: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    import reftorch

    (finding,) = doctor.check_this_process()
    assert reftorch.__name__ == "reftorch"  # what it looks at is loaded
    assert finding.state in ("ok", "warn")
    native = ModuleType("native")
    native.stale_library = lambda library: True  # type: ignore[attr-defined]
    monkeypatch.setattr(doctor, "module_at", lambda path: native)
    (finding,) = doctor.check_this_process()
    assert finding.state == "warn"
    assert finding.fixes == ("restart the kernel, or the program",)


@pytest.mark.parametrize(
    ("scope", "plain", "allowed", "state", "fix"),
    [
        (None, 0, 0, "ok", None),
        ("0", 0, 0, "ok", None),
        ("1", 1, 0, "warn", "REFTORCH_ALLOW_PTRACE=1"),
        ("2", 1, 1, "fail", "sudo sysctl kernel.yama.ptrace_scope=1"),
        ("3", 1, 1, "fail", "then reboot"),
        (None, 1, 1, "fail", "--cap-add=SYS_PTRACE"),
        ("1", 1, 1, "fail", "--cap-add=SYS_PTRACE"),
        (None, errno.ENOSYS, errno.ENOSYS, "fail", "the processor is emulated"),
    ],
)
def test_ptrace_verdicts(
    debuggers: ModuleType,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    scope: str | None,
    plain: int,
    allowed: int,
    state: str,
    fix: str | None,
) -> None:
    yama = tmp_path / "ptrace_scope"
    if scope is not None:
        yama.write_text(scope + "\n")
    monkeypatch.setattr(debuggers, "YAMA", yama)
    monkeypatch.setattr(debuggers, "attach", lambda mode: plain if mode == "plain" else allowed)
    (finding,) = debuggers.check_ptrace()
    assert finding.state == state
    assert (f"ptrace_scope={scope}" if scope else "no Yama") in finding.text
    if fix is None:
        assert finding.fixes == ()
    else:
        assert fix in finding.fixes[0]


def test_a_container_without_ptrace_is_told() -> None:
    """For real: a seccomp filter refuses ptrace to the doctor and to what it starts. It is told soon: nothing waits."""
    command = [sys.executable, Path(__file__).parents[1] / "deny_ptrace.py", sys.executable, DOCTOR]
    done = subprocess.run(command, text=True, capture_output=True, cwd=ROOT, check=False, timeout=180)
    assert done.returncode == 1, done.stderr
    assert "attaching is refused (Operation not permitted)" in done.stdout
    assert "-> in a container: docker run --cap-add=SYS_PTRACE" in done.stdout
    assert "-> what still works: call trees and Python's debugger" in done.stdout
    stops = [line for line in done.stdout.splitlines() if line.split()[1:2] == ["stop"]]
    assert stops
    assert all(line.startswith("fail") and "ptrace: Operation not permitted." in line for line in stops)


def test_it_really_stops_in_a_kernel_with_each_gdb(debuggers: ModuleType) -> None:
    if debuggers.attach("allow") != 0:
        pytest.skip("ptrace is refused here")
    found = list(debuggers.check_stops())
    assert found, "no gdb in .venv or on PATH. Run: make test"
    assert {finding.state for finding in found} == {"ok"}, found


def fake_gdb(folder: Path, version: str, python: bool = True) -> Path:
    path = folder / "gdb"
    path.write_text(f'#!/bin/sh\necho "GNU gdb (Test) {version}"\n' + ("echo python 3\n" if python else ""))
    path.chmod(0o755)
    return path


@pytest.mark.parametrize(
    ("version", "python", "problem"),
    [("9.2", True, "is version 9.2, older than 12"), ("14.2", False, "was built without Python")],
)
def test_another_gdb_first_on_path_is_told(
    debuggers: ModuleType, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, version: str, python: bool, problem: str
) -> None:
    gdb = fake_gdb(tmp_path, version, python)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    (finding,) = (each for each in debuggers.check_gdb() if "first on PATH" in each.text)
    assert finding.state == "warn"
    assert finding.text.startswith(f"{gdb}, the first on PATH, {problem}")
    assert ".venv/bin/gdb" in finding.fixes[0]


def test_no_gdb_is_told(debuggers: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(debuggers, "places", dict)
    (finding,) = debuggers.check_gdb()
    assert finding.state == "fail"
    assert finding.fixes == ("make lab (it installs one into .venv)", "or: sudo apt install gdb")
    assert list(debuggers.check_stops()) == []


def test_no_gdb_that_speaks_dap_is_told(debuggers: ModuleType, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(debuggers, "places", lambda: {"system": str(fake_gdb(tmp_path, "13.1"))})
    found = list(debuggers.check_gdb())
    assert [finding.state for finding in found] == ["ok", "warn"]
    assert "VS Code's configurations" in found[1].text


STOP = "Thread 1 hit Breakpoint 1, mul_kernel (iter=TensorIterator)\n"
TENSOR = "$1 = TensorIterator [4]: in f32[2, 2] strides=[2, 1] [1, 2, 3, 4]\n"
STACK = "#0  c++  at::native::mul_kernel\n#1  py   <string>:9  <module>\n"
PRINTED = "[[1.0, 4.0], [9.0, 16.0]]"


@pytest.mark.parametrize(
    ("said", "printed", "status", "told"),
    [
        ("ptrace: Operation not permitted.\n", PRINTED, 0, "could not attach to a child: ptrace: Operation not perm"),
        ("No op and no C++ function is called `mul`.\n", PRINTED, 0, "did not stop in mul_kernel"),
        (STOP + "$1 = {...}\n" + STACK, PRINTED, 0, "could not read its tensors"),
        (STOP + TENSOR + "#0  c++  mul_kernel\n", PRINTED, 0, "found no frame of Python"),
        (STOP + TENSOR + STACK, "", -11, "did not end well after gdb let it go (status -11)"),
        (STOP + TENSOR + STACK, PRINTED, 0, None),
    ],
)
def test_the_step_that_failed_is_told(
    debuggers: ModuleType, said: str, printed: str, status: int, told: str | None
) -> None:
    finding = debuggers.verdict("system", said, printed, status)
    assert finding.state == ("fail" if told else "ok")
    assert (told or "read a tensor and both stacks, let go") in finding.text


@pytest.mark.parametrize("lldb", [None, "/usr/bin/lldb"])
def test_macos_is_told_plainly(debuggers: ModuleType, monkeypatch: pytest.MonkeyPatch, lldb: str | None) -> None:
    monkeypatch.setattr(debuggers.sys, "platform", "darwin")
    monkeypatch.setattr(debuggers.shutil, "which", lambda name, path=None: lldb if name == "lldb" else None)
    monkeypatch.setattr(debuggers, "places", dict)
    (finding,) = debuggers.check_platform()
    assert finding.state == "fail"
    assert ("lldb is there)" if lldb else "lldb is not there either)") in finding.text
    assert any("not there with lldb" in fix for fix in finding.fixes)
    assert not [each for each in debuggers.check() if each.subject in ("ptrace", "stop")]


def test_the_function_gives_the_same_report(doctor: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the stops, which the test above tries; the example of the function tries them, too."""
    import reftorch

    monkeypatch.setattr(doctor.debuggers, "check_stops", lambda: iter([doctor.Check("ok", "stop", "not tried")]))
    assert reftorch.__name__ == "reftorch"  # the process has it, of which the report says something
    report = doctor.doctor()
    assert report.ok == all(finding.state != "fail" for finding in report)
    subjects = [line.split()[1] for line in repr(report).splitlines() if not line.startswith(" ")]
    assert {"python", "compiler", "build", "process", "gdb", "ptrace", "stop"} <= set(subjects)
