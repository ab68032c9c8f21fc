"""The course's notebooks as Sphinx reads them: links that lead to pages, pictures with their captions, folded hints.

Mirrors: nothing in PyTorch: the course's own.
Leaves out: everything that Sphinx and its theme do.
"""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path
from typing import Any

from course._tools import layout
from course._tools.book.source_pages import source_page, style_sheet
from course._tools.exercises import exercises_of
from course._tools.folds import telling
from course._tools.layout import Chapter, chapters
from course._tools.notebook import Notebook, as_text, new_cell, read

LEXER = "reftorch-cell"  # of conf.py: Python, C++ and patches
# In HTML `href="..."`, in markdown `[words](...)`; a line as `#line=12`, counted from 0.
HTML_LINK = re.compile(r'(?P<before>href=")(?P<path>[^"#?:]+)(?:#line=(?P<line>\d+))?(?P<after>")')
MARKDOWN_LINK = re.compile(r"(?<!!)\[(?P<words>[^\]\[]+)\]\((?P<path>[^)#?:\s]+)(?:#line=(?P<line>\d+))?\)")
MARKDOWN_PICTURE = re.compile(r"!\[[^\]]*\]\((?P<path>[^)#?:\s]+)\)")
CODE = re.compile(r"```.*?```|`[^`]*`", re.S)
CAPTION = re.compile(r"^\[picture\] (.*)", re.S)
# An output that chooses a light background; the site turns such an output round in the dark.
LIGHT_BOX = re.compile(r"background(?:-color)?:\s*#(?:f[0-9a-f]{2}\b|f[0-9a-f]f[0-9a-f]f[0-9a-f]\b)", re.I)


def prepare(folder: Path, below: str = "") -> None:
    """Write what Sphinx makes the site of: `pages` with the notebooks, `extra` with the pages of source.

    Args:
        folder: where to write; what is there is removed.
        below: the folder of the notebooks in the site; empty where the site has nothing else.
    """
    shutil.rmtree(folder, ignore_errors=True)
    book = _Prepared(folder, below)
    (book.extra / "source").mkdir(parents=True)
    (book.extra / "source" / "source.css").write_text(style_sheet())
    alone = [page for page in layout.pages() if page.stem != "index"]
    for page in alone:
        book.add(page, read(page))
    for chapter in chapters():
        lesson = read(chapter.lesson)
        lesson["cells"].append(_contents("", ["exercises"]))
        book.add(chapter.lesson, lesson)
        book.add(chapter.exercises, _with_hints(chapter))
    start = layout.COURSE / "index.ipynb"
    index = read(start)
    index["cells"] = index["cells"] or [new_cell("markdown", "# The course", "title")]
    lessons = [f"{chapter.folder.name}/lesson" for chapter in chapters()]
    index["cells"] += [_contents("Chapters", lessons), _contents("Beside the chapters", [page.stem for page in alone])]
    book.add(start, index)


def _contents(caption: str, pages: list[str]) -> dict[str, Any]:
    """The cell from which Sphinx makes the list of pages at the left."""
    options = [":hidden:", *([f":caption: {caption}"] if caption else [])]
    name = f"contents-{caption.split()[0].lower()}" if caption else "contents"
    return new_cell("markdown", "\n".join(["```{toctree}", *options, "", *pages, "```"]), name)


def _with_hints(chapter: Chapter) -> Notebook:
    """The exercises, with the hints of each folded below its check."""
    exercises = exercises_of(chapter)
    notebook = read(chapter.exercises)
    cells = []
    for cell in notebook["cells"]:
        cells.append(cell)
        mark = cell["metadata"].get("reftorch", {})
        if mark.get("role") == "check":
            hints = exercises[mark["exercise"]].hints
            folded = [
                f'<details class="hint"><summary>Hint {number} of {len(hints)}</summary>\n\n{hint}\n\n</details>'
                for number, hint in enumerate(hints, start=1)
            ]
            cells.append(new_cell("markdown", "\n\n".join(folded), f"hints-{mark['exercise'].replace('.', '-')}"))
    return {**notebook, "cells": cells}


class _Prepared:
    """The two folders, and what has been written to them."""

    def __init__(self, folder: Path, below: str) -> None:
        self.root = folder / "pages"
        self.pages = self.root / below
        self.extra = folder / "extra"

    def add(self, notebook: Path, content: Notebook) -> None:
        page = self.pages / notebook.relative_to(layout.COURSE)
        page.parent.mkdir(parents=True, exist_ok=True)
        for cell in telling(content):
            cell["metadata"]["tags"] = [*cell["metadata"].get("tags", []), "hide-output"]
        for cell in content["cells"]:
            if cell["cell_type"] == "markdown":
                cell["source"] = self._markdown(cell["source"], notebook, page)
            else:
                self._code(cell, notebook, page)
        content["metadata"]["language_info"] = {"name": "python", "pygments_lexer": LEXER}
        page.write_text(as_text(content))

    def _code(self, cell: dict[str, Any], notebook: Path, page: Path) -> None:
        if cell["metadata"].get("jupyter", {}).get("source_hidden"):
            cell["metadata"]["tags"] = [*cell["metadata"].get("tags", []), "hide-input"]
        for output in cell["outputs"]:
            data = output.get("data", {})
            caption = CAPTION.match("".join(data.get("text/plain", "")))
            if caption:
                cell["metadata"]["mystnb"] = {"image": {"alt": caption[1].strip()}}
            if "text/html" in data:
                html = HTML_LINK.sub(
                    lambda found: self._attribute(self._target(found, notebook, page)), "".join(data["text/html"])
                )
                data["text/html"] = f'<div class="paper">{html}</div>' if LIGHT_BOX.search(html) else html

    def _markdown(self, text: str, notebook: Path, page: Path) -> str:
        """Return Markdown for the site: links to notebooks are left to Sphinx, a file of source becomes a page."""

        def linked(found: re.Match[str]) -> str:
            if not (notebook.parent / found["path"]).is_file() or found["path"].endswith(".ipynb"):
                return found[0]
            words = re.sub("`([^`]+)`", r"<code>\1</code>", found["words"])
            return f'<a href="{self._target(found, notebook, page)}">{words}</a>'

        for picture in MARKDOWN_PICTURE.finditer(text):
            file = page.parent / picture["path"]
            file.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(notebook.parent / picture["path"], file)
        outside = [piece if CODE.fullmatch(piece) else MARKDOWN_LINK.sub(linked, piece) for piece in _parts(text)]
        return "".join(outside)

    @staticmethod
    def _attribute(target: str) -> str:
        return f'href="{target}"' if target else ""

    def _target(self, found: re.Match[str], notebook: Path, page: Path) -> str:
        """Return where a link of a notebook leads in the site: nowhere if it names a file that a lesson will make."""
        as_it_was = found["path"] + (f"#line={found['line']}" if found["line"] else "")
        file = (notebook.parent / found["path"]).resolve()
        checkout = layout.COURSE.parent.resolve()
        if not file.exists() and file.is_relative_to(checkout / "build"):
            return ""
        if not file.is_file() or not file.is_relative_to(checkout):
            return as_it_was  # the test of links names it
        if file.suffix == ".ipynb":
            other = self.pages / file.relative_to(layout.COURSE.resolve()).with_suffix(".html")
            return os.path.relpath(other, page.parent)
        relative = file.relative_to(checkout)
        other = self.extra / "source" / f"{relative}.html"
        if not other.exists():
            other.parent.mkdir(parents=True, exist_ok=True)
            other.write_text(source_page(file, str(relative), other, self.extra))
        place = f"#line-{int(found['line']) + 1}" if found["line"] else ""
        return os.path.relpath(self.root / other.relative_to(self.extra), page.parent) + place


def _parts(text: str) -> list[str]:
    """Split a text into pieces of code and the text between them."""
    pieces, last = [], 0
    for code in CODE.finditer(text):
        if not re.search(r"\[[^\]]*$", text[: code.start()].rsplit("\n", 1)[-1]):  # code inside a link belongs to it
            pieces += [text[last : code.start()], code[0]]
            last = code.end()
    return [*pieces, text[last:]]
