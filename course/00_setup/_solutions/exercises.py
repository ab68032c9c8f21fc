"""The exercises of chapter 00, solved; `make course` makes the learner's notebook of it.

Mirrors: nothing in PyTorch: exercises.
Leaves out: what the lesson explains.
"""

# %% [markdown]
# # Exercises 00: setup
#
# Each exercise has a cell that raises until you have written your answer, and a check below that you run as often as
# you like. Stars say how difficult an exercise is, from one to three. Stuck? Run `course("hint 00.1")` in a cell of
# its own. Done? `course("check 00")` runs the notebook, as last saved, from top to bottom. This notebook is yours:
# nothing overwrites it.

# %%
import os
from pathlib import Path

import reftorch as torch
from course._tools import check, course, show_source
from course._tools.layout import ROOT
from reftorch.debug import call_tree
from reftorch.utils.cpp_extension import load_inline

# %% [markdown] exercise="00.1" role="task" kind="read" title="the values at a stop"
# ## 00.1 Read: the values at a stop
#
# ★☆☆, 10 minutes. When a program computes something wrong, you want to see its variables in the middle of the work.
# The kernel below finds the largest number of a tensor. Its line 6, `best = from[i];`, runs several times in
# `largest(numbers)`. When the program comes to line 6 for the *third* time, and before the line runs: which values do
# `i` and `best` have?
#
# Compile the kernel as in the lesson and let gdb stop there, in cells of your own: `%load_ext reftorch.debug`, then
# `%%gdb largest.cpp:6 -n 3` above the call, which stops three times. The check stops there too, and counts how many of
# your two answers are right.

# %% exercise="00.1" role="given"
LARGEST = """\
double largest(const at::Tensor& x) {
  const float* from = x.data_ptr<float>();
  float best = from[0];
  for (int64_t i = 1; i < x.numel(); i++) {
    if (from[i] > best) {
      best = from[i];
    }
  }
  return best;
}
"""
numbers = torch.tensor([3.0, 8.0, 2.0, 9.0, 4.0, 11.0, 5.0, 12.0])


# %% exercise="00.1" role="answer"
def at_the_third_stop() -> tuple[int, float]:
    """The values of `i` and of `best`."""
    # BEGIN SOLUTION
    return 5, 9.0
    # END SOLUTION


# %% exercise="00.1" role="check"
from course._tools.stops import values_at

with check("00.1", "the values at a stop") as c:
    i, best = at_the_third_stop()
    largest = load_inline("largest", LARGEST, functions="largest").largest
    seen = values_at("largest.cpp:6", lambda: largest(numbers), number=3)
    c.answers(
        "i and best",
        came={"i": float(i), "best": float(best)},
        truth={name: float(seen[name]) for name in ("i", "best")},
        look="The third stop has a list of locals. The marked line has not run yet.",
    )

# %% [markdown] exercise="00.1" role="debrief"
# **In PyTorch** such a line may be a few instructions in a loop that the compiler has unrolled, and a stop by the
# number of a line goes to one of several places. `-O0` prevents this. You have measured the price of `-O0` in the
# lesson.

# %% [markdown] exercise="00.1" role="hint"
# `largest = load_inline("largest", LARGEST, functions="largest").largest` in a cell, then a cell that begins with
# `%%gdb largest.cpp:6 -n 3` and calls `largest(numbers)`.

# %% [markdown] exercise="00.1" role="hint"
# Each stop lists its locals. At the first stop `i` is 1 and `best` is 3: line 6 has not run yet.


# %% [markdown] exercise="00.2" role="task" kind="build" title="from a file here to its place in PyTorch"
# ## 00.2 Build: from a file here to its place in PyTorch
#
# ★☆☆, 15 minutes. The course's maps are made from the `Mirrors:` lines, and so is your shortcut from any file here into
# PyTorch's tree. Write it: a function that takes the path of a file, from the root of the checkout, and returns the
# list of the paths that the file mirrors.
#
# - The line is one of the first twelve lines in each file of this exercise.
# - In C++ the line is a comment, `// Mirrors: ...`. In Python it is a line of the docstring.
# - The line names one path, or several paths with commas between them.
# - A file that PyTorch does not have says `nothing in PyTorch` and why. Then the list is empty.


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
with check("00.2", "from a file here to its place in PyTorch") as c:
    for path, expected in [
        ("cpp/ATen/native/cpu/BinaryOpsKernel.cpp", ["aten/src/ATen/native/cpu/BinaryOpsKernel.cpp"]),
        ("cpp/c10/core/TensorImpl.h", ["c10/core/TensorImpl.h", "c10/core/impl/SizesAndStrides.h"]),
        ("cpp/c10/core/StorageImpl.h", ["c10/core/StorageImpl.h", "c10/core/Storage.h"]),
        ("reftorch/__config__.py", ["torch/__config__.py"]),
        ("reftorch/autograd/grad_mode.py", ["torch/autograd/grad_mode.py", "torch/utils/_contextlib.py"]),
        ("reftorch/_load.py", []),
        ("reftorch/debug/core/gdb_session.py", []),
    ]:
        c.equal(f"what {path} mirrors", came=pytorch_paths(c.case(path)), expected=expected)

# %% [markdown] exercise="00.2" role="debrief"
# **In PyTorch** a file of its Python half and a file of C++ that belong together are found by name only: `torch/nn` has
# no line that points to `aten/src/ATen/native`. `%torch_source NAME` of this course finds a name in both trees by these
# lines. The price is a line in every file, and a test that checks that each path exists.

# %% [markdown] exercise="00.2" role="hint"
# `(ROOT / path).read_text().splitlines()[:12]` are the lines to look at. `"// x".removeprefix("//").strip()` takes a
# comment sign away and does nothing to a line without one.

# %% [markdown] exercise="00.2" role="hint"
# After `Mirrors:` come the paths: split at the commas and strip each part. Answer `[]` before that when the text starts
# with `nothing in PyTorch`.


# %% [markdown] exercise="00.3" role="task" kind="read" title="who calls the kernel"
# ## 00.3 Read: who calls the kernel
#
# ★★☆, 15 minutes. Nothing in the whole tree calls the kernel of `torch.logcumsumexp` by its name: a search for callers
# finds nothing, in PyTorch as here. Yet something calls it. Record the call tree of `op()` and return three things:
#
# - the name of the kernel, which is the first function in `cpp/ATen/native/cpu` whose name ends in `_kernel`;
# - go from the kernel to its caller, and on to the caller's caller: the name of the first function in *another* `.cpp`
#   file;
# - the path of this other file from the root of the checkout.
#
# The names are without namespace and arguments. The check counts how many of your answers are right.

# %% exercise="00.3" role="given"
x = torch.ones(2, 3)


def op():
    return torch.logcumsumexp(x, 0)


# %% exercise="00.3" role="answer"
def kernel_and_caller() -> tuple[str, str, str]:
    """The name of the kernel, the name of the function that leads to it, and that function's file."""
    # BEGIN SOLUTION
    return "logcumsumexp_kernel", "scan", "cpp/ATen/native/CumulativeOps.cpp"
    # END SOLUTION


# %% exercise="00.3" role="check"
from course._tools.trees import is_first_kernel, leads_to_first_kernel

with check("00.3", "who calls the kernel") as c:
    kernel, function, file = kernel_and_caller()
    with call_tree() as tree:
        op()
    right = {
        "the kernel": is_first_kernel(tree, kernel),
        "the function, of this file": leads_to_first_kernel(tree, function, file),
    }
    c.answers(
        "the kernel; the function that leads to it, with its file",
        came=right,
        truth=dict.fromkeys(right, True),
        look="Every line of the call tree says in which file its function is.",
    )

# %% [markdown] exercise="00.3" role="debrief"
# **In PyTorch** the kernel is called in the same way, through `logcumsumexp_stub`: a table with a pointer to a
# function for each device (`aten/src/ATen/native/DispatchStub.h`). So one op serves many devices, and kernels for
# several kinds of processors are chosen at run time. The price is that no search for callers leads there. A call tree
# or a stack does.

# %% [markdown] exercise="00.3" role="hint"
# `with call_tree() as tree:` around the call, then `tree` in a cell of its own. Every line says where it is.

# %% [markdown] exercise="00.3" role="hint"
# The kernel is called through a table of function pointers, which is why a search finds no caller. Follow the lines of
# the tree from the kernel to the left and up; the table itself, in `DispatchStub.h`, does not report.


# %% [markdown] exercise="00.4" role="task" kind="fix" title="the build that nobody asked for"
# ## 00.4 Fix: the build that nobody asked for
#
# ★★☆, 15 minutes. Below is a copy of the function that chooses which build `import reftorch` loads, with one planted
# bug. Somebody who had only the Release build set `REFTORCH_BUILD=debug`, saw no error, and wondered for an hour why
# every local was `<optimized out>`. Write the fixed function:
#
# - the build that `REFTORCH_BUILD` names is loaded; if that build is not there, an ImportError says which `make` to
#   run;
# - without `REFTORCH_BUILD`, the first of `BUILD_TYPES` that is there is loaded;
# - a name that is not a build type raises ValueError, with the name in the message.
#
# Keep the argument of the function: the folder of the builds. The check passes a folder that it has made up.

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
    """`broken_chosen_build`, fixed."""
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
        c.raises("a build that does not exist asked for", ValueError, "fast", chosen_build, folder)
    (folder / "Debug").mkdir()
    with patch.dict(os.environ, REFTORCH_BUILD="release"):
        c.equal("release asked for, both there", came=chosen_build(folder).name, expected="Release")
    with patch.dict(os.environ):
        os.environ.pop("REFTORCH_BUILD", None)
        c.equal("nothing asked for, both there", came=chosen_build(folder).name, expected="Debug")
        (folder / "Debug").rmdir()
        c.equal("nothing asked for, only Release there", came=chosen_build(folder).name, expected="Release")

# %% [markdown] exercise="00.4" role="debrief"
# **In PyTorch** there is one `torch/_C` in an installation, so nothing chooses, and a second build needs a second
# environment. The real function here is `chosen_extension` in `reftorch/_load.py`. Its trade-off: two builds side by
# side are convenient, but a program can load the build that you did not mean.

# %% [markdown] exercise="00.4" role="hint"
# Repeat what the report says: a folder with `Release` in it, and `REFTORCH_BUILD=debug`. Which names does the loop try?

# %% [markdown] exercise="00.4" role="hint"
# A fallback is right if nobody asked for a build, and wrong if somebody did. Look at the line that sets `wanted`.


# %% [markdown] exercise="00.5" role="task" kind="build" title="a kernel in C++"
# ## 00.5 Build: a kernel in C++
#
# ★★☆, 15 minutes. Nobody learns C++ in a chapter, but you can change a kernel that you have read. Take the `halve` of
# the lesson and write `cap`, which limits numbers from above:
#
# - `cap(x, limit)` returns a new tensor of the sizes of `x`; `x` stays as it was;
# - a number greater than `limit` becomes `limit`, every other number stays;
# - `nan` stays `nan`: it is not greater than anything;
# - `x` is a float32 tensor whose numbers lie one after the other, with any number of dimensions; it may be empty.
#
# `CAP` is the text of the function `at::Tensor cap(const at::Tensor& x, double limit)`. An `if` of C++ has its
# condition in parentheses: `if (a > b) { ... }`.

# %% exercise="00.5" role="answer"
CAP = """
at::Tensor cap(const at::Tensor& x, double limit) {
  // BEGIN SOLUTION
  at::Tensor result = at::zeros(x.sizes());
  const float* from = x.data_ptr<float>();
  float* to = result.data_ptr<float>();
  for (int64_t i = 0; i < x.numel(); i++) {
    to[i] = from[i];
    if (from[i] > limit) {
      to[i] = limit;
    }
  }
  return result;
  // END SOLUTION
}
"""

# %% exercise="00.5" role="check"
with check("00.5", "a kernel in C++") as c:
    cap = load_inline("cap", CAP, functions="cap").cap
    x = torch.tensor([1.0, 5.0, -7.0, 2.5])
    c.close(c.case("four numbers and the limit 2"), came=cap(x, 2.0), expected=torch.tensor([1.0, 2.0, -7.0, 2.0]))
    c.equal("x afterwards", came=x.tolist(), expected=[1.0, 5.0, -7.0, 2.5])
    matrix = torch.arange(6.0).reshape(2, 3)
    limited = torch.tensor([[0.0, 1.0, 2.0], [3.0, 3.5, 3.5]])
    c.close(c.case("two dimensions"), came=cap(matrix, 3.5), expected=limited)
    c.close(c.case("a negative limit"), came=cap(x, -1.0), expected=torch.tensor([-1.0, -1.0, -7.0, -1.0]))
    nan = torch.tensor([float("nan"), 9.0])
    c.close(c.case("nan"), came=cap(nan, 2.0), expected=torch.tensor([float("nan"), 2.0]))
    c.equal("the sizes for an empty tensor", came=tuple(cap(torch.zeros(0, 3), 1.0).shape), expected=(0, 3))

# %% [markdown] exercise="00.5" role="debrief"
# **In PyTorch** this is `torch.clamp_max`, and its kernel too is one comparison (`clamp_max_scalar_kernel_impl` in
# `aten/src/ATen/native/cpu/TensorCompareKernel.cpp`). What your kernel leaves to the caller is what most of the library
# is about: other dtypes, strides, devices, gradients. Chapters 02 to 06 add them.

# %% [markdown] exercise="00.5" role="hint"
# Five of the lines of `halve` stay as they are. Copy the number first, then test whether the number is too large.

# %% [markdown] exercise="00.5" role="hint"
# `to[i] = from[i];` and below it `if (from[i] > limit) { to[i] = limit; }`. Every statement ends with a semicolon.


# %% [markdown] exercise="00.6" role="task" kind="fix" title="shares that are infinite"
# ## 00.6 Fix: shares that are infinite
#
# ★★☆, 15 minutes. `shares(x)` divides every number by the sum of all: each result says which part of the whole a
# number is. It was tested with `[1, 2, 5]` and was right. With `[0.25, 0.25, 0.5]` every share is `inf`, and with
# `[1.5, 1.5]` every share is 0.75. There is one planted bug. Find the bug, with a stop in the loop if you like, and
# write the fixed text:
#
# - the shares are right to six digits, for these numbers and for all others whose sum is not zero;
# - the function keeps its name and its argument.

# %% exercise="00.6" role="given"
BROKEN_SHARES = """\
at::Tensor shares(const at::Tensor& x) {
  at::Tensor result = at::zeros(x.sizes());
  const float* from = x.data_ptr<float>();
  float* to = result.data_ptr<float>();
  int64_t total = 0;
  for (int64_t i = 0; i < x.numel(); i++) {
    total += from[i];
  }
  for (int64_t i = 0; i < x.numel(); i++) {
    to[i] = from[i] / total;
  }
  return result;
}
"""


# %% exercise="00.6" role="answer"
def fixed_shares() -> str:
    """`BROKEN_SHARES`, fixed."""
    # BEGIN SOLUTION
    return BROKEN_SHARES.replace("int64_t total", "double total")
    # END SOLUTION


# %% exercise="00.6" role="check"
with check("00.6", "shares that are infinite") as c:
    shares = load_inline("shares", fixed_shares(), functions="shares").shares
    for numbers in ([1.0, 2.0, 5.0], [0.25, 0.25, 0.5], [1.5, 1.5], [-1.5, 2.0], [0.5, 3.0, 0.25, 0.25], [7.0]):
        expected = torch.tensor([each / sum(numbers) for each in numbers])
        c.close(c.case(f"the shares of {numbers}"), came=shares(torch.tensor(numbers)), expected=expected)

# %% [markdown] exercise="00.6" role="debrief"
# **In PyTorch** a kernel names the type of its sums: `acc_type<scalar_t, is_cuda>` is a type that is at least as wide
# as that of the elements, and a wider one costs time on a GPU. A variable of C++ keeps the type that it was declared
# with. If a value does not fit into this type, C++ cuts off a part of the value and does not warn. Python's `total =
# 0` would have become a float.

# %% [markdown] exercise="00.6" role="hint"
# Stop at the line `total += from[i];` with `-n 3` and compare `total` with what you would have added up.

# %% [markdown] exercise="00.6" role="hint"
# In C++ a variable keeps its type. Which numbers can an `int64_t` hold?
