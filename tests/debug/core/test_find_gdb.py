"""Which gdb is taken, and what is said where none will do.

Mirrors: nothing in PyTorch: tests of tools that it does not have.
Left out: gdb itself.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from reftorch.debug.core import find_gdb as finder
from reftorch.debug.core.find_gdb import Gdb, GdbNotFound, find_gdb, gdb_environment, probe


@pytest.fixture(autouse=True)
def _forget() -> Iterator[None]:
    probe.cache_clear()
    yield
    probe.cache_clear()


def fake_gdb(folder: Path, version: str, python: bool = True, complains: str = "") -> str:
    says = f"GNU gdb (Test) {version}\n" + ("python 3\n" if python else "")
    path = folder / f"gdb-{version}"
    path.write_text(f"#!/bin/sh\nprintf '{says}'\ncat >&2 <<END\n{complains}\nEND\n")
    path.chmod(0o755)
    return str(path)


def only(monkeypatch: pytest.MonkeyPatch, *paths: str) -> None:
    monkeypatch.delenv("REFTORCH_GDB", raising=False)
    monkeypatch.setattr(finder, "candidates", lambda: list(paths))


def test_the_environment_has_a_gdb_that_will_do() -> None:
    assert find_gdb().version >= finder.MINIMUM
    assert find_gdb(dap=True).speaks_dap


def test_too_old_is_passed_over(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    new = fake_gdb(tmp_path, "15.2")
    only(monkeypatch, fake_gdb(tmp_path, "9.1"), new)
    assert find_gdb() == Gdb(new, (15, 2))


def test_dap_needs_a_newer_one(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    old = fake_gdb(tmp_path, "13.1")
    only(monkeypatch, old)
    assert find_gdb().path == old
    with pytest.raises(GdbNotFound, match=r"gdb-13.1 is version 13.1, which has no -i=dap"):
        find_gdb(dap=True)


def test_one_that_cannot_write_the_registers_is_passed_over(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """As Debian 12's gdb on a processor with AMX, where its first call into a process would end the process."""
    old = fake_gdb(tmp_path, "13.1", complains="Couldn't write extended state status: Bad address.")
    new = fake_gdb(tmp_path, "18.1", complains="ptrace: Operation not permitted.")
    only(monkeypatch, old, new)
    assert find_gdb() == Gdb(new, (18, 1))
    assert probe(old) == "is version 13.1, which cannot write the registers of this processor"


def test_the_registers_of_a_process_are_written() -> None:
    """The commands of the probe are understood by the gdb that is chosen."""
    commands = [word for line in finder.PROBE for word in ("-ex", line)]
    command = [find_gdb().path, "-nx", "-batch", *commands, "-ex", "print $ymm0.v8_int32[0]", sys.executable]
    done = subprocess.run(command, capture_output=True, text=True, env=gdb_environment(), check=False)
    assert "$1 = 1" in done.stdout or " avx " not in Path("/proc/cpuinfo").read_text(), done.stdout + done.stderr


def test_init_warns_of_a_gdb_that_cannot_write_the_registers() -> None:
    init = Path(finder.__file__).parents[1] / "gdb" / "init.py"
    for path in finder.candidates():
        command = [path, "-nx", "-q", "-batch", "-x", str(init)]
        done = subprocess.run(command, capture_output=True, text=True, env=gdb_environment(), check=False)
        warns = "cannot write the registers of this processor" in done.stdout
        assert warns == ("cannot write the registers" in str(probe(path))), path


def test_without_python_inside_it_will_not_do(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    only(monkeypatch, fake_gdb(tmp_path, "14.2", python=False))
    with pytest.raises(GdbNotFound, match="was built without Python"):
        find_gdb()


def test_none_at_all_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    only(monkeypatch)
    with pytest.raises(GdbNotFound, match=r"none is on the PATH\.\nFix: `make lab` installs one"):
        find_gdb()


def test_the_one_that_is_asked_for_must_start(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REFTORCH_GDB", "/no/such/gdb")
    with pytest.raises(GdbNotFound, match="/no/such/gdb does not start"):
        find_gdb()


def test_pythons_variables_do_not_reach_the_python_inside_gdb(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", "/somewhere")
    monkeypatch.setenv("REFTORCH_BUILD", "debug")
    assert "PYTHONPATH" not in gdb_environment()
    assert gdb_environment()["REFTORCH_BUILD"] == "debug"


@pytest.mark.parametrize(
    ("variables", "expected"),
    [
        ({"LC_ALL": "C", "LANG": "de_DE.UTF-8"}, "C.UTF-8"),
        ({"LC_ALL": "", "LANG": "de_DE"}, "C.UTF-8"),
        ({}, "C.UTF-8"),
        ({"LC_ALL": "zh_CN.utf8"}, "zh_CN.utf8"),
        ({"LC_CTYPE": "C.UTF-8"}, None),
    ],
)
def test_gdb_gets_a_locale_in_which_every_path_can_be_written(
    variables: dict[str, str], expected: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("LC_ALL", "LC_CTYPE", "LANG"):
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert gdb_environment().get("LC_ALL") == expected
