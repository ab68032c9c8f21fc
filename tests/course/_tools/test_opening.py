"""`reftorch-course open`: the learner's notebook in the JupyterLab that runs, or how to come to one.

Mirrors: nothing in PyTorch: PyTorch ships no course.
"""

from __future__ import annotations

import pytest

from course._tools import opening
from course._tools.cli import main
from course._tools.runner import kernel


@pytest.fixture
def servers(monkeypatch):
    """The JupyterLab servers that run, and the addresses that a browser was sent to."""
    running: list[dict[str, str]] = []
    asked: list[str] = []
    monkeypatch.setattr(opening, "_running_servers", lambda: running)
    monkeypatch.setattr(opening.webbrowser, "open", lambda address: asked.append(address) or True)
    return running, asked


def serve(toy) -> dict[str, str]:
    return {"root_dir": str(toy.folder.parents[1]), "url": "http://127.0.0.1:8888/", "token": "secret"}


def test_it_asks_to_start_the_chapter_first(toy, servers, capsys):
    assert main(["open", "07"]) == 2
    assert "reftorch-course start 07" in capsys.readouterr().err


def test_it_opens_the_lesson_or_the_exercises_of_the_working_copy(toy, servers, capsys):
    running, asked = servers
    running.append({"root_dir": "/somewhere/else", "url": "http://127.0.0.1:9999/", "token": ""})
    running.append(serve(toy))
    main(["start", "07"])
    assert main(["open", "07"]) == 0
    assert main(["open", "07", "exercises"]) == 0
    assert asked == [
        "http://127.0.0.1:8888/lab/tree/work/07_toy/07_toy.ipynb?token=secret",
        "http://127.0.0.1:8888/lab/tree/work/07_toy/07_exercises.ipynb?token=secret",
    ]


def test_without_a_browser_the_address_is_shown(toy, servers, monkeypatch, capsys):
    servers[0].append(serve(toy))
    monkeypatch.setattr(opening.webbrowser, "open", lambda address: False)
    main(["start", "07"])
    assert main(["open", "07"]) == 0
    assert "http://127.0.0.1:8888/lab/tree/work/07_toy/07_toy.ipynb" in capsys.readouterr().out


def test_without_a_jupyterlab_it_says_how_to_run_one(toy, servers, capsys):
    main(["start", "07"])
    assert main(["open", "07"]) == 2
    assert "make lab" in capsys.readouterr().err


def test_a_notebook_that_is_gone_is_told(toy, servers, capsys):
    main(["start", "07"])
    toy.my_lesson.unlink()
    assert main(["open", "07"]) == 2
    assert "reftorch-course reset 07" in capsys.readouterr().err


def test_in_a_notebook_it_shows_a_link(toy):
    main(["start", "07"])
    cell = f"""
from pathlib import Path
from course._tools import course, layout

layout.COURSE = Path({str(toy.folder.parent)!r})
course("open 07 exercises")
"""
    with kernel(toy.folder) as running:
        outputs = running.run(cell)
    shown = "".join(output.get("data", {}).get("text/html", "") for output in outputs)
    assert "07_exercises.ipynb</a>" in shown
