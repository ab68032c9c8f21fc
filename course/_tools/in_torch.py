"""Stops in PyTorch's own Python, for exercises that are answered there: a breakpoint, and values at each stop.

Mirrors: nothing in PyTorch: the course's own.
Leaves out: C++, of which a wheel has no lines. A learner stops with pdb or VS Code; checks stop by these functions.
"""

from __future__ import annotations

import functools
import json
import os
from collections.abc import Sequence
from multiprocessing.connection import Client

from course._tools.definitions import definition
from course._tools.layout import workspace
from course._tools.outcomes import Outcome, run_program
from course._tools.real_torch import NoTorch, find_files, find_torch, how_to_get_it
from course._tools.source import only_line_with

# Tests set it to the address of a process that has torch loaded and runs programs in forks: tests/course/one_torch.py.
LOADED = "REFTORCH_COURSE_LOADED_TORCH"
TIMEOUT = 150  # seconds: on a busy machine the import of torch alone may take a minute

# Run in torch's process. A line is known by its file's end and its number; `stops` has an entry for each time.
RUNNER = """\
import json
import sys

import torch

file, line, expressions, program = json.loads({asked!r})
stops = []


def watch(frame, event, argument):
    if event == "call" and not frame.f_code.co_filename.endswith(file):
        return None
    if event == "line" and frame.f_lineno == line:
        stops.append({{each: repr(eval(each, frame.f_globals, frame.f_locals)) for each in expressions}})
    return watch


code = compile(program, "the program", "exec")
sys.settrace(watch)
try:
    exec(code, {{"__name__": "__main__"}})
finally:
    sys.settrace(None)
print()
print({mark!r}, json.dumps(stops))
"""
MARK = "the stops:"  # begins the line with the answer; what the program writes to stderr comes after this line


def write_for_torch(program: str, name: str) -> str:
    """Write a program into the learner's folder, and say how to run the program in PyTorch under pdb.

    A file that the learner has changed stays as it is. Where torch is not here, the text says how to get torch.
    """
    found = find_torch()
    if found is None:
        return str(no_torch())
    file = workspace() / name
    file.parent.mkdir(parents=True, exist_ok=True)
    command = f"In a terminal, in {file.parent}:\n\n    {found.python} -m pdb {name}"
    if file.exists() and file.read_text() != program:
        return f"{command}\n\n{name} has changes of yours and was kept. Delete the file to get the program again."
    file.write_text(program)
    return command


def stops_in_torch(program: str, path: str, name: str, line: str, expressions: Sequence[str]) -> list[dict[str, str]]:
    """Run a program in PyTorch, stop each time before a line of PyTorch's file runs, and evaluate expressions there.

    A check asks the same each time that it runs. So equal questions of one process are asked of PyTorch once.

    Args:
        program: Python, with `import torch`.
        path: the file, from the root of PyTorch's repository.
        name: a definition in the file.
        line: a piece of text that only this line of the definition holds. A statement of one line is reached once.
        expressions: what to evaluate at each stop; the result has the `repr` of each value.

    Raises:
        NoTorch: torch is not here.
        LookupError: no line of the definition holds the text, or several do.
        RuntimeError: the program ended with an error.
    """
    torch, files = find_torch(), find_files()
    if torch is None or files is None:
        raise no_torch()
    file = files.file(path)
    if file is None:
        raise LookupError(f"{path}: no such file in torch {files.version}")
    text = file.read_text()
    number = only_line_with(path, text.splitlines(), line, *definition(path, text, name, None))
    asked = json.dumps([f"/{path}", number, list(expressions), program])
    return json.loads(answer_of(RUNNER.format(asked=asked, mark=MARK), torch.python))


@functools.cache
def answer_of(program: str, python: str) -> str:
    """Run a program, and return what its last line with the mark says. An error is raised each time."""
    address = os.environ.get(LOADED)
    outcome = run_program(program, python=python, timeout=TIMEOUT) if address is None else run_loaded(program, address)
    if outcome.error:
        raise RuntimeError(outcome.error)
    return outcome.printed.rpartition(f"\n{MARK} ")[2].partition("\n")[0]


def run_loaded(program: str, address: str) -> Outcome:
    """Run a program in a fork of the process at this address, in which torch is loaded already."""
    with Client(address) as process:
        process.send(program)
        return Outcome(*process.recv())


def no_torch() -> NoTorch:
    """Return the error of an exercise that is answered in PyTorch itself, if torch is not installed."""
    return NoTorch(
        "this exercise is answered in PyTorch itself, and torch is not installed here. In a terminal, "
        f"{how_to_get_it()} (about 1 GB on disk). The other exercises of the chapter do without it."
    )
