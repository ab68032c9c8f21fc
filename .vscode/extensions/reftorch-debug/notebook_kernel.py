"""One Jupyter kernel for one notebook of the editor: commands on stdin, what comes of them on stdout, as lines of JSON.

    {"cell": N, "code": TEXT}   run it; come {"cell": N, "kind": KIND, "content": {...}} as the kernel sends them, and
                                at the end {"done": N, "ok": BOOL, "count": NUMBER}
    {"interrupt": true}         as Ctrl-C does
    {"input": TEXT}             the answer to {"input": {"prompt": TEXT, "password": BOOL}}
    end of the input            ends the kernel, then this process: so both end when the editor does, killed or not

Unasked come {"ready": PID} and, as the last line, {"failed": TEXT} or {"died": TEXT}: no kernel came up, or it is gone.
kernel.js beside this file is the other end. The kernel is the one that JupyterLab starts, in the current folder.

Mirrors: nothing in PyTorch: its developers bring their own editor.
Left out: widgets; Windows, whose pipes asyncio cannot read.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import Any, TextIO

SHOWN = ("stream", "display_data", "execute_result", "update_display_data", "error", "clear_output")
START = 300  # seconds for a kernel to come up; a machine may be slow
LAST_WORDS = 60  # seconds for outputs to come that were sent before the reply: they take another way
LONGEST_LINE = 1 << 30


class Bridge:
    """The kernel, and who waits for what from it."""

    def __init__(self, manager: Any, out: TextIO) -> None:
        self._manager, self._out = manager, out
        self._client: Any = None
        self._ready = asyncio.Event()
        self._cells: dict[str, int] = {}  # which cell a request came from; kept: a thread may print for it later
        self._idle: dict[str, asyncio.Event] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self.broken: asyncio.Future[None] = asyncio.get_running_loop().create_future()  # by a mistake in here

    def tell(self, **what: Any) -> None:
        # Nobody may listen any more; then the input has ended as well, and that is what ends us.
        with suppress(BrokenPipeError):
            print(json.dumps(what, default=str), file=self._out, flush=True)

    async def live(self) -> None:
        """Start the kernel, pass on what it says, and return when it has gone."""
        await self._manager.start_kernel()
        self._client = self._manager.client()
        self._client.start_channels(hb=False)
        try:
            await self._client.wait_for_ready(timeout=START)
        except RuntimeError as error:
            self.tell(failed=f"The kernel did not come up: {error}. Run `make lab`, which mends .venv.")
            return
        for pump in (self._outputs, self._questions):
            self._start(pump())
        self._ready.set()
        self.tell(ready=self._manager.provisioner.process.pid)
        while await self._manager.is_alive():
            await asyncio.sleep(0.2)
        await asyncio.sleep(0.5)  # what it said before
        code = self._manager.provisioner.process.returncode
        how = f"by {signal.Signals(-code).name}" if code < 0 else f"with code {code}"
        self.tell(died=f"The kernel has ended {how}. Run a cell to start a fresh one; its variables are gone.")

    async def obey(self) -> None:
        """Carry out commands until there are no more."""
        lines = asyncio.StreamReader(limit=LONGEST_LINE)
        await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(lines), sys.stdin)
        while line := await lines.readline():
            command = json.loads(line)
            if "code" in command:
                self._start(self._run(command["cell"], command["code"]))
            elif self._ready.is_set() and "interrupt" in command:
                await self._manager.interrupt_kernel()
            elif self._ready.is_set() and "input" in command:
                self._client.input(command["input"])

    async def end(self) -> None:
        """Let the kernel end; in five seconds it is made to."""
        for task in self._tasks:
            task.cancel()
        if self._client is not None:
            self._client.stop_channels()
        if self._manager.has_kernel:
            await self._manager.shutdown_kernel()

    def _start(self, work: Any) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._finish)

    def _finish(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (error := task.exception()) and not self.broken.done():
            self.broken.set_exception(error)

    async def _run(self, cell: int, code: str) -> None:
        """One at a time: the editor sends the next when this one is done."""
        await self._ready.wait()
        request = self._client.execute(code)
        self._cells[request] = cell
        idle = self._idle[request] = asyncio.Event()
        while True:
            reply = await self._client.get_shell_msg()
            if reply["parent_header"].get("msg_id") == request:
                break
        with suppress(asyncio.TimeoutError):
            await asyncio.wait_for(idle.wait(), LAST_WORDS)
        said = reply["content"]
        self.tell(done=cell, ok=said["status"] == "ok", count=said.get("execution_count"))

    async def _outputs(self) -> None:
        while True:
            message = await self._client.get_iopub_msg()
            request, kind = message["parent_header"].get("msg_id"), message["msg_type"]
            if kind == "status" and message["content"]["execution_state"] == "idle" and request in self._idle:
                self._idle.pop(request).set()
            elif kind in SHOWN and request in self._cells:
                self.tell(cell=self._cells[request], kind=kind, content=message["content"])

    async def _questions(self) -> None:
        while True:
            message = await self._client.get_stdin_msg()
            if message["msg_type"] == "input_request":
                self.tell(input=message["content"])


async def serve(out: TextIO) -> None:
    from jupyter_client.manager import AsyncKernelManager

    with tempfile.TemporaryDirectory(prefix="reftorch-kernel-", ignore_cleanup_errors=True) as folder:
        # Sockets that are files: no port is taken, and none can be taken meanwhile by somebody else.
        manager = AsyncKernelManager(transport="ipc", ip=str(Path(folder, "kernel")))
        manager.connection_file = str(Path(folder, "connection.json"))
        bridge = Bridge(manager, out)
        parts = [asyncio.ensure_future(bridge.live()), asyncio.ensure_future(bridge.obey()), bridge.broken]
        for kind in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            asyncio.get_running_loop().add_signal_handler(kind, parts[1].cancel)
        try:
            await asyncio.wait(parts, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for part in parts:
                part.cancel()
            failures = await asyncio.gather(*parts, return_exceptions=True)
            await bridge.end()
        for failure in failures:
            if isinstance(failure, Exception):
                raise failure


def main() -> int:
    # Whatever else is printed, by the kernel too, goes to stderr: stdout is for the lines above.
    out = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    try:
        asyncio.run(serve(out))
    except Exception as error:
        mend = "Run `make lab`, which installs what is missing into .venv."
        with suppress(BrokenPipeError):
            print(json.dumps({"failed": f"No kernel: {error}. {mend}"}), file=out, flush=True)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
