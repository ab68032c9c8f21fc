"""The native half of reftorch.debug, and the checks that the tools can work with it.

Mirrors: nothing in PyTorch: its developers bring their own tools.
Left out: CUDA.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from reftorch._source_paths import is_checkout, is_learners_copy, source_root


class NeedsDebugBuild(RuntimeError):
    """The loaded build cannot show its functions."""

    def __init__(self, what: str) -> None:
        super().__init__(
            f"{what} needs the Debug build of reftorch; the build that is loaded has no symbols and no call hooks.\n"
            f"Fix: {get_debug_build()} before Python starts, and restart the kernel."
        )


class StaleLibrary(RuntimeError):
    """The library's file was replaced after it was loaded."""

    def __init__(self) -> None:
        super().__init__(
            "reftorch was rebuilt after it was imported here, so the lines of the new build would be shown for the old "
            "code.\nFix: restart the kernel, then run the cell again."
        )


class Native(NamedTuple):
    debug: Any  # the module reftorch._C._debug
    library: str  # the file of reftorch._C


@lru_cache
def native() -> Native:
    """reftorch's extension; imported on first use, so that reftorch.debug alone costs nothing."""
    import reftorch

    return Native(reftorch._C._debug, str(reftorch._C.__file__))


@lru_cache
def root() -> Path:
    """The checkout (or site-packages, for an installed reftorch, or the learner's copy of one)."""
    return Path(__file__).resolve().parents[3]


def changed_since_build(files: Iterable[str], library: str) -> str:
    """Return a sentence about the sources of the checkout that are newer than the library; empty if there are none."""
    built = os.stat(library).st_mtime
    changed = [os.path.relpath(file, root()) for file in editable(files) if os.stat(file).st_mtime > built]
    # A build compiles the sources that are newer than its library. So its library is newer than all sources, until one
    # of them is edited. In a learner's copy nothing is built, and the library was given the time of the copy.
    if not changed:
        return ""
    return changed_sentence(changed)


def stale_library(library: str) -> bool:
    """Return whether the file was replaced after it was loaded; a debugger would show wrong lines then."""
    real = os.path.realpath(library)
    with open("/proc/self/maps") as maps:
        for line in maps:
            fields = line.rstrip("\n").split(None, 5)
            if len(fields) == 6 and fields[5].removesuffix(" (deleted)") == real:
                return fields[5].endswith(" (deleted)") or int(fields[4]) != os.stat(real).st_ino
    return False


def editable(files: Iterable[str]) -> list[str]:
    """Return the C++ sources among the files, sorted; none for an installed package, whose files have any times."""
    if not (is_checkout() or is_learners_copy()):
        return []
    return sorted({file for file in files if file.startswith(f"{source_root()}/cpp/") and os.path.exists(file)})


def changed_sentence(changed: list[str]) -> str:
    return (
        f"Changed after reftorch was built: {', '.join(changed)}. The lines shown are those of the file, the code that "
        f"ran is older.\nFix: {after_an_edit()}."
    )


def get_debug_build() -> str:
    """Return how to get the Debug build."""
    return ("build it (make debug), " if is_checkout() else "") + "set REFTORCH_BUILD=debug"


def after_an_edit() -> str:
    """Return what to do after an edit of a source."""
    return "make debug, then restart the kernel" if is_checkout() else "undo the edit: only a checkout can be built"
