"""A notebook with every magic, stored under one gdb and compared by nbval under every other; and again and again.

Mirrors: nothing in PyTorch: tests of tools that it does not have.
Left out: what each output says; see test_magics.py.

`make test-magics` runs the notebook fifty times in a row, under each gdb in turn, which takes about ten minutes;
REFTORCH_REPEATS says how often. By itself it is run once, to be stored.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbclient import NotebookClient

from reftorch.debug.core.find_gdb import candidates, probe
from tests.debug.kernel import gdbs_of, state_of, tracer_of

ROOT = Path(__file__).resolve().parents[2]
GDBS = [path for path in candidates() if not isinstance(probe(path), str)]
REPEATS = int(os.environ.get("REFTORCH_REPEATS", "1"))

CELLS = [
    "import reftorch as torch\n%load_ext reftorch.debug\na = torch.arange(4.0).reshape(2, 2)\nb = torch.ones(2, 2) * 2",
    '%%gdb mul -c "rt-bt; info args; rt-tensor iter.operands_.begin_[0]" -n 2\nc = a * b\nd = c * c',
    '%%gdb "mul if iter.numel() == 4" -b BinaryOpsKernel.cpp:30 -n 2\nc = b[0] * b[0]\nc = a * b',
    TRACED := "%%native_trace mul --over -v iter\nc = a * b",
    "%%calltree\nc = a * b",
    "%%ranks 4\nc = a * rank\ndist.all_reduce(c)\nprint(rank)\nc",
    "%%ranks 2 --may-fail\nif rank == 0:\n    dist.barrier()\nraise ValueError('meant')",
    "%where_op mul",
    "def hook(grad):\n    %bt\nx = torch.ones(2, requires_grad=True)\ny = x * x\ny.register_hook(hook)\n"
    "y.sum().backward()",
    "%%gdb --fresh mul\nimport reftorch as torch\nprint((torch.ones(2) * torch.full((2,), 3.0)).tolist())",
    "%%gdb no_such_op\nc = a * b",
    "print((a * b).tolist())",
]


def nbval(notebook: Path, gdb: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--nbval", "--nbval-cell-timeout", "480"]
    return subprocess.run(
        [*command, str(notebook)], env=os.environ | {"REFTORCH_GDB": gdb}, cwd=ROOT, capture_output=True, text=True,
        check=False,
    )  # fmt: skip


def run(path: Path, gdb: str) -> None:
    """Run the notebook as a learner does and store it; after each cell, nothing of gdb may be left behind."""
    book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(source) for source in CELLS])
    book.metadata["kernelspec"] = {"name": "python3", "display_name": "Python 3", "language": "python"}
    left: list[str] = []

    def look(cell: nbformat.NotebookNode, **_: Any) -> None:
        pid = client.km.provisioner.process.pid
        if tracer_of(pid) != 0:
            left.append(f"gdb still traces the kernel: {cell.source}")
        if state_of(pid) not in "SR":
            left.append(f"the kernel is stopped: {cell.source}")
        if gdbs_of(pid):
            left.append(f"a gdb is left behind: {cell.source}")

    # links are relative, so the folder is that in which nbval runs it too
    folder = {"metadata": {"path": str(path.parent)}}
    client = NotebookClient(book, timeout=480, resources=folder, on_cell_executed=look)
    client.execute(env=os.environ | {"REFTORCH_GDB": gdb})
    assert not left
    assert book.cells[-1].outputs[0].text == "[[0.0, 2.0], [4.0, 6.0]]\n"
    nbformat.write(book, path)


@pytest.fixture(scope="module")
def stored(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The notebook with its outputs, as a learner stores it."""
    path = tmp_path_factory.mktemp("magics") / "magics.ipynb"
    run(path, GDBS[0])
    return path


@pytest.mark.parametrize("gdb", GDBS[1:] or GDBS)
def test_every_gdb_shows_the_same(stored: Path, gdb: str) -> None:
    outputs = [cell.outputs for cell in nbformat.read(stored, 4).cells]
    assert all(outputs[1:]), "each cell but the first shows something"
    traced = outputs[CELLS.index(TRACED)][0]["data"]["text/plain"]
    assert {line.split(":")[0] for line in traced.splitlines()} == {"BinaryOpsKernel.cpp"}, "--over enters no function"
    done = nbval(stored, gdb)
    assert done.returncode == 0, done.stdout[-6000:]


def test_again_and_again_nothing_is_left_behind(stored: Path, tmp_path: Path) -> None:
    for number in range(1, REPEATS):  # the first time was for what is stored
        run(tmp_path / "magics.ipynb", GDBS[number % len(GDBS)])
