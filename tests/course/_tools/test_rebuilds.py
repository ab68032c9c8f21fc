"""The library is changed in a scratch folder, and only there.

Mirrors: nothing in PyTorch: PyTorch ships no course.
"""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest

import reftorch as torch
from course._tools import rebuilds
from course._tools.layout import ROOT
from course._tools.outcomes import run_program
from course._tools.rebuilds import RebuildFailed, compare, packed, rebuild, unpacked

FILE = "cpp/csrc/autograd/saved_variable.cpp"
CHECK = "-  if (impl::version(data_) == saved_version_) {\n"
PROGRAM = """
import reftorch as torch
x = torch.zeros(1, requires_grad=True)
y = x.exp()
y.add_(1)
y.sum().backward()
x.grad
"""


@pytest.fixture
def scratch(tmp_path, monkeypatch):
    """Where scratch folders are made."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


def state() -> dict[str, tuple[int, int]]:
    """When the sources and the library were last written, and their sizes."""
    files = [*(ROOT / "cpp").rglob("*.cpp"), *(ROOT / "reftorch").rglob("*.py"), Path(torch._C.__file__)]
    files += (ROOT / "build" / Path(torch._C.__file__).parent.name).rglob("*.o")
    return {str(file): (file.stat().st_mtime_ns, file.stat().st_size) for file in files}


def test_without_the_check_of_versions_the_gradient_is_wrong_and_nothing_else_changed(scratch):
    before = state()
    shown = compare(FILE, f"{CHECK}+  if (true) {{\n{PROGRAM}")
    assert shown.before.error.startswith("RuntimeError: one of the variables needed for gradient computation")
    assert (shown.after.printed, shown.after.error) == ("tensor([2.])\n", "")
    assert "with the change\n    tensor([2.])" in repr(shown)
    html = shown._repr_mimebundle_()["text/html"]
    assert "saved_variable.cpp" in html
    assert "if (true)" in html
    assert state() == before
    assert list(scratch.iterdir()) == []
    x = torch.zeros(1, requires_grad=True)  # this kernel still has the check
    y = x.exp()
    y.add_(1)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.sum().backward()


def test_python_is_changed_without_a_compiler(scratch):
    program = "\nimport reftorch as torch\ntorch.nn.Linear(2, 1).bias is None"
    lines = (ROOT / "reftorch/nn/modules/linear.py").read_text().splitlines()
    at = next(number for number, line in enumerate(lines) if line.strip().startswith("self.bias = Parameter("))
    where = f" {lines[at - 2]}\n {lines[at - 1]}\n"  # Bilinear has the line too
    shown = compare("nn/modules/linear.py", f"{where}-{lines[at]}\n+            self.bias = None\n{program}")
    assert (shown.before.printed, shown.after.printed) == ("False\n", "True\n")
    assert list(scratch.iterdir()) == []


def test_a_change_that_does_nothing_says_so():
    line = (ROOT / "reftorch/nn/modules/linear.py").read_text().splitlines()[0]
    shown = compare("nn/modules/linear.py", f" {line}\n+\n+# a remark inside the docstring\n\n1 + 1")
    assert repr(shown).splitlines()[1:] == ["The change makes no difference here; both print", "    2"]


def test_a_mistake_is_shown_as_the_compilers_at_the_line_of_the_cell(scratch):
    before = state()
    with pytest.raises(RebuildFailed) as failure:
        compare(FILE, f"{CHECK}+  if (verson == 3) {{\n{PROGRAM}")
    said = str(failure.value)
    assert "in line 3 of the cell:\ncpp/csrc/autograd/saved_variable.cpp:" in said
    assert re.search("error: .*verson", said)
    assert str(scratch) not in said
    assert failure.value._render_traceback_() == said.splitlines()
    assert list(scratch.iterdir()) == []
    assert state() == before


def test_a_changed_library_can_be_asked_several_times(scratch):
    changed = rebuild(FILE, f"{CHECK}+  if (true) {{")
    assert changed.run(PROGRAM).printed == "tensor([2.])\n"
    assert changed.run("import reftorch as torch\ntorch.ones(1)").printed == "tensor([1.])\n"
    changed.close()
    assert list(scratch.iterdir()) == []


def test_an_interrupt_leaves_no_process_and_no_folder(tmp_path):
    """Ctrl-C is SIGINT to the kernel alone: the compiler and the programs have sessions of their own."""
    note = tmp_path / "pid"
    program = f"\nimport os, time\nopen({str(note)!r}, 'w').write(str(os.getpid()))\ntime.sleep(60)"
    cell = f"{CHECK}+  if (true) {{\n{program}"
    script = f"from course._tools.rebuilds import compare\ncompare({FILE!r}, {cell!r})"
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    kernel = subprocess.Popen(
        [sys.executable, "-c", script], cwd=ROOT, env={**os.environ, "TMPDIR": str(temporary)}, stderr=subprocess.PIPE
    )
    deadline = time.monotonic() + 60
    # The program runs, and the compiler is at work: what the compiler writes on its way is there.
    while not note.exists() or not note.read_text() or not any(temporary.rglob("cc*.s")):
        assert time.monotonic() < deadline
        time.sleep(0.01)
    kernel.send_signal(signal.SIGINT)
    _, errors = kernel.communicate(timeout=30)
    assert b"KeyboardInterrupt" in errors
    assert not Path(f"/proc/{note.read_text()}").exists()
    assert list(temporary.iterdir()) == []


def test_a_header_that_all_include_is_refused():
    with pytest.raises(RebuildFailed, match=r"cpp/ATen/core/Tensor.h is precompiled"):
        rebuild("ATen/core/Tensor.h", "-#pragma once\n+#pragma once // all the same")


def test_what_was_edited_after_the_build_is_refused(monkeypatch):
    monkeypatch.setattr(rebuilds, "loaded_build", lambda: ROOT / "build" / Path(torch._C.__file__).parent.name)
    file = ROOT / FILE
    stat = file.stat()
    os.utime(file, (time.time() + 60, time.time() + 60))
    try:
        with pytest.raises(RebuildFailed, match=r"saved_variable.cpp was edited after the last build: run `make "):
            rebuild(FILE, f"{CHECK}+  if (true) {{")
    finally:
        os.utime(file, ns=(stat.st_atime_ns, stat.st_mtime_ns))


@pytest.mark.parametrize(
    ("program", "printed", "error"),
    [
        ("1 + 1", "2\n", ""),
        ("x = 3\nprint(x)", "3\n", ""),
        ("None", "", ""),
        ("1 / 0", "", "ZeroDivisionError: division by zero"),
        ("print('first')\nraise ValueError('no')", "first\n", "ValueError: no"),
        ("import os\nos.abort()", "", "the process was ended by SIGABRT"),
        ("import sys\nsys.exit(3)", "", "the process ended with exit code 3"),
        ("x = (", "", "SyntaxError: '(' was never closed (<cell>, line 1)"),
    ],
)
def test_a_program_runs_as_a_cell_would(program, printed, error):
    outcome = run_program(program)
    assert (outcome.printed, outcome.error) == (printed, error)


def test_a_program_that_does_not_end_is_ended():
    assert (
        run_program("import time\ntime.sleep(60)", timeout=1).error == "the program did not end in 1 s, and was ended"
    )


def test_a_packed_patch_comes_out_as_it_went_in_and_tells_nothing():
    word = packed(FILE, f"{CHECK}+  if (true) {{")
    assert unpacked(word) == (FILE, f"{CHECK}+  if (true) {{")
    assert "saved" not in word
    assert "true" not in word
