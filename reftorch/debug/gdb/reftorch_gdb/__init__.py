"""Printers, commands and settings for gdb. The package runs inside gdb, never in an ordinary Python process.

Mirrors: tools/gdb/pytorch-gdb.py
Left out: anything that needs gdb's internals; only the documented Python API is used. The exception is dap.py, which
does nothing if a gdb has other internals.
"""

import gdb

# python_lines is imported because its commands register themselves at import
from reftorch_gdb import commands, cuda, dap, engine, printers, python_lines, settings  # noqa: F401


def load():
    """Register everything with gdb. A second call changes nothing."""
    if getattr(gdb, "_reftorch_loaded", False):
        return
    gdb._reftorch_loaded = True
    settings.apply()
    printers.register()
    engine.register()
    commands.register()
    cuda.register()
    dap.register()
