"""``python -m reftorch`` gives a program what ``python`` gives it.

Mirrors: nothing in PyTorch: a program that says ``import torch`` already means PyTorch.
"""

import os
import re
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

FACTS = """
import os, sys
print(__name__, __file__, sys.argv, sys.path[0], __spec__ and __spec__.name, __package__, type(__loader__).__name__)
print(sorted(globals()), sys.modules["__main__"].__dict__ is globals(), os.path.isabs(__file__))
def f(x: int): pass
print(f.__annotations__)
"""
FILES: dict[str, str | bytes] = {
    "facts.py": FACTS,
    "boom.py": "def f():\n    raise ValueError('boom')\nf()\n",
    "chain.py": "try:\n    1 / 0\nexcept Exception as e:\n    raise ValueError('x') from e\n",
    "exit.py": "import atexit, sys\natexit.register(print, 'end')\nsys.exit(3)\n",
    "say.py": "raise SystemExit('bye')\n",
    "syntax.py": "x = (\n",
    "interrupt.py": "raise KeyboardInterrupt\n",
    "hook.py": "import sys\nsys.excepthook = lambda t, e, tb: print(t, tb.tb_frame.f_code.co_filename)\n1 / 0\n",
    "latin.py": b"# -*- coding: latin-1 -*-\nprint('\xe9'.encode('latin-1'))\n",
    "thread.py": "import threading\nx = 5\nthreading.Timer(0.1, lambda: print(x)).start()\n",
    "package/__init__.py": "",
    "package/__main__.py": FACTS,
    "package/error.py": "raise ValueError('m')\n",
    "folder/__main__.py": "import helper\n" + FACTS,
    "folder/helper.py": "",
    "empty/x.py": "",
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("programs")
    for name, text in FILES.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_bytes(text if isinstance(text, bytes) else text.encode())
    with zipfile.ZipFile(folder / "archive.zip", "w") as archive:
        archive.writestr("__main__.py", FACTS)
    return folder


def ran(command: list[str], folder: Path, given: str = "") -> tuple[int, str, str]:
    root = os.path.dirname(os.path.dirname(__file__))
    environment = {**os.environ, "PYTHONPATH": root}
    done = subprocess.run(
        [sys.executable, *command], cwd=folder, input=given, capture_output=True, text=True, env=environment
    )
    out, err = (re.sub(r"0x[0-9a-f]+", "", text) for text in (done.stdout, done.stderr))
    return done.returncode, out, err


PROGRAMS = [
    "facts.py a -- -x", "-- facts.py --y", "./facts.py", "boom.py", "chain.py", "exit.py", "say.py", "syntax.py",
    "interrupt.py", "hook.py", "latin.py", "thread.py", "nothere.py", "-m package a -m", "-mpackage",
    "-m package.error", "-m nothere", "folder q", "folder/", "empty", "archive.zip a",
]  # fmt: skip


@pytest.mark.parametrize("command", [program.split() for program in PROGRAMS], ids=PROGRAMS)
def test_a_program_is_run_as_python_runs_it(command: list[str], folder: Path) -> None:
    assert ran(["-m", "reftorch", *command], folder) == ran(command, folder)


CODE = "import sys; print(sys.argv, sys.path[0], __name__, sorted(globals())); f = lambda: 1 / 0; f()"


@pytest.mark.parametrize("command", [["-c", CODE, "x", "-c"], [f"-c{CODE}"]], ids=["apart", "attached"])
def test_code_is_run_as_python_runs_it(command: list[str], folder: Path) -> None:
    assert ran(["-m", "reftorch", *command], folder) == ran(command, folder)


@pytest.mark.parametrize("command", [["-", "a"], [], ["--"]], ids=["dash", "nothing", "dashes"])
def test_the_standard_input_is_run_as_python_runs_it(command: list[str], folder: Path) -> None:
    assert ran(["-m", "reftorch", *command], folder, CODE) == ran(command, folder, CODE)


def test_a_safe_path_is_respected(folder: Path) -> None:
    command = ["-P", "facts.py"] if sys.version_info >= (3, 11) else ["facts.py"]
    ours = ran([*command[:-1], "-m", "reftorch", "facts.py"], folder)
    assert ours == ran(command, folder)


@pytest.mark.parametrize("command", [["-c"], ["-m"], ["-u", "facts.py"]])
def test_a_call_that_is_no_program_is_refused_in_two_lines(command: list[str], folder: Path) -> None:
    status, out, err = ran(["-m", "reftorch", *command], folder)
    assert (status, out) == (2, "") and err.startswith(
        "usage: python -m reftorch (script.py | -m module | -c code | -)"
    )
    assert re.search(r"\npython -m reftorch: error: (argument expected for the|unknown option -u. Hint:)", err)


def test_the_help_explains(folder: Path) -> None:
    status, out, _ = ran(["-m", "reftorch", "--help"], folder)
    assert status == 0 and "Run a program that says `import torch` on reftorch" in out
