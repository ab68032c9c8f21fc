"""gdb as an editor's debug adapter (-i=dap): a call into the process is not told as a run and a stop.

Mirrors: nothing in PyTorch: its developers set up their own gdb.
Left out: gdb before 14, which speaks no DAP.

Note [Calls into the process]
`rt-bt`, and any expression with a function in it, calls into the stopped process. gdb tells the editor `continued` and
`stopped` then, and drops the numbers of frames and variables. The editor did not request this, continues with the old
numbers, and shows `list index out of range` for VARIABLES; and a call in WATCH, which is evaluated at each stop, would
make a stop each time, for ever. So what gdb connects to `cont` waits here while a call is made, and is made up for
where the call ends in a stop of its own: at a breakpoint in the function, or by a crash.
"""

import sys

import gdb

# What forgets, by module of gdb.dap.
FORGETS = {"varref": "clear_vars", "scopes": "clear_scopes", "frames": "_clear_frame_ids"}


class Calls:
    """Stands between gdb's events and gdb.dap while a call is made."""

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


def register():
    """Filter the events of gdb.dap. Does nothing if gdb is not an adapter, or has other internals."""
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
