"""`reftorch-course lab`: the installed course, copied into a folder of the learner's and opened in JupyterLab.

Mirrors: nothing in PyTorch: PyTorch ships no course.
Leaves out: bringing a copy up to date with a newer reftorch; a new folder gets the new course.

The copy has the shape of a checkout: `course`, `reftorch`, `cpp`, `.vscode`, and an environment `.venv` whose Python
imports the copy and takes everything else from the environment in which reftorch was installed. So the learner may edit
what the lessons show, and every tool finds the sources where it finds them in a checkout. Nothing can be built there.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import NoReturn

from course._tools.layout import ROOT, CourseError

MARK = ".reftorch-course.json"  # in each copy
DEFAULT = "reftorch-course"
LEFT_OUT = shutil.ignore_patterns("__pycache__", ".ipynb_checkpoints", "work")
# In the package, but beside it in a checkout and in a copy; by their names in the package.
BESIDE = {"cpp": "cpp", "build": "build", "vscode": ".vscode"}
COMMAND = """#!/bin/sh
exec '{python}' -m course._tools "$@"
"""


def is_installed(root: Path = ROOT) -> bool:
    """Return whether the course was installed by pip, and is neither a checkout nor a copy."""
    return (root / "reftorch" / "cpp").is_dir()


def copy_around(folder: Path) -> Path | None:
    """The copy in which `folder` is, or None."""
    return next((each for each in (folder, *folder.parents) if (each / MARK).exists()), None)


def python_of(copy: Path) -> Path:
    """The Python of a copy."""
    return copy / ".venv" / "bin" / "python"


# --- making a copy ----------------------------------------------------------------------------------------------------


def make_copy(target: Path, installed: Path = ROOT) -> bool:
    """Copy the course and what it reads to `target`; False where a copy is there already, which is left as it is.

    Raises:
        CourseError: `target` is something else, which is left as it is.
    """
    if (target / MARK).exists():
        return False
    if target.exists() and (not target.is_dir() or any(target.iterdir())):
        raise CourseError(
            f"{target} exists and is not a copy of the course; name another folder: reftorch-course lab FOLDER"
        )
    target.parent.mkdir(parents=True, exist_ok=True)
    # Under its name only when it is whole: a copy that was interrupted would be taken for the learner's.
    with tempfile.TemporaryDirectory(prefix=".copying-", dir=target.parent) as temporary:
        copy = Path(temporary) / target.name
        _copy_files(installed, copy)
        (copy / MARK).write_text(json.dumps({"python": sys.executable}) + "\n")
        if target.exists():
            target.rmdir()
        copy.rename(target)
    return True


def _copy_files(installed: Path, copy: Path) -> None:
    package = installed / "reftorch"

    def left_out(folder: str, names: list[str]) -> set[str]:
        return LEFT_OUT(folder, names) | (set(BESIDE) if folder == str(package) else set())

    shutil.copytree(installed / "course", copy / "course", ignore=LEFT_OUT)
    shutil.copytree(package, copy / "reftorch", ignore=left_out)
    for inside, name in BESIDE.items():
        shutil.copytree(package / inside, copy / name)
    if (installed / "reftorch.libs").exists():  # the libraries that auditwheel has put into the wheel
        shutil.copytree(installed / "reftorch.libs", copy / "reftorch.libs")
    shutil.copyfile(copy / "course" / "_tools" / "vscode_tasks.json", copy / ".vscode" / "tasks.json")
    for library in (copy / "reftorch" / "lib").rglob("*.so"):
        library.touch()  # a source that is newer than the library was edited by the learner


def make_environment(copy: Path) -> None:
    """Make the environment of a copy, or make it again if its Python does not find the course."""
    environment, python = copy / ".venv", python_of(copy)
    probe = [python, "-c", "import course, ipykernel, numpy"]
    if python.exists() and subprocess.run(probe, capture_output=True, cwd="/").returncode == 0:
        return
    subprocess.run([sys.executable, "-m", "venv", "--clear", "--without-pip", environment], check=True)
    version = f"python{sys.version_info.major}.{sys.version_info.minor}"
    theirs = [path for path in sys.path if Path(path).name in ("site-packages", "dist-packages")]
    lines = [str(copy), *(f"import site; site.addsitedir({path!r})" for path in theirs)]
    paths = environment / "lib" / version / "site-packages" / "reftorch_course.pth"
    paths.write_text("\n".join(lines) + "\n")
    for name in ("gdb", "gdbserver", "jupyter", "jupyter-lab"):
        if (found := Path(sys.prefix, "bin", name)).exists():
            (environment / "bin" / name).symlink_to(found)
    command = environment / "bin" / "reftorch-course"
    command.write_text(COMMAND.format(python=python))
    command.chmod(0o755)
    argv = [str(python), "-m", "ipykernel_launcher", "-f", "{connection_file}"]
    spec = {"argv": argv, "display_name": "Python 3 (reftorch)", "language": "python", "metadata": {"debugger": True}}
    _write(environment / "share/jupyter/kernels/python3/kernel.json", json.dumps(spec, indent=1))
    settings = (copy / "course" / "_tools" / "jupyterlab.json").read_text()
    _write(environment / "etc/jupyter/labconfig/default_setting_overrides.json", settings)
    completion = (copy / "course" / "_tools" / "ipython_config.py").read_text()
    _write(environment / "etc/ipython/ipython_config.py", completion)


def _write(file: Path, text: str) -> None:
    file.parent.mkdir(parents=True)
    file.write_text(text)


# --- opening it -------------------------------------------------------------------------------------------------------


def environment_of(copy: Path) -> dict[str, str]:
    """The environment variables of JupyterLab, whose kernels and terminals then use the Python of the copy."""
    own = copy / ".venv"
    before = {
        "PATH": own / "bin",
        "JUPYTER_PATH": own / "share" / "jupyter",
        "JUPYTER_CONFIG_PATH": own / "etc" / "jupyter",
    }
    joined = {name: os.pathsep.join(filter(None, [str(path), os.environ.get(name)])) for name, path in before.items()}
    return {**os.environ, "VIRTUAL_ENV": str(own), **joined}


def command_for(copy: Path, options: Sequence[str]) -> list[str]:
    """Return the command that starts JupyterLab, that of the environment in which reftorch was installed."""
    python = sys.executable if is_installed() else json.loads((copy / MARK).read_text())["python"]
    shell = os.environ.get("SHELL") or "/bin/bash"
    return [
        python, "-m", "jupyterlab", *(["--allow-root"] if os.geteuid() == 0 else []),
        f"--config={copy / 'course' / '_tools' / 'lab_config.py'}",
        # JupyterLab would otherwise start login shells, which remove the environment from the PATH
        f"--ServerApp.terminado_settings=shell_command=['{shell}']",
        *options,
    ]  # fmt: skip


def open_lab(copy: Path, options: Sequence[str]) -> NoReturn:
    """Become the JupyterLab of a copy, so that whoever ends this process ends JupyterLab."""
    sys.stdout.flush()
    os.chdir(copy)
    command = command_for(copy, options)
    os.execve(command[0], command, environment_of(copy))
