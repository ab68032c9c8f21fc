"""Printers, commands and settings for gdb. Runs inside gdb, never inside Python itself.

Mirrors: tools/gdb/pytorch-gdb.py
Left out: anything that needs gdb's internals, but for dap.py, which does without where they are others; else only its
documented Python API is used.
"""

import gdb

# python_lines: its commands register themselves
from reftorch_gdb import commands, cuda, dap, engine, printers, python_lines, settings  # noqa: F401


def load():
    """Make everything known to gdb; a second call changes nothing."""
    if getattr(gdb, "_reftorch_loaded", False):
        return
    gdb._reftorch_loaded = True
    settings.apply()
    printers.register()
    engine.register()
    commands.register()
    cuda.register()
    dap.register()
