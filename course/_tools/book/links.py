"""Links of a web site that lead to no page, or to no place of a page.

Mirrors: nothing in PyTorch: the course's own.
Leaves out: links to other sites, which a test without a network cannot follow.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable
from html import unescape
from pathlib import Path
from urllib.parse import unquote

# What a page names: links, style sheets, scripts and pictures.
NAMED = re.compile(r'<[a-z]+\b[^>]*?\s(?:href|src)="([^"]*)"')
PLACE = re.compile(r'\b(?:id|name)="([^"]+)"')
CODE = re.compile(r"<script\b[^>]*>.*?</script>", re.S)


def broken_links(folder: Path) -> list[str]:
    """Return the links of the pages below `folder` that lead nowhere, each as `page: target`."""
    broken = []
    root = folder.resolve()
    for page in sorted(root.rglob("*.html")):
        text = CODE.sub(lambda found: found[0][: found[0].index(">") + 1], page.read_text())
        broken += broken_addresses(root, page.relative_to(root).as_posix(), map(unescape, NAMED.findall(text)))
    return broken


def broken_addresses(folder: Path, page: str, targets: Iterable[str]) -> list[str]:
    """Return those `targets` of a page below `folder` that do not exist, each as `page: target`."""
    broken = []
    root = folder.resolve()
    for target in dict.fromkeys(targets):
        if re.match(r"[a-z]+:|//", target):  # another site, mail, or a picture that is a part of the page
            continue
        path, _, place = target.partition("#")
        path = path.partition("?")[0]
        file = ((root / page).parent / unquote(path) if path else root / page).resolve()
        there = file.is_file() and file.is_relative_to(root)
        if there and place and file.suffix == ".html":
            there = unquote(place) in _places(file, file.stat().st_mtime_ns)
        broken += [] if there else [f"{page}: {target}"]
    return broken


@functools.cache
def _places(file: Path, written: int) -> set[str]:
    """The names of the places of a page, which is read again if it was written again."""
    return set(map(unescape, PLACE.findall(file.read_text())))
