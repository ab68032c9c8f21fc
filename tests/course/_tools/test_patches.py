"""A patch finds its lines by their text, and says what is wrong where the lines are not there or not alone.

Mirrors: nothing in PyTorch: PyTorch ships no course.
"""

from __future__ import annotations

import pytest

from course._tools import patches
from course._tools.patches import PatchError, apply, split_cell

FILE = """\
int f(int a) {
  if (a > 0) {
    return a;
  }
  return 0;
}

int g(int a) {
  return 0;
}
"""


@pytest.fixture(autouse=True)
def tree(tmp_path, monkeypatch):
    monkeypatch.setattr(patches, "ROOT", tmp_path)
    for name, text in {
        "cpp/a/f.cpp": FILE,
        "cpp/b/g.cpp": "one\n",
        "cpp/c/g.cpp": "two\n",
        "reftorch/m.py": "x = 1\n",
    }.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)


def patched(file: str, patch: str):
    return apply(split_cell(file, patch)[0])


def test_a_line_is_changed_and_known_by_the_line_of_the_cell():
    (file,) = patched("f.cpp", "-  if (a > 0) {\n+  if (true) {\n+    // always")
    assert file.text == FILE.replace("  if (a > 0) {\n", "  if (true) {\n    // always\n")
    assert file.origin == {2: 3, 3: 4}


def test_lines_with_a_space_say_which_of_two_is_meant():
    (file,) = patched("cpp/a/f.cpp", " int g(int a) {\n-  return 0;\n+  return 1;")
    assert file.text == FILE.replace("g(int a) {\n  return 0;", "g(int a) {\n  return 1;")


def test_a_line_without_its_indentation_is_found_and_indented():
    (file,) = patched("f.cpp", "-return a;\n+return 2 * a;")
    assert "\n    return 2 * a;\n" in file.text


def test_several_places_and_several_files():
    cell = "-    return a;\n+    return -a;\n@@\n int g(int a) {\n+  // here\n@@ reftorch/m.py\n-x = 1\n+x = 2"
    first, second = patched("f.cpp", cell)
    assert "return -a;" in first.text
    assert "int g(int a) {\n  // here\n" in first.text
    assert second.text == "x = 2\n"


def test_the_program_follows_the_first_empty_line():
    hunks, program, line = split_cell("m.py", "-x = 1\n+x = 2\n\nimport m\nm.x\n")
    assert len(hunks) == 1
    assert program == "\nimport m\nm.x"
    assert line == 3


@pytest.mark.parametrize(
    ("file", "patch", "message"),
    [
        ("f.cpp", "-  return 0;\n+  return 1;", "line 2: what it names is found 2 times in cpp/a/f.cpp, in lines 5, 9"),
        ("f.cpp", "-  if (a > 1) {\n+", r"no line 'if \(a > 1\) \{'. Is it 'if \(a > 0\) \{'"),
        ("f.cpp", "-  if (a > 0) {\n-  }\n+", "not one after the other"),
        ("f.cpp", "+  return 1;", "line 2: where in cpp/a/f.cpp do the lines go"),
        ("f.cpp", "return 1;", "line 2, 'return 1;', begins with neither"),
        ("f.cpp", "\n\n   return 0;", "it changes nothing"),
        ("f.cpp", "", "it changes nothing"),
        ("g.cpp", "-one", "several files are called g.cpp: cpp/b/g.cpp, cpp/c/g.cpp"),
        ("h.cpp", "-one", "no source of the library is called 'h.cpp'"),
        ("../m.py", "-x = 1", "no source of the library"),
    ],
)
def test_a_patch_that_does_not_fit_says_why(file, patch, message):
    with pytest.raises(PatchError, match=message):
        patched(file, patch)
