"""Building: lessons are run, outputs are stored, and what differs is told cell by cell.

Mirrors: nothing in PyTorch: PyTorch ships no course.
"""

from __future__ import annotations

import configparser

import nbformat
import pytest
from nbval.plugin import get_sanitize_patterns

from course._tools import real_torch
from course._tools.build import SANITIZE, without_the_place
from course._tools.cli import main
from course._tools.layout import ROOT
from course._tools.notebook import as_text, new_cell, new_notebook


@pytest.fixture
def lesson(toy):
    """Write the toy's lesson: `lesson(source, ...)`, a code cell for each source."""

    def write(*sources: str, **metadata) -> None:
        cells = [new_cell("markdown", "# 07 A toy", "title")]
        cells += [new_cell("code", source, f"cell-{i}", **metadata) for i, source in enumerate(sources)]
        toy.lesson.write_text(as_text(new_notebook(cells)))

    return write


def outputs(toy) -> list[str]:
    """What each code cell shows; the first and the last cell are markdown."""
    cells = [cell for cell in nbformat.read(toy.lesson, as_version=4).cells if cell.cell_type == "code"]
    return ["".join(o.get("text", "") + o.get("data", {}).get("text/plain", "") for o in c.outputs) for c in cells]


def test_a_lesson_is_run_once_and_then_up_to_date(toy, lesson, capsys):
    lesson("x = 6", "print(x * 7)", "import os\nos.environ['REFTORCH_COURSE_WORK'] != 'mine'")
    assert main(["build", "07"]) == 0
    said = capsys.readouterr().out
    assert "lesson.ipynb: changed" in said
    assert "cell 2: print(x * 7)" in said
    assert outputs(toy) == ["", "42\n", "True"]
    before = toy.lesson.read_bytes()
    assert main(["build", "07"]) == 0
    assert "lesson.ipynb: up to date" in capsys.readouterr().out
    assert toy.lesson.read_bytes() == before


def test_what_differs_from_run_to_run_is_no_change_for_a_look(toy, lesson, capsys):
    lesson("object()", "import os\nprint(f'stop at engine.cpp:{os.getpid()}')")
    main(["build", "07"])
    capsys.readouterr()
    assert main(["build", "07", "--check"]) == 0
    assert "lesson.ipynb: up to date" in capsys.readouterr().out
    before = outputs(toy)
    assert main(["build", "07"]) == 0
    assert outputs(toy)[1] != before[1], "a build stores the line numbers of today"


def test_no_letters_of_the_checkouts_path_are_stored_where_gdb_has_cut_it(toy, lesson):
    lesson(f"print('file \"{str(ROOT)[:5]}\"...')")
    assert main(["build", "07"]) == 0
    assert outputs(toy) == ['file "..."\n']
    assert main(["build", "07", "--check"]) == 0


@pytest.mark.parametrize("quote", ['"', "&quot;"])
def test_a_cut_text_that_is_no_path_of_the_checkout_stays(quote):
    cut = [f"{quote}{letters}{quote}..." for letters in ("/", f"{ROOT}/", "/usr/li", "bartlett")]
    kept = [f"{quote}...{quote}"] * 2 + cut[2:]
    assert without_the_place([{"text/plain": text} for text in cut]) == [{"text/plain": text} for text in kept]
    whole = f"{quote}/{quote}"
    assert without_the_place(whole) == whole


def test_a_cell_whose_output_is_not_compared_only_needs_one(toy, lesson):
    lesson("import os\nos.getpid()", tags=["nbval-ignore-output"])
    assert main(["build", "07", "--check"]) == 1
    assert main(["build", "07"]) == 0
    assert main(["build", "07", "--check"]) == 0


def test_a_cell_that_raises_is_told_and_nothing_is_written(toy, lesson, capsys):
    lesson("1 / 0")
    before = toy.lesson.read_bytes()
    assert main(["build", "07"]) == 2
    assert "a cell raised ZeroDivisionError: division by zero\n\n1 / 0" in capsys.readouterr().err
    assert toy.lesson.read_bytes() == before


@pytest.mark.parametrize("answer", ["...", "True", "False"])
def test_a_prediction_is_the_same_when_it_runs_again(toy, lesson, answer):
    lesson("from course._tools import predict, reveal", f"predict('is it?', a={answer})", "reveal(a=True)")
    assert main(["build", "07"]) == 0
    assert main(["build", "07", "--check"]) == 0
    assert outputs(toy)[2].startswith("What came" if answer == "..." else f"What came: you had {int(answer == 'True')}")


def test_the_builder_hides_the_source_that_tells_the_answer(toy, lesson):
    lesson("from course._tools import predict, reveal\npredict('is it?', a=...)\nreveal(a=True)", tags=["reveal"])
    assert main(["build", "07", "--check"]) == 1
    assert main(["build", "07"]) == 0
    cell = nbformat.read(toy.lesson, as_version=4).cells[1]
    assert cell.metadata["jupyter"] == {"source_hidden": True}
    assert cell.source.startswith("# What came, beside your prediction\n")
    assert main(["build", "07", "--check"]) == 0


def test_folds_are_made_without_running_a_cell(toy, lesson):
    lesson("reveal(nothing_that_runs)", tags=["reveal"])
    assert main(["build", "07", "--no-run", "--check"]) == 1
    assert main(["build", "07", "--no-run"]) == 0
    cell = nbformat.read(toy.lesson, as_version=4).cells[1]
    assert cell.metadata["jupyter"] == {"source_hidden": True}
    assert cell.outputs == []
    assert main(["build", "07", "--no-run", "--check"]) == 0


def test_what_torch_printed_is_kept_while_its_cell_is_there(toy, lesson, monkeypatch):
    monkeypatch.setenv("REFTORCH_COMPARE", "0")
    magic, cell = "%load_ext course._tools", "%%real_torch\n6 * 7"
    key = real_torch.key_of("", "6 * 7")
    kept = {"printed": "42\n", "error": "", "version": "2.13.0"}
    real_torch.write_store(toy.folder, {key: kept, "gone": kept})
    lesson(magic, cell)
    assert main(["build", "07", "--check"]) == 1
    assert set(real_torch.stored_in(toy.folder)) == {key, "gone"}
    assert main(["build", "07"]) == 0
    assert real_torch.stored_in(toy.folder) == {key: kept}
    assert outputs(toy)[1].startswith("42\n(stored: torch is not installed here")


def test_what_is_stored_validates(toy, lesson):
    lesson("print('stored')")
    main(["build", "07"])
    for file in (toy.lesson, toy.exercises):
        nbformat.validate(nbformat.read(file, as_version=4))


def test_nbval_reads_every_pattern():
    """It passes over one with an empty replacement in silence, and then lessons fail where torch is missing."""
    config = configparser.RawConfigParser()
    config.read(SANITIZE)
    written = [(config[name]["regex"], config[name]["replace"]) for name in config.sections()]
    assert [(regex, text.strip()) for regex, text in get_sanitize_patterns(SANITIZE.read_text())] == written
