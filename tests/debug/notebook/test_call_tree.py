"""The call tree of real calls, in both languages.

Mirrors: nothing in PyTorch: tests of tools that it does not have.
Left out: folding and filters, which need no recording; see test_tree.py.
"""

from __future__ import annotations

import re
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

import reftorch as torch
from reftorch.debug import call_tree
from reftorch.debug.notebook.call_tree import symbol_table
from reftorch.debug.notebook.tree import Node

ROOT = Path(__file__).resolve().parents[3]


def product(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    return a * b


@pytest.fixture
def pair() -> tuple[torch.Tensor, torch.Tensor]:
    """Two tensors that were multiplied once, so that nothing is set up for the first time in a test."""
    a, b = torch.ones(2, 3), torch.ones(2, 3)
    product(a, b)
    return a, b


def every(nodes: list[Node]) -> list[Node]:
    return [each for node in nodes for each in (node, *every(node.children))]


def names(nodes: list[Node]) -> list[str]:
    return [node.name for node in every(nodes)]


def path_to(nodes: list[Node], wanted: str) -> list[Node]:
    """From a root to the first node whose name ends so."""
    for node in nodes:
        if node.name.endswith(wanted):
            return [node]
        below = path_to(node.children, wanted)
        if below:
            return [node, *below]
    return []


def test_one_tree_goes_from_python_to_the_kernel(pair: tuple[torch.Tensor, torch.Tensor]) -> None:
    with call_tree() as tree:
        product(*pair)
    way = path_to(tree.threads[0], "native::mul_kernel")
    assert path_to(way[-1].children, "native::vectorized_loop"), "the loop over the elements"
    assert way[0].name == "product"
    assert way[0].file == __file__
    assert way[-1].file.endswith("cpp/ATen/native/cpu/BinaryOpsKernel.cpp")
    kernel_line = Path(way[-1].file).read_text().split("\n")[way[-1].line - 1]
    assert "mul_kernel(" in kernel_line
    assert any("/ATen/native/BinaryOps.cpp" in node.file for node in way)


def test_backward_shows_engine_formula_and_kernel() -> None:
    a = torch.ones(3, requires_grad=True)
    (a * a).sum().backward()
    loss = product(a, a).sum()
    with call_tree() as tree:
        loss.backward()
    roots = [node for thread in tree.threads for node in thread]
    way = path_to(path_to(roots, "Engine::execute")[-1:], "native::mul_kernel")
    formula = next(node for node in way if "/reftorch/autograd/derivatives/" in node.file)
    assert "grad *" in Path(formula.file).read_text().split("\n")[formula.line - 1]


def test_the_same_call_gives_the_same_text(pair: tuple[torch.Tensor, torch.Tensor]) -> None:
    texts = []
    for _ in range(2):
        with call_tree() as tree:
            product(*pair)
        texts.append(str(tree))
    assert texts[0] == texts[1]
    assert not re.search(r"0x[0-9a-f]{5}", texts[0])
    assert str(ROOT) not in texts[0]


def test_accessors_are_folded_unless_asked_for(pair: tuple[torch.Tensor, torch.Tensor]) -> None:
    with call_tree() as short:
        product(*pair)
    with call_tree(accessors=True) as long:
        product(*pair)
    assert "c10::CachingCPUAllocator" not in str(short)
    assert "c10::CachingCPUAllocator" in str(long)


def test_what_is_called_by_the_thousand_does_not_report(pair: tuple[torch.Tensor, torch.Tensor]) -> None:
    with call_tree(accessors=True) as tree:
        product(*pair)
        torch.exp(pair[0]).sum()
        torch.softmax(pair[0], -1)
    assert path_to(tree.threads[0], "native::exp_kernel")
    assert path_to(tree.threads[0], "native::vectorized_loop")
    files = ("Tensor.h", "ivalue.h", "TensorIterator.h", "SharedReduceOps.h", "VectorMath.h", "SmallVector.h", "ptr.h")
    told = [
        node
        for node in every(tree.threads[0])
        if node.file.endswith(files) or "{lambda" in node.name or "exp_of_negative" in node.name
    ]
    assert not told, "a report costs, though nothing is recorded: see -finstrument-functions in cpp/CMakeLists.txt"


def test_only_and_hide_and_depth(pair: tuple[torch.Tensor, torch.Tensor]) -> None:
    with call_tree(only="native::mul_kernel$") as only:
        product(*pair)
    assert path_to(only.threads[0], "mul_kernel")[-1].children == []
    with call_tree(hide="native::") as hide:
        product(*pair)
    assert "native::" not in "".join(names(hide.threads[0]))
    with call_tree(depth=1) as shallow:
        product(*pair)
    assert [node.name for node in shallow.threads[0]] == ["product"]
    assert re.fullmatch(r"\.\.\. \d+ more calls", shallow.threads[0][0].children[0].name)


def test_repeated_calls_are_counted(pair: tuple[torch.Tensor, torch.Tensor]) -> None:
    with call_tree() as tree:
        for _ in range(5):
            product(*pair)
    assert [(node.name, node.count) for node in tree.threads[0]] == [("product", 5)]


def test_a_call_that_raises_ends_in_the_tree() -> None:
    def fails() -> None:
        torch.ones(2) + torch.ones(3)

    with call_tree() as tree:
        with pytest.raises(RuntimeError):
            fails()
        product(torch.ones(1), torch.ones(1))
    assert "product" in [node.name.rpartition(".")[2] for node in tree.threads[0]]


def test_other_threads_have_their_own_trees(pair: tuple[torch.Tensor, torch.Tensor]) -> None:
    with call_tree(only="native::mul_kernel$") as tree:
        worker = threading.Thread(target=product, args=pair)
        worker.start()
        worker.join()
    assert path_to(tree.threads[1], "native::mul_kernel")
    assert "thread 2" in str(tree)


def test_decorator_shows_each_call(pair: tuple[torch.Tensor, torch.Tensor], capsys: pytest.CaptureFixture[str]) -> None:
    @call_tree(only="native::mul_kernel$")
    def twice(a: torch.Tensor) -> torch.Tensor:
        return a * a

    assert twice(pair[0]).shape == (2, 3)
    assert "native::mul_kernel" in capsys.readouterr().out


def test_diff_of_two_trees(pair: tuple[torch.Tensor, torch.Tensor]) -> None:
    a, b = pair

    def recorded(function: Callable[[], object], **options: object) -> call_tree:
        function()
        with call_tree(**options) as tree:
            function()
        return tree

    def multiply() -> object:
        return product(a, b)

    def multiply_and_add() -> object:
        return product(a, b) + b

    only = {"only": r"native::(mul|add)_kernel$"}
    product_alone = recorded(multiply, **only)
    assert not product_alone.diff(recorded(multiply, **only))
    assert str(product_alone.diff(product_alone)) == "The two trees are the same."
    both = product_alone.diff(recorded(multiply_and_add, **only))
    assert both
    changed = [row for row in str(both).splitlines() if row[0] in "-+"]
    assert any(row[0] == "+" and "native::add_kernel" in row for row in changed)
    backwards = recorded(multiply_and_add, **only).diff(product_alone)
    assert any(row[0] == "-" and "native::add_kernel" in row for row in str(backwards).splitlines())
    assert "<span style=" in both._repr_html_()
    assert "add_kernel" in both._repr_html_()


def test_html_links_open_the_file_at_its_line(
    pair: tuple[torch.Tensor, torch.Tensor], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ROOT / "tests" / "debug")
    with call_tree() as tree:
        product(*pair)
    links = re.findall(r'<a href="([^"#]+)#line=(\d+)">([^<]+):(\d+)</a>', tree._repr_html_())
    assert any(shown.endswith("BinaryOpsKernel.cpp") for _, _, shown, _ in links)
    for target, line, shown, shown_line in links:
        assert (Path.cwd() / target).resolve() == ROOT / shown
        assert int(line) == int(shown_line) - 1  # JupyterLab counts from 0


def test_what_is_lost_is_said(pair: tuple[torch.Tensor, torch.Tensor]) -> None:
    with call_tree(max_calls=5) as tree:
        product(*pair)
    assert tree.lost > 0
    assert "max_calls=5" in str(tree)


def test_recordings_do_not_nest_and_the_outer_one_survives(pair: tuple[torch.Tensor, torch.Tensor]) -> None:
    with call_tree() as outer:
        with pytest.raises(RuntimeError, match="do not nest"), call_tree():
            pass
        product(*pair)
    assert path_to(outer.threads[0], "native::mul_kernel")


def test_the_profile_function_comes_back(pair: tuple[torch.Tensor, torch.Tensor]) -> None:
    def mine(*event: object) -> None:
        pass

    before = sys.getprofile()
    sys.setprofile(mine)
    try:
        with call_tree():
            product(*pair)
        assert sys.getprofile() is mine
    finally:
        sys.setprofile(before)


def seconds(function: Callable[[], object]) -> float:
    start = time.perf_counter()
    function()
    return time.perf_counter() - start


def test_known_names_are_looked_up_without_a_process(
    pair: tuple[torch.Tensor, torch.Tensor], monkeypatch: pytest.MonkeyPatch
) -> None:
    def record() -> None:
        with call_tree():
            product(*pair)

    record()
    symbol_table.cache_clear()  # a new process knows only what is written beside the library
    monkeypatch.setattr(subprocess, "run", None)
    assert seconds(record) < 1


def test_a_release_build_is_told_what_it_needs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("reftorch.debug.notebook.call_tree.has_hooks", lambda: False)
    with pytest.raises(RuntimeError, match=r"needs the Debug build.*\n.*make debug.*REFTORCH_BUILD=debug"), call_tree():
        pass


def test_a_rebuilt_library_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("reftorch.debug.notebook.call_tree.stale_library", lambda library: True)
    with pytest.raises(RuntimeError, match=r"rebuilt after it was imported.*\n.*restart the kernel"), call_tree():
        pass
