"""The walk-through of CONTRIBUTING.md, done to the letter: its lines stand where it says; without them there is no such
op, and put back they give the checkout's own files, which have it.

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
WITHOUT = """
import sys
# The editable install would find the checkout's package first.
sys.meta_path = [finder for finder in sys.meta_path if "ScikitBuild" not in type(finder).__name__]
import reftorch as torch
assert torch._C.__file__.startswith(sys.argv[1])
assert not hasattr(torch, "expm1") and not hasattr(torch.Tensor, "expm1") and not hasattr(torch.Tensor, "expm1_")
x = torch.ones(2, requires_grad=True)
x.exp().sum().backward()
assert torch.allclose(x.grad, x.exp())
"""
WITH = """
import math
import reftorch as torch
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


def quotation(step: re.Match[str]) -> tuple[str, str]:
    """The anchor's line alone, and with the quoted lines beside it."""
    anchor = step["anchor"] + "\n"
    return anchor, anchor + step["text"] if step["where"] == "after" else step["text"] + anchor


def replace_once(path: Path, old: str, new: str) -> None:
    text = path.read_text()
    assert text.count("\n" + old) == 1, f"{path.name} has not exactly one place that reads:\n{old}"
    path.write_text(text.replace("\n" + old, "\n" + new))


def compiles(unit: Path, source: Path) -> bool:
    """Whether the compiler's run on ``unit`` compiles ``source``, alone or together with others."""
    return unit == source or (unit.parent.name == "Unity" and f'"{source}"' in unit.read_text())


def compile_copy(tree: Path, source: str) -> tuple[str, str]:
    """Compile one file of the copy as the Debug build compiles it; return that build's object and the new one."""
    entries = json.loads((BUILD / "compile_commands.json").read_text())
    entry = next(entry for entry in entries if compiles(Path(entry["file"]), ROOT / source))
    words = shlex.split(entry["command"].replace(str(ROOT / "cpp"), str(tree / "cpp")))
    if entry["file"] != str(ROOT / source):
        together = tree / Path(entry["file"]).name
        together.write_text(Path(entry["file"]).read_text().replace(str(ROOT / "cpp"), str(tree / "cpp")))
        words[words.index("-c") + 1] = str(together)
    if "-include" in words:  # the precompiled header holds the headers as they were
        at = words.index("-include")
        del words[at : at + 2]
    words.append("-g0")  # the copy is run and not stepped through; the compiler needs half the time
    at = words.index("-o") + 1
    original, words[at] = words[at], str(tree / Path(source).name) + ".o"
    run(words, cwd=BUILD)
    return original, words[at]


def build(tree: Path, sources: list[str]) -> None:
    """The copy's extension: these sources compiled anew, all else as the Debug build has it."""
    from reftorch import _load

    built = _load.extension_path("Debug")
    library = tree / "reftorch" / "lib" / "Debug" / built.name
    library.parent.mkdir(parents=True, exist_ok=True)
    # `: && c++ ... && cd FOLDER && objcopy ...`: the last part is for gdb, and nobody steps through the copy.
    link = ninja_command("_C").replace(str(built), str(library)).split(" && ")[1] + " -Wl,--strip-debug"
    for source in sources:
        link = link.replace(*compile_copy(tree, source))
    run(link, shell=True, cwd=BUILD)


def test_the_words_stand_where_the_walk_through_says() -> None:
    quoted = re.findall(r"`(\S+)` has\n\n```python\n(.*?)```", (ROOT / "CONTRIBUTING.md").read_text(), re.DOTALL)
    assert [file for file, _ in quoted] == ["reftorch/_torch_docs/unary_ops.py"]
    assert quoted[0][1] in (ROOT / quoted[0][0]).read_text()


def test_the_walk_through_adds_an_op(tmp_path: Path) -> None:
    steps = list(STEP.finditer((ROOT / "CONTRIBUTING.md").read_text()))
    assert len(steps) == 7, [step["file"] for step in steps]
    sources = sorted({step["file"] for step in steps if step["file"].endswith((".cpp", ".cu"))})
    shutil.copytree(ROOT / "cpp", tmp_path / "cpp")
    shutil.copytree(ROOT / "reftorch", tmp_path / "reftorch", ignore=shutil.ignore_patterns("lib", "__pycache__"))
    environment = {**os.environ, "REFTORCH_BUILD": "debug"}

    for step in steps:
        anchor, quoted = quotation(step)
        replace_once(tmp_path / step["file"], quoted, anchor)
    build(tmp_path, sources)
    in_copy = {**environment, "PYTHONPATH": str(tmp_path)}
    run([sys.executable, "-c", WITHOUT, str(tmp_path)], cwd=tmp_path, env=in_copy)

    for step in steps:
        anchor, quoted = quotation(step)
        replace_once(tmp_path / step["file"], anchor, quoted)
    for step in steps:
        assert (tmp_path / step["file"]).read_text() == (ROOT / step["file"]).read_text()
    run([sys.executable, "-c", WITH], cwd=ROOT, env=environment)
