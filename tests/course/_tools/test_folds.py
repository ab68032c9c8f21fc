"""What is closed when a lesson is opened, and the titles under which it is closed.

Mirrors: nothing in PyTorch: PyTorch ships no course.
"""

from __future__ import annotations

import pytest

from course._tools import folds
from course._tools.notebook import Notebook, new_cell, new_notebook


def lesson(*cells: tuple[str, str]) -> Notebook:
    """A lesson of code cells by tag and source; a cell with the tag `text` is one of markdown."""
    return new_notebook(
        [
            new_cell("markdown" if tag == "text" else "code", source, f"c{i}", **({"tags": [tag]} if tag else {}))
            for i, (tag, source) in enumerate(cells)
        ]
    )


def titles(*sources: str) -> list[str]:
    """The first lines of the cells, of those that are folded."""
    made = lesson(*(("", source) for source in sources))
    folds.fold(made)
    assert not folds.fold(made)
    folded = [cell for cell in made["cells"] if cell["metadata"].get("jupyter", {}).get("source_hidden")]
    return [cell["source"].split("\n")[0] for cell in folded]


def test_a_cell_of_the_courses_machinery_is_folded_under_what_it_shows():
    assert titles(
        'show_source("computeStride", notes={"x": "y"})',
        'show_source("cpp/ATen/x.cpp", "view", first="if")',
        'from course._tools import trace\n\ntrace(halve, lambda: halve(3))',
        'route([Step("python", "f")], "from Python to C++")',
        'symbol_map("TensorImpl")',
        "graph(p @ q, p=p)",
        'path = "a.cpp"\nshow_source(path, "f")',
    ) == [
        "# Source: computeStride",
        "# Source: view",
        "# Trace: halve",
        "# Picture: from Python to C++",
        "# The names here, and in PyTorch",
        "# Picture: graph of p @ q",
        "# Source: f",
    ]  # fmt: skip


def test_a_path_that_has_a_name_is_shown_as_a_path():
    assert titles('kernels, loops = "a.cpp", "b.h"\nx = 1', 'show_source(loops, first="for")') == ["# Source: b.h"]


@pytest.mark.parametrize(
    "source",
    [
        "x = torch.ones(2)\ntrace('add', lambda: x + x)",  # the reader's program
        "def f(x):\n    return x\n\n\ntrace(f, lambda: f(1))",
        "import reftorch as torch\n\nshow_source('f')",  # later cells need this name
        "predict('is it?', a=...)",
        "stack('add', lambda: a + b)",
        "%torch_source add",
        "1 +",
    ],
)
def test_a_cell_with_the_readers_program_stays_open(source):
    assert titles(source) == []


def test_a_title_of_the_authors_stays_and_one_of_ours_follows_the_cell():
    assert titles('# Where the loop begins\nshow_source("f")') == ["# Where the loop begins"]
    assert titles('# Source: f\nshow_source("g")') == ["# Source: g"]


def test_answers_and_summaries_are_folded_whatever_they_compute():
    made = lesson(("predict", "predict('?', a=...)"), ("reveal", "y = f(x)\nreveal(a=y)"), ("summary", "summary('a')"))
    folds.fold(made)
    assert [cell["source"].split("\n")[0] for cell in made["cells"]] == [
        "predict('?', a=...)",
        "# What came, beside your prediction",
        "# What you know now, and the answer to the question",
    ]
    assert made["cells"][1]["metadata"]["jupyter"] == {"source_hidden": True}


def test_outputs_between_an_answer_and_the_next_text_tell_the_answer():
    made = lesson(
        ("", "x = 1"), ("predict", "predict()"), ("reveal", "reveal(a=1)"), ("", "print(1)"), ("", "print(2)"),
        ("text", "So it is 1."), ("", "print(3)"), ("reveal", "reveal(a=1)"), ("predict", "predict('?', a=...)"),
    )  # fmt: skip
    assert [cell["id"] for cell in folds.telling(made)] == ["c3", "c4"]
