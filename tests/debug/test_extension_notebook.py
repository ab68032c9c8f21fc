"""Our extension's kernel for notebooks, in an editor without a window: what cells show, how runs end, what is left.

Mirrors: nothing in PyTorch: tests of tools that it does not have.
Left out: the window (`make test-vscode`); the process between editor and kernel by itself (test_notebook_kernel.py).
"""

from __future__ import annotations

import re
import shutil
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.debug.dap import PATIENCE
from tests.debug.host import Host
from tests.debug.test_extension import needs_node
from tests.debug.test_notebook_kernel import until_gone

pytestmark = needs_node
HELPERS = """
import os, sys, time
from IPython.display import HTML, SVG, clear_output, display
"""


class Notebook:
    """A notebook that is open in the editor."""

    def __init__(self, host: Host, folder: Path, *cells: str) -> None:
        self.host = host
        host.tell(notebook=str(folder / "some.ipynb"), cells=[HELPERS + cell for cell in cells])

    def start(self, *indices: int) -> None:
        self.host.tell(run=indices)

    def run(self, *indices: int) -> list[dict[str, Any]]:
        self.start(*indices)
        self.host.wait_for("ran")
        return self.look()

    def look(self) -> list[dict[str, Any]]:
        self.host.tell(look=True)
        return self.host.wait_for("cells")

    def until(self, holds: Callable[[list[dict[str, Any]]], bool], what: str) -> list[dict[str, Any]]:
        deadline = time.monotonic() + PATIENCE
        while not holds(cells := self.look()):
            assert time.monotonic() < deadline, f"it did not come to this: {what}; {cells}"
            time.sleep(0.1)
        return cells


def texts(cell: dict[str, Any]) -> list[tuple[str, str]]:
    """Kind and text of each output; a stream's pieces together."""
    return [(each["outputType"], "".join(text for _, text in each["items"])) for each in cell["outputs"]]


def error(cell: dict[str, Any]) -> str:
    (last,) = [each["originalError"]["evalue"] for each in cell["outputs"] if each["outputType"] == "error"]
    return last


@pytest.fixture
def host() -> Iterator[Host]:
    host = Host()
    try:
        yield host
    finally:
        host.close()


def test_cells_run_in_order_and_show_what_they_put_out(host: Host, tmp_path: Path) -> None:
    first = "x = 6\nfor i in range(3): print(i, flush=True); time.sleep(0.3)\nprint('e', file=sys.stderr)"
    data = "{'image/png': 'aGk=', 'application/json': {'a': 1}}"
    second = f"display(HTML('<b>1</b>'), SVG('<svg/>'))\ndisplay({data}, raw=True)"
    notebook = Notebook(host, tmp_path, first, second, "x * 7")
    cells = notebook.run(0, 1, 2)
    assert texts(cells[0]) == [("stream", "0\n1\n2\n"), ("stream", "e\n")]
    kinds = [{kind for kind, _ in each["items"]} for each in cells[0]["outputs"]]
    assert kinds == [{"stdout"}, {"stderr"}]
    html, svg, raw = (dict(each["items"]) for each in cells[1]["outputs"])
    assert html["text/html"] == "<b>1</b>" and "text/plain" in html
    assert svg["image/svg+xml"] == "<svg/>"
    assert raw == {"image/png": "aGk=", "application/json": '{"a":1}'}
    assert texts(cells[2]) == [("execute_result", "42")]
    assert [cell["executionOrder"] for cell in cells] == [1, 2, 3]
    assert all(cell["success"] and cell["timing"]["startTime"] <= cell["timing"]["endTime"] for cell in cells)
    assert notebook.run(2)[2]["executionOrder"] == 4  # by the same kernel


def test_after_an_error_the_rest_is_not_run(host: Host, tmp_path: Path) -> None:
    cells = Notebook(host, tmp_path, "1 / 0", "print('not run')").run(0, 1)
    (output,) = cells[0]["outputs"]
    assert output["originalError"]["ename"] == "ZeroDivisionError"
    assert '"stack":"\\u001b[' in output["items"][0][1]
    assert cells[0]["success"] is False
    assert cells[1]["outputs"] == [] and "success" not in cells[1]


def test_a_bar_replaces_itself_and_a_display_is_updated_from_another_cell(host: Host, tmp_path: Path) -> None:
    bar = "for i in range(3):\n    clear_output(wait=True)\n    print('at', i)"
    notebook = Notebook(
        host, tmp_path, bar, "shown = display(1, display_id='it')", "shown.update(2)\nclear_output()\n3"
    )
    cells = notebook.run(0, 1, 2)
    assert texts(cells[0]) == [("stream", "at 2\n")]
    assert texts(cells[1]) == [("display_data", "2")]
    assert cells[1]["executionOrder"] == 2 and cells[1]["success"]  # as it was before the update
    assert texts(cells[2]) == [("execute_result", "3")]


def test_what_a_thread_prints_later_comes_under_its_cell(host: Host, tmp_path: Path) -> None:
    late = "def late():\n    while not os.path.exists('go'): time.sleep(0.1)\n    print('late')"
    notebook = Notebook(host, tmp_path, f"import threading\n{late}\nthreading.Thread(target=late).start()")
    assert notebook.run(0)[0]["outputs"] == []
    (tmp_path / "go").touch()
    cells = notebook.until(lambda cells: bool(cells[0]["outputs"]), "the late line")
    assert texts(cells[0]) == [("stream", "late\n")]
    assert cells[0]["success"] and cells[0]["executionOrder"] == 1


@pytest.mark.parametrize(
    ("answer", "expected"),
    [("me", [("stream", "who? me\n"), ("execute_result", "'me'")]), (None, "KeyboardInterrupt")],
)
def test_a_cell_asks_and_escape_interrupts_it(host: Host, tmp_path: Path, answer: Any, expected: Any) -> None:
    notebook = Notebook(host, tmp_path, "input('who? ')")
    host.tell(answer=answer)
    notebook.start(0)
    assert host.wait_for("asked") == {"prompt": "who? ", "password": False}
    host.wait_for("ran")
    (cell,) = notebook.look()
    if answer:
        assert texts(cell) == expected
    else:
        assert cell["outputs"][0]["originalError"]["ename"] == expected


def test_an_interrupt_ends_the_cell_and_drops_the_others(host: Host, tmp_path: Path) -> None:
    notebook = Notebook(host, tmp_path, "print('on', flush=True)\nwhile True: pass", "2", "6 * 7")
    notebook.start(0, 1)
    notebook.until(lambda cells: texts(cells[0]) == [("stream", "on\n")], "the cell runs")
    host.tell(interrupt=True)
    host.wait_for("ran")
    cells = notebook.look()
    assert cells[0]["outputs"][-1]["originalError"]["ename"] == "KeyboardInterrupt"
    assert cells[1]["outputs"] == []
    assert texts(notebook.run(2)[2]) == [("execute_result", "42")]


def test_a_kernel_that_dies_says_what_to_do_and_the_next_cell_has_a_fresh_one(host: Host, tmp_path: Path) -> None:
    die = "import signal\nprint('last', flush=True)\nos.kill(os.getpid(), signal.SIGSEGV)"
    notebook = Notebook(
        host, tmp_path, "x = 1", die, "'x' in globals()", "import threading\nthreading.Timer(1, os._exit, [3]).start()"
    )
    cells = notebook.run(0, 1, 2)
    assert re.search(r"The kernel has ended by SIGSEGV\. Run a cell to start a fresh one", error(cells[1]))
    assert cells[2]["outputs"] == []
    cells = notebook.run(2)
    assert texts(cells[2]) == [("execute_result", "False")] and cells[2]["executionOrder"] == 1
    notebook.run(3)
    assert "The kernel has ended with code 3. Run a cell" in host.wait_for("warning")  # no cell is there to say it


def test_restart_gives_a_fresh_kernel_and_ends_what_ran(host: Host, tmp_path: Path) -> None:
    notebook = Notebook(host, tmp_path, "print(os.getpid(), flush=True)\nwhile True: pass", "os.getpid()")
    notebook.start(0)
    ((_, text),) = texts(notebook.until(lambda cells: bool(cells[0]["outputs"]), "the cell runs")[0])[:1]
    host.tell(restart=True)
    host.wait_for("ran")
    host.wait_for("restarted")
    cells = notebook.run(1)
    assert error(cells[0]) == "The kernel was restarted."
    assert cells[1]["executionOrder"] == 1
    assert int(texts(cells[1])[0][1]) != int(text)
    until_gone(int(text))


@pytest.mark.parametrize("how", ["close", "leave"])
def test_the_kernel_ends_with_its_notebook(host: Host, tmp_path: Path, how: str) -> None:
    notebook = Notebook(host, tmp_path, "os.getpid()")
    pid = int(texts(notebook.run(0)[0])[0][1])
    host.tell(**{how: True})
    host.wait_for("gone")
    until_gone(pid)


def test_the_kernel_ends_when_the_editor_is_killed(host: Host, tmp_path: Path) -> None:
    notebook = Notebook(host, tmp_path, "os.getpid()")
    pid = int(texts(notebook.run(0)[0])[0][1])
    host.process.kill()
    until_gone(pid)


def test_without_an_environment_the_cell_says_what_makes_one(tmp_path: Path) -> None:
    host = Host(workspace=tmp_path)
    try:
        (cell,) = Notebook(host, tmp_path, "1").run(0)
        assert error(cell) == f"There is no {tmp_path}/.venv/bin/python. Run `make lab` in {tmp_path}: it makes .venv."
        # One that is not Python at all: the bridge ends without a word.
        broken = tmp_path / ".venv" / "bin" / "python"
        broken.parent.mkdir(parents=True)
        shutil.copy("/bin/false", broken)
        (cell,) = Notebook(host, tmp_path, "1").run(0)
        assert f"No kernel: {broken} has ended. Run `make lab`, which mends .venv." in error(cell)
    finally:
        host.close()
