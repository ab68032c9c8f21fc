"""mypy takes the library and typical programs, and flags wrong ones.

Mirrors: test/test_typing.py
"""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def mypy(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "mypy", *arguments], cwd=ROOT, capture_output=True, text=True, check=False
    )


def test_mypy_finds_nothing() -> None:
    """The library, passes.py and fails.py, whose every error is expected: an unused expectation would be an error."""
    assert (ROOT / "reftorch" / "_C" / "__init__.pyi").exists(), "the stubs are missing. Run: make stubs"
    done = mypy()
    assert done.returncode == 0, done.stdout


def test_mypy_would_find_something(tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text("import reftorch as torch\n\ny: int = torch.add(torch.ones(2), 1)\ntorch.sine(torch.ones(2))\n")
    done = mypy(str(program))
    assert 'expression has type "Tensor", variable has type "int"' in done.stdout
    assert 'Module has no attribute "sine"' in done.stdout
