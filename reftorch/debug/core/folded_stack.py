"""A stack of both languages with runs of boilerplate frames folded: frames that are the same for every op.

Mirrors: nothing in PyTorch: its developers bring their own tools.
Left out: how a stack is read; the extension of gdb reads the stack (``reftorch/debug/gdb/reftorch_gdb/stack.py``).
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from typing import NamedTuple

# Which frames are boilerplate, by their file: the first pattern that matches names them.
BOILERPLATE = {
    "the Dispatcher": r"/ATen/core/(dispatch|boxing)/|/ATen/core/(library|op_registration)|/ATen/Functions\.cpp$"
    r"|/ATen/core/Operators|/generated/ATen/|/ATen/core/KernelFunction",
    "the binding": r"/csrc/python_dispatch|/csrc/utils/|/csrc/autograd/python_|/csrc/Exceptions|/csrc/\w*bind",
    "TensorIterator": r"/ATen/TensorIterator|/ATen/native/cpu/Loops\.h$|/ATen/Parallel|/ATen/native/cpu/VectorLoops",
    "autograd's fallback": r"/csrc/autograd/autograd_fallback|/csrc/autograd/VariableType",
    "small helpers": r"/c10/util/|/ATen/Dispatch\.h|/bits/|/c10/core/impl/",
    "Python's import": r"^<frozen importlib\._bootstrap>",
    # A cell's magics wrap Process.start, to note which processes the cell starts.
    "Python's multiprocessing": r"/multiprocessing/\w+\.py$|/debug/notebook/magics\.py$",
}
FEWEST = 2  # frames that are worth folding


class Frame(NamedTuple):
    """One frame: ``c++`` or ``py``, the function, and its place."""

    language: str
    function: str
    file: str
    line: int


class Fold(NamedTuple):
    """Frames that are shown as one line."""

    what: str
    frames: tuple[Frame, ...]

    def __str__(self) -> str:
        return f"… {len(self.frames)} frames of {self.what}"


def folded(frames: Sequence[Frame], unfold: Collection[str] = ()) -> list[Frame | Fold]:
    """Return the frames, innermost first, with each run of boilerplate frames of one kind as one entry.

    Args:
        frames: The frames, innermost first. The innermost one, where the stop is, is never folded.
        unfold: Kinds that are not folded; the keys of ``BOILERPLATE``.

    Example::

        >>> import_frame = Frame("py", "_find_and_load", "<frozen importlib._bootstrap>", 1176)
        >>> [str(each) for each in folded([Frame("py", "f", "f.py", 1), import_frame, import_frame])][1]
        "… 2 frames of Python's import"
    """
    entries: list[Frame | Fold] = list(frames[:1])
    run: list[Frame] = []
    kind: str | None = ""
    for frame in [*frames[1:], None]:
        now = _boilerplate(frame, unfold) if frame else None
        if run and now != kind:
            entries += [Fold(kind, tuple(run))] if kind and len(run) >= FEWEST else run
            run = []
        kind = now
        if frame:
            run.append(frame)
    return entries


def _boilerplate(frame: Frame, unfold: Collection[str]) -> str:
    """Return the kind of boilerplate that a frame belongs to; an empty text for a frame of the program's own."""
    return next(
        (what for what, files in BOILERPLATE.items() if what not in unfold and re.search(files, frame.file)), ""
    )
