"""The form of a lesson: the tags, their order, and what the builder does with them.

Mirrors: nothing in PyTorch: PyTorch ships no course.
"""

from __future__ import annotations

import pytest

from course._tools import tags
from course._tools.notebook import new_cell, new_notebook

WHOLE = [
    "question", "predict", "reveal", "source", "trace", "predict", "reveal", "break", "answer", "real-torch", "summary",
    "map",
]  # fmt: skip


def lesson(order: list[str]) -> dict:
    return new_notebook([new_cell("code", "1", f"cell-{i}", tags=[tag]) for i, tag in enumerate(order)])


def without(tag: str) -> list[str]:
    return [each for each in WHOLE if each != tag]


def test_a_whole_lesson_has_no_faults():
    assert tags.faults(lesson(WHOLE)) == []


@pytest.mark.parametrize("tag", ["question", "source", "trace", "break", "answer", "real-torch", "summary", "map"])
def test_a_tag_that_is_missing_is_named(tag):
    assert f"no cell is tagged {tag}" in tags.faults(lesson(without(tag)))


@pytest.mark.parametrize(
    ("order", "fault"),
    [
        (["source", *WHOLE], "a lesson opens with its question"),
        ([*WHOLE, "source"], "a lesson ends with the map"),
        ([*WHOLE[:-1], "source", "map"], "after the summary only the map comes"),
        (WHOLE[:5] + WHOLE[7:], "1 predictions"),
        (["question", "predict", *WHOLE[1:]], "each prediction has one reveal"),
        ([*WHOLE[:-2], "predict", "summary", "map"], "the last prediction has no reveal"),
        (
            ["question", "source", "answer", *WHOLE[1:]],
            "the answer in cell cell-2 comes after 14%, and 60% come before",
        ),
    ],
)
def test_an_order_that_no_story_has_is_named(order, fault):
    assert any(fault in each for each in tags.faults(lesson(order)))


def test_an_answer_may_be_late_in_a_part_of_its_own():
    cells = lesson([*WHOLE[:5], "answer", *WHOLE[5:]])["cells"]
    assert len(tags.faults(new_notebook(cells))) == 1
    cells[6:6] = [new_cell("markdown", "## The end of part one: a place to rest", "rest")]
    assert tags.faults(new_notebook(cells)) == []


def test_other_tags_are_not_the_courses():
    cell = new_cell("code", "1", "one", tags=["raises-exception", "trace"])
    assert tags.of_cell(cell) == ["trace"]
