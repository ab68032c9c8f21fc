"""Stops in a worker of a DataLoader: Python's debugger in ``__getitem__``, gdb in the kernel below it.

Mirrors: nothing in PyTorch: tests of tools that it does not have.
Left out: forkserver, whose server no debugger follows.
"""

from __future__ import annotations

import re
from typing import Any

from tests.debug.dap import Connected
from tests.debug.launch import (
    KERNEL,
    KERNEL_LINE,
    WORKERS,
    PythonSession,
    configuration,
    drives,
    follow_children,
    line_of,
)
from tests.debug.test_launch_gdb import attach, detach, start_gdb

ITEM_LINE = line_of(WORKERS, "        return a * a")
BREAKPOINTS = {WORKERS: [line_of(WORKERS, "    contexts = "), ITEM_LINE]}
PRINTED = "[[[4.0, 4.0]], [[9.0, 9.0]]]"


@drives("Python only: this file")
def test_python_stops_in_getitem() -> None:
    """In the worker that is forked and in the worker that is spawned."""
    values = []

    def look(worker: Connected, stopped: dict[str, Any]) -> None:
        frame, caller = worker.frames(stopped["threadId"], 2)
        assert (frame["source"]["path"], frame["line"], frame["name"]) == (WORKERS, ITEM_LINE, "__getitem__")
        assert "fetch" in caller["source"]["path"]
        number = worker.evaluate("torch.utils.data.get_worker_info().id", frame["id"])
        values.append((number, worker.evaluate("index", frame["id"]), worker.evaluate("a", frame["id"])))
        worker.ask("continue", threadId=stopped["threadId"])

    root = PythonSession("Python only: this file", BREAKPOINTS, file=WORKERS)
    try:
        root.go_on()
        follow_children(root, BREAKPOINTS, look)
        assert values == [("0", "0", "tensor([2., 2.])"), ("0", "1", "tensor([3., 3.])")] * 2
        assert f"fork {PRINTED}" in root.printed() and f"spawn {PRINTED}" in root.printed()
    finally:
        root.close()


@drives("C++ only: attach to a running process")
def test_gdb_stops_in_the_kernel_of_a_worker() -> None:
    """gdb attaches to each worker while Python's debugger holds it in its first item."""
    stacks = []

    def look(worker: Connected, stopped: dict[str, Any]) -> None:
        frame = worker.frames(stopped["threadId"], 1)[0]
        if worker.evaluate("index", frame["id"]) != "0":
            worker.post("continue", threadId=stopped["threadId"])
            return
        pid = int(worker.evaluate("__import__('os').getpid()", frame["id"]))
        own = configuration("C++ only: attach to a running process", **{"command:pickProcess": pid})
        gdb = start_gdb(own)
        try:
            attach(gdb, int(own["pid"]))
            worker.post("continue", threadId=stopped["threadId"])
            kernel = gdb.frames(gdb.event("stopped")["threadId"], 1)[0]
            assert (kernel["source"]["path"], kernel["line"]) == (KERNEL, KERNEL_LINE)
            assert gdb.evaluate("iter.numel()", kernel["id"]) == "2"
            stacks.append(gdb.evaluate("rt-bt", kernel["id"], "repl") + gdb.printed())
            detach(gdb)
        finally:
            gdb.close()

    root = PythonSession("Python only: this file", BREAKPOINTS, file=WORKERS)
    try:
        root.go_on()
        follow_children(root, BREAKPOINTS, look)
        assert len(stacks) == 2
        expected = r"native::mul_kernel\b.*workers.py:\d+ +\S*__getitem__\b"
        assert all(re.search(expected, stack, re.S) for stack in stacks), stacks
        assert f"fork {PRINTED}" in root.printed() and f"spawn {PRINTED}" in root.printed()
    finally:
        root.close()
