"""The magics in a real kernel: what they show, and that they leave nothing behind.

Mirrors: nothing in PyTorch: tests of tools that it does not have.
Left out: how a browser draws the HTML.
"""

from __future__ import annotations

import os
import re
import shlex
import signal
import subprocess
import time
from pathlib import Path

import pytest

from reftorch.debug.core import gdb_session
from reftorch.debug.core.find_gdb import candidates, probe
from tests.debug.kernel import Notebook, tracer_of

ROOT = Path(__file__).resolve().parents[3]
KERNEL_FILE = "cpp/ATen/native/cpu/BinaryOpsKernel.cpp"
LOAD = "import reftorch as torch\n%load_ext reftorch.debug\n"
GDBS = [path for path in candidates() if not isinstance(probe(path), str)]
SETUP = "a = torch.arange(4.0).reshape(2, 2)\nb = torch.ones(2, 2) * 2"


@pytest.fixture(scope="module", autouse=True)
def _tensors(kernel: Notebook) -> None:
    assert not kernel.run(SETUP).error


def test_gdb_shows_a_stop(notebook: Notebook) -> None:
    cell = notebook.run('%%gdb mul -c "rt-bt; up 2; rt-tensor self"\nprint("before")\nc = a * b\nprint("after")')
    assert not cell.error
    assert cell.stdout == "before\nafter\n"
    first, *_ = cell.text.splitlines()
    assert re.fullmatch(rf"stop 1  {KERNEL_FILE}:\d+  at::native::mul_kernel", first)
    assert "f32[2, 2] strides=[2, 1] [0, 1, 2, 3]" in cell.text
    stack = [line.split() for line in cell.text.partition("stack, innermost")[2].splitlines()[1:] if line[:4] == "    "]
    assert stack[0][0] == "c++"
    assert stack[0][1].startswith(KERNEL_FILE)
    assert stack[-1] == ["py", "<cell>:2", "<module>"]
    assert "(gdb) rt-tensor self\n[[0, 1],\n [2, 3]]" in cell.text
    line = int(first.split(":")[1].split()[0])
    source = (ROOT / KERNEL_FILE).read_text().split("\n")[line - 1]
    assert f" ->  {line} | {source}" in cell.text
    assert f'href="../../{KERNEL_FILE}#line={line - 1}"' in cell.html


def test_output_names_nothing_that_differs_the_next_time(notebook: Notebook) -> None:
    """tests/debug/test_magics_notebook.py runs the same cells twice, and compares."""
    cell = notebook.run('%%gdb mul -n 2 -c "info args; next"\nc = a * b\nd = c * c')
    assert "stop 2" in cell.text
    shown = cell.text + cell.html
    assert not re.search(r"0x[0-9a-f]{6}|LWP|/tmp/", shown)
    assert str(ROOT) not in shown


def test_breakpoints_by_line_by_function_and_with_a_condition(notebook: Notebook) -> None:
    source = (ROOT / KERNEL_FILE).read_text().split("\n")
    line = 1 + next(i for i, text in enumerate(source) if text.startswith("void mul_kernel("))
    by_line = f"%%gdb BinaryOpsKernel.cpp:{line}"
    function = "reftorch::at::native::add_kernel if iter.num_outputs_ == 1"
    both = notebook.run(f"{by_line} -b '{function}' -n 2\nc = a * b\nc = a + b").text
    first, second = both.partition("stop 2")[::2]
    assert f"{KERNEL_FILE}:{line + 1} " in first
    assert "at::native::add_kernel" in second
    never = notebook.run('%%gdb "mul if iter.num_outputs_ > 1"\nc = a * b')
    assert "ended without reaching" in never.text


def test_a_condition_needs_no_quotes(notebook: Notebook) -> None:
    cell = notebook.run(
        "%%gdb mul if iter.numel() == 6 -n 2\nx = torch.ones(2) * 3\ny = torch.ones(2, 3) * torch.ones(3)"
    )
    assert not cell.error and cell.text.count("stop 1") == 1 and "stop 2" not in cell.text
    assert "mul_kernel" in cell.text and "f32[2, 3]" in cell.text


@pytest.mark.parametrize("place", ["6", "-3", "mul 6", "=="])
def test_a_bare_number_is_no_place(notebook: Notebook, place: str) -> None:
    cell = notebook.run(f"%%gdb {place}\nc = a * b")
    number = place.split()[-1]
    assert (
        f"UsageError: `{number}` is not an op, a C++ function or FILE:LINE." in cell.stdout
    )  # IPython shows it as text
    assert "stop" not in cell.text


def test_a_cell_with_await(notebook: Notebook) -> None:
    cell = notebook.run("%%gdb mul\nimport asyncio\nawait asyncio.sleep(0)\nawaited = a * b\nprint('done')")
    assert not cell.error and "stop 1" in cell.text and "mul_kernel" in cell.text
    assert cell.stdout == "done\n"
    assert notebook.run("awaited.shape == (a * b).shape").text == "True"


def test_an_op_that_ran_in_a_worker(notebook: Notebook) -> None:
    work = "from reftorch.utils.data import DataLoader\n"
    work += "list(DataLoader([torch.ones(1)] * 2, num_workers=1, collate_fn=lambda b: b[0].exp()))"
    cell = notebook.run(f"%%gdb exp\n{work}")
    assert "The cell ended without reaching exp." in cell.text
    assert "The cell started 1 process, which gdb does not follow: an op may have run there." in cell.text


EXTENSION = """
from reftorch.utils.cpp_extension import load_inline
SOURCE = '''
int64_t count_to(int64_t end) {
  int64_t count = 0;
  while (count < end) {
    count++;
  }
  return count;
}
'''
count_to = load_inline("counting", SOURCE, functions="count_to").count_to
"""


def test_gdb_stops_in_an_extension_that_the_notebook_compiled(notebook: Notebook) -> None:
    assert not notebook.run(EXTENSION).error
    both = notebook.run('%%gdb counting.cpp:5 -b count_to -n 2 -c "next; print count"\ncount_to(3)').text
    by_function, by_line = both.partition("stop 2")[::2]
    assert re.search(r"stop 1 .*counting\.cpp:3 +count_to", by_function)
    assert " ->  5 |     count++;" in by_line
    assert re.search(r"count +0\n", by_line)
    assert "$2 = 1" in by_line
    stack = by_line.partition("stack, innermost")[2].splitlines()[1:]
    assert re.search(r"c\+\+ .*counting\.cpp:5 +count_to$", stack[0])
    assert stack[1].split()[:2] == ["py", "<cell>:1"]


@pytest.mark.parametrize("gdb", GDBS)
def test_conditions_that_call_functions_of_the_process(notebook: Notebook, gdb: str) -> None:
    """A function and an operator."""
    notebook.run(f"import os; os.environ['REFTORCH_GDB'] = {gdb!r}\nsmall, large = torch.ones(2), torch.ones(3)")
    try:
        ops = "for i in range(5):\n    c = small * small\nc = large * large\nc = large / large\nc = small / small"
        cell = notebook.run(f'%%gdb "mul if iter.numel() == 3" -b "div if iter.shape_[0] == 3" -n 3\n{ops}')
        assert not cell.error
        assert "gdb:" not in cell.text
        assert re.findall(r"stop \d .*native::(\w+)", cell.text) == ["mul_kernel", "div_true_kernel"]
        assert cell.text.count("out f32[3]") == 2
    finally:
        notebook.run("del os.environ['REFTORCH_GDB']")


def test_conditions_that_cannot_be_computed(notebook: Notebook) -> None:
    cell = notebook.run('%%gdb "mul if no_such > 3" -b "add if iter.numel( == 3"\nc = a * b + a')
    assert 'gdb: `mul if no_such > 3`: No symbol "no_such" in current context. Known there: iter.' in cell.text
    assert "A syntax error in expression" in cell.text
    assert "stop" not in cell.text
    cell = notebook.run('%%gdb "mul if iter.no_such == 3"\nc = a * b')
    assert (
        "`if iter.no_such == 3` cannot be computed at this stop: There is no member or method named no_such."
        in cell.text
    )
    assert "stop 1" in cell.text


def test_interrupt_while_conditions_are_computed(notebook: Notebook) -> None:
    request = notebook.send(
        '%%gdb "mul if iter.numel() == 3"\nimport time\nend = time.monotonic() + 60\n'
        "while time.monotonic() < end:\n    c = a * b"
    )
    end = time.monotonic() + 240
    while tracer_of(notebook.pid) == 0 and time.monotonic() < end:
        time.sleep(0.05)
    time.sleep(2)
    os.kill(notebook.pid, signal.SIGINT)
    assert "KeyboardInterrupt" in notebook.result(request).error


def test_names_that_are_not_there(notebook: Notebook) -> None:
    cell = notebook.run("%%gdb mull -b BinaryOpsKernel.cpp:99999\nc = a * b")
    assert "No op and no C++ function is called `mull`. The nearest: mul" in cell.text
    assert "No code is at BinaryOpsKernel.cpp:99999" in cell.text
    cell = notebook.run("%%gdb\nc = a * b")
    assert "Where to stop?" in cell.stdout
    cell = notebook.run("%%gdb mul --no-such\nc = a * b")
    assert "unrecognized arguments" in cell.stdout
    assert notebook.run("c.shape").text == "torch.Size([2, 2])"


def test_a_cell_that_raises_is_an_error_and_ends_clean(notebook: Notebook) -> None:
    cell = notebook.run("%%gdb mul\nc = a * b\nraise ValueError('late')")
    assert "stop 1" in cell.text
    assert "ValueError: late" in cell.error
    assert "gdb is detached and the kernel runs" in cell.error


def test_a_breakpoint_that_is_never_hit(notebook: Notebook) -> None:
    text = notebook.run("%%gdb mul\nd = 1").text
    assert "The cell ended without reaching mul. gdb waited at mul_kernel (BinaryOpsKernel.cpp:" in text
    assert "process" not in text  # the cell started none


def test_interrupt_while_gdb_waits(notebook: Notebook) -> None:
    request = notebook.send("%%gdb mul\nimport time\ntime.sleep(60)")
    end = time.monotonic() + 120
    while tracer_of(notebook.pid) == 0 and time.monotonic() < end:
        time.sleep(0.05)
    time.sleep(0.5)
    start = time.monotonic()
    os.kill(notebook.pid, signal.SIGINT)
    cell = notebook.result(request)
    assert "KeyboardInterrupt" in cell.error
    assert time.monotonic() - start < 50


def test_native_trace_follows_the_lines(notebook: Notebook) -> None:
    cell = notebook.run("%%native_trace mul --max 12\nc = a * b")
    lines = cell.text.splitlines()
    assert len([line for line in lines if re.match(r"\w+\.(cpp|h):\d+", line)]) == 12
    assert lines[0].startswith("BinaryOpsKernel.cpp:")
    assert "stopped after 12 lines; see --max" in cell.text


def test_calltree(notebook: Notebook) -> None:
    cell = notebook.run('%%calltree --only "mul_kernel$"\nc = a * b\n')
    assert cell.text.splitlines()[0].split() == ["<cell>", "<cell>:1"]
    assert "native::mul_kernel" in cell.text
    assert "<details open>" in cell.html
    cell = notebook.run("%%calltree\n1 / 0")
    assert "ZeroDivisionError" in cell.error


def test_where_op(notebook: Notebook) -> None:
    cell = notebook.run("%where_op torch.mul")
    assert cell.text.startswith("mul\n    schema  ")
    assert f'href="../../{KERNEL_FILE}#line=' in cell.html
    assert "No op is called `mull`. The nearest: mul" in notebook.run("%where_op mull").error
    assert "Which op?" in notebook.run("%where_op").stdout


def test_bt_inside_a_hook_shows_the_engine(notebook: Notebook) -> None:
    cell = notebook.run(
        "def hook(grad):\n    %bt\nx = torch.ones(2, requires_grad=True)\ny = x * x\ny.register_hook(hook)\n"
        "y.sum().backward()"
    )
    assert not cell.error
    lines = cell.text.splitlines()
    assert lines[1].split() == ["py", "<cell>:2", "hook"]
    assert any("cpp/csrc/autograd/engine.cpp" in line for line in lines)
    assert lines[-1].split() == ["py", "<cell>:6", "<module>"]


def test_fresh_runs_in_a_process_of_its_own(notebook: Notebook) -> None:
    cell = notebook.run(
        "%%gdb --fresh mul\nimport reftorch as torch\nmine = torch.ones(2) * torch.full((2,), 3.0)\n"
        "print('printed', mine.tolist())"
    )
    assert cell.stdout == "printed [3.0, 3.0]\n"
    assert "stop 1" in cell.text
    assert "NameError" in notebook.run("mine").error


def test_a_fresh_program_that_does_not_end_is_told() -> None:
    events, _ = gdb_session.run_fresh("import time\ntime.sleep(600)", gdb_session.Job(), timeout=4)
    (told,) = [event["text"] for event in events]
    assert told.startswith("the program did not end in 4 s, and was ended")


def test_a_crash_shows_both_stacks(notebook: Notebook) -> None:
    cell = notebook.run(
        "%%gdb --fresh\nimport ctypes\nimport reftorch\ndef crash():\n    ctypes.string_at(8)\ncrash()\n"
    )
    assert "stopped by SIGSEGV" in cell.text
    assert "<cell>:4" in cell.text
    assert "crash" in cell.text


def test_a_crash_under_an_attached_gdb_is_shown_before_the_kernel_dies() -> None:
    notebook = Notebook(ROOT / "tests" / "debug")
    try:
        assert not notebook.run(LOAD + SETUP).error
        request = notebook.send(
            "%%gdb mul\nimport ctypes\ndef crash():\n    ctypes.string_at(8)\ncrash()\n",
        )
        cell = notebook.result(request, until="display_data")
    finally:
        notebook.close()
    assert "stopped by SIGSEGV" in cell.text
    stack = [line.split() for line in cell.text.partition("stack, innermost")[2].splitlines()[1:] if line[:4] == "    "]
    assert [row[0] for row in (stack[0], *stack[-2:])] == ["c++", "py", "py"]
    assert stack[-2][1:] == ["<cell>:3", "crash"]
    assert "SIGSEGV ends this process" in cell.text
    assert "Jupyter starts a new kernel" in cell.text
    assert "%%gdb --fresh" in cell.text


def test_a_crash_in_a_library_without_debug_symbols_names_the_library(tmp_path: Path) -> None:
    source, library = tmp_path / "crash.c", tmp_path / "libcrash.so"
    source.write_text("int read_it(int* p) { return *p; }\n")
    compiler = [*shlex.split(os.environ.get("CXX", "c++")), "-x", "c", "-O0", "-g0", "-shared", "-fPIC"]
    subprocess.run([*compiler, str(source), "-o", str(library)], check=True)
    notebook = Notebook(ROOT / "tests" / "debug")
    try:
        assert not notebook.run(LOAD + SETUP).error
        cell = notebook.result(
            notebook.send(f"%%gdb mul\nimport ctypes\nctypes.CDLL({str(library)!r}).read_it(8)\n"), until="display_data"
        )
    finally:
        notebook.close()
    stack = [line.split() for line in cell.text.partition("stack, innermost")[2].splitlines()[1:] if line[:4] == "    "]
    assert stack[0] == ["c++", "libcrash.so", "read_it"]
    assert stack[-1][0] == "py"


def test_commands_that_would_end_the_kernel_are_not_run(notebook: Notebook) -> None:
    cell = notebook.run('%%gdb mul -c "kill; quit; r; det; info args"\nc = a * b\nprint("went on")')
    assert cell.stdout == "went on\n"
    assert "kill: not run" in cell.text
    assert "quit: not run" in cell.text
    assert "r: not run" in cell.text
    assert "det: not run" in cell.text
    assert "(gdb) info args\niter = TensorIterator" in cell.text


def test_a_number_of_stops_begins_at_one(notebook: Notebook) -> None:
    assert "0 is not a number from 1 on" in notebook.run("%%gdb mul -n 0\nc = a * b").stdout


OLDER = """
from reftorch.debug.core import gdb_session
from reftorch.debug.notebook import call_tree
kept = gdb_session.changed_since_build
for each in (call_tree, gdb_session):
    each.changed_since_build = lambda files, library: kept(files, {!r})
"""


def test_a_source_that_is_younger_than_the_library_is_said(notebook: Notebook, tmp_path: Path) -> None:
    library = tmp_path / "library"
    library.touch()
    os.utime(library, (0, 0))
    assert not notebook.run(OLDER.format(str(library))).error
    said = re.compile(rf"Changed after reftorch was built: .*{KERNEL_FILE}.*\nFix: make debug, then restart the kernel")
    try:
        assert said.search(notebook.run("%%gdb mul\nc = a * b").text)
        assert said.search(notebook.run('%%calltree --only "mul_kernel$"\nc = a * b').text)
    finally:
        notebook.run("call_tree.changed_since_build = gdb_session.changed_since_build = kept")
    assert "Changed" not in notebook.run('%%calltree --only "mul_kernel$"\nc = a * b').text


def test_a_release_build_is_told_what_it_needs(notebook: Notebook) -> None:
    notebook.run(
        "import reftorch.debug.core.gdb_session as session\n"
        "kept, session.native = session.native, lambda: type('', (), {'library': '/x/reftorch/lib/Release/_C.so'})"
    )
    try:
        for source in ("%%gdb mul\nran = a * b", "%%native_trace mul\nran = a * b", "%%gdb --fresh mul\n1", "%bt"):
            error = notebook.run(source).error
            assert error.startswith("A stop in C++ needs the Debug build of reftorch"), source
            assert "Fix: build it (make debug), set REFTORCH_BUILD=debug" in error
    finally:
        notebook.run("session.native = kept")
