"""The walk-through of CONTRIBUTING.md, done to the letter: its lines are put where it says, and the op works.

Mirrors: nothing in PyTorch: its guide to adding an op is not run.

The files it edits are copied, edited and compiled with the commands of the Debug build; all other objects are those of
that build.
"""

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
BUILD = ROOT / "build" / "Debug"
STEP = re.compile(
    r"In\s`(?P<file>[^`]+)`, (?P<where>after|before)\s`(?P<anchor>[^`]+)`:\n\n```\w+\n(?P<text>.*?)```", re.DOTALL
)
PROGRAM = """
import math
import sys
# The editable install would find the checkout's package first.
sys.meta_path = [finder for finder in sys.meta_path if "ScikitBuild" not in type(finder).__name__]
import reftorch as torch
assert torch._C.__file__.startswith({folder!r})
x = torch.tensor([1e-9, 0.5, -1.0, 0.0], dtype=torch.float64, requires_grad=True)
y = torch.expm1(x)
assert y.tolist() == [math.expm1(v) for v in x.tolist()], y
y.sum().backward()
assert torch.allclose(x.grad, x.detach().exp()), x.grad
assert torch.autograd.gradcheck(torch.expm1, (x,)) and torch.autograd.gradgradcheck(torch.expm1, (x,))
out = torch.empty(4, dtype=torch.float64)
assert torch.expm1(x.detach(), out=out) is out and torch.equal(out, y.detach())
z = x.detach().clone()
assert z.expm1_() is z and torch.equal(z, out)
assert torch.tensor([1]).expm1().dtype is torch.float32
assert type(y.grad_fn).__name__ == "Expm1Backward0", y.grad_fn
"""


def run(command: str | list[str], **options: Any) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False, **options)
    assert done.returncode == 0, done.stdout + done.stderr


def ninja_command(target: str) -> str:
    """The command by which the Debug build makes ``target``."""
    tool = Path(sys.executable).with_name("ninja")
    listing = subprocess.run([tool, "-C", BUILD, "-t", "commands", target], capture_output=True, text=True, check=True)
    return listing.stdout.splitlines()[-1]


def edit(tree: Path, steps: list[re.Match[str]]) -> list[str]:
    """Follow the steps in a copy; return the C++ sources that changed."""
    for step in steps:
        path = tree / step["file"]
        text, anchor = path.read_text(), step["anchor"] + "\n"
        assert text.count(anchor) == 1, f"{step['file']} has not exactly one line {step['anchor']!r}"
        added = anchor + step["text"] if step["where"] == "after" else step["text"] + anchor
        path.write_text(text.replace(anchor, added))
    return sorted({step["file"] for step in steps if step["file"].endswith(".cpp")})


def compile_copy(tree: Path, source: str) -> tuple[str, str]:
    """Compile one file of the copy as the Debug build compiles it; return that build's object and the new one."""
    entries = json.loads((BUILD / "compile_commands.json").read_text())
    command = next(entry["command"] for entry in entries if entry["file"] == str(ROOT / source))
    words = shlex.split(command.replace(str(ROOT / "cpp"), str(tree / "cpp")))
    if "-include" in words:  # the precompiled header holds the headers as they were
        at = words.index("-include")
        del words[at : at + 2]
    at = words.index("-o") + 1
    original, words[at] = words[at], str(tree / Path(source).name) + ".o"
    run(words, cwd=BUILD)
    return original, words[at]


def test_the_walk_through_adds_an_op(tmp_path: Path) -> None:
    steps = list(STEP.finditer((ROOT / "CONTRIBUTING.md").read_text()))
    assert len(steps) == 6, [step["file"] for step in steps]
    shutil.copytree(ROOT / "cpp", tmp_path / "cpp")
    shutil.copytree(ROOT / "reftorch", tmp_path / "reftorch", ignore=shutil.ignore_patterns("lib", "__pycache__"))

    from reftorch import _load

    built = _load.extension_path("Debug")
    library = tmp_path / "reftorch" / "lib" / "Debug" / built.name
    library.parent.mkdir(parents=True)
    link = ninja_command("_C").replace(str(built), str(library)).removeprefix(": && ").removesuffix(" && :")
    for source in edit(tmp_path, steps):
        link = link.replace(*compile_copy(tmp_path, source))
    run(link, shell=True, cwd=BUILD)

    environment = {**os.environ, "PYTHONPATH": str(tmp_path), "REFTORCH_BUILD": "debug"}
    run([sys.executable, "-c", PROGRAM.format(folder=str(tmp_path))], cwd=tmp_path, env=environment)
