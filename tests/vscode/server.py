"""code-server with our extension and a user without settings, and an end of everything that was started under it.

Mirrors: nothing in PyTorch: it tests no editor.
Left out: installing it, which .ci/install_code_server.sh does; systems without /proc.
"""

from __future__ import annotations

import os
import runpy
import secrets
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.debug.dap import PATIENCE

ROOT = Path(__file__).resolve().parents[2]
MAKE_CODE = runpy.run_path(str(ROOT / ".ci" / "editor.py"))
PLACE = ROOT / "build" / "vscode"
RUN = PLACE / "run"
WORK = RUN / "work"  # the learner's working copies, which are not touched
ENTRY = PLACE / "node_modules" / "code-server" / "out" / "node" / "entry.js"
MARK = "REFTORCH_TEST_VSCODE"


@dataclass
class Server:
    """A running code-server: where it is, and what gets one in."""

    address: str
    query: str
    password: str
    mark: str

    def debuggers(self) -> dict[int, str]:
        """What runs of a debug session: gdb, and Python with the adapter or the program; number and command of each."""
        found = marked(self.mark).items()
        return {pid: line for pid, line in found if Path(line.split(" ")[0]).name.startswith(("python", "gdb"))}


def marked(mark: str) -> dict[int, str]:
    """Processes with our mark in their environment, which every child inherits."""
    found = {}
    for entry in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):  # it has ended meanwhile, or is another user's
            if f"{MARK}={mark}".encode() in (entry / "environ").read_bytes().split(b"\0"):
                words = (entry / "cmdline").read_bytes().split(b"\0")
                found[int(entry.name)] = b" ".join(words).decode(errors="replace").strip()
    return found


def end_all(mark: str) -> None:
    """End what is left, also what a debugger holds; first kindly."""
    for kind, seconds in ((signal.SIGTERM, 10), (signal.SIGKILL, 60)):
        for pid in marked(mark):
            with suppress(ProcessLookupError):
                os.kill(pid, kind)
        deadline = time.monotonic() + seconds
        while marked(mark) and time.monotonic() < deadline:
            time.sleep(0.2)
    if left := marked(mark):
        raise RuntimeError(f"processes are left: {left}")


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def wait_for(port: int, server: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        if server.poll() is not None:
            raise RuntimeError(f"code-server ended with {server.returncode}; {PLACE / 'server.log'} has what it said")
        with suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1):
            return
        time.sleep(0.3)
    raise RuntimeError(f"code-server did not answer within {PATIENCE} s")


@contextmanager
def code_server(extension: Path) -> Iterator[Server]:
    """A server on a free port; when the block ends, so has all that was started in it.

    The user has no settings, as after the installation of an editor: what is settled is settled in the checkout,
    in .vscode/settings.json, and by the options of `make code`.
    """
    shutil.rmtree(RUN, ignore_errors=True)
    RUN.mkdir(parents=True)
    (RUN / "config.yaml").write_text("")
    mark, password, port = secrets.token_hex(8), secrets.token_hex(16), free_port()
    # The make that runs us is none of the business of the make that the editor's task runs.
    own = {name: value for name, value in os.environ.items() if not name.startswith(("MAKE", "MFLAGS", "VSCODE_"))}
    environment = {**own, MARK: mark, "PASSWORD": password, "REFTORCH_COURSE_WORK": str(WORK)}
    folders = {"config": "config.yaml", "user-data-dir": "data", "extensions-dir": "extensions"}
    command = ["node", str(ENTRY), *(f"--{option}={RUN / name}" for option, name in folders.items())]
    options = ["--auth=password", f"--bind-addr=127.0.0.1:{port}", "--disable-telemetry", "--disable-update-check"]
    options += MAKE_CODE["QUIETLY"]
    try:
        with (PLACE / "server.log").open("wb") as log:
            said: dict[str, Any] = {
                "stdin": subprocess.DEVNULL,
                "stdout": log,
                "stderr": subprocess.STDOUT,
                "env": environment,
            }
            subprocess.run([*command, f"--install-extension={extension}"], check=True, timeout=PATIENCE, **said)
            server = subprocess.Popen([*command, *options], **said)
        wait_for(port, server)
        yield Server(f"http://127.0.0.1:{port}", MAKE_CODE["QUERY"], password, mark)
    finally:
        end_all(mark)
