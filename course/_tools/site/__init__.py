"""`make docs`: the web site of reftorch, with the course, the API, the source and the table of names.

Mirrors: docs/Makefile
Leaves out: what the course's book brings: notebooks as pages, pages of source, and the search for dead links.

Sphinx makes one site with one theme. `api` writes the pages of the API from the docstrings, which `docstrings` turns
into reStructuredText; `catalogue` says which names there are. `names_page` writes the table of PyTorch's names,
`sources` the list of source files. The other pages are Markdown in `pages/`, which `markdown` prepares; what the
checkout says already is included, not copied.
"""

from __future__ import annotations

import shutil
import zlib
from pathlib import Path

from course._tools.book import make_site, prepare

HERE = Path(__file__).parent
# Names of Python that docstrings refer to, for intersphinx: kind and page.
PYTHON = {
    "module": ("pickle", "zipfile", "warnings", "multiprocessing", "collections", "contextlib", "functools", "inspect"),
    "exception": ("ArithmeticError", "AssertionError", "AttributeError", "EOFError", "Exception", "FileNotFoundError",
                  "FutureWarning", "ImportError", "IndexError", "KeyError", "LookupError", "NameError",
                  "NotImplementedError", "OSError", "OverflowError", "PermissionError", "RuntimeError", "StopIteration",
                  "SyntaxError", "TimeoutError", "TypeError", "UserWarning", "ValueError", "ZeroDivisionError"),
    "class": ("bool", "bytes", "dict", "float", "int", "list", "object", "set", "str", "tuple", "type"),
}  # fmt: skip
FUNCTIONS = ("bool", "float", "int", "object", "type")  # of the classes, those on the page of functions


def make_docs(folder: Path) -> Path:
    """Write the site to `folder`, in place of an earlier one; returns the start page.

    Raises:
        CourseError: Sphinx has a warning, or a link of the site leads nowhere. The folder is then as it was.
    """
    return make_site(folder, prepare_docs, HERE)


def prepare_docs(folder: Path, course: bool = True) -> None:
    """Write what Sphinx makes the site of.

    Args:
        folder: where to write; what is there is removed.
        course: whether the course is a part of the site; a quick look at other pages does without.
    """
    from course._tools.site.api import write_api
    from course._tools.site.catalogue import Catalogue
    from course._tools.site.markdown import write_pages
    from course._tools.site.names_page import write_names
    from course._tools.site.sources import write_sources

    pages, extra = folder / "pages", folder / "extra"
    prepare(folder, "course")
    if not course:
        shutil.rmtree(pages / "course")
        (pages / "course").mkdir()
        (pages / "course" / "index.md").write_text("# The course\n\nThis build of the site is without the course.\n")
    catalogue = Catalogue()
    write_api(pages / "api", catalogue)
    write_names(pages / "names.md", catalogue)
    write_sources(pages / "source.md", extra)
    write_pages(pages, extra)
    write_inventory(folder / "python.inv")


def write_inventory(file: Path) -> None:
    """Write the list of Python's names as intersphinx reads it."""
    lines = []
    for kind, names in PYTHON.items():
        for name in names:
            page = {"module": f"library/{name}.html#module-$", "exception": "library/exceptions.html#$"}.get(kind)
            page = page or f"library/{'functions' if name in FUNCTIONS else 'stdtypes'}.html#$"
            lines.append(f"{name} py:{kind} 1 {page} -")
    lines.append("builtins.type py:class 1 library/functions.html#type -")
    head = (
        "# Sphinx inventory version 2\n# Project: Python\n# Version: 3\n"
        "# The remainder of this file is compressed using zlib.\n"
    )
    file.write_bytes(head.encode() + zlib.compress(("\n".join(lines) + "\n").encode()))
