"""`make book`: the course as a web site, with the source that it links to, for those who read without JupyterLab.

Mirrors: nothing in PyTorch: the course's own.
Leaves out: running anything; the stored outputs are what is shown. Solutions are left out too.

The site is made by Sphinx with MyST-NB, which reads notebooks, and with the theme Furo, which brings search, dark mode
and a layout for phones. Four things are ours. `pages` prepares the notebooks, `source_pages` writes the pages of
source, `search_index` writes what the search looks in, and `links` looks for links that lead nowhere. Only Sphinx
itself needs the extra `book`; `make book` installs the extra. A warning of Sphinx is an error. `make docs` makes these
pages a part of the whole site, see `course/_tools/site`.
"""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from course._tools.book.links import broken_addresses, broken_links
from course._tools.book.pages import prepare
from course._tools.book.search_index import documents, index
from course._tools.layout import ROOT, CourseError

__all__ = ["broken_links", "make_book", "make_site", "prepare"]
NEEDED = ("sphinx", "myst_nb", "furo")
SETTINGS = Path(__file__).parent  # of conf.py, which finds the prepared pages in this variable
SETTING = "REFTORCH_BOOK"


def make_book(folder: Path) -> Path:
    """Write the course's site to `folder`, in place of an earlier one; returns the start page.

    Raises:
        CourseError: as for `make_site`.
    """
    return make_site(folder, prepare, SETTINGS)


def make_site(folder: Path, prepare_pages: Callable[[Path], None], settings: Path) -> Path:
    """Write a site to `folder`, in place of an earlier one; returns the start page.

    Args:
        folder: where the site will be.
        prepare_pages: writes what Sphinx reads to the folder that it gets: `pages`, and `extra` with finished files.
        settings: the folder of Sphinx's `conf.py`.

    Raises:
        CourseError: Sphinx is not installed, or Sphinx has a warning, or a link of the site leads nowhere. The folder
            is then as it was.
    """
    missing = [name for name in NEEDED if importlib.util.find_spec(name) is None]
    if missing:
        raise CourseError(f"the book needs {', '.join(missing)}, which `make book` installs")
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=f"{folder.name}-", dir=folder.parent) as scratch:
        prepared, site = Path(scratch) / "prepared", Path(scratch) / "site"
        prepare_pages(prepared)
        _sphinx(prepared, site, settings)
        found = list(documents(prepared))
        (site / "searchindex.js").write_text(index(found))
        broken = [*broken_links(site), *broken_addresses(site, "search", (each.address for each in found))]
        if broken:
            raise CourseError("\n".join(["links of the site lead nowhere:", *broken]))
        shutil.rmtree(folder, ignore_errors=True)
        site.rename(folder)
    return folder / "index.html"


def _sphinx(prepared: Path, site: Path, settings: Path) -> None:
    """Run Sphinx on the prepared pages.

    Raises:
        CourseError: Sphinx has a warning or an error; the text is Sphinx's.
    """
    options = ["-j", "auto", "-b", "html", "-q", "-W", "--keep-going"]
    options += ["-c", str(settings), "-d", str(prepared / "doctrees")]
    done = subprocess.run(
        [sys.executable, "-m", "sphinx", *options, str(prepared / "pages"), str(site)],
        env={**os.environ, "PYTHONPATH": str(ROOT), SETTING: str(prepared)},
        capture_output=True,
        text=True,
    )
    if done.returncode:
        raise CourseError(f"Sphinx did not make the site:\n{done.stdout}{done.stderr}")
