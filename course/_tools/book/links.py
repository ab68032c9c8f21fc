"""Links of a web site that lead to no page, or to no place of a page.

Mirrors: nothing in PyTorch: the course's own.
Leaves out: links to other sites, which a test without a network cannot follow.
"""

from __future__ import annotations

import re
from html import unescape
from pathlib import Path
from urllib.parse import unquote

# What a page names: links, style sheets, scripts and pictures.
NAMED = re.compile(r'<[a-z]+\b[^>]*?\s(?:href|src)="([^"]*)"')
PLACE = re.compile(r'\b(?:id|name)="([^"]+)"')
CODE = re.compile(r"<script\b[^>]*>.*?</script>", re.S)


def broken_links(folder: Path) -> list[str]:
    """What the pages below `folder` name and what is not there, each as `page: target`."""
    broken = []
    places: dict[Path, set[str]] = {}
    root = folder.resolve()
    for page in sorted(root.rglob("*.html")):
        text = CODE.sub(lambda found: found[0][: found[0].index(">") + 1], page.read_text())
        for target in dict.fromkeys(map(unescape, NAMED.findall(text))):
            if re.match(r"[a-z]+:|//", target):  # another site, mail, or a picture that stands in the page
                continue
            path, _, place = target.partition("#")
            path = path.partition("?")[0]
            file = (page.parent / unquote(path)).resolve() if path else page
            if not file.is_file() or not file.is_relative_to(root):
                broken.append(f"{page.relative_to(root)}: {target}")
            elif place and file.suffix == ".html":
                if file not in places:
                    places[file] = set(map(unescape, PLACE.findall(file.read_text())))
                if unquote(place) not in places[file]:
                    broken.append(f"{page.relative_to(root)}: {target}")
    return broken
