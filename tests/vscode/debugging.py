"""`Debug this file` in the editor's window: from a breakpoint in each language to a clean end.

Mirrors: nothing in PyTorch: it tests no editor.
Left out: every other configuration; tests/debug drives them all without a window.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

from tests.debug.launch import KERNEL, KERNEL_LINE, OPERATOR, PROGRAM, ROOT, SELF, line_of
from tests.vscode.server import Server
from tests.vscode.window import StageFailed, Window, expect

CONFIGURATION = "Debug this file"
CALL_LINE = line_of(PROGRAM, "c = product(a, b)")
PRODUCT = "return a * b"
OPERATOR_CALL = "binary_op_out<mul_stub>(self, other, out);"
IN_KERNEL = "::mul_kernel, line "
NOISE = re.compile(r"\bAda\b|No source file|pending")
IN_OPERATOR = "::mul_out, line "
PROGRAM_FILE, KERNEL_FILE, OPERATOR_FILE = (os.path.relpath(file, ROOT) for file in (PROGRAM, KERNEL, OPERATOR))


def set_breakpoints(window: Window) -> None:
    window.open(PROGRAM_FILE, CALL_LINE)
    window.press("F9")
    window.shot("2_breakpoint_in_python", f"a breakpoint in {PROGRAM_FILE}, line {CALL_LINE}")
    window.open(KERNEL_FILE, KERNEL_LINE)
    window.press("F9")
    window.shot("3_breakpoint_in_cpp", f"a breakpoint in {KERNEL_FILE}, line {KERNEL_LINE}; this file is in front")


def stop_in_python(window: Window) -> None:
    """The file in front is C++: the program runs that was open before, and the editor says so."""
    window.start(CONFIGURATION)
    said = window.wait_for_row(window.messages, "reftorch runs")
    expect(f"reftorch runs program.py, the last Python program, because {Path(KERNEL).name} is in front.", said)
    window.wait_for_row(window.call_stack, rf"Stack Frame <module>, line {CALL_LINE}, program\.py")
    value = window.wait_for_row(window.variables, r"^a, value tensor\(")
    window.shot("4_stopped_in_python", f"stopped in Python; {value}")
    expect("tensor([[1., 2.], [3., 4.]], requires_grad=True)", value)
    # The two languages share the console: here Python answers, and in the kernel gdb.
    window.say_in_console("a.sum().item()")
    window.wait_for_row(window.console, r"^10\.0$")


def step_into_python(window: Window) -> None:
    window.drive("F11")
    window.wait_for_row(window.call_stack, r"Stack Frame product, line \d+, program\.py")
    said = window.hover(PRODUCT, "a ")
    window.shot("5_stepped_into_product", f"stepped into product(); the mouse over a: {said[:60]}...")
    expect("tensor([[1., 2.], [3., 4.]], requires_grad=True)", said)
    window.leave_hover()


def stop_in_the_kernel(window: Window) -> None:
    window.drive("F5")
    frame = window.wait_for_row(window.call_stack, IN_KERNEL)
    value = window.wait_for_row(window.variables, "^iter, value")
    window.shot("6_stopped_in_the_kernel", f"stopped in C++: {frame}; {value}")
    expect("in f32[2, 2] strides=[2, 1] [1, 2, 3, 4]", value)
    expect(f"Stack Frame at::native::mul_kernel, line {KERNEL_LINE}", frame)
    window.wait_for_row(window.call_stack, r"^Thread main\b")
    if noise := [row for row in window.breakpoints() + window.console() if NOISE.search(row)]:
        raise StageFailed(f"gdb has said what tells a reader nothing: {noise}")


def look_at_tensors(window: Window) -> None:
    """In the operator, which called the kernel."""
    window.click_row("call-stack", IN_OPERATOR)
    value = window.wait_for_row(window.variables, "^self, value")
    said = window.hover(OPERATOR_CALL, "self")
    window.shot("7_tensor_in_cpp", f"the caller, in {OPERATOR_FILE}: {value}; the mouse over self: {said}")
    expect(SELF, value)
    expect(SELF, said)
    window.leave_hover()


def see_one_stack(window: Window) -> None:
    window.click_row("call-stack", IN_KERNEL)
    window.say_in_console("rt-bt")
    window.wait_for_row(window.console, r"mul_kernel")
    frame = window.wait_for_row(window.console, r"py .*program\.py:\d+ +product")
    window.wait_for_row(window.variables, "^iter, value")  # as before: that gdb called into the process is no stop
    window.shot("8_one_stack", f"rt-bt in DEBUG CONSOLE has both languages: {frame[:100]}")


def step_over_in_the_kernel(window: Window) -> None:
    window.drive("F10")
    frame = window.wait_for_row(window.call_stack, rf"{IN_KERNEL}(?!{KERNEL_LINE}\b)\d+")
    window.wait_for_row(window.variables, "^iter, value")
    window.shot("9_stepped_over_a_line", f"stepped over a line of C++: {frame}")


def run_to_the_end(window: Window, server: Server) -> None:
    window.open(KERNEL_FILE, KERNEL_LINE)
    window.press("F9")  # the breakpoint is gone: backward multiplies, too
    window.drive("F5")
    window.until(lambda: not window.call_stack(), "the end of both sessions")
    window.wait_for_row(window.console, r"\[\[2\.0, 2\.0\], \[2\.0, 2\.0\]\]")
    window.until(lambda: not server.debuggers(), "no process of the session is left")
    window.shot("10_ended", "both sessions have ended, the program has printed its gradient, no process is left")


def debug_both_languages(window: Window, server: Server) -> None:
    set_breakpoints(window)
    stop_in_python(window)
    step_into_python(window)
    stop_in_the_kernel(window)
    look_at_tensors(window)
    see_one_stack(window)
    step_over_in_the_kernel(window)
    run_to_the_end(window, server)
