"""`show_torch_source`: some lines of PyTorch's own file, as the installed torch has them, with numbered notes of ours.

Mirrors: nothing in PyTorch: the course's own.
Leaves out: the text of the .cpp files, which no wheel of torch has; a link leads to the file.

PyTorch's text is never stored. The lines come from the files of the learner's torch, which are read and not imported.
What the builder stores has our notes, the path, the line numbers and a link. Where torch is missing, the tool shows the
notes, the path and the link, and says how to get the rest.
"""

from __future__ import annotations

import html
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from course._tools import real_torch
from course._tools.listing import BADGE, BOX, HEAD, PYTORCH, WORD, Listing, Note, in_box
from course._tools.source import Span, check_length, part_of

BEGIN, END = "<!-- torch source -->", "<!-- /torch source -->"
STORED = "run the cell to see the lines; they come from your PyTorch 2.13, which `make torch` installs"


@dataclass(frozen=True)
class TorchListing(Listing):
    """A range of lines of a file of PyTorch; `text` is empty where the file is not here, and then no line is known.

    Args:
        anchors: for each note the piece of PyTorch's line that the note is about.
        state: what to say about the lines: which torch they are from, or why they are not shown.
    """

    anchors: tuple[str, ...] = ()
    state: str = ""

    def __repr__(self) -> str:
        notes = [f"  ({number}) `{anchor}`{place}\n      {text}" for number, anchor, place, text in self._told()]
        return "\n".join([f"{self.name} in {self.path}", self.url, *notes, f"({self.state})"])

    @property
    def url(self) -> str:
        """The lines on GitHub, at the tag of the version that the lessons are written for."""
        return f"{PYTORCH}/{self.path}" + (f"#L{self.first}-L{self.last}" if self.text else "")

    def _told(self) -> Iterator[tuple[int, str, str, str]]:
        """For each note its number, its anchor, its lines in words, and its text."""
        for number, (anchor, note) in enumerate(zip(self.anchors, self.notes, strict=True), start=1):
            lines = f"line {note.first}" if note.first == note.last else f"lines {note.first} to {note.last}"
            yield number, anchor, f", {lines}" if self.text else "", note.text

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> tuple[dict[str, str], dict[str, Any]]:
        facts = {"asked": self.asked, "lines": len(self.numbers) if self.text else len(self.notes)}
        return {"text/plain": repr(self), "text/html": self._html()}, {"reftorch": {"torch_listing": facts}}

    def _html(self) -> str:
        is_shown = self.text and not os.environ.get(real_torch.STORING)
        return f"{BEGIN}{self._box(self._header()) if is_shown else self._notes_alone()}{END}"

    def _header(self, state: str = "") -> str:
        place = f"{self.path}:{self.first}" if self.text else self.path
        return (
            f"<b>{html.escape(place)}</b> &nbsp; {html.escape(self.name)}"
            f'<span style="float:right"><a style="color:#0550ae" href="{self.url}">PyTorch 2.13</a>'
            f" &nbsp; ({in_box(state or self.state)})</span>"
        )

    def _notes_alone(self) -> str:
        """The notes, each with its place in words: what is stored, and what is shown without torch."""
        rows = "".join(
            f'<div style="display:flex;gap:7px;margin:0 0 7px"><span><span style="{BADGE}">{number}</span></span><span>'
            f'<code style="{WORD}">{html.escape(anchor)}</code>{place}<br>{in_box(text)}</span></div>'
            for number, anchor, place, text in self._told()
        )
        return (
            f'<div style="{BOX}"><div style="{HEAD}">{self._header(STORED if self.text else "")}</div>'
            f'<div style="padding:9px 12px 2px;font-size:13px;line-height:1.4;color:#1f2328">{rows}</div></div>'
        )


def show_torch_source(
    path: str,
    name: str | None = None,
    *,
    first: str | None = None,
    last: str | None = None,
    nth: int | None = None,
    notes: Mapping[Span, str],
    skip: Sequence[Span] = (),
) -> TorchListing:
    """Some lines of a file of PyTorch, with numbered notes: beside them where torch is here, alone where it is not.

    Args:
        path: from the root of PyTorch's repository: `torch/optim/sgd.py`, `aten/src/ATen/core/dispatch/Dispatcher.h`.
            Python files and most headers are in a wheel. A .cpp file is not: its notes and its link are shown.
        name: the definition; may be left out where `first` and `last` say which lines are meant.
        first, last, nth, skip: which lines to show, as in `show_source`.
        notes: a note for a line, by a piece of that line (an anchor), or by a pair of pieces for the lines from one to
            the other. Of a .cpp file an anchor is a name that the file defines.

    Raises:
        LookupError: torch 2.13 is here, and its file has no such name or anchor, or has it several times.
        ValueError: the listing is longer than 30 lines.

    Example::

        >>> shown = show_torch_source(
        ...     "torch/nn/modules/linear.py", "Linear.forward", notes={"F.linear": "one call, and one op"}
        ... )
        >>> shown.notes[0].text
        'one call, and one op'
    """
    anchors = tuple(key if isinstance(key, str) else f"{key[0]} … {key[1]}" for key in notes)
    asked = {"path": path, "name": name, "first": first, "last": last, "nth": nth, "anchors": list(anchors)}
    texts = tuple(Note(0, 0, text) for text in notes.values())
    without = TorchListing(path, name or Path(path).name, 0, 0, "", "", asked, texts, anchors=anchors)
    torch = real_torch.find_files()
    if torch is None:
        state = f"torch is not installed here, so its lines are not shown; {real_torch.how_to_get_it()}"
        return replace(without, state=state)
    file = torch.file(path)
    if file is None:
        state = "a wheel of torch does not have this file: follow the link, and search for names"
        return replace(without, state=state)
    try:
        found = part_of(
            path, file.read_text(), name=name, first=first, last=last, nth=nth, notes=notes, highlight=(), skip=skip
        )
    except LookupError as error:
        if torch.version.startswith(f"{real_torch.VERSION}."):
            raise
        return replace(without, state=f"torch {torch.version} is here, and its file is not that of 2.13: {error}")
    shown = replace(without, **found, dim=True, state=f"from torch {torch.version}")
    check_length(shown)
    return shown
