"""The gates of the exercises: every stub red, every solution green, every wrong answer rejected.

Mirrors: nothing in PyTorch: PyTorch ships no course.
"""

from __future__ import annotations

import ast
import builtins
import re
from collections.abc import Iterator

import pytest

from course._tools.exercises import (
    KINDS,
    MARKS,
    Exercise,
    all_exercises,
    exercises_of,
    find_exercise,
    learners_notebook,
    solution,
    solved_cells,
    stub,
)
from course._tools.layout import Chapter, chapters
from course._tools.notebook import as_text, read
from course._tools.real_torch import find_torch
from course._tools.runner import Kernel, check_notebook, kernel, reported
from tests.course.one_torch import loaded_torch

CHAPTERS = chapters()
EXERCISES = all_exercises()
MUTANTS = [(number, position) for number, each in EXERCISES.items() for position, _ in enumerate(each.mutants)]

by_chapter = pytest.mark.parametrize("chapter", CHAPTERS, ids=lambda chapter: chapter.folder.name)
by_exercise = pytest.mark.parametrize("number", EXERCISES)


@pytest.fixture(autouse=True)
def no_progress(tmp_path, monkeypatch):
    monkeypatch.setenv("REFTORCH_COURSE_WORK", str(tmp_path))


@by_chapter
def test_the_learners_notebook_is_made_from_its_source(chapter: Chapter):
    current = chapter.exercises.read_text()
    assert current == as_text(learners_notebook(chapter)), f"run: python -m course._tools build {chapter.number}"


@by_chapter
def test_every_stub_is_red(chapter: Chapter):
    results = check_notebook(chapter, learners_notebook(chapter), chapter.folder)
    assert {result.exercise: result.state for result in results} == dict.fromkeys(exercises_of(chapter), "not done")


@pytest.fixture(scope="module")
def one_torch(tmp_path_factory) -> Iterator[None]:
    """What exercises ask of PyTorch is asked of one process, which loads torch once for all chapters."""
    with loaded_torch(tmp_path_factory.mktemp("torch")):
        yield


@pytest.fixture(scope="module", params=CHAPTERS, ids=lambda chapter: chapter.folder.name)
def solved(request, one_torch, tmp_path_factory) -> Iterator[tuple[Chapter, Kernel, dict[str, str]]]:
    """A kernel in which a chapter's solved notebook has run, and what its checks reported."""
    chapter = request.param
    states = {}
    with kernel(chapter.folder, REFTORCH_COURSE_WORK=str(tmp_path_factory.mktemp("work"))) as running:
        for cell in learners_notebook(chapter, solved=True)["cells"]:
            if cell["cell_type"] == "code":
                result = reported(running.run(cell["source"]))
                if result is not None:
                    states[result.exercise] = result.state
        yield chapter, running, states


def in_pytorch(exercise: Exercise) -> bool:
    """Whether an exercise is answered in PyTorch itself, so that its check needs torch."""
    return any(tool in exercise.check.source for tool in ("stops_in_torch(", "patched_torch("))


def test_every_solution_is_green(solved, not_compared):
    """Those that are answered in PyTorch itself say what to do where torch is missing; the others do not need it."""
    chapter, _, states = solved
    exercises = exercises_of(chapter)
    expected = dict.fromkeys(exercises, "passed")
    if find_torch() is None and (asked := [number for number in exercises if in_pytorch(exercises[number])]):
        not_compared()
        expected |= dict.fromkeys(asked, "not done")
    assert states == expected


def test_every_check_rejects_wrong_answers(solved):
    chapter, running, _ = solved
    verdicts = {}
    for number, exercise in exercises_of(chapter).items():
        if in_pytorch(exercise) and find_torch() is None:
            continue
        for mutant in exercise.mutants:
            running.run(mutant.source)
            result = reported(running.run(exercise.check.source))
            verdicts[number, mutant.attributes["why"]] = result and (
                result.state,
                bool(result.came and result.expected),
                "Error building extension" not in result.came,  # a wrong answer is one that compiles
            )
        for answer in exercise.answers:  # exercises that build on this one find it solved
            running.run(solution(answer.source))
    assert verdicts
    assert verdicts == dict.fromkeys(verdicts, ("failed", True, True))


READING = [number for number, each in EXERCISES.items() if each.kind == "read"]


@pytest.mark.parametrize("number", READING)
def test_the_check_of_a_question_of_reading_shows_no_right_answer(number):
    """Such a check compares by `answers`, which counts, and by `true`, which says in words what was expected.

    `equal` shows what was expected. So it is there only to say which answers are missing: it expects an empty list.
    """
    calls = [node for node in ast.walk(ast.parse(EXERCISES[number].check.source)) if isinstance(node, ast.Call)]
    asked = [call for call in calls if isinstance(call.func, ast.Attribute) and ast.unparse(call.func.value) == "c"]
    for call in asked:
        expected = {keyword.arg: ast.unparse(keyword.value) for keyword in call.keywords}.get("expected")
        assert call.func.attr in {"answers", "true", "case"} or (call.func.attr == "equal" and expected == "[]")


@by_chapter
def test_a_chapter_has_four_exercises_of_two_kinds(chapter: Chapter):
    kinds = [exercise.kind for exercise in exercises_of(chapter).values()]
    assert len(kinds) >= 4
    assert len(set(kinds)) >= 2
    assert set(kinds) <= set(KINDS)


PROJECTS = {"02", "03", "05", "06", "07", "09", "10", "12", "13", "14", "15", "16"}  # an evening's work each


@by_chapter
def test_a_chapter_has_its_project(chapter: Chapter):
    titles = [exercise.cells["task"][0].source.splitlines()[0] for exercise in exercises_of(chapter).values()]
    projects = [title for title in titles if re.match(r"## \d\d\.\d+ Project: ", title)]
    assert len(projects) == 1 or chapter.number not in PROJECTS


# What an exercise says first: how difficult it is, and how long it takes.
STARS = re.compile(r"(?:★☆☆|★★☆|★★★), (?:\d+ minutes|an evening)\.")


@by_exercise
def test_an_exercise_says_how_difficult_it_is_and_how_long_it_takes(number):
    task = EXERCISES[number].cells["task"][0].source
    _, _, text = task.partition("\n\n")
    assert STARS.match(text), f"{task.splitlines()[0]}: the task begins with stars and a time, as in `★★☆, 20 minutes.`"


@by_exercise
def test_an_exercise_says_how_pytorch_does_it(number):
    assert "**In PyTorch**" in EXERCISES[number].debrief


@by_exercise
def test_wrong_answers_are_at_hand(number):
    exercise = EXERCISES[number]
    assert len(exercise.mutants) >= 2
    assert all(mutant.attributes.get("why") for mutant in exercise.mutants)


@by_exercise
def test_a_stub_raises_with_its_number_and_shows_nothing_of_the_solution(number):
    for cell in EXERCISES[number].answers:
        stripped = stub(cell.source, number)
        assert f"exercise {number}" in stripped
        secret = {line.strip() for mark in MARKS.finditer(cell.source) for line in mark["body"].splitlines()}
        told = {line.strip() for line in stripped.splitlines()}
        assert not {line for line in secret & told if len(line) > 1}


@by_exercise
def test_a_check_uses_what_the_learner_wrote_and_no_solution(number):
    exercise = EXERCISES[number]
    written = {
        node.name if isinstance(node, (ast.FunctionDef, ast.ClassDef)) else target.id
        for cell in exercise.answers
        for node in ast.parse(solution(cell.source)).body
        for target in getattr(node, "targets", [None])
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)) or isinstance(target, ast.Name)
    }
    check = ast.parse(exercise.check.source)
    used = {node.id for node in ast.walk(check) if isinstance(node, ast.Name)}
    assert written & used
    assert "_solutions" not in exercise.check.source


def names_in(source: str) -> tuple[set[str], set[str]]:
    """The names that a cell makes, and those that it uses."""
    made, used = set(), set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Name):
            (used if isinstance(node.ctx, ast.Load) else made).add(node.id)
        elif isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            made.add(node.name)
        elif isinstance(node, ast.arg):
            made.add(node.arg)
        elif isinstance(node, ast.ExceptHandler) and node.name:
            made.add(node.name)
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            made |= {(alias.asname or alias.name).split(".")[0] for alias in node.names}
    return made, used


@by_exercise
def test_an_exercise_needs_no_cell_of_another(number):
    """Who checks only the last exercise must not meet a name that the check of another would have made."""
    chapter, exercise = find_exercise(number)
    setup = [cell for cell in solved_cells(chapter) if cell.kind == "code" and "exercise" not in cell.attributes]
    own = [cell for role in ("given", "answer", "check") for cell in exercise.cells.get(role, [])]
    made, used = zip(*(names_in(solution(cell.source)) for cell in [*setup, *own] if cell.kind == "code"), strict=True)
    assert set().union(*used) - set().union(*made) - set(dir(builtins)) == set()


def imports_of(source: str) -> set[str]:
    """`module.name` for each name that a cell imports of the library."""
    if source.lstrip().startswith("%"):
        return set()
    tree = ast.parse(re.sub(r"(?m)^(\s*)%.*$", r"\1pass", source))
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "reftorch":
            found |= {f"{node.module}.{alias.name}" for alias in node.names}
        elif isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names if alias.name.split(".")[0] == "reftorch"}
    return found


@by_chapter
def test_a_chapters_exercises_import_only_what_lessons_up_to_it_introduced(chapter: Chapter):
    """Checks may ask the library anything; what the learner is given to write with must have been shown."""
    known = set()
    for earlier in CHAPTERS[: CHAPTERS.index(chapter) + 1]:
        cells = read(earlier.lesson)["cells"]
        known |= {name for cell in cells if cell["cell_type"] == "code" for name in imports_of(cell["source"])}
    given = [
        cell
        for cell in solved_cells(chapter)
        if cell.kind == "code" and cell.attributes.get("role") in (None, "given", "answer")
    ]
    used = {name for cell in given for name in imports_of(cell.source)}
    assert used <= known


def test_the_import_gate_sees_imports():
    assert imports_of("import reftorch as torch\nfrom reftorch.nn import Linear, ReLU\nimport numpy") == {
        "reftorch",
        "reftorch.nn.Linear",
        "reftorch.nn.ReLU",
    }
    assert imports_of("%%gdb mul\nimport reftorch.x") == set()


@by_exercise
def test_a_check_names_its_own_exercise_and_skips_nothing(number):
    check = ast.parse(EXERCISES[number].check.source)
    calls = [node for node in ast.walk(check) if isinstance(node, ast.Call)]
    named = [call.args[0].value for call in calls if getattr(call.func, "id", "") == "check"]
    assert named == [number]
    assert not [node for node in ast.walk(check) if isinstance(node, (ast.Try, ast.If))]
    assert "skip" not in EXERCISES[number].check.source
