"""The README of the debugging tools names every public tool, every command of gdb and every configuration of VS Code.

Mirrors: nothing in PyTorch: it has no such tools.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import reftorch.debug
from tests.debug.launch import CONFIGURATIONS

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "reftorch" / "debug" / "README.md").read_text()


# The room of each audience, by the heading under which its tools are listed.
ROOMS = {
    "For a learner in a notebook": "notebook",
    "For a user with a model": "model",
    "For a reader of the core": "core",
    "For a writer of CUDA kernels": "kernels",
}


def tools_under(heading: str) -> set[str]:
    section = README.split(f"### {heading}\n")[1].split("\n#")[0]
    rows = [row for row in section.splitlines() if row.startswith("| `")]
    return {name for row in rows for name in re.findall(r"`(\w+)", row) if name in reftorch.debug.__all__}


@pytest.mark.parametrize(("heading", "room"), ROOMS.items())
def test_every_public_tool_is_listed_for_its_audience(heading: str, room: str) -> None:
    home = {name: getattr(reftorch.debug, name).__module__ for name in reftorch.debug.__all__}
    home["load_ipython_extension"] = "reftorch.debug.notebook.magics"  # which the package imports at the first use
    assert tools_under(heading) == {name for name, module in home.items() if module.split(".")[2] == room}


def test_every_magic_is_named() -> None:
    magics = (ROOT / "reftorch" / "debug" / "notebook" / "magics.py").read_text()
    names = re.findall(r"@(?:cell|line)_magic.*\n    def (\w+)", magics)
    assert len(names) == 7
    missing = [name for name in names if not re.search(rf"`%{{1,2}}{name}\b", README)]
    assert not missing, f"reftorch/debug/README.md does not name {missing}"


def test_every_command_of_gdb_is_named() -> None:
    sources = (ROOT / "reftorch" / "debug" / "gdb" / "reftorch_gdb").glob("*.py")
    commands = {name for path in sources for name in re.findall(r'@command\("(rt-\w+)"', path.read_text())}
    internal = {"rt-holds"}  # called by the breakpoints of rt-op
    assert len(commands) > 5
    missing = sorted(name for name in commands - internal if f"`{name}" not in README)
    assert not missing, f"reftorch/debug/README.md does not name {missing}"


def test_every_configuration_of_vs_code_is_named() -> None:
    text = " ".join(README.split())
    missing = [name for name in CONFIGURATIONS if f"**{name}**" not in text]
    assert not missing, f"reftorch/debug/README.md does not name {missing}"
