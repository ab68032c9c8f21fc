"""What a machine lacks is named with its mend, and a half-made environment is repaired.

Mirrors: nothing in PyTorch: it has no such script.
"""

import importlib.util
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """A copy of the script in a folder of its own, so that its .venv is not ours."""
    script = tmp_path / ".ci" / "environment.py"
    script.parent.mkdir()
    shutil.copy(ROOT / ".ci" / "environment.py", script)
    spec = importlib.util.spec_from_file_location("environment", script)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def said(capsys: pytest.CaptureFixture[str]) -> str:
    captured = capsys.readouterr()
    return captured.out + captured.err


def test_this_machine_has_everything(environment: ModuleType) -> None:
    environment.check()


def test_old_python(
    environment: ModuleType, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(environment.sys, "version_info", (3, 8, 1))
    with pytest.raises(SystemExit) as stopped:
        environment.check()
    assert stopped.value.code == 1
    assert "is Python 3.8; reftorch needs 3.10 or newer" in said(capsys)


def test_no_venv_module(
    environment: ModuleType, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "ensurepip", None)
    with pytest.raises(SystemExit):
        environment.check()
    assert f"sudo apt install python3.{sys.version_info.minor}-venv" in said(capsys)


def test_everything_missing_is_said_at_once(
    environment: ModuleType,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
) -> None:
    monkeypatch.setattr(environment.sysconfig, "get_path", lambda name: str(tmp_path))
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("CXX", raising=False)
    with pytest.raises(SystemExit):
        environment.check()
    output = said(capsys)
    assert f"sudo apt install python3.{sys.version_info.minor}-dev" in output
    assert "No C++ compiler (tried c++, g++, clang++)" in output
    assert "sudo apt install build-essential" in output


def test_a_compiler_too_old_for_cpp17(environment: ModuleType, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    old = tmp_path / "g++-4"
    old.write_text("#!/bin/sh\necho 'g++-4: error: unrecognized option -std=c++17' >&2\nexit 1\n")
    old.chmod(0o755)
    monkeypatch.setenv("CXX", str(old))
    problem, _ = environment.check_compiler()
    assert "cannot compile C++17: g++-4: error: unrecognized option -std=c++17" in problem


def test_a_half_made_venv_is_repaired(environment: ModuleType, capsys: pytest.CaptureFixture[str]) -> None:
    venv = Path(environment.VENV)
    (venv / "bin").mkdir(parents=True)
    (venv / "bin" / "python").symlink_to("/nonexistent/python3")
    environment.make_venv()
    assert "repairing .venv" in said(capsys)
    assert (
        subprocess.run([environment.VENV_PYTHON, "-m", "pip", "--version"], stdout=subprocess.DEVNULL).returncode == 0
    )

    marker = venv / "marker"
    marker.touch()
    environment.make_venv()
    assert marker.exists(), "a venv that works is left alone"


def test_an_environment_of_another_place_is_noticed(environment: ModuleType) -> None:
    activate = Path(environment.VENV) / "bin" / "activate"
    activate.parent.mkdir(parents=True)
    assert not environment.made_elsewhere()
    for before, after in (('"', '"'), ("'", "'"), ("", "")):
        activate.write_text(f"VIRTUAL_ENV={before}{environment.VENV}{after}\nexport VIRTUAL_ENV\n")
        assert not environment.made_elsewhere()
        activate.write_text(f"VIRTUAL_ENV={before}/old{environment.VENV}{after}\nexport VIRTUAL_ENV\n")
        assert environment.made_elsewhere()


def test_python_finds_the_checkout_after_a_move_and_in_each_locale(environment: ModuleType, tmp_path: Path) -> None:
    place, moved = tmp_path / "\N{CJK UNIFIED IDEOGRAPH-4E2D} place", tmp_path / "moved \N{CJK UNIFIED IDEOGRAPH-6587}"
    environment.ROOT, environment.VENV = str(place), str(place / ".venv")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", environment.VENV], check=True)
    (place / "probe_of_place.py").write_text("print('found')\n")
    (packages,) = place.glob(".venv/lib/python3*/site-packages")
    (packages / "_editable_one.pth").write_text(f"import _editable_one\n{place}\n{place}\n")
    (packages / "other.pth").write_text("/other\n")
    environment.find_checkout_from_there()
    assert (packages / "other.pth").read_text() == "/other\n"
    place.rename(moved)
    for locale in ("C", "C.UTF-8"):
        done = subprocess.run(
            [moved / ".venv" / "bin" / "python", "-c", "import probe_of_place"],
            cwd="/", env=os.environ | {"LC_ALL": locale}, text=True, capture_output=True,
        )  # fmt: skip
        assert done.stdout == "found\n", done.stderr


def test_a_folder_of_someone_elses_is_left_alone(environment: ModuleType, capsys: pytest.CaptureFixture[str]) -> None:
    precious = Path(environment.VENV) / "precious.txt"
    precious.parent.mkdir()
    precious.touch()
    with pytest.raises(SystemExit):
        environment.make_venv()
    assert precious.exists()
    assert "is not a virtual environment; it holds precious.txt" in said(capsys)


@pytest.mark.parametrize(
    ("complaint", "expected"),
    [
        ("Retrying after connection broken by 'NewConnectionError(...)'", "could not reach the package index"),
        ("ERROR: No matching distribution found for numpy==0.1", "make unpinned"),
    ],
)
def test_a_failed_install_says_why(
    environment: ModuleType, tmp_path: Path, capsys: pytest.CaptureFixture[str], complaint: str, expected: str
) -> None:
    python = tmp_path / "python"
    python.write_text(f'#!/bin/sh\necho "{complaint}" >&2\nexit 1\n')
    python.chmod(0o755)
    environment.VENV_PYTHON = str(python)
    with pytest.raises(SystemExit):
        environment.install(["numpy"])
    assert expected in said(capsys)


def test_ctrl_c_ends_in_a_sentence(environment: ModuleType, tmp_path: Path) -> None:
    python = Path(environment.VENV) / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.write_text("#!/bin/sh\nkill -INT $PPID\nexec sleep 0.2\n")
    python.chmod(0o755)
    done = subprocess.run(
        [sys.executable, environment.__file__, "install", "numpy"],
        text=True, capture_output=True, env=os.environ | {"PYTHONUNBUFFERED": "1"},
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # a background shell starts us with it ignored
    )  # fmt: skip
    assert done.returncode == 130
    assert "Run the same command again" in done.stdout
    assert "Traceback" not in done.stderr
