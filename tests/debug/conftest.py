"""What the tests of the debug tools share.

Mirrors: nothing in PyTorch: tests of tools that it does not have.
Left out: an editor's window.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.debug.kernel import Notebook, gdbs_of, state_of, tracer_of

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def kernel() -> Iterator[Notebook]:
    """One kernel a file, with the magics loaded; each use asserts that nothing is left behind."""
    notebook = Notebook(ROOT / "tests" / "debug")
    try:
        loaded = notebook.run("import reftorch as torch\n%load_ext reftorch.debug")
        assert not loaded.error
        yield notebook
    finally:
        notebook.close()


@pytest.fixture
def notebook(kernel: Notebook) -> Iterator[Notebook]:
    yield kernel
    assert tracer_of(kernel.pid) == 0, "gdb still traces the kernel"
    assert state_of(kernel.pid) in "SR", "the kernel is stopped"
    assert not gdbs_of(kernel.pid), "a gdb is left behind"
    assert kernel.run("6 * 7").text == "42", "the kernel does not answer"
