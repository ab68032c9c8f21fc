"""The kernel that our extension gives to notebooks of VS Code: the process that stands between the two.

Mirrors: nothing in PyTorch: tests of tools that it does not have.
Left out: the editor's side (test_extension_notebook.py); its window (`make test-vscode`).
"""

from __future__ import annotations

import json
import queue
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.debug.dap import PATIENCE
from tests.debug.host import EXTENSION

BRIDGE = EXTENSION / "notebook_kernel.py"


class Bridge:
    """The process, and what it said that nobody has asked for yet."""

    def __init__(self, folder: Path, *options: str) -> None:
        command = [sys.executable, "-I", *options, str(BRIDGE)]
        self.process = subprocess.Popen(
            command, cwd=folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        )
        self._said: queue.Queue[dict[str, Any]] = queue.Queue()
        self._reader = threading.Thread(target=self._read)
        self._reader.start()
        self._cell = 0

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self._said.put(json.loads(line))

    def tell(self, **command: Any) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps(command) + "\n")
        self.process.stdin.flush()

    def hear(self) -> dict[str, Any]:
        return self._said.get(timeout=PATIENCE)

    def wait_for(self, key: str) -> Any:
        """What is said next under `key`; what comes before is passed over."""
        while key not in (said := self.hear()):
            pass
        return said[key]

    def send(self, code: str) -> None:
        self._cell += 1
        self.tell(cell=self._cell, code=code)

    def rest(self) -> tuple[list[tuple[str, dict[str, Any]]], dict[str, Any]]:
        """What else the cell that runs shows, and how it ends."""
        shown = []
        while "done" not in (said := self.hear()):
            assert said["cell"] == self._cell
            shown.append((said["kind"], said["content"]))
        assert said["done"] == self._cell
        return shown, said

    def run(self, code: str) -> tuple[list[tuple[str, dict[str, Any]]], dict[str, Any]]:
        self.send(code)
        return self.rest()

    def value(self, code: str) -> str:
        shown, done = self.run(code)
        assert done["ok"], shown
        return shown[-1][1]["data"]["text/plain"]

    def close(self) -> int:
        """As an editor that goes: its end of the pipe is closed."""
        assert self.process.stdin is not None and self.process.stdout is not None
        if not self.process.stdin.closed:
            self.process.stdin.close()
        try:
            return self.process.wait(PATIENCE)
        finally:
            self.process.kill()
            self._reader.join(PATIENCE)
            self.process.stdout.close()


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Bridge, int, Path]]:
    """One kernel for the tests that leave it as it was."""
    folder = tmp_path_factory.mktemp("notebook")
    bridge = Bridge(folder)
    try:
        yield bridge, bridge.wait_for("ready"), folder
    finally:
        assert bridge.close() == 0


@pytest.fixture
def bridge(shared: tuple[Bridge, int, Path]) -> Bridge:
    return shared[0]


@pytest.fixture
def own(tmp_path: Path) -> Iterator[Bridge]:
    """One for a test that ends it."""
    bridge = Bridge(tmp_path)
    try:
        yield bridge
    finally:
        bridge.close()


def runs(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def until_gone(pid: int) -> None:
    deadline = time.monotonic() + PATIENCE
    while runs(pid):
        assert time.monotonic() < deadline, f"process {pid} is left"
        time.sleep(0.1)


def test_it_runs_where_the_notebook_is_with_the_same_python(shared: tuple[Bridge, int, Path]) -> None:
    bridge, pid, folder = shared
    assert bridge.value("import os, sys\nos.getpid()") == str(pid)
    assert bridge.value("os.getcwd()") == repr(str(folder))
    assert bridge.value("sys.executable") == repr(sys.executable)


def test_outputs_come_in_order_and_with_the_number_of_the_run(bridge: Bridge) -> None:
    code = """
import sys
from IPython.display import HTML, display
print("a")
print("b", file=sys.stderr)
display(HTML("<b>c</b>"))
print("d")
6 * 7
"""
    shown, done = bridge.run(code)
    said = [content.get("text") or content["data"].get("text/html") or content["data"] for _, content in shown]
    assert [kind for kind, _ in shown] == ["stream", "stream", "display_data", "stream", "execute_result"]
    assert said == ["a\n", "b\n", "<b>c</b>", "d\n", {"text/plain": "42"}]
    assert done["ok"] and done["count"] == shown[-1][1]["execution_count"]
    assert bridge.run("None")[1]["count"] == done["count"] + 1


def test_outputs_come_while_the_cell_runs(shared: tuple[Bridge, int, Path]) -> None:
    bridge, _, folder = shared
    seen = folder / "seen"
    bridge.send(
        f"import pathlib, time\nprint('first')\nwhile not pathlib.Path({str(seen)!r}).exists(): time.sleep(0.1)"
    )
    assert bridge.hear()["content"] == {"name": "stdout", "text": "first\n"}
    seen.touch()  # the cell waits for it
    assert bridge.rest()[1]["ok"]


def test_what_others_print_to_the_same_stdout_is_no_line_of_ours(bridge: Bridge) -> None:
    shown, done = bridge.run("import os, subprocess\nos.write(1, b'raw\\n')\nsubprocess.run(['echo', 'child'])\n6 * 7")
    assert done["ok"]
    assert shown[-1][1]["data"]["text/plain"] == "42"


def test_an_error_comes_with_its_traceback_and_the_kernel_goes_on(bridge: Bridge) -> None:
    shown, done = bridge.run("def f():\n    raise ValueError('no')\nf()")
    ((kind, content),) = shown
    assert kind == "error" and not done["ok"]
    assert (content["ename"], content["evalue"]) == ("ValueError", "no")
    assert "\x1b[" in "".join(content["traceback"])
    assert bridge.value("6 * 7") == "42"


def test_bars_clear_and_displays_are_updated(bridge: Bridge) -> None:
    code = """
from IPython.display import clear_output, display
bar = display("0 %", display_id="bar")
clear_output(wait=True)
bar.update("100 %")
"""
    shown, _ = bridge.run(code)
    assert [kind for kind, _ in shown] == ["display_data", "clear_output", "update_display_data"]
    assert shown[1][1] == {"wait": True}
    assert shown[2][1]["transient"] == {"display_id": "bar"}
    assert shown[2][1]["data"] == {"text/plain": "'100 %'"}


@pytest.mark.parametrize(
    ("call", "password"), [("input('who? ')", False), ("__import__('getpass').getpass('who? ')", True)]
)
def test_a_cell_may_ask(bridge: Bridge, call: str, password: bool) -> None:
    bridge.send(call)
    assert bridge.hear() == {"input": {"prompt": "who? ", "password": password}}
    bridge.tell(input="me")
    shown, done = bridge.rest()
    assert done["ok"]
    assert shown[-1][1]["data"]["text/plain"] == "'me'"


@pytest.mark.parametrize("code", ["print('on')\nwhile True: pass", "print('on')\ninput()"])
def test_an_interrupt_ends_the_cell_and_not_the_kernel(bridge: Bridge, code: str) -> None:
    bridge.send(code)
    # The output and the question come by two channels of the kernel, in either order.
    heard = [bridge.hear() for _ in range(2 if "input" in code else 1)]
    assert [said["content"]["text"] for said in heard if "content" in said] == ["on\n"]
    bridge.tell(interrupt=True)
    shown, done = bridge.rest()
    assert not done["ok"]
    assert shown[-1][1]["ename"] == "KeyboardInterrupt"
    assert bridge.value("6 * 7") == "42"


@pytest.mark.parametrize(
    ("code", "how"),
    [
        ("import os, signal\nos.kill(os.getpid(), signal.SIGSEGV)", "by SIGSEGV"),
        ("import os\nos._exit(3)", "with code 3"),
    ],
)
def test_a_kernel_that_dies_is_told_and_nothing_is_left(own: Bridge, code: str, how: str) -> None:
    pid = own.wait_for("ready")
    own.send(code)
    assert (
        own.wait_for("died") == f"The kernel has ended {how}. Run a cell to start a fresh one; its variables are gone."
    )
    assert own.process.wait(PATIENCE) == 0
    assert not runs(pid)


@pytest.mark.parametrize("ends", ["the input ends", "SIGTERM", "SIGKILL"])
def test_the_kernel_ends_with_the_editor_also_in_the_middle_of_a_cell(own: Bridge, ends: str) -> None:
    pid = own.wait_for("ready")
    own.send("print('on')\nwhile True:\n    try:\n        while True: pass\n    except KeyboardInterrupt: pass")
    assert own.wait_for("content")["text"] == "on\n"
    if ends == "the input ends":
        assert own.close() == 0
    else:
        own.process.send_signal(signal.Signals[ends])
        own.process.wait(PATIENCE)
    until_gone(pid)


def test_an_editor_that_goes_at_once_leaves_nothing(tmp_path: Path) -> None:
    bridge = Bridge(tmp_path)
    assert bridge.close() == 0


def test_without_jupyter_it_says_what_installs_it(tmp_path: Path) -> None:
    bridge = Bridge(tmp_path, "-S")  # no site-packages: as an environment without it
    try:
        said = bridge.wait_for("failed")
        assert "No module named 'jupyter_client'" in said
        assert "Run `make lab`" in said
    finally:
        assert bridge.close() == 1
