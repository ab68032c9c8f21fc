"""A client of the Debug Adapter Protocol, as much of it as an editor needs to stop, look and go on.

Mirrors: nothing in PyTorch: tests of tools that it does not have.
Left out: progress, memory, disassembly.
"""

from __future__ import annotations

import json
import subprocess
import threading
import time
from typing import Any, BinaryIO


class AdapterError(RuntimeError):
    """The adapter refused a request, closed, or kept silent too long."""


class Dap:
    """One adapter process, spoken to over its standard input and output."""

    def __init__(self, command: list[str], **options: Any) -> None:
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
        self.process = subprocess.Popen(command, **pipes, **options)
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self._out = self.process.stdin
        self._number = 0
        self._responses: dict[int, dict[str, Any]] = {}
        self._events: list[dict[str, Any]] = []
        self._closed = False
        self._news = threading.Condition()
        self._reader = threading.Thread(target=self._read, args=(self.process.stdout,), daemon=True)
        self._reader.start()

    def _read(self, stream: BinaryIO) -> None:
        while message := read_message(stream):
            with self._news:
                if message["type"] == "response":
                    self._responses[message["request_seq"]] = message
                elif message["type"] == "event":
                    self._events.append(message)
                self._news.notify_all()
        with self._news:
            self._closed = True
            self._news.notify_all()

    def post(self, command: str, **arguments: Any) -> int:
        """Send a request; its answer is fetched with `answer`."""
        self._number += 1
        request = {"type": "request", "seq": self._number, "command": command, "arguments": arguments}
        body = json.dumps(request).encode()
        self._out.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)
        self._out.flush()
        return self._number

    def answer(self, number: int, timeout: float = 30) -> dict[str, Any]:
        response = self._wait(lambda: self._responses.get(number), timeout, f"no answer to request {number}")
        if not response["success"]:
            raise AdapterError(f"{response['command']}: {response.get('message')} {response.get('body')}")
        return response.get("body") or {}

    def ask(self, command: str, **arguments: Any) -> dict[str, Any]:
        return self.answer(self.post(command, **arguments))

    def event(self, name: str, timeout: float = 30) -> dict[str, Any]:
        """The next event of that name, each given once."""

        def take() -> dict[str, Any] | None:
            for i, event in enumerate(self._events):
                if event["event"] == name:
                    return self._events.pop(i)
            return None

        return self._wait(take, timeout, f"no event `{name}`").get("body") or {}

    def _wait(self, take: Any, timeout: float, complaint: str) -> dict[str, Any]:
        end = time.monotonic() + timeout
        with self._news:
            while True:
                found = take()
                if found is not None:
                    return found
                left = end - time.monotonic()
                if self._closed or left <= 0:
                    why = "the adapter closed" if self._closed else f"within {timeout} s"
                    raise AdapterError(f"{complaint}: {why}; events: {[e['event'] for e in self._events]}")
                self._news.wait(left)

    def begin(self, request: str, arguments: dict[str, Any], breakpoints: dict[str, list[int]]) -> None:
        """initialize, launch or attach, breakpoints, configurationDone, in an editor's order."""
        self.ask("initialize", adapterID="reftorch", clientID="test", linesStartAt1=True, pathFormat="path")
        begun = self.post(request, **arguments)
        self.event("initialized")
        for path, lines in breakpoints.items():
            self.ask("setBreakpoints", source={"path": path}, breakpoints=[{"line": line} for line in lines])
        self.ask("configurationDone")
        self.answer(begun)

    def frames(self, thread: int, levels: int = 5) -> list[dict[str, Any]]:
        return self.ask("stackTrace", threadId=thread, startFrame=0, levels=levels)["stackFrames"]

    def evaluate(self, expression: str, frame: int, context: str = "watch") -> str:
        return self.ask("evaluate", expression=expression, frameId=frame, context=context)["result"]

    def step(self, kind: str, thread: int) -> dict[str, Any]:
        """`next`, `stepIn` or `stepOut`; returns the innermost frame of the new stop."""
        with self._news:  # a call into the process (rt-bt makes one) is told as a stop, too
            self._events = [event for event in self._events if event["event"] != "stopped"]
        self.ask(kind, threadId=thread)
        return self.frames(self.event("stopped")["threadId"], 1)[0]

    def close(self) -> None:
        self.process.kill()
        self.process.wait(10)
        self._out.close()
        self._reader.join(10)
        assert self.process.stdout is not None
        self.process.stdout.close()


def read_message(stream: BinaryIO) -> dict[str, Any] | None:
    """The next message; None at the end of the stream."""
    length = 0
    while line := stream.readline().strip():
        if line.lower().startswith(b"content-length:"):
            length = int(line.split(b":")[1])
    body = stream.read(length) if length else b""
    return json.loads(body) if body else None
