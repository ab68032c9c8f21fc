"""Questions to gdb, for exercises that are checked against the running program.

Mirrors: nothing in PyTorch: the course's own.
Leaves out: showing a stop; that is `%%gdb`.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

from reftorch.debug.core import gdb_session as session


@lru_cache
def first_stops(program: str, *functions: str) -> list[str]:
    """Run `program` in a new Python under gdb; returns `functions` in the order in which each is first entered.

    The answer is kept, for a check that is run again.

    Raises:
        RuntimeError: gdb saw fewer of them; the message names those it missed.
    """
    job = session.Job(breaks=list(functions), stops=len(functions), context=0, commands=["clear"])
    events, _ = session.run_fresh(program, job)
    entered = [event["function"].split("(")[0].split("::")[-1] for event in events if event["kind"] == "stop"]
    if set(entered) != set(functions):
        missed = ", ".join(sorted(set(functions) - set(entered)))
        raise RuntimeError(f"gdb did not see {missed}; it stopped at {entered}, and said {_said(events)}")
    return entered


def values_at(place: str, run: Callable[[], Any], *, number: int = 1) -> dict[str, str]:
    """Run a program in this process; returns the locals at the stop of that number, by name, as gdb writes them.

    Args:
        place: a breakpoint in the words of `%%gdb`: an op, a function, or a file with a line.
        run: the program, a function without arguments.
        number: 1 for the first time that the program comes there.

    Raises:
        RuntimeError: the program came there less often; the message says what gdb said.
    """
    events, _ = session.run_attached(run, session.Job(breaks=[place], stops=number, context=0))
    stops = [event for event in events if event["kind"] == "stop"]
    if len(stops) < number:
        raise RuntimeError(f"gdb saw {len(stops)} of {number} stops at {place}, and said {_said(events)}")
    return dict(stops[-1]["locals"])


def _said(events: list[session.Event]) -> str:
    return "; ".join(event["text"] for event in events if event["kind"] in ("error", "bad_break", "note")) or "nothing"
