"""A page of source: a file of the checkout with numbered lines, each of which a link can name.

Mirrors: nothing in PyTorch: the course's own.
Leaves out: search and navigation; a page of source is reached from a listing, and leads back to the start page.
"""

from __future__ import annotations

import os
from html import escape
from pathlib import Path

from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import get_lexer_for_filename
from pygments.lexers.special import TextLexer
from pygments.util import ClassNotFound

from course._tools.definitions import mirrors_of
from course._tools.listing import is_path, pytorch_links

LIGHT, DARK = "friendly", "github-dark"
# Furo keeps the reader's choice of the theme under this name; without a choice the system's setting holds.
THEME = 'document.documentElement.dataset.theme = (() => { try { return localStorage.getItem("theme") } catch { } })()'
PAGE = """<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title><script>{script}</script><link rel="stylesheet" href="{style}"></head>
<body><p><a href="{start}">reftorch</a> &nbsp; <b>{title}</b>{mirrors}</p>
{body}</body></html>
"""
STYLE = """body { margin: 1em; font-family: system-ui, sans-serif; background: #fff; color: #1f2328; }
a { color: #0550ae; }
pre { font-size: 13px; line-height: 1.45; overflow-x: auto; background: none; }
.highlight { background: none !important; }
.linenos { opacity: .55; user-select: none; }
"""
IN_THE_DARK = """body { background: #131416; color: #cfd0d0; }
a { color: #79b8ff; }
"""


def style_sheet() -> str:
    """The style of all pages of source, in light and in dark."""
    light = HtmlFormatter(style=LIGHT).get_style_defs(".highlight")
    dark = IN_THE_DARK + HtmlFormatter(style=DARK).get_style_defs(".highlight")
    target = ":target + span, :target { background: rgba(255, 212, 0, .35); }\n"
    return (
        f"{STYLE}{light}\n"
        f"@media (prefers-color-scheme: dark) {{ html:not([data-theme=light]) {{\n{dark}\n}} }}\n"
        f"html[data-theme=dark] {{\n{dark}\n}}\n{target}"
    )


def _mirrors(path: str) -> str:
    """Links to the files of PyTorch that a file says it mirrors; empty where it says nothing."""
    try:
        said = mirrors_of(path)
    except (LookupError, FileNotFoundError):
        return ""
    return f" &nbsp; PyTorch 2.13: {pytorch_links(said)}" if said and is_path(said) else ""


def source_page(file: Path, title: str, page: Path, root: Path) -> str:
    """The page of one file.

    Args:
        file: the file.
        title: the path that readers know the file by.
        page: where the page will be.
        root: the folder of the site.
    """
    try:
        lexer = get_lexer_for_filename(file.name)
    except ClassNotFound:
        lexer = TextLexer()
    formatter = HtmlFormatter(linenos="inline", lineanchors="line", linespans="l")
    return PAGE.format(
        title=escape(title),
        script=THEME,
        style=os.path.relpath(root / "source" / "source.css", page.parent),
        start=os.path.relpath(root / "index.html", page.parent),
        mirrors=_mirrors(title),
        body=highlight(file.read_text(), lexer, formatter),
    )
