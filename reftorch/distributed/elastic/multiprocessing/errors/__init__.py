"""What a process leaves behind when it fails, so that the launcher can say which one failed first, and why.

Mirrors: torch/distributed/elastic/multiprocessing/errors/__init__.py
Leaves out: exit codes by exception, messages of subprocesses.

In PyTorch, a program decorates its main function with :func:`record`. Here, ``init_process_group`` does the same for
programs that do not.
"""

from __future__ import annotations

import functools
import json
import os
import time
import traceback
from collections.abc import Callable
from typing import Any, TypeVar

__all__ = ["record", "write_error_file"]

T = TypeVar("T")


def write_error_file(error: BaseException) -> None:
    """Write an exception into the file that ``TORCHELASTIC_ERROR_FILE`` names, if the launcher has set the variable.

    An exception that a rank raises because another has failed comes later; the first one is kept.
    """
    path = os.environ.get("TORCHELASTIC_ERROR_FILE")
    if not path or os.path.exists(path):
        return
    text = "".join(traceback.format_exception(error))
    message = {
        "message": f"{type(error).__name__}: {error}",
        "extraInfo": {"py_callstack": text, "timestamp": str(time.time())},
    }
    try:
        with open(path, "w", encoding="utf-8") as file:
            json.dump({"message": message}, file)
    except OSError:
        pass  # the file only repeats the traceback, which the terminal shows


def record(fn: Callable[..., T], error_handler: Any = None) -> Callable[..., T | None]:
    """Let an exception that leaves the main function of a program be known to the launcher.

    Args:
        fn: the main function.
        error_handler: must be None.

    Example:
        >>> from reftorch.distributed.elastic.multiprocessing.errors import record
        >>> @record
        ... def main():
        ...     return 3
        >>> main()
        3

    Mirrors torch/distributed/elastic/multiprocessing/errors/__init__.py, ``record``.
    """

    @functools.wraps(fn)
    def recorded(*args: Any, **kwargs: Any) -> T | None:
        try:
            return fn(*args, **kwargs)
        except SystemExit as error:
            if error.code not in (None, 0):
                write_error_file(error)
            raise
        except Exception as error:
            write_error_file(error)
            raise

    return recorded
