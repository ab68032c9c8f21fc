"""Writes a page of source for every file of the library, and the page that lists the files with their twins in PyTorch.

Mirrors: docs/source/conf.py (``linkcode_resolve``, which links PyTorch's docs to its source)
Leaves out: tests, and the files of other projects.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from course._tools.book.source_pages import source_page
from course._tools.listing import is_path, pytorch_links
from course._tools.site.catalogue import ROOT, mirrored

FOLDERS = ("reftorch", "cpp")
SUFFIXES = (".py", ".cpp", ".h", ".cu", ".cuh", ".txt", ".csv", ".md")


def source_files() -> Iterator[str]:
    """The paths of the library's source files, sorted."""
    for top in FOLDERS:
        for file in sorted((ROOT / top).rglob("*")):
            parts = file.relative_to(ROOT).parts
            if (
                file.suffix in SUFFIXES
                and "third_party" not in parts
                and "__pycache__" not in parts
                and "lib" not in parts[:2]
            ):
                yield file.relative_to(ROOT).as_posix()


def write_sources(file: Path, extra: Path) -> None:
    """Write the page `file`, and the pages of source that are missing below `extra`.

    The table of names is left out of the pages of source, because it has a page of its own.
    """
    folders: dict[str, list[str]] = {}
    for path in source_files():
        page = extra / "source" / f"{path}.html"
        if not page.exists() and not path.endswith(".csv"):
            page.parent.mkdir(parents=True, exist_ok=True)
            page.write_text(source_page(ROOT / path, path, page, extra))
        if not path.endswith(".csv"):
            folders.setdefault(path.rsplit("/", 1)[0], []).append(path)
    total = sum(map(len, folders.values()))
    parts = [
        "# The source\n",
        f"{total:,} files, each with the file of PyTorch 2.13 that it mirrors. Every line of a page has an address, "
        "which the pages of the API and of the course use.\n",
    ]
    for folder, paths in folders.items():
        rows = "".join(_row(path) for path in paths)
        parts.append(
            f'## {folder}\n\n```{{raw}} html\n<table class="docutils sources"><tbody>{rows}</tbody></table>\n```\n'
        )
    file.write_text("\n".join(parts))


def _row(path: str) -> str:
    said = mirrored(path)
    there = pytorch_links(said) if said and is_path(said) else ""
    name = path.rsplit("/", 1)[-1]
    return f'<tr><td><a href="source/{path}.html"><code>{name}</code></a></td><td>{there}</td></tr>\n'
