"""The copy of an installed course: it has the shape of a checkout, its Python imports it, and nothing is overwritten.

Mirrors: nothing in PyTorch: PyTorch ships no course.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from course._tools import cli, lab
from course._tools.layout import ROOT, CourseError

FILES = (
    "course/__init__.py", "course/_tools/jupyterlab.json", "course/_tools/vscode_tasks.json", "course/index.ipynb",
    "course/_tools/ipython_config.py",
    "reftorch/__init__.py", "reftorch/lib/Debug/_C.so", "reftorch/nn/cpp/kept.py",
    "reftorch/cpp/c10/one.h", "reftorch/build/Debug/generated/two.h", "reftorch/vscode/launch.json",
    "reftorch.libs/libgomp.so", "reftorch/__pycache__/x.pyc",
)  # fmt: skip


@pytest.fixture
def installed(tmp_path: Path) -> Path:
    """What pip has put into site-packages, in small."""
    root = tmp_path / "site-packages"
    for name in FILES:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text("{}" if name.endswith(".json") else "")
    return root


def files_in(folder: Path) -> list[str]:
    return sorted(file.relative_to(folder).as_posix() for file in folder.rglob("*") if file.is_file())


def test_a_copy_has_the_shape_of_a_checkout(installed: Path, tmp_path: Path) -> None:
    assert lab.is_installed(installed)
    assert lab.make_copy(tmp_path / "mine", installed)
    assert files_in(tmp_path / "mine") == sorted([
        lab.MARK, ".vscode/launch.json", ".vscode/tasks.json", "build/Debug/generated/two.h", "cpp/c10/one.h",
        *(name for name in FILES if name.startswith("course/")),
        "reftorch.libs/libgomp.so", "reftorch/__init__.py", "reftorch/lib/Debug/_C.so", "reftorch/nn/cpp/kept.py",
    ])  # fmt: skip
    assert lab.copy_around(tmp_path / "mine" / "course") == tmp_path / "mine"
    assert lab.copy_around(tmp_path) is None


def test_nothing_is_overwritten(installed: Path, tmp_path: Path) -> None:
    mine = tmp_path / "mine"
    lab.make_copy(mine, installed)
    (mine / "course" / "index.ipynb").write_text("my own words")
    assert not lab.make_copy(mine, installed)
    assert (mine / "course" / "index.ipynb").read_text() == "my own words"
    other = tmp_path / "other"
    other.mkdir()
    (other / "letter.txt").write_text("dear")
    for target in (other, other / "letter.txt"):
        with pytest.raises(CourseError, match="exists and is not a copy of the course"):
            lab.make_copy(target, installed)
    assert files_in(other) == ["letter.txt"]


def test_the_python_of_a_copy_imports_the_copy_and_what_is_installed(
    installed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (installed / "numpy.py").touch()
    monkeypatch.setattr(sys, "path", [str(installed)])
    copy = tmp_path / "my copy"  # with a space, which a line `#!` may not have
    lab.make_copy(copy, installed)
    lab.make_environment(copy)
    code = "import course, reftorch, numpy; print(course.__file__, reftorch.__file__, numpy.__name__)"
    done = subprocess.run([lab.python_of(copy), "-c", code], capture_output=True, text=True, cwd=tmp_path)
    assert done.stdout.strip() == f"{copy}/course/__init__.py {copy}/reftorch/__init__.py numpy", done.stderr
    kernel = json.loads((copy / ".venv/share/jupyter/kernels/python3/kernel.json").read_text())
    assert kernel["argv"][0] == str(lab.python_of(copy))
    assert (copy / ".venv/etc/ipython/ipython_config.py").exists()
    (copy / "course/_tools/__main__.py").write_text("import sys; print(sys.argv[1:])")
    (copy / "course/_tools/__init__.py").touch()
    done = subprocess.run([copy / ".venv/bin/reftorch-course", "list"], capture_output=True, text=True, cwd=tmp_path)
    assert done.stdout.strip() == "['list']", done.stderr


def test_jupyterlab_gets_the_environment_of_the_copy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/usr/bin")
    monkeypatch.delenv("JUPYTER_PATH", raising=False)
    found = lab.environment_of(tmp_path)
    assert found["PATH"] == f"{tmp_path}/.venv/bin{os.pathsep}/usr/bin"
    assert found["JUPYTER_PATH"] == f"{tmp_path}/.venv/share/jupyter"


def test_a_checkout_is_opened_by_make(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["lab"]) == 2
    assert f"{ROOT} is a checkout; open the course with `make lab`" in " ".join(capsys.readouterr().err.split())


def test_commands_of_an_installed_course_work_in_a_copy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(lab, "is_installed", lambda *_: True)
    monkeypatch.chdir(tmp_path)
    assert cli.main(["list"]) == 2
    assert "make one with `reftorch-course lab`" in " ".join(capsys.readouterr().err.split())
    (tmp_path / lab.MARK).write_text("{}")
    python = lab.python_of(tmp_path)
    python.parent.mkdir(parents=True)
    python.write_text('#!/bin/sh\necho "$@" > said\n')
    python.chmod(0o755)
    assert cli.main(["check", "03"]) == 0
    assert (tmp_path / "said").read_text() == "-m course._tools check 03\n"


def test_jupyterlab_is_the_process_of_the_command(tmp_path: Path) -> None:
    program = """if True:
        import os, sys
        from pathlib import Path
        from course._tools import lab
        say = "import os; print(os.getpid(), os.getcwd(), os.environ['VIRTUAL_ENV'])"
        lab.command_for = lambda copy, options: [sys.executable, "-c", say, *options]
        print(os.getpid())
        lab.open_lab(Path(sys.argv[1]), ["--no-browser"])
    """
    done = subprocess.run([sys.executable, "-c", program, tmp_path], cwd=ROOT, capture_output=True, text=True)
    number, *rest = done.stdout.split()
    assert rest == [number, str(tmp_path), f"{tmp_path}/.venv"], done.stderr
