"""Run a notebook's cells in a kernel of their own, and read what its checks reported.

Mirrors: nothing in PyTorch: the course's own.
Leaves out: comparing outputs; stored outputs are compared by nbval.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from nbclient import NotebookClient
from nbclient.exceptions import CellTimeoutError, DeadKernelError
from nbformat import NotebookNode, v4

from course._tools.checks import MIMETYPE
from course._tools.exercises import Exercise, exercises_of
from course._tools.layout import Chapter
from course._tools.notebook import Notebook

STATES = ("passed", "failed", "not done")
CELL_TIMEOUT = 180


@dataclass(frozen=True)
class Result:
    """What became of one exercise: `state` is one of `STATES`."""

    exercise: str
    state: str
    what: str
    came: str = ""
    expected: str = ""


class KernelDied(Exception):
    """The kernel crashed or hung while it ran a cell; the text says which of the two."""


class Kernel:
    """A running kernel; `run(source)` executes one cell and returns its outputs."""

    def __init__(self, client: NotebookClient) -> None:
        self._client = client
        self._count = 0

    def run(self, source: str) -> list[NotebookNode]:
        """The outputs of `source`; an exception in it is one of them.

        Raises:
            KernelDied: the kernel ended, or the cell ran longer than `CELL_TIMEOUT` seconds.
        """
        cell = v4.new_code_cell(source)
        self._client.nb.cells.append(cell)
        self._count += 1
        try:
            self._client.execute_cell(cell, len(self._client.nb.cells) - 1, execution_count=self._count)
        except DeadKernelError:
            raise KernelDied("the kernel died: a crash in native code") from None
        except CellTimeoutError:
            raise KernelDied(f"the cell ran longer than {CELL_TIMEOUT} s and was stopped") from None
        return cell.outputs


@contextmanager
def kernel(folder: Path) -> Iterator[Kernel]:
    """A fresh kernel whose working directory is `folder`."""
    client = NotebookClient(
        v4.new_notebook(),
        kernel_name="python3",
        timeout=CELL_TIMEOUT,
        allow_errors=True,
        extra_arguments=["--log-level=ERROR"],
        resources={"metadata": {"path": str(folder)}},
    )
    client.log.setLevel(logging.CRITICAL)
    with client.setup_kernel():
        yield Kernel(client)


def reported(outputs: list[NotebookNode]) -> Result | None:
    """The report of a `check` among a cell's outputs."""
    for output in outputs:
        data = output.get("data", {}).get(MIMETYPE)
        if data is not None:
            return Result(**data)
    return None


def error_in(outputs: list[NotebookNode]) -> str:
    """`Type: message` of the exception among a cell's outputs, or nothing."""
    return next((f"{o['ename']}: {o['evalue']}" for o in outputs if o["output_type"] == "error"), "")


def check_notebook(chapter: Chapter, notebook: Notebook, folder: Path) -> list[Result]:
    """Run a learner's notebook and say what became of each exercise.

    The check cells are the chapter's own, whatever became of them in the notebook, so that a check edited or deleted
    by accident cannot decide.
    """
    exercises = exercises_of(chapter)
    results: dict[str, Result] = {}
    broken = ""
    with kernel(folder) as running:
        for number, source in _cells_to_run(exercises, notebook):
            try:
                outputs = running.run(source)
            except KernelDied as death:
                broken = f"{death}, in the cell that starts with {source.splitlines()[0]!r}"
                if number:
                    results[number] = Result(number, "failed", exercises[number].title, broken, "a cell that ends")
                break
            if number:
                results[number] = reported(outputs) or Result(
                    number, "failed", exercises[number].title, error_in(outputs) or "no report", "a report of the check"
                )
    after = broken and f"not reached: {broken}"
    return [
        results.get(number) or Result(number, "failed", exercise.title, after, "a run to the end")
        for number, exercise in exercises.items()
    ]


def _cells_to_run(exercises: dict[str, Exercise], notebook: Notebook) -> Iterator[tuple[str | None, str]]:
    missing = dict(exercises)
    for cell in notebook["cells"]:
        if cell["cell_type"] != "code":
            continue
        mark = cell["metadata"].get("reftorch", {})
        if mark.get("role") != "check":
            yield None, cell["source"]
        elif mark["exercise"] in missing:
            exercise = missing.pop(mark["exercise"])
            yield exercise.number, exercise.check.source
    for exercise in missing.values():
        yield exercise.number, exercise.check.source
