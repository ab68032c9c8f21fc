"""Two ranks in the editor's window, from one launch: stops in Python and in a kernel; takes the picture of chapter 12.

Mirrors: nothing in PyTorch: it tests no editor.
Left out: the stop in the ring all-reduce, and the answers of the debuggers; tests/debug/test_ranks.py has both.

The lesson shows the picture course/12_parallel/two_ranks.png. With `REFTORCH_COURSE_STORE=1` in the environment this
part takes that picture anew.
"""

from __future__ import annotations

import os
import re

from tests.debug.launch import KERNEL, KERNEL_LINE, ROOT
from tests.debug.test_ranks import ALL_RANKS, CHAPTER, TRAIN, TRAIN_LINE
from tests.vscode.server import Server
from tests.vscode.window import SMALL, StageFailed, Window

PICTURE = CHAPTER / "two_ranks.png"
TRAIN_FILE, KERNEL_FILE = (os.path.relpath(file, ROOT) for file in (TRAIN, KERNEL))
SAMPLES = "list(sampler)[:5]"
RANKS = ("rank 0 of 2", "rank 1 of 2")


def stop_in_python(window: Window) -> None:
    """Each rank stops on the same line and has its own samples."""
    window.open(TRAIN_FILE, TRAIN_LINE)
    window.press("F9")
    window.start_offered(ALL_RANKS, fold_breakpoints=True)
    window.wait_for_row(window.call_stack, rf"Stack Frame <module>, line {TRAIN_LINE}, train\.py")
    for expression in ("rank", SAMPLES):
        window.watch(expression)
    samples = []
    for number, rank in enumerate(RANKS):
        window.select_paused(rank, window.watches, rf"^rank, value {number}$")
        samples.append(window.wait_for_row(window.watches, rf"^{re.escape(SAMPLES)}, value \["))
        window.shot(f"ranks_{number + 1}_python", f"{rank} stands in Python: {samples[-1]}")
    if samples[0] == samples[1]:
        raise StageFailed(f"both ranks have the same samples: {samples}")


def stop_in_a_kernel(window: Window) -> None:
    """The forward pass multiplies, in its dropout. Both ranks stop there, and rank 1 is looked at."""
    window.set_breakpoint(KERNEL_FILE, KERNEL_LINE)
    for number, rank in enumerate(RANKS):
        window.select_paused(rank, window.watches, rf"^rank, value {number}$")
        window.drive("F5")
    value = window.select_paused(f"C++ of {RANKS[1]}", window.variables, r"^iter, value .*in f32\[8, 32\]")
    window.say_in_console("rt-bt")
    window.wait_for_row(window.console, f"{RANKS[1]}, group default_pg")
    window.shot("ranks_3_kernel", f"{RANKS[1]} stands in a kernel: {value}")


def take_picture(window: Window) -> None:
    before = window.page.viewport_size
    window.page.set_viewport_size(SMALL)
    window.fold("Watch")  # Python's expressions mean nothing here, and more of the stack is in sight
    window.picture(PICTURE)
    window.page.set_viewport_size(before)
    window.fold("Watch", False)


def run_to_the_end(window: Window, server: Server) -> None:
    window.command("Remove All Breakpoints")
    window.command("Debug Console: Focus on Debug Console View")
    for rank in RANKS:
        window.select_paused(f"C++ of {rank}", window.owners_of_console, f"^{rank}$")
        window.drive("F5")
    window.until(lambda: not window.call_stack(), "the end of all sessions")
    window.until(lambda: not server.debuggers(), "no process of the sessions is left")
    window.shot("ranks_4_ended", "all sessions have ended, and no process is left")


def debug_two_ranks(window: Window, server: Server) -> None:
    stop_in_python(window)
    stop_in_a_kernel(window)
    take_picture(window)
    run_to_the_end(window, server)
