"""Files are found by the paths that they have in a checkout, wherever reftorch was installed.

Mirrors: nothing in PyTorch: PyTorch ships no course.
"""

from pathlib import Path

import pytest

from course._tools.layout import in_checkout, on_disk, to_run

FILES = ("cpp/ATen/Dispatch.h", "reftorch/nn/init.py", "course/index.ipynb")


@pytest.mark.parametrize("cpp", ["cpp", "reftorch/cpp"])  # in a checkout or a copy, and in an installed package
def test_a_path_of_a_checkout_is_found_and_named(tmp_path: Path, cpp: str) -> None:
    for path in FILES:
        file = tmp_path / path.replace("cpp", cpp, 1)
        file.parent.mkdir(parents=True)
        file.touch()
        assert on_disk(path, tmp_path) == file
        assert in_checkout(file, tmp_path) == path
    assert on_disk("cpp", tmp_path) == tmp_path / cpp
    assert in_checkout(tmp_path.parent / "other.py", tmp_path) is None


class Shell:
    """As much of IPython's shell as `to_run` looks at."""

    def __init__(self, *magics: str) -> None:
        self.kernel, self.magics = object(), magics

    def find_line_magic(self, name: str) -> bool:
        return name in self.magics


@pytest.mark.parametrize(
    ("shell", "said"),
    [(None, "reftorch-course hint 03.1"), (Shell("course"), "%course hint 03.1"), (Shell(), 'course("hint 03.1")')],
)
def test_a_command_is_named_as_the_learner_types_it_there(monkeypatch, shell, said) -> None:
    monkeypatch.setattr("IPython.get_ipython", lambda: shell)
    assert to_run("hint 03.1") == said
