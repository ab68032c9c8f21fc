"""Names and places of functions of the extension: an offset into the library becomes (name, file, line).

Mirrors: torch/csrc/profiler/unwind/unwind.cpp (which reads DWARF itself)
Left out: reading DWARF ourselves: addr2line comes with every C++ compiler, and without a compiler there is gdb.

One addr2line, or one gdb, answers for all offsets that are new; answers are kept beside the library (Kept), until it is
rebuilt. The files are those that the library names (see reftorch/_source_paths.py).
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any, NamedTuple


class Symbol(NamedTuple):
    """A function; `file` is empty if the debug information does not contain it."""

    name: str
    file: str
    line: int


class Kept:
    """An answer about one build of a library, in a file beside the library. The answer of another build is None."""

    def __init__(self, library: str, what: str) -> None:
        stat = os.stat(library)
        self._build = [os.path.abspath(library), stat.st_mtime_ns, stat.st_size]  # an answer may contain the path
        self._file = Path(library).with_suffix(f".{what}.json")

    def read(self) -> Any:
        try:
            saved = json.loads(self._file.read_text())
            return saved["answer"] if saved["build"] == self._build else None
        except (OSError, ValueError, KeyError, TypeError):
            return None  # the file is absent or truncated: the answer is asked for again

    def write(self, answer: Any) -> None:
        fresh = self._file.with_suffix(f".{os.getpid()}")
        try:
            fresh.write_text(json.dumps({"build": self._build, "answer": answer}))
            fresh.replace(self._file)
        except OSError:
            pass  # the folder of an installed library may be read-only; the answer stays in memory


class SymbolTable:
    """The symbols of one build of one library."""

    def __init__(self, library: str) -> None:
        self.library = library
        self._kept = Kept(library, "symbols")
        self._known = {int(offset): Symbol(*fields) for offset, fields in (self._kept.read() or {}).items()}

    def look_up(self, offsets: set[int]) -> dict[int, Symbol]:
        """Return the symbols of all offsets. Calls addr2line once, for the offsets that are not in the cache."""
        new = sorted(offsets - self._known.keys())
        if new:
            self._known.update(zip(new, self._ask(new), strict=True))
            self._kept.write(self._known)
        return {offset: self._known[offset] for offset in offsets}

    def _ask(self, offsets: list[int]) -> list[Symbol]:
        asked = "\n".join(hex(offset) for offset in offsets)
        addr2line = shutil.which("addr2line")
        command = [addr2line, "-fCe", self.library] if addr2line else _gdb_command(self.library)
        done = subprocess.run(command, input=asked, capture_output=True, text=True, check=True)
        lines = done.stdout.splitlines()
        return [symbol(name, place) for name, place in zip(lines[::2], lines[1::2], strict=True)]


def _gdb_command(library: str) -> list[str]:
    """Return a command that answers as addr2line does. It is slower, so it is used only without addr2line.

    Raises:
        RuntimeError: there is no gdb either.
    """
    from reftorch.debug.core.find_gdb import GdbNotFound, find_gdb  # inside gdb, nothing of the package is there

    try:
        gdb = find_gdb().path
    except GdbNotFound as error:
        raise RuntimeError(
            "call_tree: functions have no names, because addr2line and gdb are missing. addr2line is part of binutils, "
            "which comes with gcc.\nFix: install binutils (apt install binutils), or gdb (pip install gdb-for-pwndbg)."
        ) from error
    answers = Path(__file__).parents[1] / "gdb" / "addr2line.py"
    return [gdb, "-nx", "-q", "-batch", "-iex", "set debuginfod enabled off", "-x", str(answers), library]


def symbol(name: str, place: str) -> Symbol:
    """One answer of addr2line: a demangled name, and FILE:LINE with ?? for what it does not know."""
    file, _, line = place.split(" (discriminator")[0].rpartition(":")
    known = not file.startswith("?") and line.isdigit()  # without debug information, the name of a file has no line
    return Symbol(short_name(name), os.path.normpath(file) if known else "", int(line) if line.isdigit() else 0)


def short_name(name: str) -> str:
    """A demangled name without argument types, template arguments, return type and our outer namespace.

    >>> short_name("reftorch::at::native::(anonymous namespace)::add_kernel(reftorch::at::TensorIterator&) const")
    'at::native::add_kernel'
    >>> short_name("void reftorch::at::f<int>(int)::{lambda(float)#1}::operator()(float) const")
    'at::f::{lambda#1}'
    """
    name = name.replace("(anonymous namespace)::", "").replace("operator()", "operator\0")
    name = re.sub(r"operator(<<|>>|->|[<>]=?)(?=\s*[(<])", lambda m: "operator" + m[1].translate(ANGLES), name)
    out, depth = [], 0
    for c in name:
        depth += c in "(<"
        if depth == 0:
            out.append(c)
        depth -= c in ")>"
    text = "".join(out).split(" [clone")[0].strip()
    text = re.sub(r"( const| volatile| &+)+(?=$|::)", "", text)
    conversion = text.find("operator ")
    start = text.rfind(" ", 0, conversion if conversion >= 0 else len(text)) + 1
    text = text[start:].replace("::operator\0", "") if "{lambda" in text else text[start:].replace("\0", "()")
    return text.translate(UNANGLES).removeprefix("reftorch::")


ANGLES = str.maketrans("<>", "\1\2")
UNANGLES = str.maketrans("\1\2", "<>")
