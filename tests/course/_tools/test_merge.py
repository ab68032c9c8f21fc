"""A new version of a notebook reaches the learner's copy, and no word of the learner's is lost.

Mirrors: nothing in PyTorch: PyTorch ships no course.
"""

from __future__ import annotations

import random
from typing import Any

import nbformat
import pytest

from course._tools.merge import BESIDE, NOTICE, given, merge
from course._tools.notebook import Notebook, new_cell, new_notebook


def book(**cells: str) -> Notebook:
    """A notebook of code cells by their ids, each of which has run and has shown its source."""
    made = [{**new_cell("code", source, name), "outputs": [_shown(source)]} for name, source in cells.items()]
    return new_notebook(made)


def _shown(text: str) -> dict[str, Any]:
    return {"output_type": "stream", "name": "stdout", "text": text}


def merged(before: Notebook, mine: Notebook, now: Notebook) -> tuple[dict[str, str], list[str]]:
    """The sources by id after a merge, and what was said."""
    result, said = merge(given(before), mine, now)
    nbformat.validate(nbformat.from_dict(result))
    return {cell["id"]: cell["source"] for cell in result["cells"]}, said


OLD = book(title="# 1", ask="predict(a=...)", end="end")


def test_what_the_learner_has_not_touched_becomes_the_new_version():
    now = book(title="# one", extra="new", ask="predict(a=...)", end="end, now")
    assert merged(OLD, OLD, now) == ({cell["id"]: cell["source"] for cell in now["cells"]}, [])


def test_an_answer_and_a_cell_of_the_learners_own_stay_where_they_are():
    mine = book(title="# 1", ask="predict(a=3)", note="my own words", end="end")
    now = book(title="# one", ask="predict(a=...)", extra="new", end="end, now")
    expected = {"title": "# one", "ask": "predict(a=3)", "note": "my own words", "extra": "new", "end": "end, now"}
    assert merged(OLD, mine, now) == (expected, [])
    assert list(merged(OLD, mine, now)[0]) == list(expected)


def test_a_cell_that_both_have_changed_stays_the_learners_and_the_courses_is_shown_below():
    mine = book(title="# 1", ask="predict(a=3)", note="mine", end="end")
    now = book(title="# 1", ask="predict(a=..., b=...)", end="end")
    sources, said = merged(OLD, mine, now)
    assert list(sources) == ["title", NOTICE, "ask", f"{BESIDE}ask", "note", "end"]
    assert sources["ask"] == "predict(a=3)"
    assert "predict(a=..., b=...)" in sources[f"{BESIDE}ask"]
    assert said == ["the course has a new version of a cell that you have changed: predict(a=3)"]
    assert "predict(a=3)" in sources[NOTICE]


def test_both_may_change_a_cell_to_the_same():
    both = book(title="# 1", ask="predict(a=1)", end="end")
    assert merged(OLD, both, both) == ({cell["id"]: cell["source"] for cell in both["cells"]}, [])


def test_a_note_beside_a_cell_stays_and_a_newer_one_takes_its_place():
    mine, second = book(title="# 1", ask="predict(a=3)", end="end"), book(title="# 1", ask="2", end="end")
    with_note = merge(given(OLD), mine, second)[0]
    third = book(title="# 3", ask="2", end="end")
    sources, said = merged(second, with_note, third)
    assert "2" in sources[f"{BESIDE}ask"]
    assert (sources["title"], said) == ("# 3", [])
    fourth = book(title="# 3", ask="4", end="end")
    sources, _ = merged(third, merge(given(second), with_note, third)[0], fourth)
    assert "\n4\n" in sources[f"{BESIDE}ask"]
    assert list(sources).count(NOTICE) == 1


def test_what_the_course_has_dropped_goes_unless_the_learner_has_written_into_it():
    now = book(title="# 1", end="end")
    assert merged(OLD, OLD, now) == ({"title": "# 1", "end": "end"}, [])
    sources, said = merged(OLD, book(title="# 1", ask="predict(a=3)", end="end"), now)
    assert sources["ask"] == "predict(a=3)"
    assert said == ["the course has dropped a cell that you have changed; yours is kept: predict(a=3)"]


def test_what_the_learner_has_deleted_comes_back_only_where_it_is_new():
    mine = book(title="# 1", end="end")
    assert "ask" not in merged(OLD, mine, book(title="# one", ask="predict(a=...)", end="end"))[0]
    assert merged(OLD, mine, book(title="# 1", ask="predict(b=...)", end="end"))[0]["ask"] == "predict(b=...)"


def test_outputs_of_the_learners_run_stay_with_the_source_that_made_them():
    mine = book(title="# 1", ask="predict(a=...)", end="end")
    for cell, shown in zip(mine["cells"], ("my run", "my run", "end"), strict=True):
        cell["outputs"] = [_shown(shown)]
    now = book(title="# 1", ask="predict(a=..., b=...)", end="end")
    now["cells"][2]["outputs"] = [_shown("end, as of today")]
    outputs = [cell["outputs"][0]["text"] for cell in merge(given(OLD), mine, now)[0]["cells"]]
    assert outputs == ["my run", "predict(a=..., b=...)", "end, as of today"]


def test_outputs_are_the_same_whether_their_text_is_in_lines_or_in_one_piece():
    parts = book(title="a\nb")
    parts["cells"][0]["outputs"] = [_shown(["a\n", "b"])]  # type: ignore[arg-type]
    assert given(parts) == given(book(title="a\nb"))


def test_ids_that_are_missing_or_double_lose_no_cell():
    mine = book(title="# 1", ask="predict(a=3)", end="end")
    mine["cells"].insert(1, {**new_cell("code", "without an id", ""), "id": ""})
    mine["cells"].append(new_cell("code", "a copy of the end", "end"))
    sources, _ = merged(OLD, mine, book(title="# one", ask="predict(a=...)", end="end"))
    assert {"without an id", "a copy of the end", "predict(a=3)", "# one", "end"} == set(sources.values())


@pytest.mark.parametrize("seed", range(40))
def test_no_word_is_lost_whatever_both_do(seed):
    draw = random.Random(seed)

    def changed(notebook: Notebook, who: str) -> Notebook:
        cells = [dict(cell) for cell in notebook["cells"]]
        for number in range(4):
            position = draw.randrange(len(cells))
            if (what := draw.random()) < 0.3:
                del cells[position]
            elif what < 0.6:
                cells[position] = {**cells[position], "source": f"{who} changed {number}"}
            else:
                cells.insert(position, new_cell("code", f"{who} added {number}", f"{who}-{number}"))
        return {**notebook, "cells": cells}

    old = book(**{f"c{i}": f"line {i}" for i in range(8)})
    mine, now = changed(old, "learner"), changed(old, "course")
    result, said = merge(given(old), mine, now)
    nbformat.validate(nbformat.from_dict(result))
    text = "\n".join(cell["source"] for cell in result["cells"])
    words = [cell["source"] for each in (mine, now) for cell in each["cells"] if "line" not in cell["source"]]
    assert [each for each in words if each not in text] == []
    assert bool(said) == (NOTICE in {cell["id"] for cell in result["cells"]})
    assert len({cell["id"] for cell in result["cells"]}) == len(result["cells"])
