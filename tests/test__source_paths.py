"""Where the sources are, for the three kinds of folders, and that gdb finds the source of a library with mapped paths.

Mirrors: nothing in PyTorch: its wheel has no sources.
"""

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from reftorch import _source_paths
from reftorch._source_paths import PREFIX, built_at, here, is_checkout, is_learners_copy, source_root
from reftorch.debug.core.find_gdb import find_gdb, gdb_environment
from reftorch.debug.core.symbols import Symbol, SymbolTable, symbol
from reftorch.debug.notebook import noise

ROOT = Path(__file__).resolve().parents[1]
ONE = "int twice(int x) {\n  return 2 * x;  // the line to find\n}\n"


def folders(root: Path, kind: str) -> Path:
    """Make the folders of one kind of reftorch; return the package."""
    package = root / "reftorch"
    package.mkdir(parents=True)
    sources = package / "cpp" if kind == "installed" else root / "cpp"
    sources.mkdir()
    if kind == "checkout":
        (sources / "CMakeLists.txt").touch()
    return package


@pytest.mark.parametrize(
    ("kind", "expected"),
    [("checkout", (True, False)), ("installed", (False, False)), ("copy", (False, True))],
)
def test_the_kind_of_a_folder_is_known(tmp_path: Path, kind: str, expected: tuple[bool, bool]) -> None:
    package = folders(tmp_path, kind)
    assert (is_checkout(package), is_learners_copy(package)) == expected
    assert (source_root(package) / "cpp").is_dir()
    led = here(f"{PREFIX}/cpp/c10/core/Device.h", package)
    assert led == (
        f"{PREFIX}/cpp/c10/core/Device.h" if kind == "checkout" else f"{source_root(package)}/cpp/c10/core/Device.h"
    )


def test_a_checkout_that_was_moved_knows_where_it_was_built(tmp_path: Path) -> None:
    package = folders(tmp_path / "new", "checkout")
    assert built_at(package) == ()
    for build, home in (("Debug", "/old place/reftorch"), ("Release", tmp_path / "new")):
        cache = tmp_path / "new" / "build" / build / "CMakeCache.txt"
        cache.parent.mkdir(parents=True)
        cache.write_text(f"A:BOOL=ON\nCMAKE_HOME_DIRECTORY:INTERNAL={home}/cpp\n")
    built_at.cache_clear()
    assert built_at(package) == ("/old place/reftorch",)
    for inside in ("cpp/c10/core/Device.h", "build/Debug/generated/ATen/Functions.cpp"):
        assert here(f"/old place/reftorch/{inside}", package) == str(tmp_path / "new" / inside)
        assert here(str(tmp_path / "new" / inside), package) == str(tmp_path / "new" / inside)
    assert here("/old place/reftorch-2/cpp/a.h", package) == "/old place/reftorch-2/cpp/a.h"


def test_this_is_a_checkout() -> None:
    assert is_checkout()
    assert source_root() == ROOT


def test_the_build_names_the_same_prefix() -> None:
    text = (ROOT / "cpp" / "CMakeLists.txt").read_text()
    assert f'"-ffile-prefix-map=${{REFTORCH_ROOT}}={PREFIX}"' in text


@pytest.fixture(params=["installed", "checkout"])
def elsewhere(tmp_path: Path, request: pytest.FixtureRequest) -> tuple[Path, Path]:
    """A package with our gdb scripts and one source, and a program that was built elsewhere.

    The program names its source as a wheel's library does, or as the library of a checkout that was moved does.
    """
    package = folders(tmp_path / "a place" / "\N{CJK UNIFIED IDEOGRAPH-4E2D}", request.param)
    root = source_root(package)
    shutil.copytree(ROOT / "reftorch" / "debug" / "gdb", package / "debug" / "gdb")
    shutil.copy(_source_paths.__file__, package)
    built = tmp_path / "built" / "cpp"
    built.mkdir(parents=True)
    for folder in (built, root / "cpp"):
        (folder / "one.cpp").write_text(ONE + "int main() { return twice(0); }\n")
    program = tmp_path / "program"
    compiler = os.environ.get("CXX", "c++").split()
    flags = ["-g", "-O0", "-Wl,--compress-debug-sections=zlib"]
    if request.param == "installed":
        flags.append(f"-ffile-prefix-map={tmp_path / 'built'}={PREFIX}")
    else:
        (root / "build" / "Debug").mkdir(parents=True)
        (root / "build" / "Debug" / "CMakeCache.txt").write_text(f"CMAKE_HOME_DIRECTORY:INTERNAL={built}\n")
    subprocess.run([*compiler, *flags, built / "one.cpp", "-o", program], check=True)
    shutil.rmtree(tmp_path / "built")
    return package, program


@pytest.mark.parametrize("locale", ["C.UTF-8", "C"])
def test_gdb_shows_a_source_that_was_built_elsewhere(
    elsewhere: tuple[Path, Path], locale: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    package, program = elsewhere
    monkeypatch.setenv("LC_ALL", locale)
    script = package / "debug" / "gdb" / "init.py"
    line = f"break {source_root(package)}/cpp/one.cpp:2"  # as an editor asks for a breakpoint
    command = [find_gdb().path, "-nx", "-q", "-batch", "-x", script, "-ex", "list twice", "-ex", line, program]
    said = subprocess.run(command, capture_output=True, text=True, env=gdb_environment()).stdout
    assert "the line to find" in said
    assert re.search(r"Breakpoint 1 at 0x\w+: file .*/cpp/one\.cpp, line 2", said), said


def test_gdb_answers_as_addr2line_does(elsewhere: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    package, program = elsewhere
    symbols = subprocess.run(["nm", program], capture_output=True, text=True, check=True).stdout
    offsets = {int(line.split()[0], 16) for line in symbols.splitlines() if re.search(r" T (main|_Z5twicei)$", line)}
    assert len(offsets) == 2
    expected = SymbolTable(str(program)).look_up(offsets)
    assert {here(symbol.file, package) for symbol in expected.values()} == {f"{source_root(package)}/cpp/one.cpp"}
    program.with_suffix(".symbols.json").unlink()
    monkeypatch.setattr(shutil, "which", lambda name, **_: None if name == "addr2line" else f"/usr/bin/{name}")
    assert SymbolTable(str(program)).look_up(offsets) == expected


def test_the_name_of_a_file_without_a_line_is_no_place() -> None:
    assert symbol("mul_out(int)", "BinaryOps.cpp:?") == Symbol(
        "mul_out", "", 0
    )  # addr2line's answer for a Release build


def test_call_trees_show_an_installed_reftorch(monkeypatch: pytest.MonkeyPatch) -> None:
    packages = "/env/lib/python3.11/site-packages"
    monkeypatch.setattr(noise, "root", lambda: packages)
    monkeypatch.setattr(noise, "LIBRARY_FOLDERS", ("/env/lib/python3.11",))
    is_foreign = noise.is_foreign_place.__wrapped__
    assert not is_foreign(f"{packages}/reftorch/cpp/ATen/native/Fill.cpp", "fill_impl")
    assert not is_foreign(f"{packages}/reftorch/nn/functional.py", "linear")
    assert is_foreign(f"{packages}/numpy/ma/core.py", "linear")
