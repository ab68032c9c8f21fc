"""The ops that ran under a checkpoint, for error messages: each op, with the line of the program that called it.

Mirrors: torch/utils/checkpoint.py, ``_get_debug_context_and_cb``, torch/testing/_internal/logging_tensor.py
Leaves out: stacks of C++.
"""

from __future__ import annotations

import sys
from pathlib import Path
from types import FrameType
from typing import Any

from reftorch import _C

__all__ = ["OpLog", "error_text"]

_LIBRARY = str(Path(__file__).resolve().parents[1])


def _caller(frame: FrameType | None) -> str:
    """Return the innermost line that is not in the library."""
    while frame is not None and frame.f_code.co_filename.startswith(_LIBRARY):
        frame = frame.f_back
    return "" if frame is None else f"{frame.f_code.co_filename}:{frame.f_lineno}:{frame.f_code.co_name}"


def _shown(value: Any) -> str:
    if isinstance(value, _C.TensorBase):
        return f"{str(value.dtype).rpartition('.')[2]}{list(value.shape)}"
    if isinstance(value, (tuple, list)):
        return "[" + ", ".join(map(_shown, value)) + "]"
    return repr(value)


class OpLog:
    """Records all ops called inside its ``with`` block in order, nested ones included.

    Entering a log raises a RuntimeError while another tool observes ops, such as another log or the profiler.
    """

    def __init__(self) -> None:
        self.ops: list[str] = []
        self.places: list[str] = []

    def _start(self, op: str, arguments: tuple[Any, ...]) -> None:
        self.ops.append(f"{op}({', '.join(map(_shown, arguments))})")
        self.places.append(_caller(sys._getframe().f_back))  # a thread of the engine may have no frame below this one

    def __enter__(self) -> None:
        self.ops.clear()
        self.places.clear()
        _C._debug.set_op_observer(self._start, lambda op, results: None)

    def __exit__(self, *exc_info: Any) -> None:
        _C._debug.clear_op_observer()

    def with_places(self, label: str) -> str:
        """Return a text with each op and the line that called it."""
        count = len(self.ops)
        entries = zip(self.ops, self.places, strict=True)
        return "\n".join(f"{op}   ({i} of {count} in {label})\n{place}\n" for i, (op, place) in enumerate(entries, 1))


def error_text(forward: OpLog, recompute: OpLog) -> str:
    """Return the message for a recomputation that did not save the tensors of the forward call."""
    return (
        "An error happened while unpacking tensors; these are the ops of the latest computation, because you passed "
        "`debug=True` to `torch.utils.checkpoint.checkpoint()`.\n\n"
        f"1. Where the ops of the original forward were called\n\n{forward.with_places('original')}\n"
        f"2. Where the ops of the recomputation were called\n\n{recompute.with_places('recompute')}\n"
        "3. The ops of both. Calls of detach are the checkpoint's own.\n\n"
        "Operations executed during the original forward:\n\n" + "\n".join(forward.ops) + "\n\n"
        "Operations executed during recomputation:\n\n" + "\n".join(recompute.ops) + "\n\n"
        "ERROR: Detected non-determinism while running activation checkpointing\n\n"
        "You are seeing this error because you passed `debug=True` to checkpoint and tensors to be saved during the "
        "original forward and differ between those saved during recomputation. This can happen if different operators "
        "were ran in the original forward and in the recomputation. Hint: compare the two lists above; the first line "
        "in which they differ is where the function is not deterministic."
    )
