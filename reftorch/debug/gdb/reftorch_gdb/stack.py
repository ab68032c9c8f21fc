"""One stack for both languages: the C++ frames of the checkout and the Python frames between them.

Mirrors: nothing in PyTorch: its gdb script knows C++ only.
Left out: values of Python's locals; Python frames of core files, because they are found by a call into the process.

The Python frames come from the library's function reftorch_debug_py_stack() (cpp/csrc/debug/python_stack.cpp), which is
called in the stopped thread. The library knows the layout of its Python, so no debug symbols of Python are needed.
"""

import os
import re
from collections import namedtuple

import gdb

from reftorch_gdb import sources

Frame = namedtuple("Frame", "language function file line")

PYTHON_STACK = "reftorch_debug_py_stack"  # or the address of the function, if it is known
EVALUATOR = "_PyEval_EvalFrameDefault"
LIBRARY = "/_C."
MAX_NATIVE_FRAMES = 2000
# Files of programs that run the user's code. A stack ends where their frames begin.
RUNNERS = re.compile(
    r"/(ipykernel|IPython|debugpy|_pydevd_bundle|pydevd|pluggy|_pytest)/|/runpy\.py$|^<frozen runpy>"
    r"|/debug/notebook/ranks\.py$|/_internal/common_distributed\.py$"  # which run a cell or a function as a rank
)
CELL = re.compile(r".*/ipykernel_\d+/\d+\.py$|<ipython-input-.*>")


def root():
    """Return the folder around the package: this file is <root>/reftorch/debug/gdb/reftorch_gdb/stack.py."""
    # `realpath` would lead out of an editable install that is made of links.
    return os.path.abspath(os.path.join(os.path.dirname(__file__), *4 * [os.pardir]))


def short(path):
    """Return a short path that is equal on all machines."""
    if CELL.match(path):
        return "<cell>"
    if path.startswith(root() + "/"):
        return path[len(root()) + 1 :]
    return path.split("/site-packages/")[-1]


def call_in_this_thread(expression):
    """Evaluate a call in the process without letting its other threads run.

    Raises:
        KeyboardInterrupt: SIGINT came to the process during the call. gdb has undone the call, and reports no stop.
        gdb.error: the expression cannot be computed.
    """
    locking = gdb.parameter("scheduler-locking")
    gdb.execute("set scheduler-locking on", to_string=True)
    try:
        return gdb.parse_and_eval(expression)
    except gdb.error as error:
        if was_interrupted(expression, str(error)):
            raise KeyboardInterrupt from None
        raise
    finally:
        gdb.execute(f"set scheduler-locking {locking}", to_string=True)


def was_interrupted(expression, error):
    """Return whether SIGINT ended the call. Older gdbs name no signal, but only an interrupted call succeeds later."""
    if "signaled while in a function called from GDB" in error:
        try:
            gdb.parse_and_eval(expression)
        except gdb.error:
            return False
        return True
    return "received signal SIGINT" in error


def python_frames():
    """Return [(entry, Frame)] of the selected thread, innermost first; empty if the thread runs no Python.

    `entry` is None, or an address in the C frame with which the interpreter entered the Python frame; 0 is unknown."""
    try:
        text = call_in_this_thread(f"((const char*(*)()){PYTHON_STACK})()").string(errors="replace")
    except gdb.error:
        return []
    frames = []
    for line in text.splitlines():
        entry, path, number, function = line.split("\t")
        address = int(entry[1:] or "0", 16) if entry.startswith("E") else None
        frames.append((address, Frame("py", function, path, int(number))))
    return frames


def runs_python(frame, name, python):
    """Return whether a C frame is the interpreter's loop, which runs the innermost of the Python frames.

    Compilers split the loop, and in a stripped Python most of it has no name. Such a frame is known by what lies in it.
    """
    if name:
        return name.startswith(EVALUATOR)  # or with ".cold" behind it
    address = next((entry for entry, _ in python if entry is not None), 0)
    if not address:
        return False
    caller = frame.older()
    return int(frame.read_register("sp")) <= address and (caller is None or address < int(caller.read_register("sp")))


def is_ours(path):
    """Return whether a file is C++ of the checkout: a source, or a generated file such as ATen/Functions.cpp."""
    return sources.is_source(path)


def mixed(limit=100, whole=False):
    """Return the frames of both languages, innermost first, without the program that runs the user's code.

    With `whole`, the frames of that program are included."""
    python = python_frames()
    out: list = []
    frame, native = gdb.newest_frame(), 0
    while frame is not None and len(out) < limit and native < MAX_NATIVE_FRAMES:
        native += 1
        name = frame.name() or ""
        # Inlined functions are left out: some gdbs show them as frames and others do not.
        if frame.type() == gdb.INLINE_FRAME and native > 1:
            frame = frame.older()
            continue
        if runs_python(frame, name, python):
            while python:
                entry, python_frame = python.pop(0)
                if RUNNERS.search(python_frame.file) and not whole:
                    return out
                out.append(python_frame)
                if entry is not None:
                    break
        elif native == 1 or LIBRARY in (gdb.current_progspace().solib_name(frame.pc()) or ""):
            sal = frame.find_sal()
            path = sal.symtab.fullname() if sal.symtab else ""
            # The innermost frame is always shown, also if it is not in the checkout (a crash in libc, for example).
            if is_ours(path) or (native == 1 and path):
                out.append(Frame("c++", readable(name), path, sal.line))
            elif native == 1:  # a library without debug symbols, such as libc on most machines
                library = gdb.current_progspace().solib_name(frame.pc()) or gdb.current_progspace().filename or "??"
                out.append(Frame("c++", readable(name) or "??", os.path.basename(library), 0))
        if not python and out and out[-1].language == "py":
            break
        frame = frame.older()
    if frame is None:  # the native stack could not be walked to its end, but the Python frames are known
        out += up_to_runner([python_frame for _, python_frame in python], whole)
    return out


def up_to_runner(frames, whole=False):
    """Return the stack without the frames of the program that runs the user's code."""
    runner = next((i for i, frame in enumerate(frames) if RUNNERS.search(frame.file)), len(frames))
    return frames if whole else frames[:runner]


def of_caller(frames, tools):
    """Return the part of a whole stack that called into the folder `tools`, without the program that runs the code."""
    inside = [i for i, frame in enumerate(frames) if is_of_tools(frame, tools)]
    frames = frames[inside[-1] + 1 :] if inside else frames
    while frames and RUNNERS.search(frames[0].file):  # the cell calls IPython, and IPython calls the magic
        frames = frames[1:]
    return up_to_runner(frames)


def is_of_tools(frame, tools):
    return frame.language == "py" and frame.file.startswith(tools) and not RUNNERS.search(frame.file)


def readable(name, longest=90):
    """Return a function's name without the outer namespace, its parameters, and long template arguments."""
    name = without_parameters(name.replace("(anonymous namespace)::", "").replace("reftorch::", ""))
    if len(name) > longest:
        name = re.sub(r"<.*>", "<...>", name)
    return name


def without_parameters(name):
    """Return the name of a function without its parameters, which newer gdbs append to the name of a template."""
    text = name.removesuffix(" const")
    if not text.endswith(")"):
        return name
    start, open_brackets = len(text), 0
    while start > 0:
        start -= 1
        open_brackets += (text[start] == ")") - (text[start] == "(")
        if open_brackets == 0:
            break
    return name if text[:start].endswith("operator") else text[:start]


def lines(frames):
    """Return the stack as text, one line for each frame."""
    where = [f"{short(f.file)}:{f.line}" if f.line else short(f.file) for f in frames]  # a library has no lines
    width = max((len(w) for w in where), default=0)
    rows = enumerate(zip(frames, where, strict=True))
    return [f"#{i:<2} {frame.language:<3}  {place:<{width}}  {frame.function}" for i, (frame, place) in rows]
