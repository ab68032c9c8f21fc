"""Several ranks under an editor: all of them from one launch, and one to which the debuggers attach.

Mirrors: nothing in PyTorch: tests of tools that it does not have.
Left out: VS Code's window; ranks on several machines.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.debug.dap import PATIENCE
from tests.debug.host import Host, Hosted
from tests.debug.kernel import state_of
from tests.debug.launch import KERNEL, KERNEL_LINE, ROOT, configuration, drives, line_of
from tests.debug.test_extension import frame_of, host, let_go, needs_node, no_more_stops, until  # noqa: F401

RANKS = str(Path(__file__).with_name("ranks.py"))
SCALED_LINE = line_of(RANKS, "    return a * 10")
RING = str(ROOT / "cpp" / "csrc" / "distributed" / "c10d" / "gloo" / "allreduce.cpp")
STACK = r"rank 1 of 2, group default_pg\n.*c\+\+ .*native::mul_kernel\b.*py .*ranks.py:\d+ +scaled\b"


@needs_node
@drives("Debug this file, all ranks")
def test_both_languages_in_all_ranks(host: Host) -> None:  # noqa: F811
    """Each rank stops in Python and in C++, with its own numbers, and holds the other for as long as it stands."""
    host.start(configuration("Debug this file, all ranks", file=RANKS), {RANKS: [SCALED_LINE], KERNEL: [KERNEL_LINE]})
    launcher = host.opened("reftorch")
    stops: dict[str, list[str]] = {}
    end = time.monotonic() + 2 * PATIENCE
    while launcher.event_or_none("terminated") is None:
        assert time.monotonic() < end, stops
        for session in list(host.sessions.values()):
            if stopped := session.event_or_none("stopped"):
                name = session.configuration["name"]
                frame = frame_of(session, stopped)
                assert (frame["source"]["path"], frame["line"]) in ((RANKS, SCALED_LINE), (KERNEL, KERNEL_LINE))
                stops.setdefault(name, []).append(look(session, frame))
                session.post("continue", threadId=stopped["threadId"])
        time.sleep(0.05)
    python = {"rank 0 of 2": ["[[1.0, 1.0], [1.0, 1.0]]"], "rank 1 of 2": ["[[2.0, 2.0], [2.0, 2.0]]"]}
    assert stops == python | {"C++ of rank 0 of 2": ["rank 0 of 2"], "C++ of rank 1 of 2": ["rank 1 of 2"]}
    assert "incompatible copy of pydevd" not in launcher.printed()
    assert "[launcher] a debugger is here: the time-outs of groups are lifted" in launcher.printed()
    for rank in (0, 1):
        assert f"rank {rank}: [[30.0, 30.0], [30.0, 30.0]]" in launcher.printed()


def look(session: Hosted, frame: dict[str, Any]) -> str:
    """What a stop shows of the rank: its tensor in Python, and in C++ the first line of `rt-bt`."""
    if frame["source"]["path"] == RANKS:
        return session.evaluate("a.tolist()", frame["id"])
    shown = session.evaluate("rt-bt", frame["id"], "repl") + session.printed()
    found = re.search(r"rank \d of \d(?=, group default_pg)", shown)
    assert found, shown
    return found[0]


@pytest.fixture
def waiting_ranks() -> Iterator[subprocess.Popen[str]]:
    """Two ranks without a debugger: rank 0 waits for a line, rank 1 waits for rank 0 in a barrier."""
    environment = configuration("Debug this file, all ranks")["env"]  # so that debuggers may attach
    command = [sys.executable, "-m", "reftorch.distributed.run", "--standalone", "--nproc-per-node", "2", RANKS, "wait"]
    pipes: Any = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    with subprocess.Popen(command, **pipes, cwd=ROOT, env=os.environ | environment) as launcher:
        try:
            assert launcher.stdout is not None and launcher.stdout.readline() == "both run\n"
            yield launcher
        finally:
            launcher.terminate()


def parent_of(pid: int) -> int:
    return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])


@needs_node
@drives("Attach to a rank")
def test_both_languages_in_a_rank_that_runs(host: Host, waiting_ranks: subprocess.Popen[str]) -> None:  # noqa: F811
    """The picker offers the ranks in order; rank 1 stops in Python, in a kernel and in the ring all-reduce."""
    host.tell(pick="reftorch-debug.pickRank")
    mine = [each for each in host.wait_for("offered") if waiting_ranks.pid == parent_of(int(each["description"]))]
    offered = {each["label"]: int(each["description"]) for each in mine}  # ranks of other programs may run here, too
    assert list(offered) == ["rank 0 of 2", "rank 1 of 2"] and all(RANKS in each["detail"] for each in mine)
    host.wait_for("picked")
    pid = offered["rank 1 of 2"]
    own = configuration("Attach to a rank", **{"command:pickRank": pid})
    host.start(own, {RANKS: [SCALED_LINE], KERNEL: [KERNEL_LINE]})
    python, gdb = host.opened("reftorch"), host.opened("reftorch-gdb")
    assert gdb.configuration["name"] == "C++ of rank 1 of 2"
    gdb.event("process")  # gdb has attached
    until(lambda: state_of(pid) in "SR", "the rank runs on")
    assert waiting_ranks.stdin is not None and waiting_ranks.stdout is not None
    waiting_ranks.stdin.write("\n")
    waiting_ranks.stdin.flush()

    stopped = python.event("stopped")
    frame = frame_of(python, stopped)
    assert (frame["source"]["path"], frame["line"], frame["name"]) == (RANKS, SCALED_LINE, "scaled")
    assert python.evaluate("a.tolist()", frame["id"]) == "[[2.0, 2.0], [2.0, 2.0]]"
    python.ask("continue", threadId=stopped["threadId"])
    thread = gdb.event("stopped")["threadId"]
    kernel = gdb.frames(thread, 1)[0]
    assert (kernel["source"]["path"], kernel["line"]) == (KERNEL, KERNEL_LINE)
    shown = gdb.evaluate("rt-bt", kernel["id"], "repl") + gdb.printed()
    assert re.search(STACK, shown, re.S), shown

    no_more_stops(gdb)
    line = line_of(RING, "void allreduce(", 1)
    gdb.ask("setBreakpoints", source={"path": RING}, breakpoints=[{"line": line}])
    gdb.ask("continue", threadId=thread)
    thread = gdb.event("stopped")["threadId"]
    ring = gdb.frames(thread, 1)[0]
    assert ring["source"]["path"] == RING and "allreduce" in ring["name"]
    names = {each["id"]: each["name"] for each in gdb.ask("threads")["threads"]}
    assert names[thread] == "collectives of a group"
    assert "messages of a group" in names.values()
    gdb.ask("setBreakpoints", source={"path": RING}, breakpoints=[])
    let_go(python, gdb, thread)
    waiting_ranks.wait(PATIENCE)
    assert waiting_ranks.returncode == 0
    lines = sorted(waiting_ranks.stdout.read().splitlines())
    assert lines == [f"rank {rank}: [[30.0, 30.0], [30.0, 30.0]]" for rank in (0, 1)]
