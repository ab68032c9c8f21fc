"""The error of a checkpoint: what failed, on which ranks.

Mirrors: torch/distributed/checkpoint/api.py
"""

from __future__ import annotations

import traceback
from typing import Any

__all__ = ["CheckpointException"]


def _wrap_exception(error: BaseException) -> tuple[BaseException, traceback.StackSummary]:
    """Return an error and its stack in a form that can be sent to another rank."""
    summary = traceback.extract_tb(error.__traceback__)
    for frame in summary:
        if hasattr(frame, "_code"):  # of Python 3.13; code cannot be pickled
            object.__setattr__(frame, "_code", None)
    return error.with_traceback(None), summary


class CheckpointException(BaseException):
    """Saving or loading has failed on at least one rank. All ranks raise this error.

    Args:
        msg: what failed.
        failures: the error of each rank that failed, and its stack.

    Mirrors torch/distributed/checkpoint/api.py, ``CheckpointException``.
    """

    def __init__(self, msg: str, failures: dict[int, Any]) -> None:
        super().__init__(msg, failures)
        self._failures = failures

    @property
    def failures(self) -> dict[int, Any]:
        """The error of each rank that failed, and its stack."""
        return self._failures

    def __str__(self) -> str:
        lines = [f"CheckpointException ranks:{self._failures.keys()}\n"]
        for rank, (error, stack) in self._failures.items():
            lines.append(f"Traceback (most recent call last): (RANK {rank})\n")
            lines += traceback.format_list(stack)
            lines += traceback.format_exception_only(type(error), error)
        return "".join(lines)
