"""What Python's debugger prints when a program runs under it.

Mirrors: nothing in PyTorch: the course's own.
Leaves out: gdb, and a debugger for both languages; those are `reftorch.debug`.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path


def under_pdb(program: str, *commands: str) -> str:
    """Run a program under pdb in a process of its own, type the commands, and return what pdb printed.

    The file of the program is called program.py. The last command must end pdb, as `quit` does.

    Args:
        program: the text of the program.
        commands: what somebody would type, one after another.
    """
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "program.py").write_text(program)
        pdb = subprocess.run(
            [sys.executable, "-m", "pdb", "program.py"],
            input="\n".join(commands),
            capture_output=True,
            text=True,
            cwd=folder,
            env={**os.environ, "PYTHON_COLORS": "0"},  # pdb of Python 3.14 colors the source otherwise
        )
        first, *answers = pdb.stdout.replace(f"{Path(folder).resolve()}/", "").split("(Pdb) ")
    return first + "".join(f"(Pdb) {command}\n{answer}" for command, answer in zip(commands, answers, strict=True))
