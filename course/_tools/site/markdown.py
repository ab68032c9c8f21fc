"""Prepares the Markdown pages of the site: includes what the checkout says already, and leads links to pages.

A line `<!-- from FILE: ## Heading -->` is replaced by that section of FILE, without its heading; `<!-- from FILE -->`
by the whole text; `<!-- from FILE without: ## One | ## Two -->` by the text without these sections. So a text is in
the checkout once.

Mirrors: nothing in PyTorch: its docs are written in reStructuredText.
"""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path

from course._tools.site.catalogue import ROOT
from course._tools.site.gates import gates_table

HERE = Path(__file__).parent / "pages"
FROM = re.compile(r"^<!-- from (?P<file>\S+?)(?:: (?P<only>#.*?)| without: (?P<without>#.*?))? -->$", re.M)
LINK = re.compile(r"(?P<picture>!?)\[(?P<words>[^\]\[]+)\]\((?P<path>[^)#:\s]+)(?P<place>#[^)\s]*)?\)")
GATES = "<!-- gates -->"  # is replaced by the table of the limits of `make bench`
# The pages that show a file of the checkout whole or without some sections.
HOMES = {
    "CONTRIBUTING.md": "contributing.md",
    "reftorch/debug/README.md": "howto/debugging.md",
    "CHANGELOG.md": "changes.md",
    "reftorch/_api/names.csv": "names.md",
}


def write_pages(folder: Path, extra: Path) -> None:
    """Write every page of `pages/` to `folder`; `extra` has the pages of source that links may lead to."""
    for source in sorted(HERE.rglob("*.md")):
        page = folder / source.relative_to(HERE)
        page.parent.mkdir(parents=True, exist_ok=True)
        page.write_text(page_text(source, folder, extra))


def page_text(source: Path, folder: Path, extra: Path) -> str:
    """The text of one page, with what it includes."""
    page = folder / source.relative_to(HERE)
    parts, last = [], 0
    text = source.read_text()
    if GATES in text:
        text = text.replace(GATES, gates_table())
    for found in FROM.finditer(text):
        file = ROOT / found["file"]
        taken = file.read_text()
        if found["only"]:
            taken = section(taken, found["only"])
        for heading in (found["without"] or "").split(" | "):
            if heading:
                taken = taken.replace(heading + section(taken, heading), "", 1)
        parts += [_linked(text[last : found.start()], source, page, folder, extra)]
        parts += [_linked(taken.strip("\n"), file, page, folder, extra)]
        last = found.end()
    return "".join([*parts, _linked(text[last:], source, page, folder, extra)])


def section(text: str, heading: str) -> str:
    """Return the text under a heading, up to the next heading of the same or a higher level.

    Raises:
        LookupError: the text has no such heading.
    """
    level = len(heading) - len(heading.lstrip("#"))
    start = re.search(rf"^{re.escape(heading)}$", text, re.M)
    if start is None:
        raise LookupError(f"no heading {heading!r}")
    inside, end = False, start.end()
    for line in text[start.end() :].splitlines(keepends=True):
        inside ^= line.startswith("```")
        if not inside and re.match(rf"#{{1,{level}}} ", line):
            break
        end += len(line)
    return text[start.end() : end]


def _linked(text: str, source: Path, page: Path, folder: Path, extra: Path) -> str:
    """The text with links that lead to pages of the site: a file of the checkout leads to its page of source."""

    def linked(found: re.Match[str]) -> str:
        target = (source.parent / found["path"]).resolve()
        if found["picture"]:
            copy = folder / "pictures" / target.name
            copy.parent.mkdir(exist_ok=True)
            shutil.copyfile(target, copy)
            return f"![{found['words']}]({os.path.relpath(copy, page.parent)})"
        if source.is_relative_to(HERE):
            return found[0]  # a link from page to page, which Sphinx follows
        path = target.relative_to(ROOT).as_posix()
        if path in HOMES:
            return f"[{found['words']}]({os.path.relpath(folder / HOMES[path], page.parent)}{found['place'] or ''})"
        if (extra / "source" / f"{path}.html").exists():
            words = re.sub("`([^`]+)`", r"<code>\1</code>", found["words"])
            return f'<a href="{os.path.relpath(folder / "source" / path, page.parent)}.html">{words}</a>'
        return found["words"]  # a file that the site does not show

    pieces = re.split(r"(^```.*?^```$|`[^`\n]+`(?!\]))", text, flags=re.S | re.M)
    return "".join(piece if piece.startswith("`") else LINK.sub(linked, piece) for piece in pieces)
