"""`%%cpp`: a cell of C++, compiled and run as a program of its own.

Mirrors: nothing in PyTorch: the course's own.
Leaves out: programs that need the library itself. A cell may include the library's headers; functions that the library
defines in its .cpp files are reached with `load_inline` or `%%rebuild`.

The compiler and the folders of headers are those of the build that is loaded. The program is compiled in a scratch
folder and kept in build/cells under a name that is made of its text, so that a second run of the same cell takes no
compiler. The newest 50 programs are kept; `make clean` removes them all.
"""

from __future__ import annotations

import hashlib
import os
import re
import shlex
import shutil
import tempfile
from pathlib import Path

from course._tools.layout import ROOT
from course._tools.outcomes import TIMEOUT, Outcome, Processes, ended_by, ended_together
from course._tools.rebuilds import loaded_build
from reftorch._source_paths import is_checkout, is_learners_copy

KEPT = 50
MOST_LINES = 20  # of the compiler's words
FLAGS = ("-std=c++17", "-O0", "-g", "-pthread", "-fdiagnostics-color=never")
CELL = "cell.cpp"


class CompilerRefused(Exception):
    """The cell is not a C++ program; the text is the compiler's, with the lines of the cell."""

    def _render_traceback_(self) -> list[str]:
        return str(self).splitlines()


def run_cpp(source: str, *, timeout: float = TIMEOUT) -> Outcome:
    """Compile a C++ program and run it in an empty folder; both are gone when the call returns.

    Args:
        source: the program: the cell below the line of the magic.
        timeout: seconds that the program may take.

    Raises:
        CompilerRefused: the compiler or the linker refused the program.
        RebuildFailed: the library that is loaded has no build, so no compiler is known.
        CompilerRefused: also where the library was installed and this machine has no compiler.

    Example::

        >>> run_cpp('#include <cstdio>\\nint main() { std::puts("hello"); }').printed
        'hello\\n'
    """
    with ended_together() as processes, tempfile.TemporaryDirectory(prefix="reftorch-cpp-") as scratch:
        folder = Path(scratch)
        program = _compiled(source, folder, processes)
        try:
            code, out, errors = processes.run([str(program)], timeout, cwd=folder)
        except TimeoutError as error:
            return Outcome("", str(error))
        return Outcome(out + errors, ended_by(code))


def _compiled(source: str, folder: Path, processes: Processes) -> Path:
    """Return the compiled program of a source: a kept one, or a new one."""
    if not (is_checkout() or is_learners_copy()):
        raise CompilerRefused("This cell runs in a copy of the course, which `reftorch-course lab` makes.")
    build = ROOT / "build" / "Debug" if is_learners_copy() else loaded_build()
    compiler = installed_compiler() if is_learners_copy() else [_compiler(build)]
    command = [*compiler, *FLAGS, f"-I{ROOT / 'cpp'}", f"-I{build / 'generated'}"]
    name = hashlib.sha256("\0".join([*command, source]).encode()).hexdigest()[:24]
    kept = build.parent / "cells" / name
    if kept.exists():
        os.utime(kept)  # the programs that were not used for longest go first
        return kept
    file, made = folder / CELL, folder / name
    file.write_text(f"\n{source}\n")  # the first line of the cell is the magic's
    environment = {**os.environ, "TMPDIR": str(folder)}
    code, _, errors = processes.run([*command, CELL, "-o", name], cwd=folder, env=environment)
    if code:
        raise CompilerRefused(_as_said(errors))
    file.unlink()
    _keep(made, kept)
    return kept


def installed_compiler() -> list[str]:
    """The compiler of this machine, for a library that was built elsewhere.

    Raises:
        CompilerRefused: there is none.
    """
    command = shlex.split(os.environ.get("CXX", "c++"))
    if shutil.which(command[0]) is None:
        raise CompilerRefused(
            f"This cell needs a C++ compiler, and there is no {command[0]}. Install one (Debian, Ubuntu: sudo apt "
            "install g++), or name one in CXX, and run the cell again. The stored output says what comes then."
        )
    return command


def _compiler(build: Path) -> str:
    """The compiler that the build was configured with."""
    found = re.search(r"^CMAKE_CXX_COMPILER:\w+=(.+)$", (build / "CMakeCache.txt").read_text(), re.M)
    assert found is not None, f"{build.name} was not configured for C++"
    return found[1]


def _keep(made: Path, kept: Path) -> None:
    kept.parent.mkdir(parents=True, exist_ok=True)
    whole = kept.with_name(f"{kept.name}.{os.getpid()}")  # another kernel may compile the same cell
    shutil.move(made, whole)
    whole.rename(kept)
    programs = sorted(kept.parent.iterdir(), key=lambda each: each.stat().st_mtime, reverse=True)
    for old in programs[KEPT:]:
        old.unlink(missing_ok=True)


def _as_said(text: str) -> str:
    """The compiler's words; before each mistake in the cell the line of the cell, counted as the editor counts."""
    shown = ["The compiler refused the cell; nothing was run."]
    for line in text.replace(f"{ROOT}/", "").splitlines():
        place = re.match(rf"{re.escape(CELL)}:(\d+):\d+: (?:fatal )?error", line)
        if place:
            shown.append(f"in line {place[1]} of the cell:")
        shown.append(line)
    if len(shown) > MOST_LINES:
        shown = [*shown[:MOST_LINES], f"... {len(shown) - MOST_LINES} more lines"]
    return "\n".join(shown)


# --- the cell that waits for a prediction -----------------------------------------------------------------------------


class Held:
    """A program that has run, and whose output is not shown yet."""

    def __repr__(self) -> str:
        return "The program has run. What it printed waits for your prediction in the next cell."


_latest: Outcome | None = None


def remember(outcome: Outcome) -> None:
    """Keep what a `%%cpp` cell printed for the `reveal` that follows."""
    global _latest
    _latest = outcome


def printed() -> list[str]:
    """The lines that the latest `%%cpp` cell printed; for `reveal`.

    Raises:
        LookupError: no such cell has run.
    """
    if _latest is None:
        raise LookupError("printed: no %%cpp cell has run yet; run the one above first")
    return str(_latest).splitlines()
