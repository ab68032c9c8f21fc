"""`%%real_torch`: a cell that runs in PyTorch itself, or shows what PyTorch printed when the lesson was written.

Mirrors: nothing in PyTorch: the course's own.
Leaves out: installing torch, which is `make torch`; a learner is never made to wait for a download.

torch is looked for in the environment of the notebook, and then in .venv-torch, which `make torch` makes. What torch
printed is kept in `real_torch.json` beside the notebook, by the text of the cell; `make course` writes that file.
"""

from __future__ import annotations

import hashlib
import html
import importlib.util
import json
import os
import re
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from course._tools.layout import ROOT
from course._tools.listing import BOX, HEAD, in_box
from course._tools.outcomes import MARKED, PLAIN, TEXT, TIMEOUT, Outcome, ended_together, framed, indented, run_program
from reftorch._source_paths import is_checkout

VERSION = "2.13"
OWN_ENVIRONMENT = ROOT / ".venv-torch"
STORE = "real_torch.json"
STORING = "REFTORCH_COURSE_STORE"  # set by the builder: what torch prints is to be kept
UNWANTED = "REFTORCH_COMPARE"  # "0" where the real torch is not wanted, as in the tests
# What gdb prints of its start, which tells nothing of torch.
GDB_SAYS_TO_ITSELF = re.compile(r"(?m)^(?:warning: |\[Thread debugging|Using host libthread_db|Function \").*\n|^\n")
MAGIC = re.compile(r"^%%real_torch\b.*\n")


class NoTorch(Exception):
    """torch is not here, and nothing is stored for the cell; the text says what to do."""

    def _render_traceback_(self) -> list[str]:
        return [str(self)]


@dataclass(frozen=True)
class Torch:
    """An interpreter that has torch, and the version of that torch."""

    python: str
    version: str


def how_to_get_it() -> str:
    """Return what installs torch where `find_torch` looks."""
    return "`make torch` installs it" if is_checkout() else f"`pip install torch=={VERSION}.0` installs it"


def find_torch() -> Torch | None:
    """The torch that is here, and wanted."""
    if os.environ.get(UNWANTED) == "0":
        return None
    own = OWN_ENVIRONMENT / "bin" / "python"
    candidates = [sys.executable] if importlib.util.find_spec("torch") else []
    candidates += [str(own)] if own.exists() else []
    for python in candidates:
        ask = "import importlib.metadata as m; print(m.version('torch'))"
        said = subprocess.run([python, "-c", ask], capture_output=True, text=True)
        if said.returncode == 0:
            return Torch(python, said.stdout.strip().split("+")[0])
    return None


@dataclass(frozen=True)
class TorchFiles:
    """The folder of an installed torch, and its version."""

    folder: Path
    version: str

    def file(self, path: str) -> Path | None:
        """The file that has this path in PyTorch's repository; None where a wheel does not have the file."""
        inside = self.folder.parent / path
        header = self.folder / "include" / path.removeprefix("aten/src/")
        return next((file for file in (inside, header) if file.is_file()), None)


def find_files() -> TorchFiles | None:
    """The files of the torch that is here, and wanted; nothing of torch is imported or started."""
    if os.environ.get(UNWANTED) == "0":
        return None
    spec = importlib.util.find_spec("torch")
    folders = [Path(folder) for folder in (spec and spec.submodule_search_locations) or ()]
    folders += sorted(OWN_ENVIRONMENT.glob("lib/python*/site-packages/torch"))
    for folder in folders:
        version = folder / "version.py"
        found = re.search(r"__version__ = '([\d.]+)", version.read_text()) if version.exists() else None
        if found is not None:
            return TorchFiles(folder, found[1])
    return None


@dataclass(frozen=True)
class Answer:
    """What torch printed, and reftorch where both were asked; `stored` is what came when the lesson was written."""

    outcome: Outcome
    version: str
    stored: bool
    ours: Outcome | None = None

    @property
    def source(self) -> str:
        """The line that says where the output comes from."""
        if self.stored:
            return (
                f"stored: torch is not installed here, and this is what torch {self.version} printed when the lesson "
                f"was written; {how_to_get_it()}"
            )
        other = "" if self.version.startswith(f"{VERSION}.") else f"; the lesson was written with {VERSION}"
        return f"torch {self.version} ran this just now{other}"

    def __repr__(self) -> str:
        if self.ours is None:
            return f"{self.outcome}\n({self.source})"
        return f"reftorch\n{indented(self.ours)}\ntorch\n{indented(self.outcome)}\n({self.source})"

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        head = f"<b>real torch</b> &nbsp; ({in_box(self.source)})"
        if self.ours is None:
            text = html.escape(str(self.outcome))
            page = (
                f'<div style="{BOX}"><div style="{HEAD}">{head}</div>'
                f'<pre style="{TEXT};white-space:pre-wrap">{text}</pre></div>'
            )
        else:
            page = framed(head, [("reftorch", self.ours, PLAIN), ("torch", self.outcome, MARKED)])
        return {"text/plain": repr(self), "text/html": page}


def key_of(options: str, cell: str) -> str:
    """Return the key of a stored output: a digest of the cell's text and of the magic's options."""
    return hashlib.sha256(f"{options.strip()}\n{cell.strip()}".encode()).hexdigest()[:16]


def keys_in(sources: list[str]) -> set[str]:
    """The keys of the `%%real_torch` cells among the sources of a notebook's cells."""
    cells = [source for source in sources if MAGIC.match(source)]
    return {key_of(cell.split("\n", 1)[0].removeprefix("%%real_torch"), cell.split("\n", 1)[1]) for cell in cells}


def ask(
    cell: str,
    *,
    options: str = "",
    beside: bool = False,
    lines: int | None = None,
    environment: dict[str, str] | None = None,
    timeout: float = TIMEOUT,
    gdb: Sequence[str] = (),
) -> Answer:
    """Run a cell in torch, or find what torch printed.

    Args:
        cell: Python; with `import torch` where it needs torch.
        options: the magic's line, which belongs to the key of the stored output.
        beside: whether reftorch runs the cell too, with `import reftorch as torch` in place of `import torch`.
        lines: how many lines of an output to keep; all where not given.
        environment: variables for the process.
        timeout: seconds.
        gdb: commands for a gdb that torch's process runs under; where not given it runs alone.

    Raises:
        NoTorch: torch is not here, and nothing is stored.
    """
    key, found = key_of(options, cell), find_torch()
    with ended_together() as processes:
        run = {"environment": environment, "timeout": timeout, "processes": processes}
        ours = _first(run_program(in_reftorch(cell), **run), lines) if beside else None
        if found is None:
            return _stored(key, ours)
        outcome = run_program(cell, python=found.python, under=_under_gdb(gdb) if gdb else (), **run)
        outcome = _first(Outcome(GDB_SAYS_TO_ITSELF.sub("", outcome.printed), outcome.error) if gdb else outcome, lines)
    if os.environ.get(STORING):
        _store(key, {"printed": outcome.printed, "error": outcome.error, "version": found.version})
    return Answer(outcome, found.version, False, ours)


def _under_gdb(commands: Sequence[str]) -> list[str]:
    """A gdb that carries out commands and ends; a wheel has the names of functions, and neither lines nor locals."""
    from reftorch.debug.core.find_gdb import find_gdb

    settings = ["breakpoint pending on", "debuginfod enabled off", "print thread-events off", "width 0"]
    words = ["env", "-u", "PYTHONPATH", find_gdb().path, "-nx", "-q", "-batch", "-iex", "set auto-load no"]
    for command in (*(f"set {setting}" for setting in settings), *commands):
        words += ["-ex", command]
    return [*words, "--args"]


def in_reftorch(cell: str) -> str:
    """The cell with reftorch under torch's name."""
    cell = re.sub(r"(?m)^(\s*)import torch$", r"\1import reftorch as torch", cell)
    return re.sub(r"(?m)^(\s*(?:from|import) )torch\b(?=[. ])", r"\1reftorch", cell)


def _first(outcome: Outcome, lines: int | None) -> Outcome:
    printed = outcome.printed.splitlines()
    if lines is None or len(printed) <= lines:
        return outcome
    left = len(printed) - lines
    return Outcome("\n".join([*printed[:lines], f"... {left} more lines"]) + "\n", outcome.error)


def stored_in(folder: Path) -> dict[str, dict[str, str]]:
    """The stored outputs of the notebooks in a folder."""
    file = folder / STORE
    return json.loads(file.read_text()) if file.exists() else {}


def write_store(folder: Path, outputs: dict[str, dict[str, str]]) -> None:
    """Keep outputs for the notebooks in a folder."""
    (folder / STORE).write_text(json.dumps(outputs, indent=1, sort_keys=True, ensure_ascii=False) + "\n")


def _stored(key: str, ours: Outcome | None) -> Answer:
    kept = stored_in(Path.cwd()).get(key)
    if kept is None:
        raise NoTorch(
            "torch is not installed here, and for this cell, as it is now, nothing is stored. In a terminal, "
            f"{how_to_get_it()} (about 1 GB on disk); then run the cell again."
        )
    return Answer(Outcome(kept["printed"], kept["error"]), kept["version"], True, ours)


def _store(key: str, kept: dict[str, str]) -> None:
    outputs = stored_in(Path.cwd())
    if outputs.get(key) != kept:
        write_store(Path.cwd(), {**outputs, key: kept})
