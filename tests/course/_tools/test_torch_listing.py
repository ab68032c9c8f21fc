"""PyTorch's own lines are shown where torch is, are never stored, and are replaced by notes and a link where it is not.

Mirrors: nothing in PyTorch: PyTorch ships no course.
"""

from __future__ import annotations

import re
from html import unescape
from pathlib import Path

import pytest

from course._tools import real_torch, torch_listing
from course._tools.build import _comparable
from course._tools.real_torch import TorchFiles
from course._tools.torch_listing import show_torch_source

SGD = """\
def step(params, momentum):
    for i, param in enumerate(params):
        if momentum != 0:
            buf = buffers[i]
        param.add_(grad, alpha=-lr)
    return params
"""
PATH = "torch/optim/sgd.py"
LINK = f"https://github.com/pytorch/pytorch/blob/v2.13.0/{PATH}"
NOTES = {"if momentum": "only with `momentum`", ("buf =", "param.add_"): "both lines"}


@pytest.fixture
def torch_213(tmp_path, monkeypatch) -> Path:
    """The folder of a torch 2.13 that has one file of Python and one header."""
    folder = tmp_path / "site-packages" / "torch"
    header = folder / "include" / "ATen" / "Ops.h"
    for file, text in ((folder / "optim" / "sgd.py", SGD), (header, "// all\nstruct Ops {\n  int a_;\n};\n")):
        file.parent.mkdir(parents=True)
        file.write_text(text)
    monkeypatch.setattr(real_torch, "find_files", lambda: TorchFiles(folder, "2.13.0"))
    return folder


@pytest.fixture
def without_torch(monkeypatch):
    monkeypatch.setenv("REFTORCH_COMPARE", "0")


def html_of(shown) -> str:
    return shown._repr_mimebundle_()[0]["text/html"]


def text_in(html: str) -> str:
    return unescape(re.sub(r"<[^>]*>", "", html))


def test_the_lines_are_shown_with_the_notes(torch_213):
    shown = show_torch_source(PATH, "step", notes=NOTES)
    assert repr(shown).splitlines() == [
        f"step in {PATH}",
        f"{LINK}#L1-L6",
        "  (1) `if momentum`, line 3",
        "      only with `momentum`",
        "  (2) `buf = … param.add_`, lines 4 to 5",
        "      both lines",
        "(from torch 2.13.0)",
    ]
    assert "param.add_(grad, alpha=-lr)" in text_in(html_of(shown))
    assert html_of(shown).count("background:#fff8c5") == 3


def test_what_is_stored_has_notes_places_and_a_link_and_no_line(torch_213, monkeypatch):
    monkeypatch.setenv(real_torch.STORING, "1")
    shown = show_torch_source(PATH, "step", first="for i", notes=NOTES)
    bundle, metadata = shown._repr_mimebundle_()
    stored = text_in(bundle["text/html"]) + bundle["text/plain"] + str(metadata)
    assert not [line for line in SGD.splitlines() if line.strip() in stored]
    assert "<pre" not in bundle["text/html"]
    assert f'href="{LINK}#L2-L6"' in bundle["text/html"]
    assert "if momentum, line 3only with momentum" in stored
    assert "make torch" in stored


def test_without_torch_there_are_path_notes_and_link_and_what_to_do(without_torch):
    shown = show_torch_source(PATH, "step", notes=NOTES)
    assert repr(shown).splitlines() == [
        f"step in {PATH}",
        LINK,
        "  (1) `if momentum`",
        "      only with `momentum`",
        "  (2) `buf = … param.add_`",
        "      both lines",
        "(torch is not installed here, so its lines are not shown; `make torch` installs it)",
    ]
    assert f'href="{LINK}"' in html_of(shown)
    assert ">make torch</code>" in html_of(shown)


def test_the_same_cell_gives_comparable_outputs_with_and_without_torch(torch_213, monkeypatch):
    """So that a lesson passes with the stored output of a machine that has torch, wherever it runs."""
    import nbformat

    outputs = []
    for is_stored in (True, False):
        if not is_stored:
            monkeypatch.setattr(real_torch, "find_files", lambda: None)
        data = show_torch_source(PATH, "step", notes=NOTES)._repr_mimebundle_()[0]
        cell = nbformat.v4.new_code_cell(outputs=[nbformat.v4.new_output("display_data", data)])
        outputs.append(_comparable(cell, look=True))
    assert outputs[0] == outputs[1]


def test_a_header_is_found_in_the_wheel_and_a_cpp_file_is_not(torch_213):
    shown = show_torch_source("aten/src/ATen/Ops.h", "Ops", first="struct Ops", notes={"a_": "a field"})
    assert (shown.first, shown.notes[0].first) == (2, 3)
    shown = show_torch_source("aten/src/ATen/Ops.cpp", "run", notes={"run": "what it does"})
    assert repr(shown).endswith("(a wheel of torch does not have this file: follow the link, and search for names)")


def test_an_anchor_that_the_file_lacks_is_an_error_with_torch_213(torch_213):
    with pytest.raises(LookupError, match="no line from 1 to 6 holds 'if nesterov'"):
        show_torch_source(PATH, "step", notes={"if nesterov": "gone"})


def test_with_another_torch_such_an_anchor_leaves_the_notes(torch_213, monkeypatch):
    monkeypatch.setattr(real_torch, "find_files", lambda: TorchFiles(torch_213, "2.99.0"))
    shown = show_torch_source(PATH, "step", notes={"if nesterov": "gone"})
    assert shown.state.startswith("torch 2.99.0 is here, and its file is not that of 2.13: ")
    assert "gone" in text_in(html_of(shown))
    assert repr(show_torch_source(PATH, "step", notes=NOTES)).endswith("(from torch 2.99.0)")


def test_a_listing_of_more_than_a_screen_is_refused(torch_213):
    (torch_213 / "optim" / "sgd.py").write_text("def step():\n" + "    a\n" * 40)
    with pytest.raises(ValueError, match="41 lines, and a listing has at most 30"):
        show_torch_source(PATH, "step", notes={"def step": "long"})


def test_files_are_found_where_make_torch_puts_them_and_not_imported(tmp_path, monkeypatch):
    folder = tmp_path / "lib" / "python3.11" / "site-packages" / "torch"
    folder.mkdir(parents=True)
    monkeypatch.setattr(real_torch, "OWN_ENVIRONMENT", tmp_path)
    monkeypatch.setattr(real_torch.importlib.util, "find_spec", lambda name: None)
    monkeypatch.delenv("REFTORCH_COMPARE", raising=False)
    assert real_torch.find_files() is None
    (folder / "version.py").write_text("__version__ = '2.13.0+cpu'\n")
    assert real_torch.find_files() == TorchFiles(folder, "2.13.0")
    monkeypatch.setenv("REFTORCH_COMPARE", "0")
    assert real_torch.find_files() is None


def test_the_example_of_its_docstring_is_in_torch(real_torch):
    notes = {"F.linear": "one call, and one op"}
    shown = show_torch_source("torch/nn/modules/linear.py", "Linear.forward", notes=notes)
    assert "one call, and one op" in repr(shown)
    assert "from torch 2.13" in repr(shown)
    assert torch_listing.BEGIN in html_of(shown)
