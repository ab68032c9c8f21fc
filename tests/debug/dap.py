"""A client of the Debug Adapter Protocol, as much of it as an editor needs to stop, look and go on.

Mirrors: nothing in PyTorch: tests of tools that it does not have.
Left out: progress, memory, disassembly.
"""

from __future__ import annotations

import json
import socket
import subprocess
import threading
import time
from typing import Any, BinaryIO

# Seconds; a machine that does other things as well is slow, and one that fails here says nothing of the product.
PATIENCE = 360


class AdapterError(RuntimeError):
    """The adapter refused a request, closed, or kept silent too long."""


class Session:
    """One debug session: requests, their answers, and events. How messages travel is a subclass's."""

    def __init__(self) -> None:
        self._number = 0
        self._responses: dict[int, dict[str, Any]] = {}
        self._events: list[dict[str, Any]] = []
        self._closed = False
        self._news = threading.Condition()

    def send(self, message: dict[str, Any]) -> None:
        raise NotImplementedError

    def receive(self, message: dict[str, Any] | None) -> None:
        """A message from the adapter; None where it has gone."""
        with self._news:
            if message is None:
                self._closed = True
            elif message["type"] == "response":
                self._responses[message["request_seq"]] = message
            elif message["type"] == "event":
                self._events.append(message)
            self._news.notify_all()

    def post(self, command: str, **arguments: Any) -> int:
        """Send a request; its answer is fetched with `answer`."""
        self._number += 1
        self.send({"type": "request", "seq": self._number, "command": command, "arguments": arguments})
        return self._number

    def answer(self, number: int, timeout: float = PATIENCE) -> dict[str, Any]:
        response = self._wait(lambda: self._responses.get(number), timeout, f"no answer to request {number}")
        if not response["success"]:
            raise AdapterError(f"{response['command']}: {response.get('message')} {response.get('body')}")
        return response.get("body") or {}

    def ask(self, command: str, **arguments: Any) -> dict[str, Any]:
        return self.answer(self.post(command, **arguments))

    def event(self, name: str, timeout: float = PATIENCE) -> dict[str, Any]:
        """The next event of that name, each given once."""
        return self._wait(lambda: self._take(name), timeout, f"no event `{name}`").get("body") or {}

    def event_or_none(self, name: str) -> dict[str, Any] | None:
        """The same without waiting."""
        with self._news:
            event = self._take(name)
        return None if event is None else event.get("body") or {}

    def _take(self, name: str) -> dict[str, Any] | None:
        for i, event in enumerate(self._events):
            if event["event"] == name:
                return self._events.pop(i)
        return None

    def printed(self) -> str:
        """What the program and the adapter printed so far."""
        with self._news:
            return "".join(event["body"]["output"] for event in self._events if event["event"] == "output")

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
                    raise AdapterError(f"{complaint}: {why}; events: {self._events}")
                self._news.wait(left)

    def begin(self, request: str, arguments: dict[str, Any], breakpoints: dict[str, list[int]], **more: Any) -> None:
        """initialize, launch or attach, breakpoints, configurationDone, in an editor's order. `more` is for each
        breakpoint, for example its condition.
        """
        self.ask("initialize", adapterID="reftorch", clientID="test", linesStartAt1=True, pathFormat="path")
        begun = self.post(request, **arguments)
        self.event("initialized")
        for path, lines in breakpoints.items():
            self.ask("setBreakpoints", source={"path": path}, breakpoints=[{"line": line, **more} for line in lines])
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


class Streamed(Session):
    """A session over a pair of byte streams."""

    def __init__(self, reader: BinaryIO, writer: BinaryIO) -> None:
        super().__init__()
        self._reader, self._writer = reader, writer
        self._thread = threading.Thread(target=self._read, daemon=True)
        self._thread.start()

    def _read(self) -> None:
        try:
            while message := read_message(self._reader):
                self.receive(message)
        except OSError:  # the other end of a socket has gone
            pass
        self.receive(None)

    def send(self, message: dict[str, Any]) -> None:
        body = json.dumps(message).encode()
        self._writer.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)
        self._writer.flush()


class Dap(Streamed):
    """One adapter process, spoken to over its standard input and output."""

    def __init__(self, command: list[str], **options: Any) -> None:
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
        self.process = subprocess.Popen(command, **pipes, **options)
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        super().__init__(self.process.stdout, self.process.stdin)

    def close(self) -> None:
        self.process.kill()
        self.process.wait(PATIENCE)
        self._writer.close()
        self._thread.join(PATIENCE)
        self._reader.close()


class Connected(Streamed):
    """A further session with an adapter that listens: debugpy's, for a process that the program started."""

    def __init__(self, host: str, port: int) -> None:
        self._socket = socket.create_connection((host, port), timeout=PATIENCE)
        self._socket.settimeout(None)
        stream = self._socket.makefile("rwb")
        super().__init__(stream, stream)

    def close(self) -> None:
        self._socket.shutdown(socket.SHUT_RDWR)
        self._thread.join(PATIENCE)
        self._reader.close()
        self._socket.close()


def read_message(stream: BinaryIO) -> dict[str, Any] | None:
    """The next message; None at the end of the stream."""
    length = 0
    while line := stream.readline().strip():
        if line.lower().startswith(b"content-length:"):
            length = int(line.split(b":")[1])
    body = stream.read(length) if length else b""
    return json.loads(body) if body else None
