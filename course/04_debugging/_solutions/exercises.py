"""The exercises of chapter 04, solved; `make course` makes the learner's notebook of it.

Mirrors: nothing in PyTorch: exercises.
Leaves out: what the lesson explains.
"""

# %% [markdown]
# # Exercises 04: debugging
#
# Each exercise has a cell that raises until you have written it, and a check below that you run as often as you like.
# Stuck? `course("hint 04.1")` in a cell of its own. Done? `course("check 04")` runs the notebook, as last saved, from
# top to bottom. The check of 04.5 attaches gdb to this notebook, which takes some seconds.

# %%
import json
import re
import subprocess
import sys
from pathlib import Path

import reftorch as torch
from course._tools import check, course, show_source
from course._tools.layout import ROOT
from course._tools.trees import called
from reftorch.debug import call_tree

# %% [markdown] exercise="04.1" role="task" kind="read" title="where the breakpoint must go"
# ## 04.1 Read: where the breakpoint must go
#
# A breakpoint on a name that does not exist stays pending, and you wait. For each call below, which C++ function
# whose name ends in `_kernel` does the work? Answer with all that run, in order, without namespace; `cpu_kernel`, the
# loop that they share, does not count. An empty list means that no breakpoint on a kernel would ever be hit.

# %% exercise="04.1" role="given"
CALLS = {
    "x - y": lambda x, y: x - y,
    "x.clamp_min(0)": lambda x, y: x.clamp_min(0),
    "x.amax(0)": lambda x, y: x.amax(0),
    "x.t()": lambda x, y: x.t(),
    "x > y": lambda x, y: x > y,
}


# %% exercise="04.1" role="answer"
def kernels() -> dict[str, list[str]]:
    """For each of CALLS the kernels that run, in order."""
    # BEGIN SOLUTION
    return {
        "x - y": ["add_kernel"],
        "x.clamp_min(0)": ["clamp_scalar_kernel"],
        "x.amax(0)": ["max_values_kernel"],
        "x.t()": [],
        "x > y": ["gt_kernel", "comparison_kernel"],
    }
    # END SOLUTION


# %% exercise="04.1" role="check"
def kernels_that_run(call):
    x, y = torch.tensor([[-1.0, 2.0], [3.0, 4.0]]), torch.tensor([0.5, 2.0])
    with call_tree() as tree:
        call(x, y)
    return [name for name in called(tree) if name.endswith("_kernel") and name != "cpu_kernel"]


with check("04.1", "where the breakpoint must go") as c:
    answer = kernels()
    for text, call in CALLS.items():
        c.equal(f"the kernels of {text}", came=answer.get(text), expected=kernels_that_run(call))

# %% [markdown] exercise="04.1" role="hint"
# `with call_tree(only="_kernel$") as tree: ...`, then `tree` in a cell of its own.

# %% [markdown] exercise="04.1" role="hint"
# Several kernels may stand one below the other: the outer one chooses, the inner one is the loop for that choice.


# %% [markdown] exercise="04.2" role="task" kind="build" title="the process to attach to"
# ## 04.2 Build: the process to attach to
#
# A launcher starts a shell, the shell starts helpers and your program, and gdb asks for *one* number. Write the
# function that finds it: among the descendants of a process, at any depth, the one that has reftorch's C++ library in
# its memory.


# %% exercise="04.2" role="given"
from contextlib import contextmanager


@contextmanager
def launched(program, shells=1):
    """A program below so many shells, which has said its own number and waits; yields the outer shell's and its own."""
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
# Somebody copied two configurations from a blog into a `launch.json`. Python's session never enters the library; gdb
# attaches, and shows tensors as pointers; and the program runs the Release build, whose lines are gone. Mend these
# three things in a copy, and nothing else. `debugpy` and gdb are asked for the rest by name, as it is.

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
def mended() -> dict:
    """The two configurations, mended."""
    # BEGIN SOLUTION
    configurations = json.loads(json.dumps(BROKEN))  # a copy
    configurations["python"]["justMyCode"] = False
    configurations["python"]["env"]["REFTORCH_BUILD"] = "debug"
    source = '-interpreter-exec console "source ${workspaceFolder}/reftorch/debug/gdb/init.py"'
    configurations["c++"]["setupCommands"].append({"text": source})
    return configurations
    # END SOLUTION


# %% exercise="04.3" role="check"
from reftorch.debug._find_gdb import find_gdb, gdb_environment


def printers_after(setup):
    """Whether gdb, after the setup commands of a configuration, knows how to print a tensor."""
    commands = [each["text"].replace("${workspaceFolder}", str(ROOT)) for each in setup]
    asked = "\n".join([*commands, '-interpreter-exec console "help rt-tensor"', "-gdb-exit", ""])
    gdb = [find_gdb().path, "-nx", "-q", "--interpreter=mi"]
    said = subprocess.run(gdb, input=asked, capture_output=True, text=True, timeout=120, env=gdb_environment()).stdout
    return "values of a tensor" in said


with check("04.3", "a configuration that jumps over everything") as c:
    configurations = mended()
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

# %% [markdown] exercise="04.3" role="hint"
# Compare with the configurations of this checkout: `(ROOT / ".vscode/launch.json").read_text()`.

# %% [markdown] exercise="04.3" role="hint"
# `configurations["python"]["justMyCode"] = False`, `configurations["python"]["env"]["REFTORCH_BUILD"] = "debug"`, and a
# second entry in `configurations["c++"]["setupCommands"]` whose text loads `reftorch/debug/gdb/init.py`.


# %% [markdown] exercise="04.4" role="task" kind="build" title="a debugger in a dozen lines"
# ## 04.4 Build: a debugger in a dozen lines
#
# `debugpy` is a function that Python calls at each line. Write one that answers *where did this variable get its
# value?* It runs `run()` and returns, for the function called `function`, the values that the local `name` had, in
# order, each noted when it is new or changed. Tensors are noted as lists, because they may change in place.


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

# %% [markdown] exercise="04.4" role="hint"
# `sys.settrace(tracer)` has `tracer(frame, event, argument)` called when a function begins. It must *return* a
# function, itself say, to be called for each line of that frame too; `None` leaves the frame alone.

# %% [markdown] exercise="04.4" role="hint"
# `frame.f_code.co_name` is the function's name, `frame.f_locals` a dict of its locals as they are before the line
# runs; the event `"return"` is the last one. Put the former tracer back in a `finally`.


# %% [markdown] exercise="04.5" role="task" kind="read" title="a stop in a kernel that nobody named"
# ## 04.5 Read: a stop in a kernel that nobody named
#
# Now all of it, alone. `torch.logaddexp(left, right)` gives a number that somebody doubts, and you want to see what
# the kernel is given. Return where to stop, as you would write it behind `%%gdb`, and the gdb commands that print
# *both* operands there. The check runs `%%gdb` with them on tensors that you do not know: the stop must be in the
# op's kernel, and your commands must show the operands, by the names that the op's function has for them.


# %% exercise="04.5" role="answer"
def stop_in_logaddexp() -> tuple[str, list[str]]:
    """Where to stop, and the commands that show the operands."""
    # BEGIN SOLUTION
    return "logaddexp_kernel", ["up 2", "print self", "print other"]
    # END SOLUTION


# %% exercise="04.5" role="check"
from IPython import get_ipython
from IPython.utils.capture import capture_output

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
    (kernel,) = [name for name in called(tree) if name.endswith("_kernel") and "logaddexp" in name]
    c.equal("the function of the first stop", came=place[1] if place else report[:200], expected=kernel)
    for name, tensor in {"left": left, "right": right}.items():
        values = [f"{value:g}" for value in tensor.flatten().tolist()]
        found = all(re.search(rf"\b{value}\b", answers) for value in values)
        wanted = f"the values of `{name}` in what your commands print: {', '.join(values)}"
        c.true(f"the operand `{name}`", found, came=answers.strip() or "commands that print nothing", expected=wanted)

# %% [markdown] exercise="04.5" role="hint"
# Which kernel? A call tree of `torch.logaddexp(torch.ones(2), torch.ones(2))` has its name. Then try it in a cell of
# your own: `%load_ext reftorch.debug`, and `%%gdb THE_NAME` above the call.

# %% [markdown] exercise="04.5" role="hint"
# At the stop the operands are inside an iterator. Look at the stack: some frames further out stands the function that
# makes the iterator, and there they have names. `up 2` goes there, `info args` lists the names, `print NAME` shows
# one.
