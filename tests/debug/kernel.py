"""A real Jupyter kernel for tests: cells in, outputs out, and a look at what is left behind.

Mirrors: nothing in PyTorch: tests of tools that it does not have.
Left out: widgets, input().
"""

from __future__ import annotations

import os
import re
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from jupyter_client.manager import KernelManager

PATIENCE = 240  # seconds for one cell, on the slowest machine
COLOURS = re.compile(r"\x1b\[[0-9;]*m")


class Notebook:
    """One kernel; `run` returns what a cell showed."""

    def __init__(self, folder: Path, environment: dict[str, str] | None = None) -> None:
        self._sockets = tempfile.TemporaryDirectory(prefix="reftorch-test-")
        self.manager = KernelManager(transport="ipc", ip=str(Path(self._sockets.name, "kernel")))
        command = [sys.executable, "-Xfrozen_modules=off", "-m", "ipykernel_launcher", "-f", "{connection_file}"]
        command.append("--HistoryManager.hist_file=:memory:")  # the one of all kernels may be locked
        self.manager.kernel_spec.argv[:] = command
        self.manager.start_kernel(cwd=str(folder), env=os.environ | (environment or {}))
        self.client = self.manager.client()
        self.client.start_channels()
        self.client.wait_for_ready(timeout=PATIENCE)

    @property
    def pid(self) -> int:
        return self.manager.provisioner.process.pid

    def send(self, source: str) -> str:
        return self.client.execute(source, store_history=True)

    def result(self, request: str, timeout: float = PATIENCE, until: str = "") -> Cell:
        """What the cell of `request` showed; with `until`, up to the first message of that kind."""
        cell, end = Cell(), time.monotonic() + timeout
        while True:
            message = self.client.get_iopub_msg(timeout=max(0.1, end - time.monotonic()))
            if message["parent_header"].get("msg_id") != request:
                continue
            kind, content = message["msg_type"], message["content"]
            if kind == "status" and content["execution_state"] == "idle":
                self._take_reply(request, end)
                return cell
            cell.add(kind, content)
            if kind == until:
                return cell

    def _take_reply(self, request: str, end: float) -> None:
        """Wait for the reply too, as JupyterLab and nbclient do before they send the next cell. ipykernel 7 may sleep
        through a request that comes while it sends a reply: it sends past the stream that watches the socket.
        """
        while self.client.get_shell_msg(timeout=max(0.1, end - time.monotonic()))["parent_header"]["msg_id"] != request:
            pass

    def run(self, source: str, timeout: float = PATIENCE) -> Cell:
        return self.result(self.send(source), timeout)

    def close(self) -> None:
        self.client.stop_channels()
        self.manager.shutdown_kernel(now=True)
        self._sockets.cleanup()


class Cell:
    """The outputs of one cell."""

    def __init__(self) -> None:
        self.stdout = ""
        self.error = ""
        self.displayed: list[dict[str, Any]] = []

    def add(self, kind: str, content: dict[str, Any]) -> None:
        if kind == "stream":
            self.stdout += content["text"]
        elif kind == "error":
            self.error += COLOURS.sub("", "\n".join(content["traceback"]))
        elif kind in ("display_data", "execute_result"):
            self.displayed.append(content["data"])

    @property
    def text(self) -> str:
        return "\n".join(data["text/plain"] for data in self.displayed)

    @property
    def html(self) -> str:
        return "\n".join(data.get("text/html", "") for data in self.displayed)


def tracer_of(pid: int) -> int:
    """The process that traces `pid`, 0 for none."""
    status = Path(f"/proc/{pid}/status").read_text()
    return int(status.split("TracerPid:")[1].split()[0])


def state_of(pid: int) -> str:
    """'S' sleeping, 'R' running, 't' stopped by a tracer, 'T' stopped, 'Z' dead and not yet collected."""
    return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]


def gdbs_of(pid: int) -> list[str]:
    """The command names of the gdbs among the descendants of `pid`, and of the shells they run under."""
    parents, names = {}, {}
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            name, _, rest = (entry / "stat").read_text().partition("(")[2].rpartition(")")
        except OSError:
            continue
        names[int(entry.name)], parents[int(entry.name)] = name, int(rest.split()[1])

    def descends(process: int) -> bool:
        return process in parents and (parents[process] == pid or descends(parents[process]))

    return [name for process, name in names.items() if ("gdb" in name or name == "sh") and descends(process)]
