"""Completion says what a name is and how an op is called, as the kernels of `make lab` are set up.

Mirrors: nothing in PyTorch: PyTorch ships no course.
"""

from __future__ import annotations

import json
import subprocess
import sys

from course._tools.layout import COURSE, ROOT

# Runs in a process of its own, because a shell is one for the whole process.
PROGRAM = """
import json, sys, warnings
from IPython.core.completer import provisionalcompleter
from IPython.core.interactiveshell import InteractiveShell
from traitlets.config import PyFileConfigLoader

config = PyFileConfigLoader("ipython_config.py", sys.argv[1]).load_config()
shell = InteractiveShell.instance(config=config)
shell.run_cell("import reftorch as torch; x = torch.zeros(2)")
shell.extension_manager.load_extension("course._tools")
with provisionalcompleter():
    found = {code: {c.text: (c.type, c.signature) for c in shell.Completer.completions(code, len(code))}
             for code in ("torch.", "x.")}
print(json.dumps(found))
"""


def test_ops_are_shown_with_their_kinds_and_signatures():
    command = [sys.executable, "-c", PROGRAM, str(COURSE / "_tools")]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    found = json.loads(done.stdout.splitlines()[-1])
    assert found["torch."]["add"] == ["function", "(input, other, *, alpha=1, out=None) -> Tensor"]
    assert found["torch."]["conv2d"][0] == "function"
    assert found["torch."]["Tensor"][0] == "class"
    assert found["torch."]["nn"][0] == "module"
    assert found["x."]["add"] == ["function", "(other, *, alpha=1, out=None) -> Tensor"]
    assert "<unknown>" not in {kind for names in found.values() for kind, _ in names.values()}
