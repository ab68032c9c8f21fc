"""`%course`: the learner's commands in a notebook cell, as `%course check 03`; `%torch_source`: where a symbol is.

Mirrors: nothing in PyTorch: the course's own.
Leaves out: what is not yet saved; `check` runs the notebook as it lies on disk.
"""

from __future__ import annotations

import shlex
from contextlib import suppress
from typing import Any

from course._tools import symbol_map
from course._tools.cli import main


def course(line: str) -> None:
    """Run `reftorch-course` with the words of `line`; its exit code is left to the terminal."""
    with suppress(SystemExit):  # argparse has said what was wrong
        main(shlex.split(line))


def torch_source(line: str) -> symbol_map.SymbolMap | None:
    """Show where a symbol is, here and in PyTorch: `%torch_source Dispatcher::callBoxed`."""
    try:
        return symbol_map.torch_source(line)
    except LookupError as error:
        print(error.args[0])
        return None


def load_ipython_extension(shell: Any) -> None:
    """What `%load_ext course._tools` calls."""
    shell.register_magic_function(course, magic_kind="line", magic_name="course")
    shell.register_magic_function(torch_source, magic_kind="line", magic_name="torch_source")
