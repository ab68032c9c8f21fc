"""The view at a stop: the lines around the stop and the living local variables, as plain data.

Mirrors: nothing in PyTorch: its developers bring their own tools.
Left out: locals of optimized code, which gdb often cannot know.
"""

import gdb

from reftorch_gdb import pointers, printers, values

_sources: dict = {}


def source(path):
    if path not in _sources:
        try:
            with open(path, errors="replace") as f:
                _sources[path] = f.read().split("\n")
        except OSError:
            _sources[path] = []
    return _sources[path]


def source_line(path, line):
    lines = source(path)
    return lines[line - 1] if 0 < line <= len(lines) else ""


def where(frame):
    sal = frame.find_sal()
    return frame.name() or "??", sal.symtab.fullname() if sal.symtab else "", sal.line


def stop(context):
    """Return the function and place of the selected frame, the lines around the place, and the local variables."""
    function, path, line = where(gdb.selected_frame())
    first, last = max(1, line - context), min(len(source(path)), line + context)
    return {
        "function": function,
        "file": path,
        "line": line,
        "source": [[i, source_line(path, i)] for i in range(first, last + 1)],
        "locals": locals_of(gdb.selected_frame()),
    }


def line(names):
    """Return the current line of a trace, with its place and local variables."""
    frame = gdb.selected_frame()
    function, path, number = where(frame)
    return {
        "function": function,
        "file": path,
        "line": number,
        "text": source_line(path, number).strip(),
        "locals": locals_of(frame, names),
    }


def depth_below(frame, base):
    """Return the number of calls between `frame` and the frame whose stack pointer was `base`."""
    depth = 0
    while frame is not None and depth < 50 and int(frame.read_register("sp")) < base:
        frame, depth = frame.older(), depth + 1
    return depth


def is_alive(symbol, line):
    """Return whether a symbol is an argument, or a local variable that is declared above the line.

    In a Debug build, a variable declared further down already has its place on the stack, with old contents. The names
    that begin with `__` are the compiler's."""
    alive = symbol.is_argument or (symbol.is_variable and symbol.line < line)
    return alive and not symbol.name.startswith("__")


def locals_of(frame, names=None):
    """Return [[name, text]] of the arguments and of the local variables declared above the current line."""
    found, now = {}, frame.find_sal().line
    try:
        block = frame.block()
    except RuntimeError:
        return []
    while block is not None and not block.is_global and not block.is_static:
        for symbol in block:
            if not is_alive(symbol, now) or symbol.name in found:
                continue
            if names and symbol.name not in names:
                continue
            found[symbol.name] = shown(symbol, frame)
        if block.function:
            break
        block = block.superblock
    return [[name, text] for name, text in found.items()]


def shown(symbol, frame):
    """Return the value as one line. A pointer to a number is shown as the number, because an address says nothing."""
    try:
        value = values.raw(symbol.value(frame))
        kind = value.type.strip_typedefs()
        text = pointers.first(value)
        if text is None:
            target = pointers.pointee(kind)
            if target is not None and target.code not in (gdb.TYPE_CODE_STRUCT, gdb.TYPE_CODE_PTR):
                return f"({value.type})"
            text = printers.text(value)
    except (gdb.error, RuntimeError, ValueError, values.Garbage) as error:
        text = f"<{error}>"
    if text == "{<No data fields>}":  # a lambda that captures nothing
        text = "{}"
    return text if len(text) < 200 else text[:196] + " ..."
