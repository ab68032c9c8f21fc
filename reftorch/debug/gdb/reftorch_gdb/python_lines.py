"""The commands rt-pylist and rt-pystep, which show and step through lines of Python in gdb.

Mirrors: nothing in PyTorch: its developers use CPython's own helper (Tools/gdb/libpython.py, py-list)
Left out: values of Python's locals.

CPython's own helper needs the interpreter's debug symbols, and it cannot step. These commands use the library instead:
reftorch_debug_py_stack() returns the Python stack, and while tracing is on, the library calls reftorch_debug_py_line()
before each line. rt-pystep has its breakpoint there.
"""

import re

import gdb

from reftorch_gdb import stack, view
from reftorch_gdb.commands import Said, command, need_process

LINE = "reftorch_debug_py_line"
CONTEXT = 4
MAX_FOREIGN_LINES = 5000
FOREIGN = re.compile(r"^<frozen|/lib/python3\.\d+/|/site-packages/|/dist-packages/")


def python_place():
    """Return (file, line, function) of the innermost Python frame."""
    frames = stack.python_frames()
    if not frames:
        raise Said("This thread runs no Python, or reftorch is not imported yet.")
    frame = frames[0][1]
    return frame.file, frame.line, frame.function


def listing(path, line, context):
    lines = view.source(path)
    if not lines:
        return [f"   {stack.short(path)} cannot be read"]
    first, last = max(1, line - context), min(len(lines), line + context)
    width = len(str(last))
    return [f"{'->' if n == line else '  '} {n:>{width}}  {lines[n - 1]}".rstrip() for n in range(first, last + 1)]


@command("rt-pylist", gdb.COMMAND_FILES)
def rt_pylist(argument):
    """rt-pylist: print the lines of Python around the current one, also if C++ that Python called is running."""
    need_process()
    path, line, function = python_place()
    print(f"{stack.short(path)}:{line}  {function}")
    print("\n".join(listing(path, line, CONTEXT)))


@command("rt-pystep", gdb.COMMAND_RUNNING)
def rt_pystep(argument):
    """rt-pystep: run to the next line of Python in this thread. Enters calls, except of Python's library and packages.

    If another breakpoint is hit on the way, for example in a kernel, the step ends there."""
    need_process()
    thread = gdb.selected_thread().num
    set_tracing(True)
    stop = gdb.Breakpoint(LINE, internal=True)
    stop.silent, stop.thread = True, thread
    try:
        for _ in range(MAX_FOREIGN_LINES):
            hits = stop.hit_count
            gdb.execute("continue", to_string=True)
            if gdb.selected_thread() is None or stop.hit_count == hits:
                break
            path, line, function = python_place()
            if not FOREIGN.search(path):
                print(f"{stack.short(path)}:{line}  {function}")
                print("\n".join(listing(path, line, 0)))
                return
        print("No line of Python began before the process stopped.")
    finally:
        stop.delete()
        if gdb.selected_thread() is not None:
            set_tracing(False)


def set_tracing(on):
    try:
        gdb.parse_and_eval(f"((void(*)(int))reftorch_debug_trace_python)({int(on)})")
    except gdb.error as error:
        raise Said(f"rt-pystep: {error}; it needs a process that has imported reftorch.") from None
