"""Sphinx's settings for the book; `make book` names the folder of the prepared pages in REFTORCH_BOOK.

Mirrors: nothing in PyTorch: the course's own.
Leaves out: what the pages hold; `pages.py` prepares them.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from course._tools.book.lexer import CellLexer
from course._tools.book.pages import LEXER
from course._tools.book.source_pages import DARK, LIGHT

project = html_title = "The reftorch course"
author = "the reftorch authors"
extensions = ["myst_nb"]
nb_execution_mode = "off"
nb_merge_streams = True
nb_render_error_lexer = "myst-ansi"  # an error may be a compiler's, not a traceback of Python
nb_code_prompt_show = "Show the code"
nb_code_prompt_hide = "Hide the code"

html_theme = "furo"
html_static_path = ["static"]
html_css_files = ["book.css"]
html_js_files = ["search.js"]
html_extra_path = [str(Path(os.environ["REFTORCH_BOOK"]) / "extra")]
html_copy_source = False
html_use_index = False
html_show_sphinx = html_show_copyright = False
html_theme_options = {"navigation_with_keys": True}
pygments_style, pygments_dark_style = LIGHT, DARK


def setup(app: Any) -> None:
    """Set the site up; Sphinx calls this function first."""
    app.add_lexer(LEXER, CellLexer)
