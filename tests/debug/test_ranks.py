"""The stops of chapter 12: both ranks of its program, in Python, and in C++ in the ring all-reduce.

Mirrors: nothing in PyTorch: tests of tools that it does not have.
Left out: VS Code's window; vscode_host.js plays its part.
"""

from __future__ import annotations

import time
from pathlib import Path

from course._tools.layout import COURSE
from course._tools.notebook import read
from tests.debug.dap import PATIENCE
from tests.debug.host import Host
from tests.debug.launch import configuration, drives, line_of
from tests.debug.test_all_ranks import RING
from tests.debug.test_extension import frame_of, host, needs_node  # noqa: F401

CHAPTER = COURSE / "12_parallel"
TRAIN = str(CHAPTER / "train.py")
TRAIN_LINE = line_of(TRAIN, "optimizer =")
RING_LINE = line_of(RING, "void allreduce(", 1)
ALL_RANKS = "Debug this file, all ranks"


@needs_node
@drives("Debug this file, all ranks")
def test_both_ranks_stop_in_train_and_in_the_ring(host: Host) -> None:  # noqa: F811
    assert f"*{ALL_RANKS}*" in "".join(cell["source"] for cell in read(CHAPTER / "lesson.ipynb")["cells"])
    host.start(configuration(ALL_RANKS, file=TRAIN), {TRAIN: [TRAIN_LINE], RING: [RING_LINE]})
    launcher = host.opened("reftorch")
    stops: list[tuple[str, str, str]] = []
    samples = []
    end = time.monotonic() + 2 * PATIENCE
    while launcher.event_or_none("terminated") is None:
        assert time.monotonic() < end, stops
        for session in list(host.sessions.values()):
            if stopped := session.event_or_none("stopped"):
                frame = frame_of(session, stopped)
                file, asked = Path(frame["source"]["path"]).name, "context.rank"
                if file == "train.py":
                    asked = "rank"
                    samples.append(session.evaluate("list(sampler)", frame["id"]))
                else:
                    session.ask("setBreakpoints", source={"path": RING}, breakpoints=[])
                stops.append((session.configuration["name"], file, session.evaluate(asked, frame["id"])))
                session.post("continue", threadId=stopped["threadId"])
        time.sleep(0.05)
    assert sorted(stops) == [
        ("C++ of rank 0 of 2", "allreduce.cpp", "0"),
        ("C++ of rank 1 of 2", "allreduce.cpp", "1"),
        ("rank 0 of 2", "train.py", "0"),
        ("rank 1 of 2", "train.py", "1"),
    ]
    assert samples[0] != samples[1]
    assert "2 ranks: loss 0.39" in launcher.printed()
