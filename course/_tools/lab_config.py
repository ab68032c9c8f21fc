"""Settings of the server that `make lab` starts: what a learner sees first, and what is opened and saved where.

Mirrors: nothing in PyTorch: the course's own.
Leaves out: settings of JupyterLab itself, which are in jupyterlab.json.

The server runs this file with `--config`. The file takes single modules of the course and passes over the package's
own `__init__`, which would load the library into the server.
"""

from __future__ import annotations

import importlib
import os
import sys
from contextlib import suppress
from pathlib import Path
from types import ModuleType
from typing import Any

import nbformat
from jupyter_server.services.contents.largefilemanager import AsyncLargeFileManager
from tornado.web import HTTPError
from traitlets import Bool

COURSE = Path(__file__).resolve().parents[1]
for name, folder in (("course", COURSE), ("course._tools", COURSE / "_tools")):
    package = ModuleType(name)
    package.__path__ = [str(folder)]
    sys.modules.setdefault(name, package)
copies = importlib.import_module("course._tools.copies")
layout = importlib.import_module("course._tools.layout")
kernel_metadata = importlib.import_module("course._tools.notebook").kernel_metadata


class CourseFiles(AsyncLargeFileManager):
    """The files of the checkout: a learner reads and writes copies, and the course's own notebooks stay as they are.

    A link to a copy that is not there makes the copy: so the start page starts a chapter. A copy whose original has
    changed is brought up to date when it is opened.

    Each notebook names the kernel in the words in which JupyterLab names it. JupyterLab writes these words into a
    notebook when the kernel starts. Where other words are there, the notebook is marked as changed before the learner
    has touched it. The words have the version of Python in them, so the notebooks in the repository cannot have them.
    """

    author = Bool(False, help="whether the course's own notebooks are shown and may be saved", config=True)

    def _file(self, path: str) -> Path:
        return Path(self.root_dir, path.strip("/")).resolve()

    def _is_given(self, path: str) -> bool:
        return not self.author and copies.is_given(self._file(path))

    def _bring(self, folder: Any) -> None:
        """Bring the copies up to date, and keep JupyterLab's trust in them.

        JupyterLab takes most styles from the outputs of a notebook that it does not trust, so that tables become wider
        than the window. A new copy is the course's own; another one is trusted where it was trusted before.
        """
        notebooks = [copy for _, copy in folder.files if copy.suffix == ".ipynb"]
        trusted = [copy for copy in notebooks if not copy.exists() or self._is_signed(copy)]
        copies.bring(folder)
        for copy in trusted:
            self.notary.sign(nbformat.read(copy, as_version=4))

    def _is_signed(self, copy: Path) -> bool:
        try:
            return self.notary.check_signature(nbformat.read(copy, as_version=4))
        except (ValueError, KeyError, TypeError, AttributeError, nbformat.ValidationError):  # no notebook any more
            return False

    async def get(self, path: str, content: bool = True, **options: Any) -> dict[str, Any]:
        """Answer JupyterLab when it lists a folder, opens a file, or looks whether a file has changed."""
        file = self._file(path)
        folder = copies.around(file)
        if folder is not None and (content or not file.exists()):
            try:
                self._bring(folder)
            except OSError as error:
                raise HTTPError(500, f"your copy of {path} cannot be written: {error}") from None
        model = await super().get(path, content, **options)
        if model["type"] == "directory" and content and file == layout.COURSE and not self.author and HAS_COPIES:
            own = {*layout.pages(), *(chapter.folder for chapter in layout.chapters())}
            model["content"] = [each for each in model["content"] if layout.COURSE / each["name"] not in own]
        if self._is_given(path):
            model["writable"] = False
        if content and model["type"] == "notebook":
            kernel = model["content"]["metadata"].get("kernelspec", {}).get("name")
            model["content"]["metadata"] |= kernel_metadata() if kernel == "python3" else {}
        return model

    async def save(self, model: dict[str, Any], path: str = "") -> dict[str, Any]:
        """Write a file that JupyterLab sends."""
        if self._is_given(path):
            raise HTTPError(403, f"{path} belongs to the course. Your copy is in {layout.shown(layout.workspace())}")
        return await super().save(model, path)


def start_page() -> Path:
    """The start page: the learner's copy, or the course's where there can be no copy that this server shows."""
    page = layout.workspace() / "index.ipynb"
    with suppress(OSError):  # a checkout that nobody may write into
        page.parent.mkdir(parents=True, exist_ok=True)
    can_be_opened = os.access(page.parent, os.W_OK) and page.is_relative_to(COURSE.parent)
    return page if can_be_opened else COURSE / "index.ipynb"


START_PAGE = start_page()
HAS_COPIES = START_PAGE.parent != COURSE
c = get_config()  # type: ignore[name-defined]  # noqa: F821  # the server defines it
c.ServerApp.root_dir = str(COURSE.parent)
c.ServerApp.contents_manager_class = CourseFiles
c.ContentsManager.hide_globs = ["_solutions", "__pycache__"]
c.LabApp.default_url = f"/lab/tree/{START_PAGE.relative_to(COURSE.parent).as_posix()}"
