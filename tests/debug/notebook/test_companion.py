"""A notebook's companion file: what runs in it, and what is said where there is none to write.

Mirrors: nothing in PyTorch: tests of tools that it does not have.
Left out: the debugger that stops in it (test_launch.py).
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from reftorch.debug.notebook.companion import ROOT, companion_path, main, plain
from tests.debug.launch import write_notebook


@pytest.mark.parametrize(
    ("cell", "expected"),
    [
        ("a = 1", ["a = 1"]),
        ("%%gdb mul -n 2\na * a", ["# %%gdb mul -n 2", "a * a"]),
        ("%%bash\nls", ["# %%bash", "# ls"]),
        ("if a:\n    %bt\n!ls", ["if a:", "    pass  # %bt", "pass  # !ls"]),
    ],
)
def test_magics_are_taken_out(cell: str, expected: list[str]) -> None:
    assert plain(cell) == expected


def test_the_companion_runs(capsys: pytest.CaptureFixture[str]) -> None:
    notebook = write_notebook()
    assert main([str(notebook)]) == 0
    assert "wrote build/companion/build/test-notebooks/small.py" in capsys.readouterr().out
    subprocess.run([sys.executable, companion_path(notebook)], check=True)


@pytest.mark.parametrize("lesson", sorted((ROOT / "course").glob("*/*.ipynb")), ids=lambda path: path.parent.name)
def test_every_notebook_of_the_course_has_one_that_parses(lesson: Path) -> None:
    assert main([str(lesson)]) == 0
    compile(companion_path(lesson).read_text(), str(lesson), "exec")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "open the notebook"),
        (["a.py"], "open the notebook"),
        (["/no/such.ipynb"], "is not a notebook of the checkout"),
    ],
)
def test_what_is_no_notebook_is_told(arguments: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(arguments) == 1
    assert said in capsys.readouterr().err
