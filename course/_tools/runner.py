"""Run a notebook's cells in a kernel of their own, and read what its checks reported.

Mirrors: nothing in PyTorch: the course's own.
Leaves out: comparing outputs; stored outputs are compared by nbval.
"""

from __future__ import annotations

import logging
import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from nbclient import NotebookClient
from nbclient.exceptions import CellTimeoutError, DeadKernelError
from nbformat import NotebookNode, v4

from course._tools.checks import MIMETYPE
from course._tools.exercises import Exercise, exercises_of
from course._tools.layout import CHECKING, Chapter
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
            raise KernelDied("the kernel ended: a crash in native code, or a call of exit()") from None
        except CellTimeoutError:
            raise KernelDied(f"the cell ran longer than {CELL_TIMEOUT} s and was stopped") from None
        return cell.outputs


@contextmanager
def kernel(folder: Path, **environment: str) -> Iterator[Kernel]:
    """A fresh kernel whose working directory is `folder`, with `environment` added to ours."""
    client = NotebookClient(
        v4.new_notebook(),
        kernel_name="python3",
        timeout=CELL_TIMEOUT,
        allow_errors=True,
        extra_arguments=["--log-level=ERROR"],
        resources={"metadata": {"path": str(folder)}},
    )
    client.log.setLevel(logging.CRITICAL)
    # What a learner's code writes comes as outputs; what is left is of the kernel, as when it is killed.
    with client.setup_kernel(env={**os.environ, **environment}, stderr=subprocess.DEVNULL):
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
    raised: dict[str, str] = {}  # by an answer itself, before it is checked: a syntax error, say
    broken = ""
    with kernel(folder, **{CHECKING: "1"}) as running:
        for number, role, source in _cells_to_run(exercises, notebook):
            try:
                outputs = running.run(source)
            except KernelDied as death:
                broken = f"{death}, in the cell that starts with {(source.splitlines() or [''])[0]!r}"
                if role == "check":
                    results[number] = Result(number, "failed", exercises[number].title, broken, "a cell that ends")
                break
            if role == "check":
                results[number] = reported(outputs) or Result(
                    number, "failed", exercises[number].title, error_in(outputs) or "no report", "a report of the check"
                )
                if results[number].state == "failed" and number in raised:
                    results[number] = replace(
                        results[number],
                        came=f"{raised[number]}, in the cell of your answer",
                        expected="a cell that runs",
                    )
            elif role == "answer" and (error := error_in(outputs)):
                raised[number] = error
    after = broken and f"not reached: {broken}"
    return [
        results.get(number) or Result(number, "failed", exercise.title, after, "a run to the end")
        for number, exercise in exercises.items()
    ]


def _cells_to_run(exercises: dict[str, Exercise], notebook: Notebook) -> Iterator[tuple[str, str, str]]:
    """Exercise (empty where it belongs to none), role and source of each cell; the checks are the chapter's own."""
    missing = dict(exercises)
    for cell in notebook["cells"]:
        if cell["cell_type"] != "code":
            continue
        mark = cell["metadata"].get("reftorch", {})
        number, role = mark.get("exercise", ""), mark.get("role", "")
        if role != "check":
            yield number, role, cell["source"]
        elif number in missing:
            yield number, role, missing.pop(number).check.source
    for number, exercise in missing.items():
        yield number, "check", exercise.check.source
