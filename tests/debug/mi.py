"""gdb's machine interface, as cpptools drives it.

Mirrors: nothing in PyTorch: tests of tools that it does not have.
Left out: parsing of results: the tests look for text.
"""

from __future__ import annotations

import selectors
import subprocess
import time

from tests.debug.dap import PATIENCE

ANSWERS = ("^done", "^running", "^connected", "^error", "^exit")


class Mi:
    """One gdb; a call sends a command and returns the lines up to its answer."""

    def __init__(self, command: list[str], environment: dict[str, str]) -> None:
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=environment
        )
        assert self.process.stdout is not None
        self._selector = selectors.DefaultSelector()
        self._selector.register(self.process.stdout, selectors.EVENT_READ)
        self._pending = b""

    def __call__(self, command: str, until: tuple[str, ...] = ANSWERS, timeout: float = PATIENCE) -> list[str]:
        assert self.process.stdin is not None
        if command:
            self.process.stdin.write(command.encode() + b"\n")
            self.process.stdin.flush()
        lines: list[str] = []
        end = time.monotonic() + timeout
        while True:
            line = self._line(end)
            if line is None:
                raise TimeoutError(f"gdb: nothing of {until} after `{command}`; last lines: {lines[-5:]}")
            lines.append(line)
            if line.startswith(until):
                return lines

    def _line(self, end: float) -> str | None:
        assert self.process.stdout is not None
        while b"\n" not in self._pending:
            left = end - time.monotonic()
            if left <= 0 or not self._selector.select(left):
                return None
            chunk = self.process.stdout.read1()
            if not chunk:
                return None
            self._pending += chunk
        line, _, self._pending = self._pending.partition(b"\n")
        return line.decode(errors="replace").rstrip("\r")

    def close(self) -> int:
        try:
            self("-gdb-exit")
            return self.process.wait(PATIENCE)
        finally:
            self.process.kill()
            self.process.wait(PATIENCE)
            for pipe in (self.process.stdin, self.process.stdout):
                assert pipe is not None
                pipe.close()
