"""`make book`: the course as static pages, with the source they link to, for who reads without JupyterLab.

Mirrors: nothing in PyTorch: the course's own.
Leaves out: running anything; the stored outputs are what is shown.
"""

from __future__ import annotations

import os
import re
from html import escape, unescape
from pathlib import Path
from urllib.parse import unquote

import nbformat
from nbconvert import HTMLExporter
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import get_lexer_for_filename
from pygments.lexers.special import TextLexer
from pygments.util import ClassNotFound

from course._tools import layout
from course._tools.layout import chapters

# `href="..."` of a page, and `](...)` of its markdown, which is HTML by then.
TARGET = re.compile(r'href="(?P<path>[^"#?:]+)(?P<line>#line=(?P<number>\d+))?"')
# JupyterLab sets a listing's lines as code by itself; a page has to be told.
LISTINGS = "<style>.jp-RenderedHTML pre{font-family:ui-monospace,Menlo,Consolas,monospace!important}</style>"
# The lab template asks three scripts of the network, for widgets, formulas and diagrams; the course has none of them.
TEMPLATE = """
{%- extends 'index.html.j2' -%}
{%- block html_head_js_requirejs -%}{%- endblock -%}
{%- block html_head_js_mathjax -%}{%- endblock -%}
{%- block html_head_js_mermaidjs -%}{%- endblock -%}
"""
PAGE = """<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title>{title}</title>
<style>body{{margin:1em;font-family:system-ui,sans-serif}}pre{{font-size:13px;line-height:1.45}}
:target{{background:#fff8c5}}
{style}</style></head><body><h3>{title}</h3>{body}</body></html>
"""


def make_book(folder: Path) -> list[Path]:
    """Write the start page, the glossary, every lesson and every exercise under `folder`; returns the pages."""
    notebooks = layout.pages()
    for chapter in chapters():
        notebooks += [chapter.lesson, chapter.exercises]
    book = _Book(folder)
    for notebook in notebooks:
        book.add_notebook(notebook)
    return book.pages


class _Book:
    """The pages of one book: a notebook becomes `X.html` at its place, a linked file a page under `source`."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.root = layout.COURSE.parent
        self.exporter = HTMLExporter(
            template_name="lab", raw_template=TEMPLATE, exclude_input_prompt=True, exclude_output_prompt=True
        )
        self.pages: list[Path] = []

    def add_notebook(self, notebook: Path) -> None:
        content = nbformat.read(notebook, as_version=4)
        for cell in content.cells:
            if cell.metadata.get("jupyter", {}).get("source_hidden"):
                cell.metadata["transient"] = {"remove_source": True}  # folded away there, left out here
        page = self.folder / notebook.relative_to(self.root).with_suffix(".html")
        body, _ = self.exporter.from_notebook_node(content)
        body = body.replace("</head>", f"{LISTINGS}</head>", 1)
        self._write(page, TARGET.sub(lambda found: self._link(found, notebook.parent, page), body))

    def _link(self, found: re.Match[str], base: Path, page: Path) -> str:
        target = (base / found["path"]).resolve()
        if not target.exists() or not target.is_relative_to(self.root.resolve()):
            return found[0]
        relative = target.relative_to(self.root.resolve())
        if target.suffix == ".ipynb":
            other = self.folder / relative.with_suffix(".html")
        elif target.is_dir():
            return found[0]
        else:
            other = self._source(target, relative)
        anchor = f"#line-{int(found['number']) + 1}" if found["number"] else ""
        return f'href="{os.path.relpath(other, page.parent)}{anchor}"'

    def _source(self, file: Path, relative: Path) -> Path:
        page = self.folder / "source" / f"{relative}.html"
        if page not in self.pages:
            try:
                lexer = get_lexer_for_filename(file.name)
            except ClassNotFound:
                lexer = TextLexer()
            formatter = HtmlFormatter(linenos="inline", lineanchors="line", style="friendly")
            body = highlight(file.read_text(), lexer, formatter)
            body = body.replace('<a id="line-', '<a class="anchor" id="line-')
            self._write(page, PAGE.format(title=escape(str(relative)), style=formatter.get_style_defs(), body=body))
        return page

    def _write(self, page: Path, text: str) -> None:
        page.parent.mkdir(parents=True, exist_ok=True)
        page.write_text(text)
        self.pages.append(page)


def broken_links(pages: list[Path]) -> list[str]:
    """Links of the pages that lead to no page, or to no line of one."""
    broken = []
    places: dict[Path, set[str]] = {}
    for page in pages:
        for path, anchor in re.findall(r'href="([^"#?:]*)(?:#([^"]*))?"', page.read_text()):
            target = (page.parent / path).resolve() if path else page
            if not target.exists():
                broken.append(f"{page.name}: {path}")
            elif anchor:
                if target not in places:
                    places[target] = {unescape(each) for each in re.findall(r'id="([^"]+)"', target.read_text())}
                if unquote(unescape(anchor)) not in places[target]:
                    broken.append(f"{page.name}: {path}#{anchor}")
    return broken
