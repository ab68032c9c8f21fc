"""The commands rt-bt, rt-into, rt-op, rt-tensor and rt-graph; those for Python's lines are in python_lines.py.

Mirrors: tools/gdb/pytorch-gdb.py (torch-tensor-repr)
Left out: commands that change the process.
"""

import functools
import mmap
import re

import gdb

from reftorch_gdb import graph, ops, stack, values

NEEDS_DEBUG_BUILD = """\
reftorch's Release build is loaded: it has no lines, no locals and no types that gdb could show.
Mend: build the other one (make debug) and start the program with REFTORCH_BUILD=debug."""
HOOK = "__cyg_profile_func_enter"


class Said(gdb.GdbError):
    """An error for the user: gdb prints its text and nothing else."""


def command(name, kind, complete=gdb.COMPLETE_NONE):
    """Make a function of (argument) a gdb command; its docstring is the help."""

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
    """rt-bt: one backtrace through C++ and Python, innermost first; the library code between them is left out."""
    need_process()
    frames = stack.mixed()
    print("\n".join(stack.lines(frames)) if frames else "No frame of reftorch or of Python in this thread.")


@command("rt-tensor", gdb.COMMAND_DATA, gdb.COMPLETE_EXPRESSION)
def rt_tensor(argument):
    """rt-tensor EXPRESSION: the values of a tensor in rows, with its dtype and strides."""
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
    """rt-graph EXPRESSION: the graph that backward would walk from a tensor, or from a node of it."""
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
    """rt-op NAME [if CONDITION]: a breakpoint where the kernel of an op starts; `rt-op mul` stops in mul_kernel.

    An op with several kernels (lerp, div) gets a breakpoint in each. One that is made of other ops or only views stops
    where its own function starts. A C++ function and FILE:LINE will do, too."""
    if not argument:
        raise Said("rt-op: which op? For example: rt-op mul")
    if not break_at(argument, on_error=print, conditional=SelfDeciding):
        print(f"Breakpoint at the kernel of `{argument}` once reftorch is imported.")


WAITING: list = []  # what break_at was asked for before the library was loaded


def break_at(spec, on_error, conditional=None):
    """A breakpoint at an op's kernel, a function or FILE:LINE, ` if CONDITION` after it. False if it has to wait.

    `conditional` makes the one with a condition: Conditional, for who asks holds() at each stop, or SelfDeciding."""
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
    """In place of a breakpoint the one with a condition, where the condition can be understood."""
    try:
        breakpoint.condition = condition  # raises for what cannot be understood
    except gdb.error as error:
        on_error(f"`{spec}`: {str(error).rstrip('.')}.{known_at(gdb.decode_line(location)[1][0].pc)}")
        return
    finally:
        breakpoint.delete()
    conditional(location, condition, on_error)


class Conditional(gdb.Breakpoint):
    """A breakpoint whose condition may call functions of the process.

    gdb computes a condition while the other threads run. Where that calls a function (iter.numel(), an operator[]) the
    gdbs of today fail: 13 loses the thread, 18 waits for ever or ends by an internal error. So a condition is tried
    without calls first, which is quick; one that needs a call stops the process, and then holds() computes it."""

    def __init__(self, location, wanted, on_error):
        super().__init__(location)
        self.wanted, self.on_error = wanted, on_error

    def stop(self):
        gdb.execute("set may-call-functions off")
        try:
            return bool(gdb.parse_and_eval(self.wanted))
        except gdb.error:
            return True  # whether it needs a call, or cannot be computed at all, holds() finds out
        finally:
            gdb.execute("set may-call-functions on")

    def holds(self):
        """Whether to stay at this stop: where the condition holds, and where nobody can tell."""
        try:
            return bool(stack.call_in_this_thread(self.wanted))
        except (gdb.error, TypeError) as error:
            known = known_at(gdb.selected_frame().pc())
            self.on_error(f"`if {self.wanted}` cannot be computed at this stop: {str(error).rstrip('.')}.{known}")
            return True


def known_at(pc):
    """The names that a condition may use there, as a sentence."""
    block, names = gdb.block_for_pc(pc), []
    while block is not None and not block.is_global and not block.is_static:
        names += [symbol.name for symbol in block if symbol.is_argument or symbol.is_variable]
        block = None if block.function else block.superblock
    return f" Known there: {', '.join(dict.fromkeys(names))}." if names else ""


class SelfDeciding(Conditional):
    """The same for a person at gdb's prompt: goes on by itself where the condition does not hold."""

    def __init__(self, location, wanted, on_error):
        super().__init__(location, wanted, on_error)
        self.commands = f"silent\nrt-holds {self.number}\nif $rt_holds\nframe\nelse\ncontinue\nend"


@command("rt-holds", gdb.COMMAND_BREAKPOINTS)
def rt_holds(argument):
    """rt-holds NUMBER: $rt_holds becomes whether the condition of that breakpoint holds; those of rt-op ask so."""
    asked = next((each for each in gdb.breakpoints() if str(each.number) == argument), None)
    if not isinstance(asked, Conditional):
        raise Said("rt-holds: which breakpoint? One that `rt-op NAME if CONDITION` made.")
    gdb.set_convenience_variable("rt_holds", int(asked.holds()))


def all_that_exist(name):
    """For an op its kernels; else the first place that is called so: [(breakpoint, location, what gdb says of it)]."""
    made = [each for location in ops.starts(name) if (each := made_at(location))]
    if made:
        return made
    for location in ops.others(name):
        first = made_at(location)
        if first:
            return [first]
    if ops.is_line(name):
        raise Said(f"No code is at {name}: is it a line of a C++ file of reftorch, such as BinaryOpsKernel.cpp:30?")
    near = ops.nearest(name, library_file())
    hint = f" The nearest: {', '.join(near)}." if near else " `%%calltree` shows which functions run."
    raise Said(f"No op and no C++ function is called `{name}`.{hint}")


def made_at(location):
    """(the breakpoint, the location, what gdb says of it); None where no such place is."""
    # By the command and not by gdb.Breakpoint, which tells the user of each location that is not there.
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
    """By a name in the file (torch has a library of that name, too): gdb, if asked, reads all that is near a name."""
    try:
        with open(path, "rb") as f, mmap.mmap(f.fileno(), 0, access=mmap.ACCESS_READ) as content:
            return content.find(b"reftorch_debug_sentinel") >= 0
    except (OSError, ValueError):  # it is gone, or empty
        return False


def on_new_objfile(event):
    if WAITING and "/_C." in (event.new_objfile.filename or "") and library_loaded():
        say_if_release()
        waiting, WAITING[:] = list(WAITING), []
        for spec, on_error, conditional in waiting:
            break_at(spec, on_error, conditional)


@command("rt-into", gdb.COMMAND_RUNNING)
def rt_into(argument):
    """rt-into [REGEX]: run to the next function of ours that begins, `at::native` by default.

    From a Python line or from inside pybind11, where `step` does not arrive: gdb's `step` runs over a function that
    is skipped with all that it calls."""
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
        gdb.execute("finish", to_string=True)  # out of the hook, into the function that called it
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
    """The file of reftorch._C, None before it is loaded."""
    return next((each.filename for each in gdb.objfiles() if stack.LIBRARY in (each.filename or "")), None)


def say_if_release():
    if "/lib/Release/" in (library_file() or ""):
        print(NEEDS_DEBUG_BUILD)


def register():
    for each in COMMANDS:
        each()
    gdb.events.new_objfile.connect(on_new_objfile)
