"""A program that ^C interrupts ends in a sentence, cleans up, and shows no traceback.

Mirrors: nothing in PyTorch: there, ^C in a tool shows a traceback.
"""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = Path(__file__).resolve().parents[2] / ".ci" / "interruptible.py"
INTERRUPTED = """import os, signal, sys, time
try:
    os.kill(os.getpid(), signal.SIGINT)
    time.sleep(60)
finally:
    print("cleaned up", sys.argv[1:])
"""


def run(*arguments: str, cwd: Path, options: tuple[str, ...] = ()) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *options, PROGRAM, *arguments], cwd=cwd, text=True, capture_output=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # a background shell starts us with it ignored
    )  # fmt: skip


@pytest.mark.parametrize("program", [["slow.py"], ["-m", "slow"]], ids=" ".join)
def test_ctrl_c_ends_in_a_sentence(program: list[str], tmp_path: Path) -> None:
    (tmp_path / "slow.py").write_text(INTERRUPTED)
    done = run(*program, "--option", cwd=tmp_path)
    assert done.returncode == 130
    assert done.stdout.startswith("cleaned up ['--option']\n")
    assert done.stdout.endswith("Run the same command again to continue.\n")
    assert done.stderr == ""


def test_a_program_runs_as_python_runs_it(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    for file in (tmp_path / "shown.py", tmp_path / "folder" / "shown.py"):
        file.write_text("import sys\nprint(__name__, sys.argv[1:], sys.path[0])\nsys.exit(3)\n")
    done = run("-m", "shown", "-m", "x", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (3, f"__main__ ['-m', 'x'] {tmp_path}\n")
    done = run(os.path.join("folder", "shown.py"), cwd=tmp_path)
    assert (done.returncode, done.stdout) == (3, f"__main__ [] {tmp_path / 'folder'}\n")
    done = run(os.path.join("folder", "shown.py"), cwd=tmp_path, options=("-I",))
    assert str(tmp_path) not in done.stdout.replace("folder/shown.py", "")
