"""Converts the cells of a notebook to a program, for debuggers that cannot debug a notebook.

Mirrors: nothing in PyTorch, which has no notebooks.
Left out: notebooks outside the checkout; outputs and text, which a debugger does not need.

    make companion NOTEBOOK=course/03_operator/lesson.ipynb     writes build/companion/course/03_operator/lesson.py

Run by path, not as a module, so that it needs no build. A magic that runs its cell (``%%gdb``, ``%%calltree``) leaves
the cell behind without it; other magics and shell lines become comments.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
RUN_THEIR_CELL = ("%%gdb", "%%native_trace", "%%calltree", "%%time", "%%timeit", "%%capture", "%%prun")
HEADER = '''"""The code cells of {notebook}; written again each time the debugger starts it."""

import os

os.chdir({folder!r})
'''


def program_of(notebook: Path) -> str:
    """Return the program that does what the code cells of `notebook` do, in the folder of the notebook."""
    cells = json.loads(notebook.read_text(encoding="utf-8"))["cells"]
    parts = [HEADER.format(notebook=notebook.relative_to(ROOT), folder=str(notebook.parent))]
    for number, cell in enumerate(cells, 1):
        if cell["cell_type"] == "code":
            parts.append(f"\n# %% cell {number}\n" + "".join(f"{line}\n" for line in plain("".join(cell["source"]))))
    return "".join(parts)


def plain(source: str) -> list[str]:
    """Return the lines of a cell without its magics."""
    lines = source.split("\n")
    if lines[0].startswith("%%"):
        if lines[0].split()[0] not in RUN_THEIR_CELL:
            return [f"# {line}".rstrip() for line in lines]  # the body is not Python
        lines[0] = f"# {lines[0]}"
    return [without_magic(line) for line in lines]


def without_magic(line: str) -> str:
    code = line.lstrip()
    if not code.startswith(("%", "!")):
        return line
    return f"{line[: len(line) - len(code)]}pass  # {code}"  # it may be the only line of a block


def companion_path(notebook: Path) -> Path:
    return ROOT / "build" / "companion" / notebook.relative_to(ROOT).with_suffix(".py")


def main(argv: list[str]) -> int:
    """Write the companion of the notebook named on the command line; return 1 if there is no notebook to convert."""
    if len(argv) != 1 or not argv[0].endswith(".ipynb"):
        print("companion: open the notebook, so that it is in front, and start there; a .py file", file=sys.stderr)
        print("           (the companion itself, say) is started by `Debug this file`", file=sys.stderr)
        return 1
    notebook = Path(argv[0]).resolve()
    if not notebook.exists() or not notebook.is_relative_to(ROOT):
        print(f"companion: {notebook} is not a notebook of the checkout {ROOT}", file=sys.stderr)
        return 1
    path = companion_path(notebook)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(program_of(notebook), encoding="utf-8")
    print(f"wrote {path.relative_to(ROOT)}: set breakpoints there, in reftorch/ or in cpp/")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
