"""The picture of a debug session: both sessions by name, the stack, the line with its neighbours, the values.

Mirrors: nothing in PyTorch: PyTorch ships no course.
"""

from __future__ import annotations

import json
import xml.etree.ElementTree as ElementTree

from course._tools import sessions
from course._tools.layout import COURSE

RECORDING = COURSE / "04_debugging" / "both_sessions.json"


def texts(picture) -> list[str]:
    root = ElementTree.fromstring(picture.svg())
    return [element.text or "" for element in root.iter("{http://www.w3.org/2000/svg}text")]


def test_both_sessions_their_states_and_the_stack_are_in_the_picture():
    shown, recorded = texts(sessions(str(RECORDING), "two sessions")), json.loads(RECORDING.read_text())
    assert shown.count("RUNNING") == shown.count("PAUSED ON BREAKPOINT") == 1
    assert {recorded["python"]["name"], recorded["cpp"]["name"]} <= set(shown)
    assert {frame["name"] for frame in recorded["cpp"]["frames"]} <= set(shown)
    assert "two sessions" in shown


def test_the_line_of_the_stop_is_shown_as_the_file_has_it_now():
    frame = json.loads(RECORDING.read_text())["cpp"]["frames"][0]
    shown = texts(sessions(str(RECORDING), "two sessions"))
    assert str(frame["line"]) in shown
    assert "std::memcpy(out,\u00a0in,\u00a0bytes);" in [text.strip("\u00a0") for text in shown]


def test_what_is_watched_has_its_value():
    assert "*(float*)in: 0.5" in texts(sessions(str(RECORDING), "two sessions"))
