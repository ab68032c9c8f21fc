"""Breakpoints on the lines of kernels that compute: gdb stops before the line has run, and steps from line to line.

Mirrors: nothing in PyTorch: tests of tools that it does not have.
Left out: the other kernels, whose lines tests/native/test_line_table.py walks; VS Code's window, which
tests/vscode/arithmetic.py drives.
"""

from __future__ import annotations

import itertools
from pathlib import Path

from reftorch.debug.core.gdb_session import Job, run_fresh
from tests.debug.launch import ROOT

PROGRAM = Path(__file__).with_name("five_kernels.py")
PRINTED = "[12.0, 13.5, 9.75, 1.0, 7.5]"
STEPS = 3
NATIVE = ROOT / "cpp" / "ATen" / "native"
# For each op: the file, the text above the line, the line, and what its operands are before the line has run.
LINES = [
    ("BinaryOpsFunctors.h", "struct AddFunctor", "return a + alpha * b;", {"a": "3", "b": "4.5"}),
    ("BinaryOpsFunctors.h", "struct MulFunctor", "return a * b;", {"a": "3", "b": "4.5"}),
    (
        "PointwiseOpsFunctors.h",
        "struct AddcmulFunctor",
        "return self + value * t1 * t2;",
        {"self": "3", "t1": "4.5", "t2": "0.5"},
    ),
    (
        "PointwiseOpsFunctors.h",
        "struct SmoothL1Functor",
        "const opmath_t d = std::fabs(self - target);",
        {"self": "3", "target": "4.5"},
    ),
    (
        "cpu/CumulativeOpsKernel.cpp",
        "void scan_dense(",
        "acc = join(acc, scan_type<scalar_t>(x[i]));",
        {"acc": "3", "in": "-> 4.5", "n": "1"},
    ),
]


def place(file: str, above: str, text: str) -> tuple[Path, int]:
    """The file of a kernel, and the number of the line with this text below another text."""
    lines = (NATIVE / file).read_text().split("\n")
    start = next(i for i, line in enumerate(lines) if above in line)
    return NATIVE / file, 1 + next(i for i in range(start, len(lines)) if lines[i].strip() == text)


def test_five_kernels_stop_before_the_line_has_run_and_step_along_the_lines() -> None:
    places = [place(file, above, text) for file, above, text, _ in LINES]
    breaks = [f"{path.relative_to(ROOT)}:{line}" for path, line in places]
    events, printed = run_fresh(PROGRAM.read_text(), Job(breaks=breaks, commands=["next"] * STEPS, stops=len(LINES)))
    assert printed.strip() == PRINTED
    stops = [event for event in events if event["kind"] == "stop"]
    assert [(Path(stop["file"]), stop["line"]) for stop in stops] == places
    for stop, (*_, operands) in zip(stops, LINES, strict=True):
        assert operands.items() <= dict(stop["locals"]).items()
        assert "d" not in dict(stop["locals"])  # which the line is about to compute
    steps = [event["text"].split("  ")[0] for event in events if event["kind"] == "command"]
    assert len(steps) == STEPS * len(LINES)
    for number, start in enumerate(breaks):
        seen = [start, *steps[STEPS * number : STEPS * (number + 1)]]
        assert all(step.startswith("cpp/") for step in seen), seen
        assert all(before != after for before, after in itertools.pairwise(seen)), seen
    assert events[-1]["kind"] == "end"
