"""Source is found by its name, as it is now, and an absent or doubtful name is an error.

Mirrors: nothing in PyTorch: PyTorch ships no course.
"""

from __future__ import annotations

import doctest
import re
from html import unescape

import nbformat
import pytest
from nbconvert import HTMLExporter

from course._tools import definitions as places
from course._tools import source, trace
from course._tools.cxx import definitions
from course._tools.listing import NARROWEST, with_code
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
static std::tuple<A, std::vector<B>> pair_of(A a, B b) { return {a, {b}}; }
}
"""


@pytest.fixture
def root(tmp_path, monkeypatch):
    monkeypatch.setattr(places, "on_disk", tmp_path.joinpath)
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
        ("pair_of", [(31, 31)]),
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


def test_the_title_of_a_range_is_its_first_text_without_a_parenthesis_that_stays_open(root):
    assert show_source("ops.cpp", first="REGISTER_DISPATCH(add_stub", last="&add)").name == "REGISTER_DISPATCH"
    assert show_source("ops.cpp", first="TORCH_LIBRARY(aten, m)", last="}").name == "TORCH_LIBRARY(aten, m)"


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
    tags = [*re.findall(r"<a\b[^>]*>", html), *re.findall(r'<span style="flex:[^>]*>', html)]
    assert len(tags) >= 3
    assert [tag for tag in tags if not re.search(r'[";]color:#', tag)] == []


def test_a_definition_is_found_by_words_alone():
    listing = show_source("computeStride", last="newstride(newshape")
    assert (listing.path, listing.name) == ("cpp/ATen/TensorUtils.cpp", "computeStride")
    assert show_source("reshape in TensorShape.cpp").path == "cpp/ATen/native/TensorShape.cpp"
    assert show_source("nn.Module.register_buffer", last="def ").name == "Module.register_buffer"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("transpose", '"transpose in ATen/native/TensorShape.cpp"'),
        ("no_such_thing", "no definition of 'no_such_thing' in the checkout"),
        ("computeStride in TensorShape.cpp", "in TensorShape.cpp"),
    ],
)
def test_words_that_mean_nothing_or_too_much_are_answered_with_what_to_write(words, message):
    with pytest.raises(LookupError, match=message):
        show_source(words)


def test_notes_stand_beside_their_lines_and_the_rest_is_pale(root):
    listing = show_source("ops.cpp", "Dispatcher", notes={"auto call": "calls `add`", ("public:", "run()"): "made"})
    assert repr(listing).splitlines()[2:] == [
        "  (1) auto call(int x) const noexcept -> int { return add(x, 1); }",
        "      calls `add`",
        "  (2) public:",
        "      made",
    ]
    data, metadata = listing._repr_mimebundle_()
    assert ">add</code>" in data["text/html"]
    assert data["text/html"].count("background:#fff8c5") == 3
    assert data["text/html"].count("opacity:.45") == 2
    assert metadata["reftorch"]["listing"]["lines"] == 5


def test_a_note_stands_in_its_line(root):
    html = show_source("ops.cpp", "Dispatcher", notes={"auto call": "made"})._repr_mimebundle_()[0]["text/html"]
    rows = re.findall(r'<div style="display:flex"><span .*?</div>', html)
    assert [re.search(r">(\d+)</span>", row)[1] for row in rows] == ["15", "16", "17", "18", "19"]
    assert ["border-radius:8px" in row for row in rows] == ["noexcept" in row for row in rows]


LONG = f"void f() {{\n  int short_one;\n  g({', '.join(['argument'] * 10)});\n}}\n"


def test_a_line_that_is_to_be_read_is_never_out_of_sight(root):
    """The code takes the width of its widest line with a note, so the notes move below; wider lines are wrapped."""
    (root / "long.cpp").write_text(f"// Mirrors: nothing in PyTorch: a test.\n{LONG}")

    def width_of_code(**asked):
        html = show_source("long.cpp", "f", **asked)._repr_mimebundle_()[0]["text/html"]
        assert "white-space:pre-wrap" in html
        assert "overflow-wrap:anywhere" in html
        assert "white-space:pre;" not in html
        return int(re.search(r"flex:3 1 calc\((\d+)ch", html)[1])

    widest = max(map(len, LONG.splitlines()))
    assert widest > NARROWEST
    assert width_of_code(notes={"g(": "wide"}) == width_of_code(dim=False) == widest + 1
    assert width_of_code(notes={"short_one": "narrow"}) == NARROWEST + 1  # a pale line may be wrapped


def shown_by_nbconvert(data):
    """An output's HTML as `jupyter nbconvert --to html` writes it, which collapses spaces between elements."""
    output = nbformat.v4.new_output("display_data", data=data)
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell("0", outputs=[output])])
    return HTMLExporter().from_notebook_node(notebook)[0]


def test_an_export_keeps_the_indentation(root):
    """Where only the text is kept, as on a site that removes styles, a space parts the number from the code."""
    (root / "deep.py").write_text("# Mirrors: nothing in PyTorch\nif 1:\n    while 2:\n        a  =  3\n")
    listing = show_source("deep.py", first="if 1", last="a  =  3", notes={"while": "a loop"})
    code = re.search(r"<pre .*?</pre>", shown_by_nbconvert(listing._repr_mimebundle_()[0]))[0]
    assert "color:#1f2328" in code.partition(">")[0]  # JupyterLab's own colour is white in the dark
    rows = [unescape(re.sub("<[^>]*>", "", row)) for row in code.split('<div style="display:flex">')[1:]]
    assert rows == ["2  if 1:", "3 1     while 2:", "4          a  =  3"]


def test_a_line_far_to_the_right_moves_to_the_left_in_a_narrow_column(root):
    (root / "deep.py").write_text(f"# Mirrors: nothing in PyTorch\nx = (1,\n{' ' * 70}234)\n")
    html = show_source("deep.py", first="x = ", last="234)")._repr_mimebundle_()[0]["text/html"]
    code = re.search(r"<pre .*?</pre>", html)[0]
    assert "padding-left:max(8ch,min(74ch,calc(100% - 24ch)));text-indent:-44ch" in code
    spaces = re.findall(" {20,}", re.sub("<[^>]*>", "", code))
    assert list(map(len, spaces)) == [41]  # one of them parts the number from the code


def test_an_export_keeps_the_indentation_of_a_trace():
    def halve(n):
        while n > 1:
            n //= 2

    data = trace(halve, lambda: halve(2))._repr_mimebundle_()
    code = re.findall(r"<pre .*?</pre>", shown_by_nbconvert(data))
    shown = [unescape(re.sub("<[^>]*>", "", row)) for row in code]
    assert shown == ["while n > 1:", "    n //= 2", "while n > 1:"]
    assert all("color:#1f2328" in row.partition(">")[0] for row in code)


def test_a_listing_begins_at_the_left(root):
    html = show_source("ops.cpp", "call")._repr_mimebundle_()[0]["text/html"]
    assert "text-indent:-4ch" in html  # a wrapped line goes on four characters to the right of where it began


def test_a_note_may_have_code_and_a_stressed_word():
    assert with_code("a *stage* of `a * b`, 4 * 1 is 4") == "a <em>stage</em> of <code>a * b</code>, 4 * 1 is 4"


def test_lines_may_be_lit_without_a_note_and_left_out(root):
    listing = show_source("ops.cpp", "Dispatcher", highlight=["auto call"], skip=[("public:", "run()")])
    html = listing._repr_mimebundle_()[0]["text/html"]
    assert html.count("background:#fff8c5") == 1
    assert "… 2 lines" in html
    assert listing.numbers == [15, 18, 19]


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"notes": {"nowhere": ""}}, LookupError, "'nowhere'"),
        ({"notes": {"Dispatcher": ""}}, LookupError, "give more of the line"),
        (
            {"notes": {"auto call": "gone"}, "skip": ["auto call"]},
            LookupError,
            "leaves out the line of the note 'gone'",
        ),
    ],
)
def test_a_note_without_its_line_is_an_error(root, arguments, error, message):
    with pytest.raises(error, match=message):
        show_source("ops.cpp", "Dispatcher", **arguments)


def test_a_listing_is_no_longer_than_a_screen():
    with pytest.raises(ValueError, match="a listing has at most 30"):
        show_source("computeStride")
