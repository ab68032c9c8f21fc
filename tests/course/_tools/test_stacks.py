"""A stack shows both languages, and folds what is the same for every op.

Mirrors: nothing in PyTorch: PyTorch ships no course.
"""

from __future__ import annotations

import pytest

import reftorch as torch
from course._tools import stack
from course._tools.stacks import Fold, Frame, folded

DISPATCHER = "/x/cpp/ATen/core/dispatch/Dispatcher.cpp"
BINDING = "/x/cpp/csrc/python_dispatch.cpp"


def frame(function: str, file: str, language: str = "c++") -> Frame:
    return Frame(language, function, file, 1)


FRAMES = [
    frame("kernel", "/x/cpp/ATen/core/dispatch/Odd.cpp"),
    frame("call", DISPATCHER),
    frame("redispatch", DISPATCHER),
    frame("mine", "/x/cpp/ATen/native/Ops.cpp"),
    frame("alone", DISPATCHER),
    frame("bound", BINDING),
    frame("parse", BINDING),
    frame("<module>", "<cell>", "py"),
]


def test_runs_of_boilerplate_are_one_line_and_the_innermost_frame_stands_alone():
    entries = folded(FRAMES)
    assert [str(each) if isinstance(each, Fold) else each.function for each in entries] == [
        "kernel",
        "… 2 frames of the Dispatcher",
        "mine",
        "alone",
        "… 2 frames of the binding",
        "<module>",
    ]


def test_a_kind_of_frame_can_be_left_unfolded():
    assert list(folded(FRAMES, ["the Dispatcher", "the binding"])) == FRAMES


def test_an_unknown_kind_is_an_error():
    with pytest.raises(ValueError, match="the Dispatcher, the binding"):
        stack("add", lambda: None, unfold=["dispatcher"])


def test_a_real_stack_reaches_from_the_kernel_to_the_program():
    x = torch.ones(2)
    shown = stack("add", lambda: x + 1)
    assert isinstance(shown.entries[0], Frame)
    assert shown.entries[0].function.endswith("add_kernel")
    assert any(isinstance(each, Fold) and each.what == "the Dispatcher" for each in shown.entries)
    assert "<details" in shown._repr_mimebundle_()["text/html"]
    python = [each.function for each in shown.entries if isinstance(each, Frame) and each.language == "py"]
    assert python[-1].endswith("<lambda>")


def test_a_place_that_is_not_reached_is_an_error():
    with pytest.raises(LookupError, match="did not reach mul"):
        stack("mul", lambda: None)
