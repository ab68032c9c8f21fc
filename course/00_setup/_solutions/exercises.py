"""The exercises of chapter 00, solved; `make course` makes the learner's notebook of it.

Mirrors: nothing in PyTorch: exercises.
Leaves out: what the lesson explains.
"""

# %% [markdown]
# # Exercises 00: setup
#
# Each exercise has a cell that raises until you have written it, and a check below that you run as often as you like.
# This notebook is yours: nothing overwrites it. When you are stuck, run `course("hint 00.1")` in a cell of its own, and
# `course("check 00")` to have the whole notebook, as last saved, run from top to bottom.

# %%
import os
import re
from pathlib import Path

import reftorch as torch
from course._tools import check, course, show_source
from course._tools.layout import ROOT
from reftorch.debug import call_tree

# %% [markdown] exercise="00.1" role="task" kind="read" title="the library that is loaded"
# ## 00.1 Read: the library that is loaded
#
# A debugger shows the source of the library that the process has mapped, and nothing warns you when that is another one
# than the one you built. So the first question at every stop is: which file is it? Linux tells in `/proc/self/maps`.
#
# Return the path of reftorch's library, from the root of the checkout, and whether it was compiled without
# optimization. Find both in the running program; do not type the path in, it differs between machines.


# %% exercise="00.1" role="answer"
def loaded_library() -> tuple[str, bool]:
    """The library's path from the root of the checkout, and whether `-O0` is among its flags."""
    # BEGIN SOLUTION
    path = Path(torch._C.__file__).relative_to(ROOT)
    return str(path), "-O0" in torch.__config__.show().split()
    # END SOLUTION


# %% exercise="00.1" role="check"
with check("00.1", "the library that is loaded") as c:
    path, unoptimized = loaded_library()
    maps = Path("/proc/self/maps").read_text()
    mapped = sorted(set(re.findall(rf"{re.escape(str(ROOT))}/(\S+/_C\.\S+\.so)", maps)))
    c.equal("the only library of reftorch in this process's memory map", came=[path], expected=mapped)
    flags = torch.__config__.show().split()
    c.equal("whether it was compiled with -O0", came=unoptimized, expected="-O0" in flags)

# %% [markdown] exercise="00.1" role="hint"
# A module knows the file it came from: `torch._C.__file__`. `Path.relative_to(ROOT)` cuts the checkout off.

# %% [markdown] exercise="00.1" role="hint"
# `torch.__config__.show()` is a text; the flags are words of it. `"-O0" in text.split()` does not fall for `-O01`.


# %% [markdown] exercise="00.2" role="task" kind="build" title="from a file here to its place in PyTorch"
# ## 00.2 Build: from a file here to its place in PyTorch
#
# Every source file opens with a `Mirrors:` line. The course's maps are made from these lines, and so is your shortcut
# from any file here into PyTorch's tree. Write it.
#
# The line stands within the first twelve lines of the file. In C++ it is a comment (`// Mirrors: ...`), in Python it
# is a line of the docstring. It names one path or several, with commas between; a file of our own says `nothing in
# PyTorch` and why.


# %% exercise="00.2" role="answer"
def pytorch_paths(path: str) -> list[str]:
    """The paths in PyTorch that the file at `path`, from the root of the checkout, mirrors; empty if there is none."""
    # BEGIN SOLUTION
    head = (ROOT / path).read_text().splitlines()[:12]
    for line in head:
        text = line.removeprefix("//").strip()
        if text.startswith("Mirrors:"):
            mirrored = text.removeprefix("Mirrors:").strip()
            return [] if mirrored.startswith("nothing in PyTorch") else [each.strip() for each in mirrored.split(",")]
    raise ValueError(f"{path} opens without a `Mirrors:` line")
    # END SOLUTION


# %% exercise="00.2" role="check"
from course._tools.source import mirrors_of

with check("00.2", "from a file here to its place in PyTorch") as c:
    for path, expected in [
        ("cpp/ATen/native/cpu/BinaryOpsKernel.cpp", ["aten/src/ATen/native/cpu/BinaryOpsKernel.cpp"]),
        ("cpp/c10/core/TensorImpl.h", ["c10/core/TensorImpl.h", "c10/core/impl/SizesAndStrides.h"]),
        ("reftorch/__config__.py", ["torch/__config__.py"]),
        ("reftorch/_load.py", []),
    ]:
        c.equal(f"what {path} mirrors", came=pytorch_paths(path), expected=expected)
    for file in sorted((ROOT / "cpp/c10/core").glob("*.h")):
        path = str(file.relative_to(ROOT))
        c.equal(f"what {path} mirrors, joined", came=", ".join(pytorch_paths(path)), expected=mirrors_of(path))

# %% [markdown] exercise="00.2" role="hint"
# `(ROOT / path).read_text().splitlines()[:12]` are the lines to look at. `"// x".removeprefix("//").strip()` takes a
# comment sign away and does nothing to a line without one.

# %% [markdown] exercise="00.2" role="hint"
# After `Mirrors:` come the paths: split at the commas and strip each part. Answer `[]` before that when the text starts
# with `nothing in PyTorch`.


# %% [markdown] exercise="00.3" role="task" kind="read" title="who calls the kernel"
# ## 00.3 Read: who calls the kernel
#
# `add_kernel` and `mul_kernel` stand in one file, and nothing in the whole tree calls them by name: a search for their
# callers finds nothing, in PyTorch as here. Record the call tree of a multiplication. Return the name of the C++
# function that stands nearest above `mul_kernel` among those of *another* `.cpp` file, without namespace and arguments,
# and the path of that file from the root of the checkout.


# %% exercise="00.3" role="answer"
def caller_of_mul_kernel() -> tuple[str, str]:
    """The name and the file of the function that leads to `mul_kernel`."""
    # BEGIN SOLUTION
    return "mul_out", "cpp/ATen/native/BinaryOps.cpp"
    # END SOLUTION


# %% exercise="00.3" role="check"
from course._tools.trees import callers

with check("00.3", "who calls the kernel") as c:
    function, file = caller_of_mul_kernel()
    with call_tree() as tree:
        torch.ones(2) * torch.ones(2)
    above = [(name, path) for name, path in callers(tree, "mul_kernel") if path.endswith(".cpp")]
    c.equal("the nearest function of a .cpp file above mul_kernel", came=(function, file), expected=above[-1])

# %% [markdown] exercise="00.3" role="hint"
# `with call_tree() as tree:` around the multiplication, then `tree` in a cell of its own. Every line says where it is.

# %% [markdown] exercise="00.3" role="hint"
# The kernel is called through a table of function pointers, which is why a search finds no caller. Follow the lines of
# the tree from `mul_kernel` to the left and up; the table itself, in `DispatchStub.h`, does not report.


# %% [markdown] exercise="00.4" role="task" kind="fix" title="the build that nobody asked for"
# ## 00.4 Fix: the build that nobody asked for
#
# Below is a copy of the function that chooses which build `import reftorch` loads, with one planted bug. Somebody who
# had only the Release build set `REFTORCH_BUILD=debug`, saw no error, and wondered for an hour why every local was
# `<optimized out>`. Compare it with the real one (`show_source("reftorch/_load.py", "chosen_extension")`), and write
# the mended function below. Keep its argument: it is handed the folder, so that the check can make one up.

# %% exercise="00.4" role="given"
BUILD_TYPES = ("Debug", "Release", "Sanitize", "Tsan")


def broken_chosen_build(folder: Path) -> Path:
    """The build to load: the one `REFTORCH_BUILD` names, or without it the first that exists."""
    asked = os.environ.get("REFTORCH_BUILD", "")
    if asked and asked.capitalize() not in BUILD_TYPES:
        raise ValueError(f"REFTORCH_BUILD is '{asked}'; expected one of: debug, release, sanitize, tsan")
    wanted = (asked.capitalize(), *BUILD_TYPES) if asked else BUILD_TYPES
    for build_type in wanted:
        if (folder / build_type).exists():
            return folder / build_type
    raise ImportError(f"reftorch is not built: no {folder / wanted[0]}. Run: make {wanted[0].lower()}")


# %% exercise="00.4" role="answer"
def chosen_build(folder: Path) -> Path:
    """`broken_chosen_build`, mended."""
    # BEGIN SOLUTION
    asked = os.environ.get("REFTORCH_BUILD", "")
    if asked and asked.capitalize() not in BUILD_TYPES:
        raise ValueError(f"REFTORCH_BUILD is '{asked}'; expected one of: debug, release, sanitize, tsan")
    wanted = (asked.capitalize(),) if asked else BUILD_TYPES
    for build_type in wanted:
        if (folder / build_type).exists():
            return folder / build_type
    raise ImportError(f"reftorch is not built: no {folder / wanted[0]}. Run: make {wanted[0].lower()}")
    # END SOLUTION


# %% exercise="00.4" role="check"
import tempfile
from unittest.mock import patch

with check("00.4", "the build that nobody asked for") as c, tempfile.TemporaryDirectory() as temporary:
    folder = Path(temporary)
    (folder / "Release").mkdir()
    with patch.dict(os.environ, REFTORCH_BUILD="debug"):
        c.raises("debug asked for, only Release there", ImportError, "make debug", chosen_build, folder)
    with patch.dict(os.environ, REFTORCH_BUILD="fast"):
        c.raises("a build asked for that there is not", ValueError, "fast", chosen_build, folder)
    (folder / "Debug").mkdir()
    with patch.dict(os.environ, REFTORCH_BUILD="release"):
        c.equal("release asked for, both there", came=chosen_build(folder).name, expected="Release")
    with patch.dict(os.environ):
        os.environ.pop("REFTORCH_BUILD", None)
        c.equal("nothing asked for, both there", came=chosen_build(folder).name, expected="Debug")
        (folder / "Debug").rmdir()
        c.equal("nothing asked for, only Release there", came=chosen_build(folder).name, expected="Release")

# %% [markdown] exercise="00.4" role="hint"
# Play the unlucky one: a folder with `Release` in it, and `REFTORCH_BUILD=debug`. Which names does the loop try?

# %% [markdown] exercise="00.4" role="hint"
# A fallback is right where nothing was asked for, and wrong where something was: compare the line that sets `wanted`.
