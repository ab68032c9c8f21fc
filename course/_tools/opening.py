"""`reftorch-course open`: a chapter's notebook in the JupyterLab that is running.

Mirrors: nothing in PyTorch: the course's own.
Leaves out: starting JupyterLab, which is `make lab`; other editors open the file by its path.
"""

from __future__ import annotations

import webbrowser
from pathlib import Path
from urllib.parse import quote

from course._tools.lab import MARK
from course._tools.layout import ROOT, Chapter, CourseError, shown, to_run

NOTEBOOKS = ("lesson", "exercises")


def notebook_of(chapter: Chapter, which: str) -> Path:
    """The learner's copy of a notebook.

    Raises:
        CourseError: the chapter is not started, or the file is gone.
    """
    if not chapter.working_copy.exists():
        raise CourseError(
            f"chapter {chapter.number} is not started; start it with `{to_run(f'start {chapter.number}')}`"
        )
    file = {"lesson": chapter.my_lesson, "exercises": chapter.my_exercises}[which]
    if not file.exists():
        raise CourseError(f"{shown(file)} is gone; get a fresh one with `{to_run(f'reset {chapter.number}')}`")
    return file


def address_of(file: Path) -> str:
    """Return where the running JupyterLab shows `file`.

    Raises:
        CourseError: none is running that could show it.
    """
    for server in _running_servers():
        root = Path(server["root_dir"]).resolve()
        if file.is_relative_to(root):
            token = f"?token={server['token']}" if server.get("token") else ""
            return f"{server['url']}lab/tree/{quote(file.relative_to(root).as_posix())}{token}"
    start = "reftorch-course lab" if (ROOT / MARK).exists() else "make lab"
    raise CourseError(
        f"no JupyterLab is running that can show {shown(file)}; run `{start}`, or open the file in your editor"
    )


def show(address: str) -> bool:
    """Ask the desktop for a browser; False where there is none, as on a server."""
    try:
        return webbrowser.open(address)
    except webbrowser.Error:
        return False


def _running_servers() -> list[dict[str, str]]:
    from jupyter_server.serverapp import list_running_servers

    return list(list_running_servers())
