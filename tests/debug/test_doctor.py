"""The doctor speaks where nothing works yet, and what it says is true.

Mirrors: nothing in PyTorch: torch/utils/collect_env.py has no test of its findings.
"""

import importlib.util
import os
import shutil
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parents[2]
DOCTOR = ROOT / "reftorch" / "debug" / "doctor.py"


@pytest.fixture
def doctor() -> ModuleType:
    spec = importlib.util.spec_from_file_location("doctor", DOCTOR)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["doctor"] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    del sys.modules["doctor"]
    return module


def test_a_bare_checkout_gets_a_report_with_mends(tmp_path: Path) -> None:
    for name in ("reftorch/debug/doctor.py", "reftorch/_load.py", ".ci/environment.py"):
        target = tmp_path / name
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, target)
    done = subprocess.run([sys.executable, tmp_path / "reftorch/debug/doctor.py"], text=True, capture_output=True)
    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    lines = done.stdout.splitlines()
    build = next(i for i, line in enumerate(lines) if line.startswith("fail  build"))
    assert "reftorch is not built" in lines[build]
    assert lines[build + 1].strip() == "-> make debug"
    assert any(line.startswith("ok    python") for line in lines)
    assert any(line.split()[1:2] == ["ptrace"] for line in lines)


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
    assert "make debug" in finding.mends[0]


@pytest.mark.parametrize(
    ("plain", "allowed", "state"), [(0, 0, "ok"), (1, 0, "warn"), (1, 1, "fail")], ids=["free", "Yama", "refused"]
)
def test_ptrace_verdicts(
    doctor: ModuleType, monkeypatch: pytest.MonkeyPatch, plain: int, allowed: int, state: str
) -> None:
    monkeypatch.setattr(doctor, "attach", lambda mode: plain if mode == "plain" else allowed)
    (finding,) = doctor.check_ptrace()
    assert finding.state == state
    assert bool(finding.mends) is (state != "ok")


def test_attaching_really_attaches(doctor: ModuleType) -> None:
    """What `attach` reports agrees with gdb, where the tests can run gdb at all."""
    gdb = next((g for g in (str(ROOT / ".venv/bin/gdb"), shutil.which("gdb")) if g and doctor.gdb_version(g)), None)
    assert gdb is not None, "no gdb in .venv or on PATH. Run: make test"
    with subprocess.Popen([sys.executable, "-c", doctor.TRACEE, "allow"], text=True, stdin=-1, stdout=-1) as tracee:
        assert tracee.stdout is not None
        tracee.stdout.readline()
        command = [gdb, "-nx", "-batch", "-p", str(tracee.pid), "-ex", "python print(gdb.selected_inferior().pid)"]
        said = subprocess.run(command, text=True, capture_output=True).stdout
        tracee.kill()
    assert (str(tracee.pid) in said.splitlines()) is (doctor.attach("allow") == 0)
