"""The walk of chapter 08 in the editor's window: a batch norm's kernel in forward and in backward; takes its picture.

Mirrors: nothing in PyTorch: it tests no editor.
Left out: the answers of the two debuggers one by one; tests/debug/test_one_step.py compares them without a window.

The lesson shows the picture course/08_norm_layers/in_backward.png. With `REFTORCH_COURSE_STORE=1` in the environment
this part takes that picture anew.
"""

from __future__ import annotations

import os
import re

from tests.debug.launch import ROOT
from tests.debug.test_one_step import COMBINE_LINE, KERNELS, LOOPS, MODULE, PROGRAM, TRACKED_LINE, VARIANCE_LINE
from tests.vscode.debugging import CONFIGURATION
from tests.vscode.server import Server
from tests.vscode.window import SMALL, Window

PICTURE = PROGRAM.with_name("in_backward.png")
PROGRAM_FILE, MODULE_FILE, KERNELS_FILE, LOOPS_FILE = (
    os.path.relpath(file, ROOT) for file in (PROGRAM, MODULE, KERNELS, LOOPS)
)
WRITTEN = "dy[i] * a + (x[i] - m) * b + c"  # what the line is about to write


def stop_in_the_module(window: Window) -> None:
    window.set_breakpoint(MODULE_FILE, TRACKED_LINE)
    window.open(PROGRAM_FILE)
    window.start(CONFIGURATION, fold_breakpoints=True)
    window.wait_for_row(window.call_stack, rf"Stack Frame forward, line {TRACKED_LINE}, batchnorm\.py")
    factor = window.wait_for_row(window.variables, r"^factor, value 0\.1")
    window.shot("norm_1_module", f"stopped in Python, in the module: {factor}")


def stop_in_the_kernel(window: Window) -> None:
    window.set_breakpoint(KERNELS_FILE, VARIANCE_LINE)
    window.click_row("call-stack", "Stack Frame forward")  # Python's session is the one to continue
    window.drive("F5")
    window.wait_for_row(window.call_stack, rf"batch_norm_update_kernel.*, line {VARIANCE_LINE}")
    mean = window.wait_for_row(window.variables, r"^running_mean, value .*\[0\.4, 1\.5\]")
    variance = window.wait_for_row(window.variables, r"^running_var, value .*\[1, 1\]")
    window.shot("norm_2_kernel", f"stopped in C++, in the kernel of forward: {mean}; {variance}")


def stop_in_backward(window: Window) -> None:
    window.set_breakpoint(LOOPS_FILE, COMBINE_LINE)
    window.drive("F5")
    frame = window.wait_for_row(window.call_stack, rf"combine_run.*, line {COMBINE_LINE}")
    for name, value in (("a", "0.447"), ("b", "-0.402"), ("c", "-1.118")):
        window.wait_for_row(window.variables, f"^{name}, value {value}")
    for expression, value in (("dy[i]", "0"), ("x[i]", "1"), (WRITTEN, "0.0894")):
        window.watch(expression)
        window.wait_for_row(window.watches, f"^{re.escape(expression)}, value {value}")
    window.shot("norm_3_backward", f"stopped in C++, in the kernel of backward: {frame}")


def follow_one_step(window: Window, server: Server) -> None:
    before = window.page.viewport_size
    window.page.set_viewport_size(SMALL)
    stop_in_the_module(window)
    stop_in_the_kernel(window)
    stop_in_backward(window)
    window.picture(PICTURE)
    window.run_to_the_end(LOOPS_FILE, COMBINE_LINE)  # the loop runs once for each channel
    window.page.set_viewport_size(before)
