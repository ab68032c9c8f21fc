"""Settings of the server that `make lab` starts: what a learner sees first, and notebooks that open unchanged.

Mirrors: nothing in PyTorch: the course's own.
Leaves out: settings of JupyterLab itself, which are in jupyterlab.json.

The server runs this file with `--config`, so the file imports nothing of the course, which would load the library too.
"""

from __future__ import annotations

import runpy
from pathlib import Path
from typing import Any

from jupyter_server.services.contents.largefilemanager import AsyncLargeFileManager

COURSE = Path(__file__).resolve().parents[1]
kernel_metadata = runpy.run_path(str(Path(__file__).with_name("notebook.py")))["kernel_metadata"]


class CourseFiles(AsyncLargeFileManager):
    """The files of the checkout, where each notebook names the kernel in the words in which JupyterLab names it.

    JupyterLab writes these words into a notebook when the kernel starts. Where other words stand, the notebook is
    marked as changed before the learner has touched it. The words have the version of Python in them, so the
    notebooks in the repository cannot have them.
    """

    async def get(self, path: str, content: bool = True, **options: Any) -> dict[str, Any]:
        """What JupyterLab asks for when it opens a file."""
        model = await super().get(path, content, **options)
        if content and model["type"] == "notebook":
            kernel = model["content"]["metadata"].get("kernelspec", {}).get("name")
            model["content"]["metadata"] |= kernel_metadata() if kernel == "python3" else {}
        return model


c = get_config()  # type: ignore[name-defined]  # noqa: F821  # the server defines it
c.ServerApp.root_dir = str(COURSE.parent)
c.ServerApp.contents_manager_class = CourseFiles
c.ContentsManager.hide_globs = ["_solutions", "__pycache__"]
c.LabApp.default_url = "/lab/tree/course/index.ipynb"
