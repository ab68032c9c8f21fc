"""The settings of gdb for reftorch: little output, no network, and skipping of library code while stepping.

Mirrors: nothing in PyTorch: its developers set up their own gdb.
Left out: settings of taste (colours, history); core files, which are disabled for gdb and for programs it starts.
"""

import os
import re
import resource

import gdb

from reftorch_gdb import sources

DISTRIBUTION_SCRIPTS = "/usr/share/gdb/auto-load"

SETTINGS = [
    "set breakpoint pending on",  # the library is loaded only when Python imports it
    "set confirm off",
    "set debuginfod enabled off",
    # With LC_ALL=C, gdb would not show the path of a source that has other letters than ASCII's.
    "set host-charset UTF-8",
    "set ada source-charset UTF-8",
    "set pagination off",
    "set print elements 16",
    "set print frame-arguments scalars",
    "set print inferior-events off",
    "set print thread-events off",
    "set python print-stack message",
    # After an internal error, gdb asks whether to write a core file of gdb, and in batch mode every answer is yes.
    *(f"maintenance set {kind} corefile no" for kind in ("internal-error", "internal-warning", "demangler-warning")),
    # Programs use these signals themselves; a stop at each signal would hide the requested stops.
    "handle SIGUSR1 SIGUSR2 SIGCHLD SIGPIPE SIGALRM SIGWINCH SIGSTOP SIGCONT nostop noprint pass",
]

# `step` passes over a skipped function with all functions that it calls. `rt-into` stops in them in spite of that.
SKIPPED_FUNCTIONS = [
    r"^std::",
    r"^__gnu_cxx::",
    r"^pybind11::",
    r"^__cyg_profile_func_",
    r"^reftorch::c10::(intrusive_ptr|SmallVector|ArrayRef|Scalar|Device|DispatchKeySet|Storage|DataPtr)\b",
    r"^reftorch::c10::TensorImpl::(sizes|strides|dim|numel|itemsize|is_contiguous|mutable_data)\b",
    r"^reftorch::at::Tensor::",
]


def quietly(command):
    """Run a gdb command, and ignore the error of an older gdb that does not know the command."""
    try:
        return gdb.execute(command, to_string=True)
    except gdb.error:
        return ""


# What core/find_gdb.py finds by a trial. Here it is told to those who start a gdb in a terminal.
ENDS_PROCESSES = """\
warning: this gdb, version {version}, cannot write the registers of this processor (AMX). A call into the process
ends the process, and `rt-bt` makes one. Take a newer gdb, for example the one of the environment: .venv/bin/gdb"""
LAST_WITHOUT_AMX = 13


def warn_if_calls_end_the_process():
    with open("/proc/cpuinfo") as f:
        has_amx = " amx_tile" in f.read()
    number = re.search(r"(\d+)\.", gdb.VERSION)  # some distributions put their name before it
    if has_amx and number and int(number[1]) <= LAST_WITHOUT_AMX:
        print(ENDS_PROCESSES.format(version=gdb.VERSION))


def apply():
    _soft, hard = resource.getrlimit(resource.RLIMIT_CORE)
    resource.setrlimit(resource.RLIMIT_CORE, (0, hard))  # no core file if gdb crashes
    for setting in SETTINGS:
        quietly(setting)
    for root in sources.paths.built_at():
        quietly(f'set substitute-path "{root}" "{sources.root}"')
    if os.path.isdir(DISTRIBUTION_SCRIPTS):
        # A gdb from PyPI does not search the folder that contains the distribution's printers for libstdc++.
        quietly("add-auto-load-safe-path " + DISTRIBUTION_SCRIPTS)
        quietly("add-auto-load-scripts-directory " + DISTRIBUTION_SCRIPTS)
    if "PYTHONHOME" in os.environ:
        # The variables are for the Python inside a gdb from PyPI. With them, the debugged Python would look for the
        # standard library in gdb's folder.
        for name in ("PYTHONHOME", "PYTHONPATH", "PYTHONNOUSERSITE"):
            quietly("unset environment " + name)
    for pattern in SKIPPED_FUNCTIONS:
        quietly("skip -rfu " + pattern)
    warn_if_calls_end_the_process()
