"""The exercises of chapter 04, solved; `make course` makes the learner's notebook of it.

Mirrors: nothing in PyTorch: exercises.
Leaves out: what the lesson explains.

The file is some 610 lines long, because all exercises of a chapter are in one file.
"""

# %% [markdown]
# # Exercises 04: debugging
#
# Each exercise has a cell that raises until you have written it, and a check below that you run as often as you like.
# The check says what it tests, and when it passes, how PyTorch does the same. Stars say how difficult an exercise is,
# from one to three. Stuck? `course("hint 04.1")` in a cell of its own. Done? `course("check 04")` runs the notebook, as
# last saved, from top to bottom. The check of 04.5 attaches gdb to this notebook, and the check of 04.6 compiles: each
# takes some seconds.

# %%
import json
import re
import subprocess
import sys
from pathlib import Path

import reftorch as torch
from course._tools import check, course, rebuild, show_source, stops_in_torch, trace, write_for_torch
from course._tools.layout import ROOT
from course._tools.rebuilds import unpacked
from reftorch.debug import call_tree

# %% [markdown] exercise="04.1" role="task" kind="read" title="where the breakpoint must go"
# ## 04.1 Read: where the breakpoint must go
#
# ★☆☆, 15 minutes. A breakpoint on a name that does not exist stays pending, and you wait. So the
# first step of every hunt in C++ is to find out which names exist and run.
#
# For each call below, which kernels run? A kernel is a function that `REGISTER_CPU_DISPATCH` or
# `REGISTER_CPU_ELEMENTWISE` enters for a stub of an op; the loops and helpers that a kernel uses are none. Answer with
# all kernels that run, in order, without namespace. An empty list means that no breakpoint on a kernel would ever be
# hit. The check counts how many of the five are right.

# %% exercise="04.1" role="given"
CALLS = {
    "x != y": lambda x, y: x != y,
    "x.amax(0)": lambda x, y: x.amax(0),
    "layer_norm(x, [2])": lambda x, y: torch.nn.functional.layer_norm(x, [2]),
    "x.unsqueeze(0).expand(3, 2, 2)": lambda x, y: x.unsqueeze(0).expand(3, 2, 2),
    "x.t().contiguous() @ y": lambda x, y: x.t().contiguous() @ y,
}


# %% exercise="04.1" role="answer"
def kernels() -> dict[str, list[str]]:
    """For each of CALLS the kernels that run, in order."""
    # BEGIN SOLUTION
    return {
        "x != y": ["ne_kernel"],
        "x.amax(0)": ["max_values_kernel"],
        "layer_norm(x, [2])": ["layer_norm_kernel_impl"],
        "x.unsqueeze(0).expand(3, 2, 2)": [],
        "x.t().contiguous() @ y": ["copy_kernel", "addmv_kernel"],
    }
    # END SOLUTION


# %% exercise="04.1" role="check"
from course._tools import trees

with check("04.1", "where the breakpoint must go") as c:
    answer, truth = kernels(), {}
    x, y = torch.tensor([[-1.0, 2.0], [3.0, 4.0]]), torch.tensor([0.5, 2.0])
    for text, call in CALLS.items():
        with call_tree() as tree:
            call(x, y)
        truth[text] = trees.kernels(tree)
    c.answers(
        "the kernels of each call",
        came=answer,
        truth=truth,
        look="Record the call tree of each call, and search native/cpu for REGISTER_CPU_ with the names.",
    )

# %% [markdown] exercise="04.1" role="debrief"
# **In PyTorch** the names are found in the same way, without a call tree: `torch.profiler` or
# `TORCH_SHOW_DISPATCH_TRACE=1` (in a debug build) names the op, the op's entry in `native_functions.yaml` names its
# function, the function calls a stub, and `REGISTER_DISPATCH` names the kernel. A kernel is compiled several times
# there, once for each instruction set (`AVX2::`, `AVX512::`), so set the breakpoint by a pattern: `rbreak`.

# %% [markdown] exercise="04.1" role="hint"
# `with call_tree(only="native/cpu/") as tree: ...`, then `tree` in a cell of its own.

# %% [markdown] exercise="04.1" role="hint"
# Below a kernel are other functions of `native/cpu`: loops that several kernels share, and the one that a kernel
# chooses. None of them is registered for a stub.


# %% [markdown] exercise="04.2" role="task" kind="build" title="the process to attach to"
# ## 04.2 Build: the process to attach to
#
# ★☆☆, 15 minutes. A launcher starts a shell, the shell starts helpers and your program, and gdb asks
# for *one* number. Write the function that finds it: among the descendants of a process, at any depth, the one that
# has reftorch's C++ library in its memory. Where no descendant has the library, raise `LookupError`.


# %% exercise="04.2" role="given"
from contextlib import contextmanager


@contextmanager
def launched(program, shells=1):
    """Start a program below `shells` shells, and yield the process numbers of the outer shell and of the program."""
    python = f'sleep 600 & "{sys.executable}" -c "{program}"; kill $!'
    for _ in range(shells - 1):
        python = f"sh -c '{python}'; true"
    job = subprocess.Popen(["sh", "-c", f"{python}; true"], text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    try:
        yield job.pid, int(job.stdout.readline())
    finally:
        job.communicate("end\n")


WITH = "import os, reftorch; print(os.getpid(), flush=True); input()"
WITHOUT = "import os; print(os.getpid(), flush=True); input()"


# %% exercise="04.2" role="answer"
def process_to_attach(ancestor: int) -> int:
    """The number of the descendant of `ancestor` that has loaded reftorch's library.

    Raises:
        LookupError: none of them has.
    """
    # BEGIN SOLUTION
    parents = {}
    for file in Path("/proc").glob("[0-9]*/stat"):
        try:
            stat = file.read_text()
        except OSError:
            continue  # it has ended
        parents[int(file.parent.name)] = int(stat.rpartition(")")[2].split()[1])
    family = {ancestor}
    while more := {pid for pid, parent in parents.items() if parent in family} - family:
        family |= more
    for pid in family - {ancestor}:
        try:
            if "/reftorch/lib/" in Path(f"/proc/{pid}/maps").read_text():
                return pid
        except OSError:
            continue
    raise LookupError(f"no descendant of {ancestor} has loaded the library")
    # END SOLUTION


# %% exercise="04.2" role="check"
with check("04.2", "the process to attach to") as c:
    with launched(WITH) as (shell, program):
        c.equal("a program below a shell, beside a helper", came=process_to_attach(shell), expected=program)
    with launched(WITH, shells=2) as (shell, program):
        c.equal("a program below two shells", came=process_to_attach(shell), expected=program)
    with launched(WITHOUT) as (shell, program):
        c.raises("a program that has not imported reftorch", LookupError, "", process_to_attach, shell)

# %% [markdown] exercise="04.2" role="debrief"
# **In PyTorch** the question comes up with `torchrun`, with `DataLoader` workers and with the inductor's pool of
# compilers: one command, a dozen processes. Looking into `/proc/N/maps` always tells which of them have loaded
# `libtorch_cpu.so`. gdb can follow by itself (`set detach-on-fork off`, `set follow-fork-mode child`), at the price
# of holding every process that the program starts.

# %% [markdown] exercise="04.2" role="hint"
# `/proc/N/stat` names the process in brackets and then has its state and its parent's number; the name may hold
# spaces, so cut at the *last* bracket: `text.rpartition(")")[2].split()[1]`.

# %% [markdown] exercise="04.2" role="hint"
# Collect the parent of every process first. Then grow a set, from `{ancestor}` on, by all whose parent is in it,
# until it grows no more. `/proc/N/maps` names the files that a process has in memory: look for `/reftorch/lib/`. A
# process may end while you look: catch `OSError`.


# %% [markdown] exercise="04.3" role="task" kind="fix" title="a configuration that jumps over everything"
# ## 04.3 Fix: a configuration that jumps over everything
#
# ★☆☆, 10 minutes. Somebody copied two configurations from a blog into a `launch.json`. Python's
# session never enters the library. gdb attaches, and shows tensors as pointers. And the program runs the Release
# build, whose lines are gone. Fix these three things in a copy of `BROKEN`. Everything else stays as it is, `BROKEN`
# too; the check compares it.

# %% exercise="04.3" role="given"
BROKEN = {
    "python": {
        "type": "debugpy",
        "request": "launch",
        "program": "${file}",
        "justMyCode": True,
        "env": {"REFTORCH_BUILD": "release", "REFTORCH_ALLOW_PTRACE": "1"},
    },
    "c++": {
        "type": "cppdbg",
        "request": "attach",
        "MIMode": "gdb",
        "processId": "${command:pickProcess}",
        "setupCommands": [{"text": "-enable-pretty-printing", "ignoreFailures": True}],
    },
}


# %% exercise="04.3" role="answer"
def fixed() -> dict:
    """The two configurations, fixed."""
    # BEGIN SOLUTION
    configurations = json.loads(json.dumps(BROKEN))  # a copy
    configurations["python"]["justMyCode"] = False
    configurations["python"]["env"]["REFTORCH_BUILD"] = "debug"
    source = '-interpreter-exec console "source ${workspaceFolder}/reftorch/debug/gdb/init.py"'
    configurations["c++"]["setupCommands"].append({"text": source})
    return configurations
    # END SOLUTION


# %% exercise="04.3" role="check"
from reftorch.debug.core.find_gdb import find_gdb, gdb_environment


def printers_after(setup):
    """Whether gdb, after the setup commands of a configuration, knows how to print a tensor."""
    commands = [each["text"].replace("${workspaceFolder}", str(ROOT)) for each in setup]
    asked = "\n".join([*commands, '-interpreter-exec console "help rt-tensor"', "-gdb-exit", ""])
    gdb = [find_gdb().path, "-nx", "-q", "--interpreter=mi"]
    said = subprocess.run(gdb, input=asked, capture_output=True, text=True, timeout=120, env=gdb_environment()).stdout
    return "values of a tensor" in said


with check("04.3", "a configuration that jumps over everything") as c:
    configurations = fixed()
    before = BROKEN["python"]
    kept = before["justMyCode"], before["env"].get("REFTORCH_BUILD"), len(BROKEN["c++"]["setupCommands"])
    c.equal("what BROKEN itself has still (run its cell again)", came=kept, expected=(True, "release", 1))
    python, cpp = configurations["python"], configurations["c++"]
    c.equal("justMyCode", came=python["justMyCode"], expected=False)
    build = python["env"].get("REFTORCH_BUILD", "none is named")
    c.equal("the build that the program loads", came=build.lower(), expected="debug")
    c.equal("gdb has our printers and commands", came=printers_after(cpp["setupCommands"]), expected=True)
    untouched = {**python, "justMyCode": True, "env": BROKEN["python"]["env"]}
    c.equal("the rest of Python's configuration", came=untouched, expected=BROKEN["python"])
    c.equal("leave to attach", came=python["env"].get("REFTORCH_ALLOW_PTRACE"), expected="1")
    c.equal("the first setup command", came=cpp["setupCommands"][0], expected=BROKEN["c++"]["setupCommands"][0])
    untouched = {**cpp, "setupCommands": BROKEN["c++"]["setupCommands"]}
    c.equal("the rest of gdb's configuration", came=untouched, expected=BROKEN["c++"])

# %% [markdown] exercise="04.3" role="debrief"
# **In PyTorch** the same three settings decide whether you see anything: `justMyCode`, a build with `DEBUG=1` or
# `REL_WITH_DEB_INFO=1` (or `USE_CUSTOM_DEBINFO` for a few files, which compiles only those again), and `source
# tools/gdb/pytorch-gdb.py`, which has commands such as `torch-tensor-repr`, and no printers for tensors.

# %% [markdown] exercise="04.3" role="hint"
# Compare with the configurations of this checkout: `(ROOT / ".vscode/launch.json").read_text()`.

# %% [markdown] exercise="04.3" role="hint"
# `configurations["python"]["justMyCode"] = False`, `configurations["python"]["env"]["REFTORCH_BUILD"] = "debug"`, and
# a second entry in `configurations["c++"]["setupCommands"]` whose text loads `reftorch/debug/gdb/init.py`.


# %% [markdown] exercise="04.4" role="task" kind="build" title="a debugger in a dozen lines"
# ## 04.4 Build: a debugger in a dozen lines
#
# ★★☆, 20 minutes. `debugpy` is a function that Python calls at each line. Write one that answers
# *where did this variable get its value?*
#
# - It runs `run()` and returns, for the function called `function`, the values that the local `name` had, in order,
#   each noted when it is new or changed.
# - Tensors are noted as lists (`tolist()`), because they may change in place.
# - What `run()` raises comes out. Afterwards the tracer that was there before is in its place again, after an error
#   too.
# - If the function is never called, the list is empty.


# %% exercise="04.4" role="answer"
def history_of(run, function: str, name: str) -> list:
    """The values of the local `name` in `function` while `run()` runs, each time that it changed."""
    # BEGIN SOLUTION
    seen = []

    def tracer(frame, event, argument):
        if frame.f_code.co_name != function:
            return None
        if name in frame.f_locals:
            value = frame.f_locals[name]
            value = value.tolist() if isinstance(value, torch.Tensor) else value
            if not seen or seen[-1] != value:
                seen.append(value)
        return tracer

    former = sys.gettrace()
    sys.settrace(tracer)
    try:
        run()
    finally:
        sys.settrace(former)
    return seen
    # END SOLUTION


# %% exercise="04.4" role="check"
def newton(x):
    root = x.clone()
    for _ in range(3):
        root = (root + x / root) / 2
    return root


def in_place():
    total = torch.zeros(2)
    for step in range(3):
        total.add_(step)
    return total


def failing():
    count = 1
    count = 2
    raise ValueError(count)


def values_of_newton():
    root, values = torch.tensor([2.0]), [[2.0]]
    for _ in range(3):
        root = (root + 2.0 / root) / 2
        values.append(root.tolist())
    return values


with check("04.4", "a debugger in a dozen lines") as c:
    c.equal(
        "root in newton",
        came=history_of(lambda: newton(torch.tensor([2.0])), "newton", "root"),
        expected=values_of_newton(),
    )
    c.equal(
        "a tensor that is changed in place",
        came=history_of(in_place, "in_place", "total"),
        expected=[[0.0, 0.0], [1.0, 1.0], [3.0, 3.0]],
    )
    c.equal("a number", came=history_of(in_place, "in_place", "step"), expected=[0, 1, 2])
    c.equal("a function that is never called", came=history_of(in_place, "newton", "root"), expected=[])
    before = sys.gettrace()
    c.raises("what run() raises comes out", ValueError, "2", history_of, failing, "failing", "count")
    c.equal("the tracer is gone afterwards", came=sys.gettrace() is before, expected=True)

# %% [markdown] exercise="04.4" role="debrief"
# **In PyTorch** `torch.compile` uses the neighbour of this hook: a frame evaluation function (PEP 523), which sees
# each frame before it runs. Debuggers for Python 3.12 and later use `sys.monitoring`, which costs nothing for the
# lines that nobody asked about; `sys.settrace` slows every line of every function for which the tracer returned a
# function.

# %% [markdown] exercise="04.4" role="hint"
# `sys.settrace(tracer)` has `tracer(frame, event, argument)` called when a function begins. It must *return* a
# function, itself say, to be called for each line of that frame too; `None` leaves the frame alone.

# %% [markdown] exercise="04.4" role="hint"
# `frame.f_code.co_name` is the function's name, `frame.f_locals` a dict of its locals as they are before the line
# runs; the event `"return"` is the last one. Put the former tracer back in a `finally`.


# %% [markdown] exercise="04.5" role="task" kind="read" title="a stop in a kernel that nobody named"
# ## 04.5 Read: a stop in a kernel that nobody named
#
# ★★☆, 20 minutes. `torch.logaddexp(left, right)` gives a number that somebody doubts, and you want to
# see what the kernel is given. Return where to stop, as you would write it behind `%%gdb`, and the gdb commands that
# print *both* operands there. The check runs `%%gdb` with them on tensors that you do not know: the stop must be in
# the op's kernel, and your commands must show the operands, by the names that the op's function has for them.


# %% exercise="04.5" role="answer"
def stop_in_logaddexp() -> tuple[str, list[str]]:
    """Where to stop, and the commands that show the operands."""
    # BEGIN SOLUTION
    return "logaddexp_kernel", ["up 2", "print self", "print other"]
    # END SOLUTION


# %% exercise="04.5" role="check"
from IPython import get_ipython
from IPython.utils.capture import capture_output

from course._tools import trees

with capture_output():  # where it is loaded already, this would say so
    get_ipython().run_line_magic("load_ext", "reftorch.debug")


def stopped(where, commands, cell):
    """What `%%gdb` shows, as text."""
    with capture_output() as shown:
        get_ipython().run_cell_magic("gdb", f"{where} -c '{'; '.join(commands)}'", cell)
    return "\n".join(output.data["text/plain"] for output in shown.outputs)


with check("04.5", "a stop in a kernel that nobody named") as c:
    where, commands = stop_in_logaddexp()
    one_text = isinstance(commands, str)
    c.true("the commands", not one_text, came=f"one text, {commands!r}", expected="a list with a text for each")
    left, right = torch.randint(10, 99, (2, 3)).float(), torch.randint(100, 999, (3,)).float()
    report = stopped(where, commands, "result = torch.logaddexp(left, right)")
    head, _, answers = report.partition("(gdb)")
    place = re.search(r"(?m)^stop 1  \S+  (?:\w+::)*(\w+)", head)
    with call_tree() as tree:
        torch.logaddexp(left, right)
    in_kernel = place is not None and [place[1]] == trees.kernels(tree)
    came = place[1] if place else report[:200]
    c.true("the function of the first stop", in_kernel, came=came, expected="the kernel that the op's stub calls")
    for name, tensor in {"left": left, "right": right}.items():
        values = [f"{value:g}" for value in tensor.flatten().tolist()]
        found = all(re.search(rf"\b{value}\b", answers) for value in values)
        wanted = f"the values of `{name}` in what your commands print: {', '.join(values)}"
        c.true(f"the operand `{name}`", found, came=answers.strip() or "commands that print nothing", expected=wanted)

# %% [markdown] exercise="04.5" role="debrief"
# **In PyTorch** the kernel has the same name, once in each namespace of an instruction set, and the function that
# makes the iterator is `at::native::logaddexp_out` in `BinaryOps.cpp`. In a wheel neither has lines. There you stop
# at `at::_ops::logaddexp::call`, whose name is exported, and read the registers.

# %% [markdown] exercise="04.5" role="hint"
# Which kernel? A call tree of `torch.logaddexp(torch.ones(2), torch.ones(2))` has its name. Then try it in a cell of
# your own: `%load_ext reftorch.debug`, and `%%gdb THE_NAME` above the call.

# %% [markdown] exercise="04.5" role="hint"
# At the stop the operands are inside an iterator. Look at the stack: some frames further out is the function that
# makes the iterator, and there they have names. `up 2` goes there, `info args` lists the names, `print NAME` shows
# one.


# %% [markdown] exercise="04.6" role="task" kind="fix" title="a library that somebody has broken"
# ## 04.6 Fix: a library that somebody has broken
#
# ★★★, 40 minutes. A friend has changed one line in the C++ of the library. The classifier below gives
# `nan` for its second sample. Its first sample is right, and so are the logarithms of both. In the library as it is,
# everything is right. Which line was it?
#
# `broken()` is the broken library, compiled at the first call. `broken().run(program)` runs a program in it, in a
# process of its own, and returns what the program printed. Neither its source nor its debug information is there, so
# hunt as you would in a wheel: change the program, and see when the number is wrong. The sound library is here, with
# its call tree, gdb and `show_source`.
#
# If you can plant a fault, you can also fix it. So answer with a file and a patch that plants the same fault in the
# sound library, written as `%%rebuild` takes a patch. The check compiles your patch and runs one program in both
# libraries: the classifier, and then 4, 15, 16 classes and one class, each class once the largest by far; the
# logarithms; another dimension; ordinary scores, and float64. Both libraries must print the same numbers.


# %% exercise="04.6" role="given"
from functools import cache

SYMPTOM = """
import reftorch as torch
scores = torch.tensor([[120.0, 3.0, 1.0], [3.0, 1.0, 120.0]])
print(scores.softmax(dim=1))
print(scores.log_softmax(dim=1))
"""
PACKED = (
    "c-oDOO$)*>5Jd0!6?<$6u?XTJtp(5GN$(}pR2Q2~NVb09pEpwU?3~`f%-bF<Rb&`%w(7%F9sIz1^Vr!)c3ku!2my0^"
    "aE31(!)W5!CWZ~D#3!w3ayDY$jp&e5^WC*tBMnH%&!Vh_nk|EmP$2Pol}*>|i2hz@Xg&ZEC>JS9cnSIE0Te8Mr#D7~"
    "K5z"
)  # what your friend did, packed so that you do not read it by accident


@cache
def broken():
    """The library that somebody has broken."""
    return rebuild(*unpacked(PACKED))


# %% exercise="04.6" role="answer"
def planted() -> tuple[str, str]:
    """A file of the library, and a patch that plants the same fault in it."""
    # BEGIN SOLUTION
    return (
        "ATen/native/cpu/SoftMaxKernel.cpp",
        """
       opmath_t largest = -std::numeric_limits<opmath_t>::infinity();
-      for (int64_t k = row; k < row + n; k++) {
+      for (int64_t k = row; k < row + n - 1; k++) {
""",
    )
    # END SOLUTION


# %% exercise="04.6" role="check"
CASES = """
import reftorch as torch

def case(name, n, scale, dtype=torch.float32, columns=False, log=False):
    print("#", name)
    rows = torch.eye(n, dtype=dtype) * scale
    for scores in rows:
        scores = torch.stack([scores, scores], 1) if columns else scores.reshape(1, n)
        print(scores.log_softmax(1) if log else scores.softmax(0 if columns else 1))

case("four classes, each of them once the largest by far", 4, 300)
case("fifteen classes", 15, 300)
case("sixteen classes", 16, 300)
case("one class", 1, 300)
case("the logarithms", 4, 300, log=True)
case("another dimension", 4, 300, columns=True)
case("ordinary scores, and float64", 5, 2, dtype=torch.float64)
"""


def printed(library):
    """What a library prints for each case."""
    outcome = library.run(SYMPTOM + CASES)
    cases = f"# the classifier\n{outcome.printed}".split("# ")[1:]
    return {name: (numbers, outcome.error) for name, _, numbers in (each.partition("\n") for each in cases)}


with check("04.6", "a library that somebody has broken") as c:
    file, patch = planted()
    yours = rebuild(file, patch)
    came = printed(yours)
    for name, expected in printed(broken()).items():
        c.equal(name, came=came.get(name), expected=expected)
    yours.close()

# %% [markdown] exercise="04.6" role="debrief"
# **In PyTorch** `vec_host_softmax_lastdim` in `native/cpu/SoftMaxKernel.cpp` leads to loops that subtract the largest
# element for the same reason: `exp(89)` is infinite in float32, and infinity times 0 is `nan`. A fault in the maximum
# changes no result beyond rounding as long as the scores are small, so tests with ordinary random numbers do not find
# it. Tests of a kernel need the sizes at which it changes its way (15 and 16 here), and values at which each step
# matters.

# %% [markdown] exercise="04.6" role="hint"
# Change one thing at a time: the place of the large score, its size, the number of classes, the dimension, the op.
# Write down for each whether the result is right. When is it *not* `nan`?

# %% [markdown] exercise="04.6" role="hint"
# Record the call tree of `softmax` in the sound library for a program that goes wrong and for one that does not, for
# example with 3 and with 20 classes. Which function runs in the one and not in the other?

# %% [markdown] exercise="04.6" role="hint"
# `nan` comes from infinity times 0, and infinity from an exponential that overflows. What does that function do,
# before it computes exponentials, so that none can overflow? Which element does the broken library forget?


# %% [markdown] exercise="04.7" role="task" kind="read" title="in PyTorch: the loss of right predictions"
# ## 04.7 Read, in PyTorch: the loss of right predictions
#
# ★★☆, 15 minutes. This question is answered in PyTorch itself: it needs PyTorch (`make torch`), and no other exercise
# of the chapter does. The next cell writes `IN_TORCH` to a file, and prints the command that runs the file under pdb.
#
# A number can be wrong without a fault in the library. `IN_TORCH` has four predictions in a column and four targets
# in a row. All predictions are right, and still no loss is 0. Run the program under pdb, and read what it prints.
# Stop in `mse_loss` of `torch/nn/functional.py` at its line `if weight is not None`: the statement before it is where
# the number becomes wrong. Return:
#
# - `"shape"`: the shape of `expanded_input`, as a tuple;
# - `"strides"`: the strides of `expanded_target`, as a tuple;
# - `"pairs"`: how many pairs of numbers the loss compares at each call;
# - `"warnings"`: how many warnings about the sizes the whole program prints;
# - `"file"`: the file that the warning names, from `torch/` or from the folder of `IN_TORCH`.


# %% exercise="04.7" role="given"
IN_TORCH = """\
import torch
from torch import nn

loss = nn.MSELoss()
prediction = torch.arange(4.0).unsqueeze(1)
target = torch.arange(4.0)
print("training:", loss(prediction, target))
print("validation:", loss(prediction, target))
"""
print(write_for_torch(IN_TORCH, "in_torch_04_7.py"))


# %% exercise="04.7" role="answer"
def wrong_loss() -> dict[str, tuple[int, ...] | int | str]:
    # BEGIN SOLUTION
    return {
        "shape": (4, 4),
        "strides": (0, 1),
        "pairs": 16,
        "warnings": 1,
        "file": "torch/nn/modules/loss.py",
    }
    # END SOLUTION


# %% exercise="04.7" role="check"
with check("04.7", "the loss of right predictions") as c:
    answer = wrong_loss()
    warned = "[file for file in ('torch/nn/modules/loss.py', 'torch/nn/functional.py') for text in "
    warned += "vars(__import__('sys').modules[file[:-3].replace('/', '.')]).get('__warningregistry__', ()) "
    warned += "if 'target size' in str(text)]"
    asked = ["tuple(expanded_input.shape)", "expanded_target.stride()", "expanded_input.numel()", warned]
    stops = stops_in_torch(IN_TORCH, "torch/nn/functional.py", "mse_loss", "if weight is not None", asked)
    shape, strides, pairs, printed = (eval(value) for value in stops[-1].values())
    truth = {"shape": shape, "strides": strides, "pairs": pairs, "warnings": len(printed), "file": printed[0]}
    look = "The program prints the warning; `p expanded_input.shape, expanded_target.stride()` shows the rest."
    c.answers("the wrong loss", came=answer, truth=truth, look=look)

# %% [markdown] exercise="04.7" role="debrief"
# **In PyTorch** `mse_loss` warns, and goes on: broadcasting is legal, and some programs want it. The warning names
# the caller of `mse_loss`, which here is a file of PyTorch and not your program. Python prints a warning once for
# each place and text. So the second loss is wrong in silence, and in a long log nobody sees the first one.
# `warnings.simplefilter("error")` makes an error of it, whose traceback has your line.

# %% [markdown] exercise="04.7" role="hint"
# After `import torch`: `break torch/nn/functional.py:NUMBER`; `import inspect;
# inspect.getsourcelines(torch.nn.functional.mse_loss)` finds the number. `continue` stops once for each call.

# %% [markdown] exercise="04.7" role="hint"
# A stride of 0 means that all positions along a dimension are the same element, as in chapter 02.
