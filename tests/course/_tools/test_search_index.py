"""The search of the site finds names, sentences and files of source, and shows first what the question is about.

Mirrors: nothing in PyTorch: its docs are searched by a service of another company.
Leaves out: the page that shows the results, which tests/course/browser/book.py opens in Chromium.
"""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from course._tools.book import search_index
from course._tools.book.search_index import api_page, documents, index, markdown_page, source_page, words
from course._tools.layout import COURSE, chapters, pages
from course._tools.site.markdown import write_pages
from course._tools.site.sources import source_files

SEARCH = Path(search_index.__file__).with_name("static") / "search.js"
NODE = shutil.which("node")
needs_node = pytest.mark.skipif(NODE is None, reason="needs node, in which the site's search runs: apt install nodejs")

API = """torch.nn.functional
===================

.. py:module:: torch.nn.functional

Functions of neural networks.

.. py:function:: softmax(input: torch.Tensor, dim: int | None = None) -> torch.Tensor

    Scale :math:`e^x` along ``dim``, so that the sum is 1. Rows of ``-inf`` give nan.

.. py:class:: Handle()

    A handle of :py:obj:`hooks <torch.utils.hooks>`.

    .. py:method:: remove() -> None

        Remove the hook.

.. py:function:: relu(input: torch.Tensor) -> torch.Tensor

    The larger of 0 and each element.
"""


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What Sphinx reads for the site, with the notebooks as they are in the checkout and one page of the API."""
    folder = tmp_path_factory.mktemp("prepared")
    for path in source_files():
        page = folder / "extra" / "source" / f"{path}.html"
        page.parent.mkdir(parents=True, exist_ok=True)
        page.touch()
    write_pages(folder / "pages", folder / "extra")
    for notebook in (*pages(), *(file for chapter in chapters() for file in (chapter.lesson, chapter.exercises))):
        page = folder / "pages" / "course" / notebook.relative_to(COURSE)
        page.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(notebook, page)
    (folder / "pages" / "api").mkdir()
    (folder / "pages" / "api" / "torch.nn.functional.rst").write_text(API)
    return folder


@pytest.fixture(scope="module")
def text(prepared: Path) -> str:
    """The index."""
    return index(documents(prepared))


def ask(text: str, *questions: str) -> list[list[str]]:
    """The addresses that the site's own search finds for each question, the best first."""
    program = (
        "const fs = require('fs'), vm = require('vm'), input = JSON.parse(fs.readFileSync(0, 'utf8'));"
        "const page = vm.createContext({}); vm.runInContext(input.search + '; globalThis.ranking = Ranking', page);"
        "page.Search = {setIndex: index => { page.index = index; }}; vm.runInContext(input.index, page);"
        "console.log(JSON.stringify(input.questions.map(q => page.ranking.search(page.index, q).map(r => r[0]))))"
    )
    given = json.dumps({"search": SEARCH.read_text(), "index": text, "questions": questions})
    done = subprocess.run([str(NODE), "-e", program], input=given, capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


FIRST = {
    "TensorIterator": "source/cpp/ATen/TensorIterator.h.html",
    "tensor iterator": "source/cpp/ATen/TensorIterator.h.html",
    "BinaryOpsKernel.cpp": "source/cpp/ATen/native/cpu/BinaryOpsKernel.cpp.html",
    "cpp/ATen/native/BinaryOps.cpp": "source/cpp/ATen/native/BinaryOps.cpp.html",
    "AccumulateGrad": "source/cpp/csrc/autograd/functions/accumulate_grad.h.html",
    "Dispatcher": "source/cpp/ATen/core/dispatch/Dispatcher.h.html",
    "how do I set a breakpoint": "howto/step_into_a_kernel.html",
    "breakpoints": "howto/step_into_a_kernel.html",
    "How can I step into C++?": "howto/step_into_a_kernel.html",
    "why is my gradient wrong": "howto/debug_a_model.html",
    "add an op": "howto/add_an_op.html",
    "install": "tutorial.html",
    "computeStride": "course/02_tensor/lesson.html",
    "data loader workers": "course/10_data/lesson.html",
    "torch.nn.functional.softmax": "api/torch.nn.functional.html#torch.nn.functional.softmax",
    "softmax": "api/torch.nn.functional.html#torch.nn.functional.softmax",
}


@needs_node
def test_what_a_question_is_about_is_found_first(text: str) -> None:
    found = ask(text, *FIRST)
    assert {question: addresses[0] for question, addresses in zip(FIRST, found, strict=True)} == FIRST


@needs_node
def test_a_part_of_a_name_and_unknown_words_do_not_empty_the_results(text: str) -> None:
    part, with_unknown, unknown, nothing = ask(text, "TensorIt", "dispatcher xyzzyq", "xyzzyq", "?!")
    assert any("TensorIterator" in address for address in part[:5])
    assert any("source/cpp/ATen/core/dispatch/Dispatcher" in address for address in with_unknown[:5])
    assert unknown == nothing == []


def test_every_file_of_source_and_every_page_is_a_document(prepared: Path) -> None:
    addresses = [document.address for document in documents(prepared)]
    assert len(addresses) == len(set(addresses))
    assert {f"source/{path}.html" for path in source_files() if not path.endswith(".csv")} < set(addresses)
    written = {file.relative_to(prepared / "pages") for file in (prepared / "pages").rglob("*.*")}
    assert {file.with_suffix(".html").as_posix() for file in written if file.suffix != ".png"} <= set(addresses)


def test_a_name_of_the_api_has_the_address_that_sphinx_gives_it() -> None:
    found = {document.address: document for document in api_page("api/torch.nn.functional.rst", API)}
    page = "api/torch.nn.functional.html"
    names = ("softmax", "Handle", "Handle.remove", "relu")
    assert set(found) == {page, *(f"{page}#torch.nn.functional.{name}" for name in names)}
    assert found[page].about == "Functions of neural networks"
    assert found[f"{page}#torch.nn.functional.softmax"].about == "Scale e^x along dim, so that the sum is 1"
    assert found[f"{page}#torch.nn.functional.Handle"].about == "A handle of hooks"
    assert found[f"{page}#torch.nn.functional.Handle.remove"].name == "remove"


def test_the_sentence_of_a_result_is_the_first_that_explains() -> None:
    text = "# Add an op\n\n<!-- from X -->\n![shot](a.png)\n\nAn op is `one` [word](b.md). Then more.\n\n## Next\n"
    page = markdown_page("howto/add.md", text)
    assert (page.title, page.kind, page.about) == ("Add an op", "how to", "An op is one word")
    header = source_page("cpp/ATen/TensorIterator.h")
    assert (header.name, header.kind) == ("TensorIterator", "source")
    assert header.about
    assert not header.about.startswith("Mirrors")
    assert source_page("reftorch/__main__.py").about == "Run a program that says import torch on reftorch"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("TensorIterator.h", ["tensoriterator"]),
        ("__torch_function__ of Kernels", ["torch_function", "of", "kernel"]),
        ("class bus status", ["class", "bus", "status"]),
    ],
)
def test_words(text: str, expected: list[str]) -> None:
    assert words(text) == expected


@needs_node
def test_the_search_takes_a_question_apart_as_the_index_does() -> None:
    text = (SEARCH.read_text() + SEARCH.with_name("book.css").read_text()) * 2
    program = f"{SEARCH.read_text()}; console.log(JSON.stringify(Ranking.words({json.dumps(text)})))"
    done = subprocess.run([str(NODE), "-"], input=program, capture_output=True, text=True, check=True)
    assert json.loads(done.stdout) == list(dict.fromkeys(words(text)))
