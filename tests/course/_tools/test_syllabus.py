"""The start page's picture of the whole course, and where the learner goes next.

Mirrors: nothing in PyTorch: PyTorch ships no course.
"""

from __future__ import annotations

import json
import re
import xml.etree.ElementTree as ElementTree

import pytest

from course._tools import course_map, layout, start_page
from course._tools.layout import COURSE, Chapter, chapters
from course._tools.notebook import read
from course._tools.syllabus import BEGUN, DONE, SYLLABUS, entry_of, next_chapter
from course._tools.work import start


def drawn(picture) -> tuple[list[str], list[str]]:
    """The texts and the fills of a picture."""
    root = ElementTree.fromstring(picture.svg())
    namespace = "{http://www.w3.org/2000/svg}"
    texts = [element.text for element in root.iter(f"{namespace}text")]
    return texts, [element.get("fill") for element in root.iter(f"{namespace}rect")]


def pass_exercises(toy: Chapter, *numbers: str) -> None:
    results = {number: "passed" if number in numbers else "failed" for number in ("07.1", "07.2")}
    (toy.working_copy / "progress.json").write_text(json.dumps({"results": results}))


def test_all_seventeen_chapters_are_on_it_and_those_to_come_say_so(toy):
    texts, _ = drawn(course_map())
    assert len(SYLLABUS) == 17
    assert [entry.name[:2] for entry in SYLLABUS] == [f"{number:02}" for number in range(17)]
    assert {entry.name[:2] for entry in SYLLABUS} <= set(texts)
    assert texts.count("to come") == 16  # the toy course has one


def test_its_colours_tell_how_far_the_learner_is(toy):
    legend = 1
    assert drawn(course_map())[1].count(BEGUN) == drawn(course_map())[1].count(DONE) == legend
    start(toy)
    assert drawn(course_map())[1].count(BEGUN) == legend + 1
    pass_exercises(toy, "07.1")
    assert drawn(course_map())[1].count(DONE) == legend
    pass_exercises(toy, "07.1", "07.2")
    assert drawn(course_map())[1].count(DONE) == legend + 1


def test_where_to_go_next_follows_the_learner(toy):
    assert next_chapter() == "chapter 07, A toy: `reftorch-course start 07`"
    start(toy)
    assert "reftorch-course check 07" in next_chapter()
    pass_exercises(toy, "07.1", "07.2")
    assert next_chapter() == "you have passed all there is; 00_setup is to come"


def test_every_chapter_says_how_long_it_takes_and_how_hard_it_is():
    assert all(30 <= entry.minutes <= 330 and 1 <= entry.difficulty <= 3 for entry in SYLLABUS)
    row = start_page()._repr_mimebundle_()["text/html"].split("</tr>")[4]  # of chapter 03
    assert "4 h" in row
    assert "●●○" in row


def test_a_lesson_in_parts_has_places_to_rest_and_the_start_page_has_the_times():
    in_parts = [chapter for chapter in chapters() if entry_of(chapter).parts]
    assert [chapter.number for chapter in in_parts] == ["05", "06", "15", "16"]
    for chapter in in_parts:
        parts = entry_of(chapter).parts
        headings = [cell["source"] for cell in read(chapter.lesson)["cells"] if "a place to rest\n" in cell["source"]]
        assert len(headings) == len(parts) - 1
        assert sum(parts) < entry_of(chapter).minutes
    row = start_page()._repr_mimebundle_()["text/html"].split("</tr>")[7]  # of chapter 06
    assert "part 1: 1 h, part 2: 50 min, exercises: 3 h 30 min" in row


def test_the_time_of_a_chapter_has_room_for_its_exercises_and_half_an_hour_for_its_lesson():
    for chapter in chapters():
        tasks = [cell["source"] for cell in read(chapter.exercises)["cells"] if cell["cell_type"] == "markdown"]
        exercises = sum(int(minutes) for task in tasks for minutes in re.findall(r"★[★☆]+, (\d+) minutes\.", task))
        lesson = sum(entry_of(chapter).parts) or 30
        assert exercises >= 60
        assert entry_of(chapter).minutes >= exercises + lesson, (
            f"chapter {chapter.number}: {exercises} min of exercises"
        )


def test_the_short_route_of_the_start_page_takes_as_long_as_it_says():
    """The lessons without their exercises; of the last one part two alone; and the 20 minutes of the whole game."""
    (doors,) = (cell["source"] for cell in read(COURSE / "index.ipynb")["cells"] if "The short route" in cell["source"])
    names = re.findall(r"\((\d\d_\w+)/lesson\.ipynb\)", doors)
    assert [name[:2] for name in names] == ["00", "03", "05", "06", "14", "16"]
    minutes = 20 + entry_of(Chapter(COURSE / names.pop())).parts[1]
    for chapter in (Chapter(COURSE / name) for name in names):
        tasks = [cell["source"] for cell in read(chapter.exercises)["cells"] if cell["cell_type"] == "markdown"]
        exercises = sum(int(each) for task in tasks for each in re.findall(r"★[★☆]+, (\d+) minutes\.", task))
        minutes += entry_of(chapter).minutes - exercises
    assert "about 8 hours" in doors
    assert 7 * 60 <= minutes <= 8.5 * 60


@pytest.mark.parametrize("started", [False, True])
def test_the_start_page_has_a_line_and_a_link_for_each_chapter(toy, started):
    if started:
        start(toy)
    html = start_page()._repr_mimebundle_()["text/html"]
    assert "A toy" in html
    assert "0 of 2</a>" in html
    following = html[: html.index("<table")]
    assert "07 A toy</a>" in following
    assert ("exercises</a>" in following) is started
    assert "next: " in repr(start_page())


def test_the_learners_start_page_leads_to_copies_and_the_courses_own_to_the_course(toy, monkeypatch):
    for folder, lesson in ((toy.folder.parent, "07_toy/lesson.ipynb"), (layout.workspace(), "07_toy/07_toy.ipynb")):
        folder.mkdir(exist_ok=True)
        monkeypatch.chdir(folder)
        html = start_page()._repr_mimebundle_()["text/html"]
        assert set(re.findall('href="([^"]*lesson.ipynb|[^"]*07_toy.ipynb)"', html)) == {lesson}
