"""The picture of processes: who was started by whom, and which of them is marked.

Mirrors: nothing in PyTorch: PyTorch ships no course.
"""

from __future__ import annotations

import subprocess
import time
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest

from course._tools import process_tree


@pytest.fixture
def family():
    """A shell and the two programs that it has started; both end with the test."""
    shell = subprocess.Popen(
        ["sh", "-c", "sleep 600 & a=$!; sleep 600 & b=$!; echo $a $b; read line; kill $a $b"],
        text=True,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    first, second = map(int, shell.stdout.readline().split())
    while {Path(f"/proc/{pid}/comm").read_text() for pid in (first, second)} != {"sleep\n"}:
        time.sleep(0.05)  # they are still the shell's copies
    yield shell.pid, first, second
    shell.communicate("end\n")


def test_processes_stand_below_who_started_them_and_one_is_marked(family):
    shell, first, second = family
    picture = process_tree(shell, {shell: [second, first], first: [], second: []}.get, second.__eq__, "a family")
    svg = "{http://www.w3.org/2000/svg}"
    root = ElementTree.fromstring(picture.svg())
    texts = [element.text for element in root.iter(f"{svg}text")]
    not_it, it = "has not loaded the library", "has the library: attach here"
    # The two that sleep come in the order of their numbers, whatever order they were named in.
    last_two = [not_it, it] if first < second else [it, not_it]
    assert texts == ["sh", not_it, "sleep", last_two[0], "sleep", last_two[1]]
    lefts = [float(element.get("x")) for element in list(root.iter(f"{svg}rect"))[1:]]  # after the ground
    assert lefts[0] < lefts[1] == lefts[2]
    assert repr(picture) == "[picture] a family"
