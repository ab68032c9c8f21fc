"""`patched_torch`: PyTorch with a change in one of its Python files; the change is in a copy, and torch stays as it is.

Mirrors: nothing in PyTorch: its developers change the checkout that they have installed with `pip install -e .`.
Leaves out: C++, which a wheel has only in compiled form; and files that other packages of torch have copied names from
when torch was imported: only the modules of the file's own package, such as `torch.optim`, are imported again.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Sequence
from pathlib import Path

from course._tools.in_torch import no_torch
from course._tools.outcomes import Outcome, run_program
from course._tools.patches import patched_text
from course._tools.real_torch import find_files, find_torch

TIMEOUT = 150  # seconds: on a busy machine the import of torch alone may take a minute

# Run in torch's process. torch is imported once; then each program runs in a process of its own, in which the package
# of the changed file is imported again, and the module of this file from the copy.
RUNNER = """\
import contextlib
import importlib
import importlib.util
import io
import json
import os
import sys

import torch

jobs = json.loads({asked!r})


class FromTheCopy:
    def __init__(self, module, file):
        self.module, self.file = module, file

    def find_spec(self, name, path=None, target=None):
        return importlib.util.spec_from_file_location(name, self.file) if name == self.module else None


def run(module, file, program):
    package = ".".join(module.split(".")[:2])
    for name in [name for name in sys.modules if name == package or name.startswith(package + ".")]:
        del sys.modules[name]
    sys.meta_path.insert(0, FromTheCopy(module, file))
    importlib.import_module(package)
    printed, error = io.StringIO(), ""
    with contextlib.redirect_stdout(printed):
        try:
            exec(compile(program, "the program", "exec"), {{"__name__": "__main__"}})
        except Exception as raised:
            error = f"{{type(raised).__name__}}: {{raised}}"
    return [printed.getvalue(), error]


torch.optim.SGD([torch.nn.Parameter(torch.zeros(1))]).step()  # the first step of a process imports torch._dynamo
for module, file, program, answer in jobs:
    child = os.fork()
    if child == 0:
        result = run(module, file, program)
        with open(answer, "w") as stream:
            json.dump(result, stream)
        os._exit(0)
    os.waitpid(child, 0)
"""


class TorchCopy:
    """PyTorch with one changed file; `run(program)` runs a program in it."""

    def __init__(self, python: str, path: str, text: str) -> None:
        self.python, self.path, self.text = python, path, text

    def run(self, program: str) -> Outcome:
        """Run a program with `import torch` in a process of its own; returns what it printed, and its error."""
        return run_each([(self, program)])[0]


def run_each(jobs: Sequence[tuple[TorchCopy, str]]) -> list[Outcome]:
    """Run programs, each in its PyTorch and in a process of its own; torch is loaded once for all of them.

    Raises:
        RuntimeError: a process ended before it could say how its program went.
    """
    with tempfile.TemporaryDirectory(prefix="torch-copy-") as folder:
        asked = []
        for number, (copy, program) in enumerate(jobs):
            file = Path(folder) / str(number) / Path(copy.path).name
            file.parent.mkdir()
            file.write_text(copy.text)
            module = copy.path.removesuffix(".py").replace("/", ".")
            asked.append([module, str(file), program, str(Path(folder) / f"{number}.json")])
        runner = RUNNER.format(asked=json.dumps(asked))
        outcome = run_program(runner, python=jobs[0][0].python, timeout=TIMEOUT)
        answers = [Path(answer) for *_, answer in asked]
        if outcome.error or not all(answer.exists() for answer in answers):
            raise RuntimeError(outcome.error or f"a process ended without an answer: {outcome.printed}")
        return [Outcome(*json.loads(answer.read_text())) for answer in answers]


def patched_torch(path: str, patch: str = "") -> TorchCopy:
    """PyTorch with a change in a copy of one file; without a patch, PyTorch as it is.

    Args:
        path: a Python file, from the root of PyTorch's repository.
        patch: lines with `-` and `+`, as `%%rebuild` takes them.

    Raises:
        NoTorch: torch is not here.
        LookupError: torch has no such file.
        PatchError: the patch does not fit.
    """
    torch, files = find_torch(), find_files()
    if torch is None or files is None:
        raise no_torch()
    file = files.file(path)
    if file is None or path.count("/") < 2 or not path.endswith(".py") or path.endswith("__init__.py"):
        raise LookupError(f"{path}: not a module of a package of torch {files.version}")
    text = file.read_text()
    return TorchCopy(torch.python, path, patched_text(path, text, patch) if patch else text)
