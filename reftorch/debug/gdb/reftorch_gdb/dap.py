"""gdb as an editor's debug adapter (-i=dap): short names, numbers instead of addresses, and calls that do not stop.

Mirrors: nothing in PyTorch: its developers set up their own gdb.
Left out: gdb before 14, which speaks no DAP.

Note [Calls into the process]
`rt-bt`, and any expression that contains a function call, calls into the stopped process. gdb then reports `continued`
and `stopped` to the editor and discards the numbers of frames and variables. The editor did not request this: it
continues to use the old numbers and shows `list index out of range` under VARIABLES. A call in WATCH, which the editor
evaluates at each stop, would cause a new stop each time, without end. So the functions that gdb.dap connects to the
event `cont` are not called during a call into the process. If the call ends in a stop of its own, at a breakpoint in
the function or by a crash, the functions that discard the numbers are called then.

Note [Conditions that come too early]
An editor sets its breakpoints before the program has loaded the library, and long before it has compiled a kernel. gdb
keeps such a breakpoint until the place exists. But if it is given a condition in the meantime, gdb (13 to 18) no longer
finds the place: "Error in re-setting breakpoint". So a breakpoint without a place keeps its condition for itself, and
decides with it at each stop. While the condition is computed, it may call no function of the process; if it cannot be
computed, the process stops.

Note [What an editor shows at a stop]
An editor asks gdb for names and values, and shows them in a narrow side bar. So functions have the names that `rt-bt`
prints, variables are the living ones that `%%gdb` shows, a pointer shows its first number, and threads have names. All
of this is done by gdb's documented hooks, and only where gdb is an adapter: in a terminal, `backtrace` and `print` stay
as gdb's manual describes them.
"""

import sys
from typing import Any

import gdb
from gdb.FrameDecorator import FrameDecorator

from reftorch_gdb import pointers, stack, threads, view

LONGEST_NAME = 40  # more does not fit into a side bar

# The functions of gdb.dap that discard numbers of frames and variables, by module.
FORGETS = {"varref": "clear_vars", "scopes": "clear_scopes", "frames": "_clear_frame_ids"}


class Calls:
    """Passes gdb's events on to gdb.dap, except during a call into the process."""

    def __init__(self, tell, forget):
        self.tell, self.forget, self.calling = tell, forget, False

    def on_call(self, event):
        self.calling = isinstance(event, gdb.InferiorCallPreEvent)

    def on_cont(self, event):
        if not self.calling:
            for each in (*self.forget, self.tell):
                each(event)

    def on_stop(self, event):
        if self.calling:
            self.calling = False
            for each in self.forget:
                each(event)


def of_lambda(frame, name):
    """Return `at::native::add_kernel lambda` for a lambda of this function, or None for another function.

    The debug information calls most lambdas `operator()` alone. The table of symbols knows where the lambda is."""
    if name.startswith("operator()"):
        name = gdb.execute(f"info symbol {frame.pc()}", to_string=True)
    maker, is_lambda, _ = name.replace("(anonymous namespace)::", "").partition("::{lambda(")
    if not is_lambda:
        return None
    bare, depth = "", 0
    for letter in maker:
        depth += letter in "(<"
        bare += letter if depth == 0 else ""
        depth -= letter in ")>"
    return stack.readable(bare.split()[-1]) + " lambda"


class Frame(FrameDecorator):
    """A frame with a short name and with the living variables."""

    def function(self):
        name = super().function()
        if not isinstance(name, str):  # an address
            return name
        return of_lambda(self.inferior_frame(), name) or stack.readable(name, LONGEST_NAME)

    # gdb.dap needs an address, and takes every name of a file for a path; the launch of a CUDA kernel has neither.
    def address(self):
        return super().address() or self.inferior_frame().pc()

    def filename(self):
        name = super().filename()
        return name if name is not None and "/" in name else None

    def frame_args(self):
        return self.living(super().frame_args())

    def frame_locals(self):
        return self.living(super().frame_locals())

    def living(self, found):
        now = self.line() or 0
        # A synthetic variable has a text in the place of its symbol.
        return [each for each in found or () if isinstance(each.symbol(), str) or view.is_alive(each.symbol(), now)]


class ShortFrames:
    """The filter that gives all frames to Frame, after the other filters."""

    name, enabled, priority = "reftorch", True, 50

    def filter(self, frames):
        return map(Frame, frames)


class EditorsBreakpoint(gdb.Breakpoint):
    """A breakpoint that may be given a condition before its place exists: see Note [Conditions that come too early]."""

    wanted = None

    @property
    def condition(self):
        return self.wanted or gdb.Breakpoint.condition.__get__(self)

    @condition.setter
    def condition(self, text):
        if self.wanted is not None:
            self.wanted = None
            del self.stop
        if text is None or not self.pending:
            gdb.Breakpoint.condition.__set__(self, text)
        else:
            self.wanted, self.stop = text, self.holds

    def holds(self):
        gdb.execute("set may-call-functions off")
        try:
            return bool(gdb.parse_and_eval(self.wanted))
        except gdb.error:
            return True
        finally:
            gdb.execute("set may-call-functions on")


def keep_early_conditions():
    """Let gdb.dap make EditorsBreakpoints. Does nothing if gdb has other internals."""
    module: Any = sys.modules.get("gdb.dap.breakpoint")
    make = getattr(module, "_set_one_breakpoint", None)
    if make is not None:
        module._set_one_breakpoint = lambda logMessage=None, **args: (
            EditorsBreakpoint(**args) if logMessage is None else make(logMessage=logMessage, **args)
        )


def register():
    """Prepare a gdb that is an adapter for an editor. Does nothing in another gdb."""
    if "gdb.dap" not in sys.modules:
        return
    gdb.frame_filters["reftorch"] = ShortFrames()
    gdb.pretty_printers.append(pointers.lookup)
    gdb.events.stop.connect(threads.name_all)
    keep_early_conditions()
    filter_calls()


def filter_calls():
    """Filter the events of gdb.dap. Does nothing if gdb has other internals."""
    events = sys.modules.get("gdb.dap.events")
    forget = [getattr(sys.modules.get(f"gdb.dap.{module}"), name, None) for module, name in FORGETS.items()]
    tell, told = (getattr(events, name, None) for name in ("_cont", "_on_inferior_call"))
    if None in (*forget, tell, told):
        return
    for each in (*forget, tell):
        gdb.events.cont.disconnect(each)
    gdb.events.inferior_call.disconnect(told)
    calls = Calls(tell, forget)
    gdb.events.inferior_call.connect(calls.on_call)
    gdb.events.cont.connect(calls.on_cont)
    gdb.events.stop.connect(calls.on_stop)
