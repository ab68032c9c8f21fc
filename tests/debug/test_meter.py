"""The hunt of chapter 04 in an editor: stop in Python, set a breakpoint in C++, and see the wrong number.

Mirrors: nothing in PyTorch: tests of tools that it does not have.
Left out: VS Code's window; tests/vscode drives one, with another program.

The lesson draws a picture of this session from course/04_debugging/both_sessions.json. Where the answers have changed,
`REFTORCH_COURSE_STORE=1` in the environment of this test writes the file anew.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from course._tools.trees import bare
from tests.debug.host import NODE, Host, Hosted
from tests.debug.launch import ROOT, configuration, line_of

NAME = "Python + C++: current file"
METER = ROOT / "course" / "04_debugging" / "meter.py"
RECORDING = METER.with_name("both_sessions.json")
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


def place(frame: dict[str, Any]) -> dict[str, Any]:
    return {"name": bare(frame["name"]), "path": os.path.relpath(frame["source"]["path"], ROOT), "line": frame["line"]}


def of_ours(frames: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [place(frame) for frame in frames if frame.get("source", {}).get("path", "").startswith(f"{ROOT}/")]


def variables(session: Hosted, frame: int) -> dict[str, str]:
    """The arguments and locals that have a value of their own to show, and no address."""
    found = {}
    for scope in session.ask("scopes", frameId=frame)["scopes"]:
        if scope["name"] in ("Arguments", "Locals"):
            for each in session.ask("variables", variablesReference=scope["variablesReference"])["variables"]:
                found[each["name"]] = re.sub(r"^0x[0-9a-f]+.*", "an address", each["value"])
    return found


def breakpoint_at(session: Hosted, path: Path, line: int, **more: str) -> None:
    session.ask("setBreakpoints", source={"path": str(path)}, breakpoints=[{"line": line, **more}])


def recorded(python: Hosted, gdb: Hosted) -> dict[str, Any]:
    """What the editor's views show at the stop in C++, without what differs from run to run."""
    stopped = gdb.event("stopped")
    frames = gdb.frames(stopped["threadId"], 12)
    watches = {text: gdb.evaluate(text, frames[0]["id"]) for text in WATCHES}
    names = [re.sub(r"\d+", "N", session.configuration["name"]) for session in (python, gdb)]
    return {
        "configuration": NAME,
        "python": {"name": names[0]},
        "cpp": {
            "name": names[1],
            "frames": of_ours(frames),
            "variables": variables(gdb, frames[0]["id"]),
            "watches": watches,
        },
    }


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
    seen = recorded(python, gdb)
    assert seen["cpp"]["watches"] == {"out - in": "4", "*(float*)in": "0.5"}  # the place that must still hold 0
    if os.environ.get("REFTORCH_COURSE_STORE"):
        RECORDING.write_text(json.dumps(seen, indent=1) + "\n")
    assert seen == json.loads(RECORDING.read_text()), "where this is right, run the test with REFTORCH_COURSE_STORE=1"
