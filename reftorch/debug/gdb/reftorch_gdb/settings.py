"""The settings of gdb for reftorch: little output, no network, and skipping of library code while stepping.

Mirrors: nothing in PyTorch: its developers set up their own gdb.
Left out: settings of taste (colours, history); core files, neither gdb's nor of a program that it starts.
"""

import os
import resource

import gdb

DISTRIBUTION_SCRIPTS = "/usr/share/gdb/auto-load"

SETTINGS = [
    "set breakpoint pending on",  # the library is loaded only when Python imports it
    "set confirm off",
    "set debuginfod enabled off",
    "set pagination off",
    "set print elements 16",
    "set print frame-arguments scalars",
    "set print inferior-events off",
    "set print thread-events off",
    "set python print-stack message",
    # gdb's own crash is no file of the learner's: its batch mode answers every question with yes.
    *(f"maintenance set {kind} corefile no" for kind in ("internal-error", "internal-warning", "demangler-warning")),
    # Programs use these signals themselves; a stop at each signal would hide the requested stops.
    "handle SIGUSR1 SIGUSR2 SIGCHLD SIGPIPE SIGALRM SIGWINCH SIGSTOP SIGCONT nostop noprint pass",
]

# A function that is skipped also hides what it calls: `rt-into` finds the next function of ours below pybind11.
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
    """Run a gdb command; what an older gdb does not know, it goes without."""
    try:
        return gdb.execute(command, to_string=True)
    except gdb.error:
        return ""


def apply():
    _soft, hard = resource.getrlimit(resource.RLIMIT_CORE)
    resource.setrlimit(resource.RLIMIT_CORE, (0, hard))  # for what ends gdb in no orderly way
    for setting in SETTINGS:
        quietly(setting)
    if os.path.isdir(DISTRIBUTION_SCRIPTS):
        # A gdb from PyPI does not know where the distribution keeps the printers of its own libstdc++.
        quietly("add-auto-load-safe-path " + DISTRIBUTION_SCRIPTS)
        quietly("add-auto-load-scripts-directory " + DISTRIBUTION_SCRIPTS)
    if "PYTHONHOME" in os.environ:
        # Set for the Python inside a gdb from PyPI; the debugged Python would look for its library there.
        for name in ("PYTHONHOME", "PYTHONPATH", "PYTHONNOUSERSITE"):
            quietly("unset environment " + name)
    for pattern in SKIPPED_FUNCTIONS:
        quietly("skip -rfu " + pattern)
