"""The solved source: how it is read, what it must hold, and what the learner's notebook keeps of it.

Mirrors: nothing in PyTorch: PyTorch ships no course.
"""

from __future__ import annotations

import nbformat
import pytest

from course._tools.exercises import exercises_of, learners_notebook, solution, stub
from course._tools.layout import CourseError
from course._tools.percent import parse


def test_a_python_solution_becomes_a_line_that_raises():
    source = "def f(x):\n    y = 1\n    # BEGIN SOLUTION\n    y += x\n    return y\n    # END SOLUTION\nprint(f)"
    assert stub(source, "03.1") == 'def f(x):\n    y = 1\n    raise NotImplementedError("exercise 03.1")\nprint(f)'


def test_a_cpp_solution_becomes_a_check_that_raises():
    source = 'S = r"""\nint f() {\n  // BEGIN SOLUTION\n  return 1;\n  // END SOLUTION\n}\n"""'
    assert '  TORCH_CHECK_NOT_IMPLEMENTED(false, "exercise 03.1");\n}' in stub(source, "03.1")


def test_a_solution_is_shown_without_its_marks():
    assert solution("a\n# BEGIN SOLUTION\nb\n# END SOLUTION") == "a\nb"


def test_the_learners_notebook_has_tasks_answers_and_checks_and_no_hint_solution_or_mutant(toy):
    notebook = learners_notebook(toy)
    nbformat.validate(notebook)
    roles = [cell["metadata"].get("reftorch", {}).get("role") for cell in notebook["cells"]]
    assert roles == [None, "task", "answer", "check", "task", "answer", "check"]
    text = "\n".join(cell["source"] for cell in notebook["cells"])
    for secret in ("2 * x", "return 42", "squares", "Think of", "x * x"):
        assert secret not in text


def test_hints_and_mutants_are_found(toy):
    first = exercises_of(toy)["07.1"]
    assert first.hints == ["Think of `x + x`.", "`2 * x` does it."]
    assert [mutant.attributes["why"] for mutant in first.mutants] == ["squares"]


def test_the_cells_of_a_second_part_follow(toy):
    whole = learners_notebook(toy)
    for file, header in (
        (toy.solved, '# %% [markdown] exercise="07.2" role="task"'),
        (toy.mutants, '# %% exercise="07.1"'),
    ):
        first, found, second = file.read_text().partition(header)
        file.write_text(first)
        file.with_name(f"{file.stem}_second.py").write_text(found + second)
    assert learners_notebook(toy) == whole
    assert [mutant.attributes["why"] for mutant in exercises_of(toy)["07.1"].mutants] == ["squares"]


@pytest.mark.parametrize(
    ("old", "new", "rule"),
    [
        ('kind="build"', 'kind="bulid"', "kind"),
        ("# BEGIN SOLUTION", "# BEGIN", "marks its solution"),
        ('exercise="07.1" role="hint"', 'role="hint"', "a hint"),
        ('role="mutant"', 'role="mutnat"', "roles are known"),
        ('"07.1"', '"08.1"', "number"),
        (' title="double a number"', "", "title"),
    ],
)
def test_a_source_that_breaks_a_rule_is_refused_with_the_rule(toy, old, new, rule):
    for file in (toy.solved, toy.mutants):
        file.write_text(file.read_text().replace(old, new))
    with pytest.raises(CourseError, match=rule):
        exercises_of(toy)


def test_cells_are_parted_by_headers_and_markdown_is_uncommented():
    cells = parse('"""Doc."""\n# %% [markdown] role="task"\n# # Title\n#\n# text\n# %%\nx = 1\n\n')
    assert [(cell.kind, cell.source) for cell in cells] == [("markdown", "# Title\n\ntext"), ("code", "x = 1")]
    assert cells[0].attributes == {"role": "task"}


@pytest.mark.parametrize("text", ["# %% word\nx", "# %% [markdown]\nno comment"])
def test_a_malformed_cell_is_refused_with_its_line(text):
    with pytest.raises(ValueError, match=r"line [12]"):
        parse(text)
