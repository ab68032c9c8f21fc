"""What the compilers of extensions and of CUDA kernels share: the folder for their libraries, and their messages.

Mirrors: torch/utils/cpp_extension.py
Leaves out: the compilers; see utils/cpp_extension.py and cuda/_kernel_compiler.py.
"""

from __future__ import annotations

import contextlib
import functools
import os
import re
import tempfile
from pathlib import Path
from typing import NamedTuple

from reftorch import _C
from reftorch._source_paths import PACKAGE, source_root

ROOT = source_root()
CORE = Path(str(_C.__file__))
GENERATED = ROOT / "build" / CORE.parent.name / "generated"  # the headers that the build writes: ATen/Functions.h
loaded_libraries: list[str] = []  # the files of all extensions and kernels of this process, for debuggers


class CudaText(NamedTuple):
    """A CUDA source: the name of its copy in the folder of the extension, its text, and the file that was given."""

    name: str
    text: str
    file: str = ""


@functools.cache
def _extensions() -> Path:
    """Return the folder of the extensions that name no other, the first of these that may be written into.

    They are a folder of the checkout; the user's cache, because nothing is written into an installed package; and, for
    this process alone, a temporary folder.
    """
    cache = Path(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")) / "reftorch_extensions"
    for folder in (ROOT / "build" / "extensions", cache) if ROOT != PACKAGE else (cache,):
        with contextlib.suppress(OSError):
            folder.mkdir(parents=True, exist_ok=True)
            if os.access(folder, os.W_OK):
                return folder
    return Path(tempfile.mkdtemp(prefix="reftorch_extensions_"))


def _complaints(text: str, folder: Path) -> str:
    """Return the compiler's errors with their lines of source, or its whole output if there are none.

    An error in the body of a dispatch macro occurs once for each dtype; it is shown once.
    """
    text = text.replace(f"{folder}/", "")
    errors = re.findall(r"^\S+?:\d+:\d+: (?:fatal )?error:.*(?:\n +(?:\d+ )?\|.*)*", text, re.M)
    return "\n".join(dict.fromkeys(errors)) or text.strip()
