"""The stacks of all ranks of a group next to each other, for the diagnosis of a hang.

Mirrors: nothing in PyTorch, whose flight recorder writes the stacks of calls into files, one for each rank.
Left out: threads other than the one that made the group; C++ frames of ranks on other machines.

Note [Asking ranks for their stacks]
Problem: a rank that hangs cannot answer by its own program. Trick: the question travels through the connections of the
group. The thread of the mailbox reads it, and another C++ thread takes the GIL, which a rank that waits in a collective
or has stopped at a breakpoint of Python does not hold, and reads the stack. Then gdb attaches to each process on this
machine for a moment and reads the C++ frames. Limits: a rank that computes in C++ without releasing the GIL answers
when that ends, or too late; a rank that gdb keeps stopped does not answer.
"""

from __future__ import annotations

import html
import json
import os
import re
import socket
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

import reftorch.distributed as dist
from reftorch.debug.common.columns import TEXT, Column, as_html, as_text
from reftorch.debug.common.display import DIM, STYLE, link, scrub
from reftorch.debug.common.native import NeedsDebugBuild, StaleLibrary, root
from reftorch.debug.core.find_gdb import GdbNotFound
from reftorch.debug.core.folded_stack import Fold, Frame, folded
from reftorch.debug.core.gdb_session import GdbFailed, stacks_in_process, stacks_in_this_process

# Files of programs that run the user's code; the same as in gdb/reftorch_gdb/stack.py.
RUNNERS = re.compile(
    r"/(ipykernel|IPython|debugpy|_pydevd_bundle|pydevd|pluggy|_pytest)/|/runpy\.py$|^<frozen runpy>"
    r"|/debug/notebook/ranks\.py$|/_internal/common_distributed\.py$"
)
ENOUGH = 34  # characters of a line, so that three ranks fit beside each other
ASKING = re.compile(r"/debug/core/rank_stacks\.py$|/distributed/_stacks\.py$")


@dataclass
class RankStack:
    """The place where one rank is.

    Attributes:
        rank: its global rank.
        doing: the collective that it waits in, or the last one that it called; None if it does not answer.
        frames: its stack, innermost first.
    """

    rank: int
    doing: str | None = None
    frames: list[Frame] = field(default_factory=list)

    def column(self) -> Column:
        if self.doing is None:
            return Column(f"rank {self.rank}", [{"text/plain": "does not answer"}], failed=True)
        entries = folded(self.frames)
        text = [scrub(self.doing), *("\n".join(_lines(each)) for each in entries)]
        rows = [f"<b>{html.escape(scrub(self.doing), quote=False)}</b>", *map(_html_line, entries)]
        inside = "".join(f"<div>{row}</div>" for row in rows)
        return Column(
            f"rank {self.rank}",
            [{"text/plain": "\n".join(text), "text/html": f'<div style="{TEXT}">{inside}</div>'}],
        )


class RankStacks:
    """The stacks of the ranks of a group; ``print`` gives text, a notebook shows HTML.

    Attributes:
        ranks: a :class:`RankStack` for each rank.
        notes: sentences about the ranks, and about what could not be read.
    """

    def __init__(self, ranks: Sequence[RankStack], notes: Sequence[str] = ()) -> None:
        self.ranks, self.notes = list(ranks), [*filter(None, [_who_waits(ranks)]), *notes]

    def __str__(self) -> str:
        return "\n\n".join([*self.notes, as_text([each.column() for each in self.ranks], ENOUGH)])

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        notes = "".join(f'<div style="{STYLE}">{html.escape(note, quote=False)}</div>' for note in self.notes)
        return notes + as_html([each.column() for each in self.ranks], ENOUGH)


def rank_stacks(group: Any = None, timeout: float = 5.0, cpp: bool = True) -> RankStacks:
    """Return the stacks of all ranks of a group, and which collective each waits in.

    Any rank may ask, from any thread, and the others need not do anything: a rank answers while it waits in a
    collective or at a breakpoint of Python. To look at a program that hangs, let a timer of one rank ask:
    ``threading.Timer(30, lambda: print(rank_stacks(group))).start()``.

    Args:
        group: the default group if None. A thread that is not a rank, such as a timer's, names the group,
            ``dist.group.WORLD``, where ranks are threads.
        timeout: how many seconds the ranks have to answer.
        cpp: whether to show C++ frames, too. This needs the Debug build and gdb, which stops each process for a moment;
            without them, the stacks are those of Python, and a note says why.

    Raises:
        ValueError: there is no default group, or this process is not a member of the group.
        NotImplementedError: the group has another backend than gloo.

    Example:
        >>> import reftorch.distributed as dist
        >>> from reftorch.debug import rank_stacks
        >>> dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
        >>> dist.barrier()
        >>> rank_stacks(cpp=False).ranks[0].doing.split(" at ")[0]
        'has ended its last call, #1 barrier'
        >>> dist.destroy_process_group()

    Mirrors nothing in PyTorch.
    """
    if group == dist.GroupMember.NON_GROUP_MEMBER:
        raise ValueError("rank_stacks: this process is not a member of the group")
    pg = dist.distributed_c10d._group_or_default_group(group)
    answers = pg._stacks_of_ranks(timedelta(seconds=timeout))
    found = {rank: json.loads(text) for rank, text in answers.items() if text.startswith("{")}
    frames = {rank: [Frame("py", *frame) for frame in answer["frames"]] for rank, answer in found.items()}
    notes = _add_cpp(found, frames) if cpp else []
    ranks = []
    for rank in range(pg.size()):
        doing = found[rank]["doing"] if rank in found else answers.get(rank)
        ranks.append(RankStack(_global_rank(pg, rank), doing, of_program(frames.get(rank, []))))
    return RankStacks(ranks, notes)


def _global_rank(pg: Any, rank: int) -> int:
    try:
        return dist.get_global_rank(pg, rank)
    except ValueError:  # a group that was made without new_group, or by another thread
        return rank


def _add_cpp(found: dict[int, dict[str, Any]], frames: dict[int, list[Frame]]) -> list[str]:
    """Replace the stacks of the ranks on this machine by stacks of both languages; return why some were not."""
    here = socket.gethostname()
    processes: dict[int, list[int]] = {}
    for rank, answer in found.items():
        if answer["host"] == here and answer["thread"] is not None:
            processes.setdefault(answer["process"], []).append(rank)
    notes: dict[str, None] = {}
    for process, ranks in processes.items():
        threads = [found[rank]["thread"] for rank in ranks]
        try:
            read = stacks_in_this_process(threads) if process == os.getpid() else stacks_in_process(process, threads)
        except (GdbFailed, GdbNotFound, NeedsDebugBuild, StaleLibrary) as error:
            notes[f"Frames of C++ are missing: {str(error).splitlines()[0]}"] = None
            continue
        for event in read:
            if event["kind"] == "stop" and event["stack"]:
                frames[ranks[event["number"] - 1]] = [Frame(*frame) for frame in event["stack"]]
    return list(notes)


def of_program(frames: Sequence[Frame]) -> list[Frame]:
    """Return the part of a whole stack that belongs to the program: not debuggers, this tool, or what runs cells."""
    inner = [i for i, each in enumerate(frames) if each.language == "py" and ASKING.search(each.file)]
    rest = list(frames[inner[-1] + 1 :] if inner else frames)
    first = next((i for i, each in enumerate(rest) if each.language == "py"), None)
    if first is not None and RUNNERS.search(rest[first].file):  # the rank has stopped at a breakpoint
        while rest and (rest[0].language == "c++" or RUNNERS.search(rest[0].file)):
            rest.pop(0)
    while len(rest) > 1 and rest[0].language == "c++" and not rest[0].file.startswith(f"{root()}/"):
        rest.pop(0)  # how libc waits
    end = next((i for i, each in enumerate(rest) if each.language == "py" and RUNNERS.search(each.file)), len(rest))
    return rest[:end]


def _who_waits(ranks: Sequence[RankStack]) -> str:
    """Return who waits for whom; an empty text if no rank waits, or all do."""
    waiting = [each for each in ranks if (each.doing or "").startswith("waits in ")]
    others = [each for each in ranks if each not in waiting]
    if not waiting or not others:
        return ""
    call = (waiting[0].doing or "").removeprefix("waits in ").rpartition(" at ")
    verb, has = ("waits" if len(waiting) == 1 else "wait"), ("has" if len(others) == 1 else "have")
    return f"{_named(waiting)} {verb} in {call[0] or call[2]}, which {_named(others)} {has} not called."


def _named(ranks: Sequence[RankStack]) -> str:
    """Return "rank 1", "ranks 0 and 2" or "ranks 0, 2 and 3"."""
    numbers = [str(each.rank) for each in ranks]
    if len(numbers) == 1:
        return f"rank {numbers[0]}"
    return f"ranks {', '.join(numbers[:-1])} and {numbers[-1]}"


def _place(frame: Frame) -> str:
    """Return the place of a frame; without the folder in files of the library, because columns are narrow."""
    file = scrub(frame.file)
    if file.startswith(("reftorch/", "cpp/")) or file != frame.file:
        file = file.rpartition("/")[2]
    return f"{file}:{frame.line}" if frame.line else file


def _lines(entry: Frame | Fold) -> list[str]:
    if isinstance(entry, Fold):
        return [str(entry)]
    return [f"{entry.language:<3} {scrub(entry.function)}  {_place(entry)}"]


def _html_line(entry: Frame | Fold) -> str:
    if isinstance(entry, Fold):
        inside = "".join(f"<div>{_html_line(frame)}</div>" for frame in entry.frames)
        return f'<details><summary style="{DIM}">{html.escape(str(entry))}</summary>{inside}</details>'
    place = link(entry.file, entry.line, _place(entry)) if entry.line else html.escape(_place(entry))
    return f"{entry.language:<3} {html.escape(scrub(entry.function), quote=False)}  {place}"
