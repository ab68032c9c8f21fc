"""Sphinx's settings for the whole site: those of the course's book, and what the API and the other pages need.

Mirrors: docs/source/conf.py
Leaves out: what the pages hold; the other files of this folder prepare them.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from course._tools.book import conf as book

for _name in dir(book):
    if _name.startswith(("nb_", "html_", "pygments_")):
        globals()[_name] = getattr(book, _name)

project = html_title = "reftorch"
author = "the reftorch authors"
extensions = ["myst_nb", "sphinx.ext.mathjax", "sphinx.ext.intersphinx"]
# One file that needs no fonts, so that formulas look the same everywhere.
mathjax_path = "https://cdn.jsdelivr.net/npm/mathjax@3.2.2/es5/tex-svg.js"
myst_heading_anchors = 3
myst_enable_extensions = ["dollarmath"]
# The names of Python that docstrings mention; the list is ours, so that a build needs no network.
intersphinx_mapping = {"python": ("https://docs.python.org/3", os.environ["REFTORCH_BOOK"] + "/python.inv")}

html_static_path = [*book.html_static_path, str(Path(__file__).parent / "static")]
html_static_path[0] = str(Path(book.__file__).parent / "static")
html_css_files = ["book.css", "site.css"]
python_display_short_literal_types = True
maximum_signature_line_length = 100
toc_object_entries_show_parents = "hide"
add_module_names = False
python_use_unqualified_type_names = True
# Of annotations alone, where a class has two public names; references in texts are full names, which a test holds.
suppress_warnings = ["ref.python"]
exclude_patterns = ["README.md"]


def setup(app: Any) -> None:
    """Set the site up; Sphinx calls this function first."""
    book.setup(app)
