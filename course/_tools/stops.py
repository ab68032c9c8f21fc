"""Questions to gdb, for exercises that are checked against the running program.

Mirrors: nothing in PyTorch: the course's own.
Leaves out: looking at a stop; that is `%%gdb`.
"""

from __future__ import annotations

from functools import lru_cache

from reftorch.debug import _gdb_session as session


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


def _said(events: list[session.Event]) -> str:
    return "; ".join(event["text"] for event in events if event["kind"] in ("error", "bad_break", "note")) or "nothing"
