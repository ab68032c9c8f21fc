"""Patches as a learner writes them: lines to take out (`-`), lines to put in (`+`), and lines that say where (` `).

Mirrors: nothing in PyTorch: its developers use git.
Leaves out: line numbers; lines are found by their text, which therefore must be in the file once.

    %%rebuild cpp/csrc/autograd/saved_variable.cpp
    -  if (impl::version(data_) == saved_version_) {
    +  if (true) {

    import reftorch as torch
    ...

The patch ends at the first empty line; the program to run follows. A line `@@` parts two places of one file, and
`@@ cpp/c10/core/TensorImpl.cpp` goes on in another file.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from course._tools.layout import ROOT

SIGNS = "-+ "


class PatchError(Exception):
    """A patch that cannot be read or does not fit; the text says which line of the cell, and why."""

    def _render_traceback_(self) -> list[str]:
        return [f"The patch does not fit: {self}"]


@dataclass
class Hunk:
    """Neighbouring lines of a patch: (sign, text, line of the cell)."""

    path: str
    lines: list[tuple[str, str, int]] = field(default_factory=list)


@dataclass
class Patched:
    """The new text of a file, and for each line that was put in the line of the cell that it comes from."""

    path: str
    text: str
    origin: dict[int, int]


def split_cell(file: str, cell: str) -> tuple[list[Hunk], str, int]:
    """The hunks at the head of a cell, the program after them, and the line of the cell before the program.

    Lines are counted from 1 for the line of the magic, as an editor counts them in the cell.

    Raises:
        PatchError: the patch is empty, or a line has no sign.
    """
    return _hunks(cell, find_file(file), find_file)


def _hunks(cell: str, path: str, find: Callable[[str], str]) -> tuple[list[Hunk], str, int]:
    hunks = [Hunk(path)]
    lines = cell.splitlines()
    position = 0
    while position < len(lines) and not lines[position].strip():  # empty lines before the patch
        position += 1
    while position < len(lines) and lines[position].strip():
        line, number = lines[position], position + 2
        if line.startswith("@@"):
            hunks.append(Hunk(find(line[2:].strip(" @")) if line.strip(" @") else hunks[-1].path))
        elif line[0] in SIGNS:
            hunks[-1].lines.append((line[0], line[1:].rstrip(), number))
        else:
            raise PatchError(
                f"line {number}, {line!r}, begins with neither `-` nor `+` nor a space. "
                "An empty line parts the patch from the program."
            )
        position += 1
    hunks = [hunk for hunk in hunks if hunk.lines]
    if not any(sign in "-+" for hunk in hunks for sign, _, _ in hunk.lines):
        raise PatchError("it changes nothing: write `-` before a line to take out, and `+` before a line to put in")
    return hunks, "\n".join(lines[position:]), position + 1


def patched_text(path: str, text: str, patch: str) -> str:
    """The text of a file outside of this library with a patch; `@@` parts two places, and `path` is for messages.

    Raises:
        PatchError: the patch cannot be read or does not fit.
    """
    hunks, _, _ = _hunks(patch, path, lambda name: name.removeprefix("a/").removeprefix("b/"))
    if {hunk.path for hunk in hunks} != {path}:
        raise PatchError(f"the patch is for one file, {path}")
    lines: list[tuple[str, int]] = [(line, 0) for line in text.split("\n")]
    for hunk in hunks:
        lines = _with(lines, hunk)
    return "\n".join(line for line, _ in lines)


def find_file(name: str) -> str:
    """The path of a source of the library, by its path or the end of the path.

    Raises:
        PatchError: there is no such file in cpp/ or reftorch/, or several.
    """
    found = [
        path
        for folder, pattern in (("cpp", "*.cpp"), ("cpp", "*.h"), ("reftorch", "*.py"))
        for path in (each.relative_to(ROOT).as_posix() for each in (ROOT / folder).rglob(pattern))
        if path == name or path.endswith(f"/{name}")
    ]
    if name in found or len(found) == 1:
        return name if name in found else found[0]
    if not found:
        raise PatchError(
            f"no source of the library is called {name!r}; name a .cpp, .h or .py file of cpp/ or reftorch/"
        )
    raise PatchError(f"several files are called {name}: {', '.join(sorted(found))}; give more of the path")


def apply(hunks: Sequence[Hunk]) -> list[Patched]:
    """The files as the hunks make them; nothing is written.

    Raises:
        PatchError: the lines of a hunk are not in the file, or are there more than once.
    """
    patched: list[Patched] = []
    for path in dict.fromkeys(hunk.path for hunk in hunks):
        lines: list[tuple[str, int]] = [(line, 0) for line in (ROOT / path).read_text().split("\n")]
        for hunk in hunks:
            if hunk.path == path:
                lines = _with(lines, hunk)
        origin = {number: cell for number, (_, cell) in enumerate(lines, start=1) if cell}
        patched.append(Patched(path, "\n".join(text for text, _ in lines), origin))
    return patched


def _with(lines: list[tuple[str, int]], hunk: Hunk) -> list[tuple[str, int]]:
    old = [(text, number) for sign, text, number in hunk.lines if sign != "+"]
    if not old:
        raise PatchError(
            f"line {hunk.lines[0][2]}: where in {hunk.path} do the lines go? Put the line before or after them into "
            "the patch, with a space before it."
        )
    start, shift = _place(lines, [text for text, _ in old], hunk.path, old[0][1])
    result, position = lines[:start], start
    for sign, text, number in hunk.lines:
        if sign == "+":
            result.append(((shift + text) if text.strip() else "", number))
        else:
            result += [lines[position]] if sign == " " else []
            position += 1
    return result + lines[position:]


def _place(lines: list[tuple[str, int]], old: list[str], path: str, number: int) -> tuple[int, str]:
    """Return where the old lines are, and the indentation that each line lacks if the learner indented less."""
    texts = [text for text, _ in lines]
    for form in (str.rstrip, str.strip):
        wanted = [form(text) for text in old]
        starts = [at for at in range(len(texts) - len(old) + 1) if list(map(form, texts[at : at + len(old)])) == wanted]
        if len(starts) > 1:
            where = ", ".join(str(start + 1) for start in starts)
            raise PatchError(
                f"line {number}: what it names is found {len(starts)} times in {path}, in lines {where}. Add a line "
                "before or after it to the patch, with a space before it."
            )
        if starts:
            there, here = texts[starts[0]], old[0]
            lack = len(there) - len(there.lstrip()) - (len(here) - len(here.lstrip()))
            return starts[0], " " * lack if form is str.strip and lack > 0 else ""
    stripped = [text.strip() for text in texts]
    lost = next((position for position, text in enumerate(old) if text.strip() not in stripped), None)
    if lost is None:
        raise PatchError(f"line {number}: the lines from here on are in {path}, but not one after the other.")
    near = difflib.get_close_matches(old[lost].strip(), [text for text in stripped if text], n=1, cutoff=0.5)
    hint = f" Is it {near[0]!r}?" if near else ""
    raise PatchError(f"{path} has no line {old[lost].strip()!r}.{hint}")
