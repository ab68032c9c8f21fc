"""The commands rt-bt, rt-into, rt-op, rt-tensor and rt-graph. The commands for Python's lines are in python_lines.py.

Mirrors: tools/gdb/pytorch-gdb.py (torch-tensor-repr)
Left out: commands that change the process.
"""

import functools
import mmap
import re

import gdb

from reftorch_gdb import graph, groups, ops, stack, values

NEEDS_DEBUG_BUILD = """\
reftorch's Release build is loaded: it has no lines, no locals and no types that gdb could show.
Fix: build the other one (make debug) and start the program with REFTORCH_BUILD=debug."""
HOOK = "__cyg_profile_func_enter"


class Said(gdb.GdbError):
    """An error for the user. gdb prints the text and nothing else."""


def command(name, kind, complete=gdb.COMPLETE_NONE):
    """Make a gdb command from a function of the argument. The function's docstring is the command's help."""

    def decorate(function):
        class Command(gdb.Command):
            __doc__ = function.__doc__

            def __init__(self):
                super().__init__(name, kind, complete)

            def invoke(self, argument, from_tty):
                say_if_release()
                function(argument.strip())

        COMMANDS.append(Command)
        return function

    return decorate


COMMANDS: list = []


def need_process():
    if gdb.selected_thread() is None:
        raise Said("No process is being debugged. Start one: run, or: attach PID")


@command("rt-bt", gdb.COMMAND_STACK)
def rt_bt(argument):
    """rt-bt: one backtrace through C++ and Python, innermost first, without the library code between them.

    In a program of several ranks, the first line names the rank and the group of the thread."""
    need_process()
    rank = groups.of_thread(gdb.selected_thread())
    if rank:
        print(rank)
    frames = stack.mixed()
    print("\n".join(stack.lines(frames)) if frames else "No frame of reftorch or of Python in this thread.")


@command("rt-tensor", gdb.COMMAND_DATA, gdb.COMPLETE_EXPRESSION)
def rt_tensor(argument):
    """rt-tensor EXPRESSION: print the values of a tensor in rows, with its dtype and strides."""
    if not argument:
        raise Said("rt-tensor: which tensor? For example: rt-tensor self")
    try:
        tensor = values.as_tensor(gdb.parse_and_eval(argument))
        if tensor is None:
            print("undefined tensor")
            return
        print(tensor.nested())
        print(tensor.geometry())
    except values.Garbage as garbage:
        raise Said(f"rt-tensor: {argument} cannot be read as a tensor: {garbage}") from None
    except gdb.error as error:
        raise Said(f"rt-tensor: {error}") from None


@command("rt-graph", gdb.COMMAND_DATA, gdb.COMPLETE_EXPRESSION)
def rt_graph(argument):
    """rt-graph EXPRESSION: print the graph that a backward pass from a tensor or a node would walk."""
    if not argument:
        raise Said("rt-graph: of which tensor or node? For example: rt-graph self")
    try:
        node = graph.node_behind(gdb.parse_and_eval(argument))
        print("\n".join(graph.lines(node)) if node is not None else f"{argument} has no graph: no op recorded it.")
    except values.Garbage as garbage:
        raise Said(f"rt-graph: {argument} cannot be read as a tensor or a node: {garbage}") from None
    except gdb.error as error:
        raise Said(f"rt-graph: {error}") from None


@command("rt-op", gdb.COMMAND_BREAKPOINTS)
def rt_op(argument):
    """rt-op NAME [if CONDITION]: set a breakpoint where the kernel of an op starts; `rt-op mul` stops in mul_kernel.

    An op with several kernels (lerp, div) gets a breakpoint in each. For an op that is made of other ops or only makes
    a view, the breakpoint is at the start of its own function. NAME may also be a C++ function or FILE:LINE."""
    if not argument:
        raise Said("rt-op: which op? For example: rt-op mul")
    if not break_at(argument, on_error=print, conditional=SelfDeciding):
        print(f"Breakpoint at the kernel of `{argument}` once reftorch is imported.")


WAITING: list = []  # the requests that break_at got before the library was loaded


def break_at(spec, on_error, conditional=None):
    """Set breakpoints at an op's kernels, a function or FILE:LINE, with an optional ` if CONDITION`.

    `conditional` makes a breakpoint with a condition: Conditional, for a caller that asks holds() at each stop, or
    SelfDeciding. Return False if the request has to wait until the library is loaded."""
    if not library_loaded():
        WAITING.append((spec, on_error, conditional))
        return False
    name, _, condition = spec.partition(" if ")
    try:
        for breakpoint, location, said in all_that_exist(name.strip()):
            if condition:
                break_if(breakpoint, location, condition.strip(), spec, on_error, conditional)
            else:
                print(said, end="")
    except Said as said:
        on_error(str(said))
    except gdb.error as error:
        on_error(f"{spec}: {error}")
    return True


def break_if(breakpoint, location, condition, spec, on_error, conditional):
    """Replace a breakpoint by one with a condition, if gdb can parse the condition."""
    try:
        breakpoint.condition = condition  # raises if gdb cannot parse the condition
    except gdb.error as error:
        on_error(f"`{spec}`: {str(error).rstrip('.')}.{known_at(gdb.decode_line(location)[1][0].pc)}")
        return
    finally:
        breakpoint.delete()
    conditional(location, condition, on_error)


class Conditional(gdb.Breakpoint):
    """A breakpoint whose condition may call functions of the process.

    gdb computes a condition while the other threads run. If the condition calls a function (iter.numel(), an
    operator[]), today's gdbs fail: gdb 13 loses the thread, and gdb 18 waits for ever or ends with an internal error.
    So a condition is first computed without calls, which is fast. If a call is needed, the process stops, and then
    holds() computes the condition."""

    def __init__(self, location, wanted, on_error):
        super().__init__(location)
        self.wanted, self.on_error = wanted, on_error

    def stop(self):
        gdb.execute("set may-call-functions off")
        try:
            return bool(gdb.parse_and_eval(self.wanted))
        except gdb.error:
            return True  # holds() finds out whether the condition needs a call or cannot be computed
        finally:
            gdb.execute("set may-call-functions on")

    def holds(self):
        """Return whether to stay at this stop: the condition holds, or cannot be computed.

        Raises KeyboardInterrupt if the process is interrupted meanwhile, see stack.call_in_this_thread."""
        try:
            return bool(stack.call_in_this_thread(self.wanted))
        except (gdb.error, TypeError) as error:
            known = known_at(gdb.selected_frame().pc())
            self.on_error(f"`if {self.wanted}` cannot be computed at this stop: {str(error).rstrip('.')}.{known}")
            return True


def known_at(pc):
    """Return a sentence with the names that a condition at `pc` may use."""
    block, names = gdb.block_for_pc(pc), []
    while block is not None and not block.is_global and not block.is_static:
        names += [symbol.name for symbol in block if symbol.is_argument or symbol.is_variable]
        block = None if block.function else block.superblock
    return f" Known there: {', '.join(dict.fromkeys(names))}." if names else ""


class SelfDeciding(Conditional):
    """A Conditional for gdb's prompt, which lets the process continue if the condition does not hold."""

    def __init__(self, location, wanted, on_error):
        super().__init__(location, wanted, on_error)
        self.commands = f"silent\nrt-holds {self.number}\nif $rt_holds\nframe\nelse\ncontinue\nend"


@command("rt-holds", gdb.COMMAND_BREAKPOINTS)
def rt_holds(argument):
    """rt-holds NUMBER: set $rt_holds to whether the condition of that breakpoint holds. Breakpoints of rt-op use it."""
    asked = next((each for each in gdb.breakpoints() if str(each.number) == argument), None)
    if not isinstance(asked, Conditional):
        raise Said("rt-holds: which breakpoint? One that `rt-op NAME if CONDITION` made.")
    gdb.set_convenience_variable("rt_holds", int(asked.holds()))


def all_that_exist(name):
    """Set breakpoints at the kernels of an op, or else at the first place of that name.

    Return a list of (breakpoint, location, gdb's text)."""
    made = [each for location in ops.starts(name) if (each := made_at(location))]
    if made:
        return made
    for location in ops.others(name, library_file()):
        first = made_at(location)
        if first:
            return [first]
    if ops.is_line(name):
        raise Said(f"No code is at {name}: is it a line of a C++ file of reftorch, such as BinaryOpsKernel.cpp:30?")
    near = ops.nearest(name, library_file())
    hint = f" The nearest: {', '.join(near)}." if near else " `%%calltree` shows which functions run."
    raise Said(f"No op and no C++ function is called `{name}`.{hint}")


def made_at(location):
    """Set a breakpoint and return (breakpoint, location, gdb's text), or None if there is no such place."""
    # The command is used instead of gdb.Breakpoint, which prints a message for each location that does not exist.
    said = gdb.execute("break " + location, to_string=True)
    breakpoint = gdb.breakpoints()[-1]
    if not breakpoint.pending:
        return breakpoint, location, said
    breakpoint.delete()
    return None


def library_loaded():
    return any(is_reftorch(each.filename) for each in gdb.objfiles() if stack.LIBRARY in (each.filename or ""))


@functools.cache
def is_reftorch(path):
    """Return whether a library of this name is reftorch's and not torch's, by a symbol in the file.

    gdb is not asked, because it would read many symbols to find one."""
    try:
        with open(path, "rb") as f, mmap.mmap(f.fileno(), 0, access=mmap.ACCESS_READ) as content:
            return content.find(b"reftorch_debug_sentinel") >= 0
    except (OSError, ValueError):  # the file was removed, or is empty
        return False


def on_new_objfile(event):
    if WAITING and "/_C." in (event.new_objfile.filename or "") and library_loaded():
        say_if_release()
        waiting, WAITING[:] = list(WAITING), []
        for spec, on_error, conditional in waiting:
            break_at(spec, on_error, conditional)


@command("rt-into", gdb.COMMAND_RUNNING)
def rt_into(argument):
    """rt-into [REGEX]: run to the start of the next function of reftorch that matches, by default in `at::native`.

    Use it on a Python line or inside pybind11, where gdb's `step` does not arrive in a kernel: `step` passes over a
    function that is skipped, together with all functions that it calls."""
    need_process()
    wanted = re.compile(argument or r"^reftorch::at::native::(?!.*::operator)")
    if not gdb.lookup_global_symbol(HOOK) and not gdb.lookup_static_symbol(HOOK):
        raise Said("rt-into needs the Debug build, whose functions report when they begin (make debug).")
    stop = EntryBreakpoint(wanted)
    try:
        gdb.execute("continue", to_string=True)
        hit = gdb.selected_thread() is not None and stop.hit
    finally:
        stop.delete()
    if hit:
        gdb.execute("finish", to_string=True)  # leave the hook and return to the function that called it
        gdb.execute("frame")
    else:
        print("No function that matches began before the process stopped.")


class EntryBreakpoint(gdb.Breakpoint):
    """Stops in the entry hook of the functions whose name matches."""

    def __init__(self, wanted):
        super().__init__(HOOK, internal=True)
        self.silent = True
        self.wanted, self.hit = wanted, False

    def stop(self):
        caller = gdb.newest_frame().older()
        self.hit = bool(self.wanted.search((caller.name() if caller else "") or ""))
        return self.hit


def library_file():
    """Return the file of reftorch._C, or None before the library is loaded."""
    return next((each.filename for each in gdb.objfiles() if stack.LIBRARY in (each.filename or "")), None)


def say_if_release():
    if "/lib/Release/" in (library_file() or ""):
        print(NEEDS_DEBUG_BUILD)


def register():
    for each in COMMANDS:
        each()
    gdb.events.new_objfile.connect(on_new_objfile)
