"""Folded stacks: frames that are the same for every op are one line, and nothing of the program's own is hidden.

Mirrors: nothing in PyTorch: tests of tools that it does not have.
"""

from __future__ import annotations

import doctest

from reftorch.debug.core import folded_stack
from reftorch.debug.core.folded_stack import Fold, Frame, folded
from reftorch.debug.core.gdb_report import GdbReport

DISPATCHER = "/x/cpp/ATen/core/dispatch/Dispatcher.h"
FRAMES = [
    ["c++", "at::native::mul_kernel", "/x/cpp/ATen/native/cpu/BinaryOpsKernel.cpp", 21],
    ["c++", "at::OperatorHandle::redispatchBoxed", DISPATCHER, 38],
    ["c++", "at::OperatorHandle::callBoxed", DISPATCHER, 40],
    ["py", "_call_with_frames_removed", "<frozen importlib._bootstrap>", 241],
    ["py", "_find_and_load", "<frozen importlib._bootstrap>", 1176],
    ["py", "start", "/usr/lib/python3.11/multiprocessing/process.py", 121],
    ["py", "<module>", "mine.py", 1],
]
STOP = {"kind": "stop", "number": 1, "signal": None, "stack": FRAMES}


def test_each_kind_is_a_fold_of_its_own_and_a_single_frame_is_none():
    entries = folded([Frame(*frame) for frame in FRAMES])
    assert [str(each) if isinstance(each, Fold) else each.function for each in entries] == [
        "at::native::mul_kernel",
        "… 2 frames of the Dispatcher",
        "… 2 frames of Python's import",
        "start",
        "<module>",
    ]


def test_a_report_shows_folds_and_a_notebook_opens_them():
    report = GdbReport([STOP])
    lines = str(report).splitlines()
    assert lines[2].strip() == "… 2 frames of the Dispatcher"
    assert "redispatchBoxed" not in str(report)
    page = report._repr_html_()
    assert "<summary" in page
    assert "redispatchBoxed" in page


def test_the_documented_example_runs():
    assert doctest.testmod(folded_stack).failed == 0
