"""Our extension in an editor without a window (vscode_host.js), its sessions driven from Python.

Mirrors: nothing in PyTorch: tests of tools that it does not have.
Left out: VS Code itself, and its window.
"""

from __future__ import annotations

import json
import queue
import shutil
import subprocess
import threading
import time
from pathlib import Path
from typing import Any

from tests.debug.dap import PATIENCE, Session

ROOT = Path(__file__).resolve().parents[2]
EXTENSION = ROOT / ".vscode" / "extensions" / "reftorch-debug"
NODE = shutil.which("node")


class Hosted(Session):
    """A session that the extension opened."""

    def __init__(self, host: Host, opened: dict[str, Any]) -> None:
        super().__init__()
        self._host, self.number = host, opened["id"]
        self.parent, self.configuration = opened.get("parent"), opened["configuration"]
        self.shares_console = opened["sharesConsole"]  # the parent's DEBUG CONSOLE is its own, too

    def send(self, message: dict[str, Any]) -> None:
        self._host.tell(session=self.number, message=message)


class Host:
    """One node process with the extension in it."""

    def __init__(self, *under: str, workspace: Path = ROOT) -> None:
        assert NODE is not None
        command = [*under, NODE, str(Path(__file__).with_name("vscode_host.js")), str(EXTENSION), str(workspace)]
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
        self.process = subprocess.Popen(command, **pipes, text=True, start_new_session=True)
        self.sessions: dict[str, Hosted] = {}
        self.closed: set[str] = set()
        self.said: queue.Queue[dict[str, Any] | None] = queue.Queue()  # all but what belongs to one session
        self._thread = threading.Thread(target=self._read, daemon=True)
        self._thread.start()

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            what = json.loads(line)
            if "session" in what:
                self.sessions[what["session"]].receive(what["message"])
                continue
            if "opened" in what:
                self.sessions[what["opened"]["id"]] = Hosted(self, what["opened"])
            elif "closed" in what:
                self.closed.add(what["closed"])
            self.said.put(what)
        self.said.put(None)

    def tell(self, **what: Any) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps(what) + "\n")
        self.process.stdin.flush()

    def wait_for(self, key: str) -> Any:
        """What the host says next under `key`; what it says before that is passed over."""
        while True:
            what = self.said.get(timeout=PATIENCE)
            assert what is not None, f"the host ended without a word of `{key}`"
            if key in what:
                return what[key]

    def opened(self, kind: str) -> Hosted:
        """The next session of that type that opens."""
        while True:
            session = self.sessions[self.wait_for("opened")["id"]]
            if session.configuration["type"] == kind:
                return session

    def start(self, configuration: dict[str, Any], breakpoints: dict[str, list[int]]) -> None:
        self.tell(start=configuration, breakpoints=breakpoints)

    def close(self) -> None:
        assert self.process.stdin is not None
        self.process.stdin.close()
        try:
            self.process.wait(PATIENCE)
        finally:
            self.process.kill()
            self._thread.join(PATIENCE)
            assert self.process.stdout is not None
            self.process.stdout.close()
        deadline = time.monotonic() + PATIENCE
        while left := gdbs_in_session(self.process.pid):
            assert time.monotonic() < deadline, f"the editor has gone, its gdb has not: {left}"
            time.sleep(0.1)


def gdbs_in_session(session: int) -> list[int]:
    """The gdbs that began with a process of that number and run still."""
    found = []
    for entry in filter(lambda entry: entry.name.isdigit(), Path("/proc").iterdir()):
        try:
            fields = (entry / "stat").read_text().rsplit(")", 1)[1].split()
            if int(fields[3]) == session and fields[0] != "Z" and b"-i=dap" in (entry / "cmdline").read_bytes():
                found.append(int(entry.name))
        except OSError:  # it ended meanwhile
            continue
    return found
