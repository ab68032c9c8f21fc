"""`show_source`: the lines of reftorch as they are now, with notes, and where PyTorch keeps the same thing.

Mirrors: nothing in PyTorch: the course shows source, it never quotes it.
Leaves out: PyTorch's text itself; a link leads to it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from course._tools.definitions import definition, mirrors_of, text_of
from course._tools.listing import Listing, Note
from course._tools.names import find_definition, is_path

MOST = 30  # lines of a listing: as many as one reads without scrolling
Span = str | tuple[str, str]


def show_source(
    path: str,
    name: str | None = None,
    *,
    first: str | None = None,
    last: str | None = None,
    nth: int | None = None,
    notes: Mapping[Span, str] | None = None,
    highlight: Sequence[Span] = (),
    skip: Sequence[Span] = (),
    dim: bool | None = None,
) -> Listing:
    """The definition that `path` names in words, some of its lines with numbered notes beside them.

    Args:
        path: the definition in words: `computeStride`, `Dispatcher::call`, `nn.Module.register_buffer`, or
            `transpose in TensorShape.cpp` where several files define the name. Or, as lessons of the first edition have
            it, a path from the root of the checkout; then `name` names the definition, and the whole file is shown
            without one.
        first, last: text of the first and of the last line to show; either alone begins late or ends early.
        nth: which one, counted from 0, where several definitions in the file have the name.
        notes: a note for a line, by a piece of text that only this line holds. The notes are numbered in the order in
            which they are here. A pair of texts selects the lines from one to the other.
        highlight: lines to highlight that need no note, by text or pair of texts.
        skip: lines to leave out, by text or pair of texts; a line `… 7 lines` takes their place.
        dim: whether the other lines are pale; they are where there are notes or highlights.

    Raises:
        FileNotFoundError: there is no such file.
        LookupError: nothing has the name or the text, or several have it.
        ValueError: the listing is longer than 30 lines.

    Example::

        >>> show_source("Chapter.number in layout.py", notes={"return": "the two digits of `02_tensor`"})
        Chapter.number in course/_tools/layout.py
        nothing in PyTorch: PyTorch ships no course
          (1) return self.folder.name[:2]
              the two digits of `02_tensor`
    """
    in_words = name is None and not is_path(path)
    if in_words:
        path, name = find_definition(path)
    asked = {"path": path, "name": name, "first": first, "last": last, "nth": nth}
    if skip:
        asked["skip"] = list(skip)
    part = part_of(
        path, text_of(path), name=name, first=first, last=last, nth=nth, notes=notes, highlight=highlight, skip=skip
    )
    dims = bool(part["notes"] or part["lit"]) if dim is None else dim
    listing = Listing(path, mirrors=mirrors_of(path), asked=asked, dim=dims, **part)
    check_length(listing, in_words or bool(notes))
    return listing


def part_of(
    path: str,
    text: str,
    *,
    name: str | None,
    first: str | None,
    last: str | None,
    nth: int | None,
    notes: Mapping[Span, str] | None,
    highlight: Sequence[Span],
    skip: Sequence[Span],
) -> dict[str, Any]:
    """The fields of a listing that follow from a file's text: the range, the lines, the notes with their numbers.

    Raises:
        LookupError: nothing in the text has the name or holds a text that is looked for, or several have it.
    """
    lines = text.splitlines()
    begin, end = (1, len(lines)) if name is None else definition(path, text, name, nth)
    if first is not None:
        begin = _line_with(path, lines, first, begin, end)
    if last is not None:
        end = _line_with(path, lines, last, begin, end)
    lit = (number for key in highlight for number in range(*_half_open(_span(path, lines, key, begin, end))))
    return {
        "name": name or _title(first) or Path(path).name,
        "first": begin,
        "last": end,
        "text": "\n".join(lines[begin - 1 : end]),
        "notes": tuple(Note(*_span(path, lines, key, begin, end), note) for key, note in (notes or {}).items()),
        "lit": frozenset(lit),
        "skipped": tuple(sorted(_span(path, lines, key, begin, end) for key in skip)),
    }


def check_length(listing: Listing, is_short: bool = True) -> None:
    """Refuse a listing that is longer than a reader takes in, and one that leaves out the line of a note.

    Raises:
        LookupError: the line of a note is left out.
        ValueError: `is_short` is asked for, and the listing has more than 30 lines.
    """
    if is_short and len(listing.numbers) > MOST:
        raise ValueError(
            f"{listing.name} in {listing.path}: {len(listing.numbers)} lines, and a listing has at most {MOST}; "
            "choose a part with first= and last=, or leave lines out with skip="
        )
    hidden = [note.text for note in listing.notes if note.first not in listing.numbers]
    if hidden:
        raise LookupError(f"{listing.name} in {listing.path}: skip= leaves out the line of the note {hidden[0]!r}")


def _title(first: str | None) -> str:
    """The text of a first line, up to a parenthesis that the text opens and does not close."""
    text = first or ""
    return text.rpartition("(")[0] if text.count("(") > text.count(")") else text


def _span(path: str, lines: list[str], key: Span, begin: int, end: int) -> tuple[int, int]:
    """Return the first and the last line that a text, or a pair of texts, selects."""
    if isinstance(key, str):
        number = only_line_with(path, lines, key, begin, end)
        return number, number
    number = only_line_with(path, lines, key[0], begin, end)
    return number, _line_with(path, lines, key[1], number, end)


def _half_open(span: tuple[int, int]) -> tuple[int, int]:
    return span[0], span[1] + 1


def only_line_with(path: str, lines: list[str], text: str, begin: int, end: int) -> int:
    """Return the number of the line with `text`; if several have it, of the one that is nothing else."""
    found = [number for number in range(begin, end + 1) if text in lines[number - 1]]
    whole = [number for number in found if lines[number - 1].strip() == text.strip()]
    if len(found) > 1 and len(whole) != 1:
        where = ", ".join(map(str, found))
        raise LookupError(f"{path}: lines {where} hold {text!r}; give more of the line that is meant")
    return (whole or found or [_line_with(path, lines, text, begin, end)])[0]


def _line_with(path: str, lines: list[str], text: str, begin: int, end: int) -> int:
    for number in range(begin, end + 1):
        if text in lines[number - 1]:
            return number
    raise LookupError(f"{path}: no line from {begin} to {end} holds {text!r}")
