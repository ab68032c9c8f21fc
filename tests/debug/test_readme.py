"""The README of the debugging tools names every public tool, every command of gdb and every configuration of VS Code.

Mirrors: nothing in PyTorch: it has no such tools.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

import reftorch.debug

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "reftorch" / "debug" / "README.md").read_text()


def test_every_public_tool_is_named() -> None:
    missing = [name for name in reftorch.debug.__all__ if not re.search(rf"`[^`]*\b{name}\b[^`]*`", README)]
    assert not missing, f"reftorch/debug/README.md does not name {missing}"


def test_every_magic_is_named() -> None:
    magics = (ROOT / "reftorch" / "debug" / "magics.py").read_text()
    names = re.findall(r"@(?:cell|line)_magic.*\n    def (\w+)", magics)
    assert len(names) == 5
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
    launch = json.loads((ROOT / ".vscode" / "launch.json").read_text())
    names = [configuration["name"] for configuration in launch["configurations"]]
    text = " ".join(README.split())
    missing = [name for name in names if f"**{name}**" not in text]
    assert not missing, f"reftorch/debug/README.md does not name {missing}"
