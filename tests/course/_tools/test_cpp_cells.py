"""`%%cpp` compiles a cell, runs the program, keeps the program, and leaves nothing else behind.

Mirrors: nothing in PyTorch: PyTorch ships no course.
"""

from __future__ import annotations

import signal
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from pathlib import Path

import pytest
from IPython.core.error import UsageError

from course._tools import cpp_cells, magics
from course._tools.cpp_cells import CompilerRefused, printed, run_cpp
from course._tools.layout import ROOT

HELLO = '#include <cstdio>\nint main() { std::puts("hello"); }\n'
POINTER = """#include <c10/util/intrusive_ptr.h>
#include <cstdio>
using namespace reftorch;
struct Bytes : c10::intrusive_ptr_target {};
int main() {
  auto a = c10::make_intrusive<Bytes>(), b = a;
  std::printf("%zu\\n", b.use_count());
}
"""


@pytest.fixture
def scratch(tmp_path, monkeypatch):
    """Where scratch folders are made, and a build tree that has nothing but its configuration."""
    build = cpp_cells.loaded_build()
    own = tmp_path / "build" / build.name
    own.mkdir(parents=True)
    (own / "CMakeCache.txt").write_text((build / "CMakeCache.txt").read_text())
    (own / "generated").symlink_to(build / "generated")
    monkeypatch.setattr(cpp_cells, "loaded_build", lambda: own)
    (tmp_path / "tmp").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "tmp"))
    return tmp_path


def kept(scratch: Path) -> list[Path]:
    return list((scratch / "build" / "cells").iterdir())


def test_a_program_runs_and_nothing_but_the_program_is_kept(scratch):
    assert str(run_cpp(HELLO)) == "hello"
    assert list((scratch / "tmp").iterdir()) == []
    assert len(kept(scratch)) == 1


def test_the_second_run_of_a_cell_takes_no_compiler(scratch, monkeypatch):
    run_cpp(HELLO)
    monkeypatch.setattr(cpp_cells, "_keep", None)
    assert run_cpp(HELLO).printed == "hello\n"


def test_only_the_newest_programs_are_kept(scratch, monkeypatch):
    monkeypatch.setattr(cpp_cells, "KEPT", 1)
    run_cpp("int main() { return 1; }")
    time.sleep(0.02)  # the clock of a file system is coarse
    run_cpp("int main() { return 2; }")
    (program,) = kept(scratch)
    assert subprocess.run([program]).returncode == 2


def test_what_a_program_writes_goes_with_it(scratch, monkeypatch):
    monkeypatch.chdir(scratch)
    program = '#include <cstdio>\nint main() { std::fclose(std::fopen("left.txt", "w")); }'
    assert str(run_cpp(program)) == "(no output)"
    assert not list(scratch.rglob("left.txt"))


def test_the_headers_of_the_library_are_at_hand(scratch):
    assert run_cpp(POINTER).printed == "2\n"


def test_a_mistake_is_shown_in_the_compilers_words_at_the_line_of_the_cell(scratch):
    with pytest.raises(CompilerRefused) as refused:
        run_cpp("#include <cstdio>\n\nint main() {\n  return nothing;\n}")
    said = str(refused.value)
    assert said.startswith("The compiler refused the cell; nothing was run.")
    assert "in line 5 of the cell:" in said  # the magic is line 1
    assert "cell.cpp:5:10: error" in said
    assert "nothing" in said
    assert str(scratch) not in said
    assert refused.value._render_traceback_() == said.splitlines()
    assert list((scratch / "tmp").iterdir()) == []


def test_a_function_that_is_nowhere_is_the_linkers_complaint(scratch):
    with pytest.raises(CompilerRefused, match="somewhere"):
        run_cpp("int somewhere();\nint main() { return somewhere(); }")


def test_the_compilers_words_are_not_longer_than_a_screen(scratch):
    with pytest.raises(CompilerRefused, match="more lines"):
        run_cpp("int main() {" + "".join(f"nothing{number}();\n" for number in range(30)) + "}")


@pytest.mark.parametrize(
    ("program", "end"),
    [
        ("#include <cstdlib>\nint main() { std::abort(); }", "the process was ended by SIGABRT"),
        ("int main() { return 3; }", "the process ended with exit code 3"),
        ("int main() { for (;;) {} }", "the program did not end in 1 s, and was ended"),
    ],
)
def test_how_a_program_ended_is_told(scratch, program, end):
    assert str(run_cpp(program, timeout=1)) == end


def child_in_cells(parent: int) -> Path | None:
    """The place in /proc of the program that the process has started from a cell; `ps` is not on every machine."""
    children = " ".join(file.read_text() for file in Path(f"/proc/{parent}/task").glob("*/children"))
    for child in children.split():
        with suppress(OSError):  # the compiler, which ran before the program, is gone by now
            if b"/cells/" in Path(f"/proc/{child}/cmdline").read_bytes():
                return Path(f"/proc/{child}")
    return None


def test_after_an_interrupt_no_process_is_left():
    program = '#include <cstdio>\nint main() { std::puts("runs"); std::fflush(stdout); for (;;) {} }'
    run = f"from course._tools.cpp_cells import run_cpp; run_cpp({program!r})"
    with subprocess.Popen([sys.executable, "-c", run], cwd=ROOT, stderr=subprocess.DEVNULL) as python:
        try:
            deadline = time.monotonic() + 60
            while (endless := child_in_cells(python.pid)) is None and time.monotonic() < deadline:
                time.sleep(0.001)
            assert endless is not None  # often seen before Popen has returned
            python.send_signal(signal.SIGINT)
            assert python.wait(timeout=30) != 0
            while endless.exists() and time.monotonic() < deadline:  # the system buries it a moment later
                time.sleep(0.05)
            assert not endless.exists()
        finally:
            python.kill()


def test_the_magic_prints_or_holds_back(scratch, capsys):
    magics.cpp("", HELLO)
    assert capsys.readouterr().out == "hello\n"
    held = magics.cpp("--hold", HELLO.replace("hello", "later"))
    assert "later" not in capsys.readouterr().out + repr(held)
    assert printed() == ["later"]


def test_without_a_cell_there_is_nothing_to_reveal(monkeypatch):
    monkeypatch.setattr(cpp_cells, "_latest", None)
    with pytest.raises(LookupError, match="run the one above first"):
        printed()


def test_the_magic_says_what_it_does_not_understand():
    with pytest.raises(UsageError, match="--holt means nothing"):
        magics.cpp("--holt", HELLO)
