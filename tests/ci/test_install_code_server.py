"""The installation of code-server says what it misses, before it does anything.

Mirrors: nothing in PyTorch: it tests no editor.
Left out: an installation, which takes minutes and npm; `make test-vscode` is one.
"""

import shutil
import subprocess
from pathlib import Path

import pytest

SCRIPT = Path(__file__).resolve().parents[2] / ".ci" / "install_code_server.sh"
TOOLS = ("node", "npm", "c++", "make", "rg", "chromium")


def install(tools: Path, place: Path) -> subprocess.CompletedProcess[str]:
    """With these tools alone on PATH."""
    bash = shutil.which("bash")
    assert bash is not None
    command = [bash, str(SCRIPT), str(place)]
    return subprocess.run(command, env={"PATH": str(tools)}, capture_output=True, text=True, check=False)


def write_tool(folder: Path, name: str, says: str = "") -> None:
    folder.mkdir(exist_ok=True)
    tool = folder / name
    tool.write_text(f"#!/bin/sh\necho {says}\n")
    tool.chmod(0o755)


@pytest.mark.parametrize("missing", TOOLS)
def test_a_missing_tool_is_named(tmp_path: Path, missing: str) -> None:
    for tool in TOOLS:
        if tool != missing:
            write_tool(tmp_path / "bin", tool, "20")
    done = install(tmp_path / "bin", tmp_path / "place")
    assert done.returncode == 2
    assert f"no VS Code to test: {missing} is not on PATH" in done.stderr
    assert "apt install" in done.stderr
    assert not (tmp_path / "place").exists()


def test_another_node_is_refused(tmp_path: Path) -> None:
    for tool in TOOLS:
        write_tool(tmp_path / "bin", tool, "24")
    done = install(tmp_path / "bin", tmp_path / "place")
    assert done.returncode == 2
    assert "needs node 20" in done.stderr
    assert not (tmp_path / "place").exists()
