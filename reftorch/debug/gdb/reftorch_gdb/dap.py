"""gdb as an editor's debug adapter (-i=dap): a call into the process is not reported as a run and a stop.

Mirrors: nothing in PyTorch: its developers set up their own gdb.
Left out: gdb before 14, which speaks no DAP.

Note [Calls into the process]
`rt-bt`, and any expression that contains a function call, calls into the stopped process. gdb then reports `continued`
and `stopped` to the editor and discards the numbers of frames and variables. The editor did not request this: it
continues to use the old numbers and shows `list index out of range` under VARIABLES. A call in WATCH, which the editor
evaluates at each stop, would cause a new stop each time, without end. So the functions that gdb.dap connects to the
event `cont` are not called during a call into the process. If the call ends in a stop of its own, at a breakpoint in
the function or by a crash, the functions that discard the numbers are called then.
"""

import sys

import gdb

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
