"""`make lab` for a browser to look at: a JupyterLab of its own, which leaves no process behind.

Mirrors: nothing in PyTorch: PyTorch ships no course.
Leaves out: the learner's settings and working copies, which are not touched.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
TOKEN = "lesson"
# All cells are laid out, not only those in view; what is typed is saved when it is said; the theme is the system's.
# About news nothing is said here, because the settings of `make lab` must have said enough.
SETTINGS = {
    "notebook-extension/tracker": {"windowingMode": "none"},
    "docmanager-extension/plugin": {"autosave": False},
    "apputils-extension/themes": {"adaptive-theme": True},
}


@dataclass(frozen=True)
class Lab:
    """A running JupyterLab: its address, where the learner's working copies are, and what lets a browser in."""

    address: str
    work: Path
    token: str = TOKEN

    def url(self, notebook: str = "") -> str:
        """Where `notebook` is shown; the start page, as `make lab` opens it, where none is named."""
        start = f"{self.work.relative_to(ROOT).as_posix()}/index.ipynb"
        return f"{self.address}/lab/tree/{notebook or start}?token={self.token}&reset"


@contextmanager
def jupyterlab(scratch: Path) -> Iterator[Lab]:
    """A server on a free port, rooted at the checkout; it, its kernels and its terminals end with the block.

    Args:
        scratch: an empty folder inside the checkout, for settings and working copies.
    """
    for name, content in SETTINGS.items():
        file = scratch / "settings" / "@jupyterlab" / f"{name}.jupyterlab-settings"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps(content))
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    options = f"--no-browser --port={port} --IdentityProvider.token={TOKEN}"
    work = scratch / "work"
    environment = {
        **os.environ,
        "JUPYTERLAB_SETTINGS_DIR": str(scratch / "settings"),
        "REFTORCH_COURSE_WORK": str(work),
    }
    log = scratch / "jupyterlab.log"
    with log.open("w") as output:
        command = ["make", "--no-print-directory", "-C", str(ROOT), "lab", f"ARGS={options}"]
        server = subprocess.Popen(command, env=environment, stdout=output, stderr=subprocess.STDOUT)
    try:
        address = f"http://127.0.0.1:{port}"
        _wait_until_it_answers(server, address, log)
        yield Lab(address, work)
    finally:
        _end(server)


@contextmanager
def running(url: str) -> Iterator[Lab]:
    """The server that somebody started and whose address is `url`, as JupyterLab prints it; it goes on afterwards.

    While the block runs, it has the settings with which a page can be looked at from top to bottom.
    """
    parts = urllib.parse.urlsplit(url)
    token = urllib.parse.parse_qs(parts.query).get("token", [""])[0]
    lab = Lab(f"{parts.scheme}://{parts.netloc}", ROOT / "course" / "work", token)
    before = {}
    try:
        for name, content in SETTINGS.items():
            before[name] = json.loads(_settings(lab, name))["raw"]
            _settings(lab, name, json.dumps(content))
        yield lab
    finally:
        for name, raw in before.items():
            _settings(lab, name, raw)


def _settings(lab: Lab, name: str, raw: str | None = None) -> bytes:
    """Read the settings of a part of JupyterLab, or write them."""
    request = urllib.request.Request(
        f"{lab.address}/lab/api/settings/@jupyterlab/{name.replace('/', ':')}",
        data=None if raw is None else json.dumps({"raw": raw}).encode(),
        headers={"Authorization": f"token {lab.token}"},
        method="GET" if raw is None else "PUT",
    )
    with urllib.request.urlopen(request, timeout=60) as answer:
        return answer.read()


def _wait_until_it_answers(server: subprocess.Popen, address: str, log: Path) -> None:
    deadline = time.monotonic() + 600  # it may have to build first
    while time.monotonic() < deadline:
        if server.poll() is not None:
            raise RuntimeError(f"JupyterLab ended with {server.returncode}:\n{log.read_text()[-2000:]}")
        with suppress(urllib.error.URLError, OSError):
            urllib.request.urlopen(f"{address}/api?token={TOKEN}", timeout=5)
            return
        time.sleep(0.5)
    raise RuntimeError(f"JupyterLab did not answer for ten minutes:\n{log.read_text()[-2000:]}")


def _end(server: subprocess.Popen) -> None:
    """Ask the server to end, which ends its kernels; what is still there after a minute is killed, by its number."""
    family = [server.pid, *descendants(server.pid)]
    server.terminate()
    deadline = time.monotonic() + 60
    while any(map(_is_alive, family)) and time.monotonic() < deadline:
        server.poll()
        time.sleep(0.2)
    for pid in filter(_is_alive, family):
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    server.wait()


def descendants(ancestor: int) -> list[int]:
    """The processes that `ancestor` has started, at any depth."""
    parents = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):  # it may end while we look
            parents[int(stat.parent.name)] = int(stat.read_text().rpartition(")")[2].split()[1])
    family = {ancestor}
    while more := {pid for pid, parent in parents.items() if parent in family} - family:
        family |= more
    return sorted(family - {ancestor})


def _is_alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False
