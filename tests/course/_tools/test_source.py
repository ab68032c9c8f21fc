"""Source is found by its name, as it is now, and an absent or doubtful name is an error.

Mirrors: nothing in PyTorch: PyTorch ships no course.
"""

from __future__ import annotations

import doctest
import re

import pytest

from course._tools import source
from course._tools.cxx import definitions
from course._tools.source import show_source

CPP = """\
// Mirrors: aten/src/ATen/native/Ops.cpp, aten/src/ATen/native/Ops.h
#include <x.h>
namespace at {

// What it adds:
// both.
template <typename T>
static inline T add(
    T a, T b) {
  return helper(a, [](T x) { return x; }) + "}"[0] + '{';  // }
}

int use = add(1, 2);

class Dispatcher : public Base {
 public:
  Dispatcher() : a_(1), b_{2} { run(); }
  auto call(int x) const noexcept -> int { return add(x, 1); }
};

int Dispatcher::other() const { if (add(1, 2)) { return 1; } return 1'000; }

REGISTER_DISPATCH(add_stub, &add)

TORCH_LIBRARY(aten, m) {
  m.def("add(Tensor self) -> Tensor");
}

void over(int) {}
void over(float) {}
}
"""


@pytest.fixture
def root(tmp_path, monkeypatch):
    monkeypatch.setattr(source, "ROOT", tmp_path)
    (tmp_path / "ops.cpp").write_text(CPP)
    return tmp_path


@pytest.mark.parametrize(
    ("name", "lines"),
    [
        ("add", [(5, 11)]),
        ("Dispatcher", [(15, 19)]),
        ("call", [(18, 18)]),
        ("Dispatcher::other", [(21, 21)]),
        ("TORCH_LIBRARY", [(25, 27)]),
        ("over", [(29, 29), (30, 30)]),
        ("helper", []),
        ("absent", []),
    ],
)
def test_cpp_definitions_are_told_from_calls(name, lines):
    assert definitions(CPP, name) == lines


def test_a_listing_shows_the_lines_with_their_place_here_and_in_pytorch(root):
    listing = show_source("ops.cpp", "add")
    assert listing.text.startswith("// What it adds:")
    assert repr(listing) == "add in ops.cpp\nin PyTorch: aten/src/ATen/native/Ops.cpp, aten/src/ATen/native/Ops.h"
    data, metadata = listing._repr_mimebundle_()
    assert ">ops.cpp:5<" in data["text/html"]
    assert data["text/html"].count("v2.13.0/aten/src/ATen/native/Ops.") == 2
    assert metadata["reftorch"]["listing"]["digest"] == listing.digest


def test_a_listing_s_plain_text_does_not_move_with_the_lines_above_it(root):
    before = show_source("ops.cpp", "add")
    (root / "ops.cpp").write_text(CPP.replace("namespace at {", "\n\nnamespace at {"))
    after = show_source("ops.cpp", "add")
    assert (repr(before), before.digest, before.first + 2) == (repr(after), after.digest, after.first)


def test_a_range_is_named_by_its_content(root):
    assert show_source("ops.cpp", first="class Dispatcher", last="};").text.count("\n") == 4
    assert show_source("ops.cpp", "add", first="return helper").text.startswith("  return helper")


def test_python_is_found_by_its_dotted_name():
    listing = show_source("course/_tools/layout.py", "Chapter.title")
    assert listing.text.lstrip().startswith("@cached_property")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"name": "absent"}, "no definition of 'absent'"),
        ({"name": "over"}, "2 times, in lines 29, 30"),
        ({"first": "nowhere"}, "'nowhere'"),
        ({"name": "add", "last": "class"}, "from 5 to 11"),
    ],
)
def test_a_name_that_is_not_there_is_an_error(root, arguments, message):
    with pytest.raises(LookupError, match=message):
        show_source("ops.cpp", **arguments)


def test_the_documented_example_runs():
    assert doctest.testmod(source).failed == 0


def test_several_definitions_are_chosen_by_number(root):
    assert show_source("ops.cpp", "over", nth=1).text == "void over(float) {}"


@pytest.mark.parametrize(
    ("head", "mirrored"),
    [
        ("// Mirrors: a/b.cpp, c/d.h\n// What it does.\n", "a/b.cpp, c/d.h"),
        (
            "// Mirrors: a/b.cpp (one,\n// two), c/d.h (three),\n// e/f.h What it does.\n",
            "a/b.cpp (one, two), c/d.h (three), e/f.h",
        ),
        ("// Mirrors: a/b.cpp (made\n// per op) Left out: much.\n", "a/b.cpp (made per op)"),
        ("// Mirrors: a/b.cpp,\n// words that are no path.\n", "a/b.cpp"),
    ],
)
def test_a_list_of_paths_may_go_on_in_the_next_line(root, head, mirrored):
    (root / "long.cpp").write_text(f"{head}int f() {{}}\n")
    assert source.mirrors_of("long.cpp") == mirrored


def test_a_file_without_its_mirrors_line_is_an_error(root):
    (root / "bare.cpp").write_text("int f() {}\n")
    with pytest.raises(LookupError, match="Mirrors"):
        show_source("bare.cpp", "f")


def test_a_listing_says_every_colour_itself():
    """It stays light in a dark JupyterLab, whose theme would set code and links in white and light blue."""
    html = show_source("course/_tools/layout.py", "Chapter.number")._repr_mimebundle_()[0]["text/html"]
    tags = re.findall(r"<(?:pre|a)\b[^>]*>", html)
    assert len(tags) >= 3
    assert [tag for tag in tags if not re.search(r'[";]color:#', tag)] == []
