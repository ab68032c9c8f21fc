"""The hunt of chapter 04 in an editor: stop in Python, set a breakpoint in C++, and see the wrong number.

Mirrors: nothing in PyTorch: tests of tools that it does not have.
Left out: VS Code's window; tests/vscode/meter.py drives one, and takes the picture that the lesson shows.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from course._tools.trees import bare
from tests.debug.host import NODE, Host, Hosted
from tests.debug.launch import ROOT, configuration, line_of

NAME = "Debug this file"
METER = ROOT / "course" / "04_debugging" / "meter.py"
COPIES = ROOT / "cpp" / "ATen" / "native" / "cpu" / "CopyKernel.cpp"
SHIFT_LINE = line_of(str(METER), "        self.frames[:, 1:] = ")
REST_LINE = line_of(str(COPIES), "  if (bytes > 0) {", 1)
SEVENTEENTH = "frame[0] == 8.5"
WATCHES = ("out - in", "*(float*)in")


@pytest.fixture
def host() -> Iterator[Host]:
    host = Host()
    try:
        yield host
    finally:
        host.close()


def breakpoint_at(session: Hosted, path: Path, line: int, **more: str) -> None:
    session.ask("setBreakpoints", source={"path": str(path)}, breakpoints=[{"line": line, **more}])


@pytest.mark.skipif(NODE is None, reason="needs node, in which the extension runs: apt install nodejs")
def test_the_wrong_number_is_seen_between_the_two_copies(host: Host) -> None:
    host.start(configuration(NAME, file=str(METER)), {str(METER): [SHIFT_LINE]})
    python, gdb = host.opened("reftorch"), host.opened("reftorch-gdb")
    thread = python.event("stopped")["threadId"]
    breakpoint_at(python, METER, SHIFT_LINE, condition=SEVENTEENTH)
    python.ask("continue", threadId=thread)
    frame = python.frames(python.event("stopped")["threadId"], 1)[0]
    assert frame["name"] == "forward"
    assert python.evaluate("frame.tolist()", frame["id"]) == "[8.5, 25.5]"
    breakpoint_at(gdb, COPIES, REST_LINE)  # now, so that the sixteen frames before do not stop there
    python.ask("continue", threadId=thread)
    frames = gdb.frames(gdb.event("stopped")["threadId"], 24)
    names = [bare(frame["name"]) for frame in frames]
    assert names[0] == "copy_row"
    assert frames[0]["line"] == REST_LINE
    assert names.index("copy_kernel") < names.index("copy_impl")
    watched = {text: gdb.evaluate(text, frames[0]["id"]) for text in WATCHES}
    assert watched == {"out - in": "4", "*(float*)in": "0.5"}  # the place that must still hold 0
