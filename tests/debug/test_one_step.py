"""The walk of chapter 08 in an editor: from `BatchNorm2d` into its kernel, and back through the kernel of backward.

Mirrors: nothing in PyTorch: tests of tools that it does not have.
Left out: VS Code's window.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from course._tools.trees import bare
from tests.debug.host import NODE, Host, Hosted
from tests.debug.launch import ROOT, configuration, line_of

NAME = "Debug this file"
PROGRAM = ROOT / "course" / "08_norm_layers" / "one_step.py"
MODULE = ROOT / "reftorch" / "nn" / "modules" / "batchnorm.py"
KERNELS = ROOT / "cpp" / "ATen" / "native" / "cpu" / "NormalizationKernel.cpp"
TRACKED_LINE = line_of(str(MODULE), "        tracked = not self.training")
LOOPS = KERNELS.with_name("BatchNormRows.h")
VARIANCE_LINE = line_of(str(KERNELS), "  if (running_var.defined()) {")
COMBINE_LINE = line_of(str(LOOPS), "    dx[i] = dy[i] * a")


@pytest.fixture
def host() -> Iterator[Host]:
    host = Host()
    try:
        yield host
    finally:
        host.close()


def breakpoint_at(session: Hosted, path: Path, line: int) -> None:
    session.ask("setBreakpoints", source={"path": str(path)}, breakpoints=[{"line": line}])


def stop_of(gdb: Hosted, *asked: str) -> tuple[int, list[str], dict[str, str]]:
    """The next stop: its thread, the functions on the stack, and the values of expressions in the innermost frame."""
    thread = gdb.event("stopped")["threadId"]
    frames = gdb.frames(thread, 60)
    values = {text: gdb.evaluate(text, frames[0]["id"]) for text in asked}
    return thread, [bare(frame["name"]) for frame in frames], values


@pytest.mark.skipif(NODE is None, reason="needs node, in which the extension runs: apt install nodejs")
def test_one_step_is_followed_into_both_kernels(host: Host) -> None:
    host.start(configuration(NAME, file=str(PROGRAM)), {str(MODULE): [TRACKED_LINE]})
    python, gdb = host.opened("reftorch"), host.opened("reftorch-gdb")
    thread = python.event("stopped")["threadId"]
    frame = python.frames(thread, 1)[0]
    assert frame["name"] == "forward"
    assert python.evaluate("self.training, factor", frame["id"]) == "(True, 0.1)"
    breakpoint_at(gdb, KERNELS, VARIANCE_LINE)
    python.ask("continue", threadId=thread)
    thread, names, values = stop_of(gdb, "running_mean", "running_var", "variance", "count")
    assert names.index("batch_norm_update_kernel") == 0
    assert names.index("native_batch_norm") < names.index("batch_norm")
    assert [values[name].partition("] [")[2] for name in ("running_mean", "running_var", "variance")] == [
        "0.4, 1.5]", "1, 1]", "5, 25]",
    ]  # fmt: skip
    assert values["count"] == "4"
    breakpoint_at(gdb, LOOPS, COMBINE_LINE)
    gdb.ask("continue", threadId=thread)
    _, names, values = stop_of(gdb, "i", "m", "a", "b", "c", "dy[i]", "x[i]")
    assert {name: round(float(value), 4) for name, value in values.items()} == {
        "i": 0, "m": 4, "a": 0.4472, "b": -0.4025, "c": -1.118, "dy[i]": 0, "x[i]": 1,
    }  # fmt: skip
    for inner, outer in (
        ("batch_norm_backward_kernel", "native_batch_norm_backward"),
        ("evaluate_function", "execute"),
    ):
        assert names.index(inner) < names.index(outer)
