"""The build trees that ``make`` configures go on working when the machine changes under them.

Mirrors: nothing in PyTorch: its build is configured anew by hand.
"""

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def test_a_build_tree_survives_the_removal_of_ccache(tmp_path: Path) -> None:
    tools = Path(sys.executable).parent
    ccache = tmp_path / "bin" / "ccache"
    ccache.parent.mkdir()
    ccache.write_text('#!/bin/sh\nexec "$@"\n')
    ccache.chmod(0o755)
    tree = tmp_path / "build"
    environment = os.environ | {"PATH": f"{ccache.parent}:{os.environ['PATH']}"}
    configure = [tools / "cmake", "-S", ROOT / "cpp", "-B", tree, "-G", "Ninja", f"-DCMAKE_MAKE_PROGRAM={tools}/ninja"]
    options = [f"-DPython_EXECUTABLE={sys.executable}", f"-DREFTORCH_LIBRARY_DIR={tmp_path}"]
    subprocess.run([*configure, *options], env=environment, check=True, capture_output=True)
    assert str(ccache) in (tree / "build.ninja").read_text()
    ccache.unlink()
    done = subprocess.run([tools / "ninja", "-C", tree, "build.ninja"], text=True, capture_output=True)
    assert done.returncode == 0, done.stdout + done.stderr
    assert str(ccache) not in (tree / "build.ninja").read_text()
