"""The exercises of chapter 11, solved; `make course` makes the learner's notebook of it.

Mirrors: nothing in PyTorch: exercises.
Leaves out: what the lesson explains.
"""

# %% [markdown]
# # Exercises 11: sharing
#
# Each exercise has a cell that raises until you have written it, and a check below that you run as often as you like.
# The check says what it tests, and when it passes, how PyTorch does the same. Stars say how difficult an exercise is,
# from one to three. Stuck? `course("hint 11.1")` in a cell of its own. Done? `course("check 11")` runs the notebook, as
# last saved, from top to bottom.

# %%
import copy
import datetime
import io
import pickle
import pickletools
import zipfile
from collections import OrderedDict
from typing import NamedTuple

import reftorch as torch
import reftorch.multiprocessing as mp
from course._tools import check, course, rebuild, stops_in_torch, write_for_torch
from reftorch import nn

# %% [markdown] exercise="11.1" role="task" kind="read" title="what a file costs"
# ## 11.1 Read: what a file costs
#
# ★☆☆, 10 minutes. Disks fill up with checkpoints. Before you save something, you should know what it costs.
# `x = torch.zeros(100, 10)` has 4000 bytes. How many bytes do the storages in a file take, that is, all records
# `data/0`, `data/1` and so on together, if you save each of these objects in a file of its own?
#
# - `"a"`: `x[0]`
# - `"b"`: `x[0].clone()`
# - `"c"`: `[x, x.t(), x[5:]]`
# - `"d"`: `[x, x.clone()]`
# - `"e"`: `x[:, :2].contiguous()`
# - `"f"`: `x.double()`
# - `"g"`: `torch.zeros(1).expand(1000)`
#
# The check counts how many of your seven answers are right.


# %% exercise="11.1" role="answer"
def costs() -> dict[str, int]:
    """The bytes of storages in each file, as `{"a": ..., "b": ..., ...}`."""
    # BEGIN SOLUTION
    return {"a": 4000, "b": 40, "c": 4000, "d": 8000, "e": 800, "f": 8000, "g": 4}
    # END SOLUTION


# %% exercise="11.1" role="check"
def bytes_of_storages(obj):
    stream = io.BytesIO()
    torch.save(obj, stream)
    records = zipfile.ZipFile(stream).infolist()
    return sum(record.file_size for record in records if "/data/" in record.filename)


with check("11.1", "what a file costs") as c:
    x = torch.zeros(100, 10)
    objects = {
        "a": x[0],
        "b": x[0].clone(),
        "c": [x, x.t(), x[5:]],
        "d": [x, x.clone()],
        "e": x[:, :2].contiguous(),
        "f": x.double(),
        "g": torch.zeros(1).expand(1000),
    }
    truth = {name: bytes_of_storages(obj) for name, obj in objects.items()}
    c.answers("the bytes of each file", came=costs(), truth=truth, look="Count storages, and what each of them holds.")

# %% [markdown] exercise="11.1" role="debrief"
# **In PyTorch** the answers are the same. The last answer is the opposite of the question of this chapter: a view may
# also be larger than its storage. `expand` reads one number a thousand times, and the file has only that one number.

# %% [markdown] exercise="11.1" role="hint"
# For each tensor ask: which storage does it read, and has that storage been counted already? `x.untyped_storage()` has
# an `nbytes()`.

# %% [markdown] exercise="11.1" role="hint"
# `contiguous()` copies where the tensor is not contiguous. Two columns of ten are not.


# %% [markdown] exercise="11.2" role="task" kind="build" title="save what is seen"
# ## 11.2 Build: save what is seen
#
# ★★☆, 20 minutes. Write a function that would have saved you the long upload: it prepares an object for saving, so that
# the file has no large storage of which only a small view is needed.
#
# - `compact(obj)` returns `obj` with tensors replaced, in dicts, lists and tuples, at any depth. Other values stay as
#   they are. Keys, order and the kinds of container stay, and `obj` itself is not changed. Among the kinds are
#   `OrderedDict`, which `state_dict()` returns, and named tuples.
# - A tensor whose storage has more bytes than the elements of the tensor need (`tensor.nbytes`) is replaced by a clone,
#   which has a storage of its own size.
# - Any other tensor is the same object as before, so tensors that share a whole storage go on sharing it.


# %% exercise="11.2" role="answer"
def compact(obj):
    """The object with a clone in the place of each tensor that reads a part of its storage."""
    # BEGIN SOLUTION
    if isinstance(obj, torch.Tensor):
        return obj.clone() if obj.untyped_storage().nbytes() > obj.nbytes else obj
    if isinstance(obj, dict):
        new = copy.copy(obj)
        new.update({key: compact(value) for key, value in obj.items()})
        return new
    if isinstance(obj, (list, tuple)):
        values = [compact(value) for value in obj]
        return type(obj)(*values) if hasattr(obj, "_fields") else type(obj)(values)
    return obj
    # END SOLUTION


# %% exercise="11.2" role="check"
class Batch(NamedTuple):
    inputs: torch.Tensor
    labels: torch.Tensor


with check("11.2", "save what is seen") as c:
    table = torch.arange(1000.0).reshape(100, 10)
    case = c.case("a row of a table")
    row = compact(table[3])
    c.close(case, came=row, expected=table[3])
    c.equal(f"{case}: bytes of its storage", came=row.untyped_storage().nbytes(), expected=40)
    case = c.case("a whole table, and its transpose")
    whole = [table, table.t()]
    kept = compact(whole)
    c.equal(f"{case}: the same objects", came=(kept[0] is table, kept[1] is whole[1]), expected=(True, True))
    case = c.case("a checkpoint")
    checkpoint = {"step": 7, "rows": [table[0], (table[1], "name")], "nested": {"last": table[-1], "table": table}}
    came = compact(checkpoint)
    c.equal(f"{case}: its keys, in order", came=list(came), expected=["step", "rows", "nested"])
    c.equal(f"{case}: other values", came=(came["step"], came["rows"][1][1]), expected=(7, "name"))
    c.equal(f"{case}: the kind of rows[1]", came=type(came["rows"][1]).__name__, expected="tuple")
    views = [came["rows"][0], came["rows"][1][0], came["nested"]["last"]]
    c.equal(f"{case}: bytes", came=[each.untyped_storage().nbytes() for each in views], expected=[40, 40, 40])
    c.close(f"{case}: the values", came=torch.stack(views), expected=torch.stack([table[0], table[1], table[99]]))
    c.equal(f"{case}: the table itself", came=came["nested"]["table"] is table, expected=True)
    row_before = checkpoint["rows"][0].untyped_storage().nbytes()
    c.equal(f"{case}: bytes behind the row of the argument", came=row_before, expected=4000)
    case = c.case("an OrderedDict, as state_dict() returns it")
    state = OrderedDict(weight=table[5], bias=table)
    came = compact(state)
    c.equal(f"{case}: its kind", came=type(came).__name__, expected="OrderedDict")
    c.equal(f"{case}: its keys, in order", came=list(came), expected=["weight", "bias"])
    c.equal(f"{case}: bytes of weight", came=came["weight"].untyped_storage().nbytes(), expected=40)
    c.equal(f"{case}: bytes of the argument's weight", came=state["weight"].untyped_storage().nbytes(), expected=4000)
    case = c.case("a named tuple")
    came = compact(Batch(inputs=table[0], labels=table))
    c.equal(f"{case}: its kind", came=type(came).__name__, expected="Batch")
    c.equal(f"{case}: bytes of inputs", came=came.inputs.untyped_storage().nbytes(), expected=40)
    c.equal(f"{case}: labels are the same object", came=came.labels is table, expected=True)

# %% [markdown] exercise="11.2" role="debrief"
# **In PyTorch** there is no such function, and its documentation of `torch.save` recommends the clone by hand. The
# price of a function like this: views of one table that are saved together become separate clones, and do not share
# memory any more after loading. Only you know whether your program needs the sharing.

# %% [markdown] exercise="11.2" role="hint"
# The function calls itself for the values of a container. `type(obj)(values)` makes a list of a list and a tuple of a
# tuple. A named tuple has `_fields`, and its class takes the values one by one. `copy.copy` of a dict has its kind.

# %% [markdown] exercise="11.2" role="hint"
# `obj.untyped_storage().nbytes()` and `obj.nbytes` are the two numbers to compare. `clone()` of a row is contiguous and
# has a storage of its own size.


# %% [markdown] exercise="11.3" role="task" kind="build" title="look before you load"
# ## 11.3 Build: look before you load
#
# ★★☆, 25 minutes. A stranger sends you a pickle. Which functions and classes does its program ask for?
# Find out without running any of it.
#
# - `names_in(data)` takes the bytes of a pickle and returns the sorted list of the names in it, each once, as
#   `"module.name"`.
# - The instruction `GLOBAL` has both in its argument: `"module name"`.
# - `STACK_GLOBAL`, which pickles of protocol 4 and later use, has no argument. It takes the two texts that were pushed
#   last: first the module, then the name. A text is pushed by `SHORT_BINUNICODE`, `BINUNICODE` or `BINUNICODE8`.
# - A text that was used before may come from the memo: `MEMOIZE` keeps the value on top of the stack under the next
#   free number (0, 1, 2 and so on), and `BINGET` or `LONG_BINGET` pushes the value with the number in its argument.
#   The memo also gets values that are not texts, and they take numbers, too.
#
# `pickletools.genops(data)` yields the instructions, each with its argument and its position.


# %% exercise="11.3" role="answer"
def names_in(data: bytes) -> list[str]:
    """The names of the functions and classes in a pickle, sorted; nothing of the pickle is run."""
    # BEGIN SOLUTION
    texts, memo, found = [], [], set()
    pushed = None  # the text that the instruction before has pushed, if it was one
    for instruction, argument, _ in pickletools.genops(data):
        name, before, pushed = instruction.name, pushed, None
        if name == "GLOBAL":
            found.add(argument.replace(" ", "."))
        elif name == "STACK_GLOBAL":
            found.add(f"{texts[-2]}.{texts[-1]}")
        elif name == "MEMOIZE":
            memo.append(before)
        elif name in ("SHORT_BINUNICODE", "BINUNICODE", "BINUNICODE8"):
            pushed = argument
        elif name in ("BINGET", "LONG_BINGET") and argument < len(memo):  # in protocol 2, the memo has other numbers
            pushed = memo[argument]
        if pushed is not None:
            texts.append(pushed)
    return sorted(found)
    # END SOLUTION


# %% exercise="11.3" role="check"
class Calls:
    """An object whose pickle calls the functions of a list, one after the other."""

    def __init__(self, *functions):
        self.functions = functions

    def __reduce__(self):
        return list, ([_Call(function) for function in self.functions],)


class _Call:
    def __init__(self, function):
        self.function = function

    def __reduce__(self):
        return self.function, ("1",)


with check("11.3", "look before you load") as c:
    for protocol in (2, 4):
        case = c.case(f"numbers and texts, protocol {protocol}")
        c.equal(case, came=names_in(pickle.dumps({"a": [1, 2.5], "b": "text"}, protocol)), expected=[])
        case = c.case(f"a time span, protocol {protocol}")
        c.equal(case, came=names_in(pickle.dumps(datetime.timedelta(1), protocol)), expected=["datetime.timedelta"])
    case = c.case("two names of one module, protocol 4")
    both = [datetime.timedelta(1), datetime.timezone(datetime.timedelta(hours=1)), datetime.timedelta(2)]
    c.equal(case, came=names_in(pickle.dumps(both, 4)), expected=["datetime.timedelta", "datetime.timezone"])
    case = c.case("eval, int and float, protocol 4")
    hostile = pickle.dumps(Calls(int, float, eval), 4)
    c.equal(case, came=names_in(hostile), expected=["builtins.eval", "builtins.float", "builtins.int", "builtins.list"])
    case = c.case("the pickle in a file of torch.save")
    stream = io.BytesIO()
    torch.save({"weight": torch.zeros(2)}, stream)
    names = names_in(zipfile.ZipFile(stream).read("archive/data.pkl"))
    expected = ["collections.OrderedDict", "torch.FloatStorage", "torch._utils._rebuild_tensor_v2"]
    c.equal(case, came=names, expected=expected)

# %% [markdown] exercise="11.3" role="debrief"
# **In PyTorch** `torch.serialization.get_unsafe_globals_in_checkpoint` does this for a file. Tools that scan models for
# viruses do it, too. A scanner that looks for bad names has to know all bad names, and there is always one more way to
# call something. The list of `torch.load` is short because it names what is good.

# %% [markdown] exercise="11.3" role="hint"
# First write it for `GLOBAL` alone. Then keep a list of the texts that were pushed; `STACK_GLOBAL` takes the last two.

# %% [markdown] exercise="11.3" role="hint"
# In protocol 4, `MEMOIZE` follows the instruction whose value it keeps. So remember whether the instruction before
# pushed a text. If it did not, the memo gets a value that you need not know: None will do.


# %% [markdown] exercise="11.4" role="task" kind="fix" title="training that does not arrive"
# ## 11.4 Fix: training that does not arrive
#
# ★★☆, 15 minutes. `broken_steps` runs in child processes that share a model. In each child the loss falls. In the
# parent the model has not changed, although `share_memory()` was called, and there is no error.
#
# Write the fixed function. `steps(model, inputs, targets, count, rate)` does `count` steps of gradient descent on the
# mean squared error, in the process that calls it, so that
#
# - after the child has ended, the parameters of the parent have the trained values;
# - the parameters are still shared memory, in the child as well;
# - the values are those that `broken_steps` computes in one process;
# - the gradients of the child stay in the child: the parent's parameters have none.


# %% exercise="11.4" role="given"
def broken_steps(model, inputs, targets, count, rate):
    for _ in range(count):
        model.zero_grad()
        loss = ((model(inputs) - targets) ** 2).mean()
        loss.backward()
        with torch.no_grad():
            for parameter in model.parameters():
                parameter.data = parameter - rate * parameter.grad


# %% exercise="11.4" role="answer"
def steps(model, inputs, targets, count, rate):
    """Steps of gradient descent on shared parameters."""
    # BEGIN SOLUTION
    for _ in range(count):
        model.zero_grad()
        loss = ((model(inputs) - targets) ** 2).mean()
        loss.backward()
        with torch.no_grad():
            for parameter in model.parameters():
                parameter.sub_(rate * parameter.grad)
    # END SOLUTION


# %% exercise="11.4" role="check"
def layer(seed=0):
    torch.manual_seed(seed)
    return nn.Linear(3, 2)


def in_a_child(model, inputs, targets):
    """Train in a child; whether all parameters were shared memory there at the end, and the exit code."""
    context = mp.get_context("fork")
    shared = context.Value("i", -1)

    def run():
        torch.set_num_threads(1)
        steps(model, inputs, targets, 5, 0.1)
        shared.value = all(parameter.is_shared() for parameter in model.parameters())

    child = context.Process(target=run)
    child.start()
    child.join()
    return shared.value, child.exitcode


with check("11.4", "training that does not arrive") as c:
    inputs, targets = torch.arange(12.0).reshape(4, 3) / 10, torch.ones(4, 2)
    here, expected = layer(), layer()
    steps(here, inputs, targets, 5, 0.1)
    broken_steps(expected, inputs, targets, 5, 0.1)
    c.close("the weight after 5 steps in this process", came=here.weight, expected=expected.weight)
    model = layer().share_memory()
    shared, exitcode = in_a_child(model, inputs, targets)
    c.equal("the child's exit code", came=exitcode, expected=0)
    c.close("the parent's weight after 5 steps in a child", came=model.weight, expected=expected.weight)
    c.close("the parent's bias", came=model.bias, expected=expected.bias)
    c.equal("the child's parameters were shared at the end", came=shared, expected=1)
    c.equal("the parent's parameters have gradients", came=model.weight.grad is not None, expected=False)

# %% [markdown] exercise="11.4" role="debrief"
# **In PyTorch** the optimizers change parameters in place, under `no_grad`, so Hogwild works with all of them.
# `parameter.data = ...` gives the parameter another storage. The old storage is still shared, but no parameter of the
# child reads it any more. An assignment to `.data` also separates a parameter from every other tensor that read the old
# storage, such as a view of it.

# %% [markdown] exercise="11.4" role="hint"
# Sharing belongs to the storage. Print `parameter.is_shared()` in the child, before and after the first step.

# %% [markdown] exercise="11.4" role="hint"
# Which op changes the numbers of a parameter, and leaves it its storage? Its name ends in an underscore.


# %% [markdown] exercise="11.5" role="task" kind="fix" title="a broken library: two of everything"
# ## 11.5 Fix: a broken library, two of everything
#
# ★★☆, 30 minutes. A colleague saves whole models (`torch.save(model)`). Since the last pull, a model with tied weights
# gets worse when it is loaded and trained further. Files have the right size, and all values are right after loading.
# *One line of Python* of the library was changed. `PROGRAM` asks four questions, and `REPORT` holds what the broken
# library prints.
#
# Find the line. You have found it when you can break the library in the same way: return the file, and a patch as
# `%%rebuild` takes one, with `-` and `+` before the lines. Your own library stays as it is. The check runs `PROGRAM` in
# a scratch copy, and names the first line that differs from `REPORT`.

# %% exercise="11.5" role="given"
PROGRAM = """
import io
import zipfile

import reftorch as torch

first = torch.arange(100.0).reshape(10, 10)
stream = io.BytesIO()
torch.save({"first": first, "last": first.t()}, stream)
print("storages in the file:", sum("/data/" in name for name in zipfile.ZipFile(stream).namelist()))
stream.seek(0)
loaded = torch.load(stream)
print("the values are right:", loaded["first"].equal(first) and loaded["last"].equal(first.t()))
loaded["first"].zero_()
print("the two share memory after loading:", loaded["last"].sum().item() == 0)
again = io.BytesIO()
torch.save(loaded, again)
print("storages in a file that is saved again:", sum("/data/" in name for name in zipfile.ZipFile(again).namelist()))
"""
REPORT = [
    "storages in the file: 1",
    "the values are right: True",
    "the two share memory after loading: False",
    "storages in a file that is saved again: 2",
]


# %% exercise="11.5" role="answer"
def change() -> tuple[str, str]:
    """The file, and the patch that breaks the library as in REPORT."""
    # BEGIN SOLUTION
    return (
        "reftorch/serialization/loading.py",
        """
-        if key not in loaded:
+        if True:
""",
    )
    # END SOLUTION


# %% exercise="11.5" role="check"
with check("11.5", "a broken library: two of everything") as c:
    file, patch = change()
    c.case(f"the patch of {file}")
    broken = rebuild(file, patch)
    outcome = broken.run(PROGRAM)
    broken.close()
    c.equal("an error of the library with your patch", came=outcome.error, expected="")
    for came, expected in zip(outcome.printed.splitlines(), REPORT, strict=True):
        c.equal("a line that PROGRAM prints with your patch", came=came, expected=expected)

# %% [markdown] exercise="11.5" role="debrief"
# **In PyTorch** the dict is called `loaded_storages`, and is in `_load` of `torch/serialization.py`. A test that
# compares only values after loading does not find this bug. Saving and loading must keep two things: the values of the
# tensors, and which tensors share memory.

# %% [markdown] exercise="11.5" role="hint"
# The file is right: one storage. So the mistake is on the way back.

# %% [markdown] exercise="11.5" role="hint"
# The pickle names the storage with the key `0` twice. What does the loader do when it meets a key for the second time?
# Look for `persistent_load`.


# %% [markdown] exercise="11.6" role="task" kind="read" title="in PyTorch: what pickle is told"
# ## 11.6 Read, in PyTorch: what pickle is told
#
# ★★☆, 15 minutes. This question is answered in PyTorch itself: it needs PyTorch (`make torch`), and no other exercise
# of the chapter does. The next cell writes `IN_TORCH` to a file, and prints the command that runs the file under pdb.
#
# `IN_TORCH` saves five tensors. Stop before the line `return ("storage", ...)` of the function `persistent_id` in
# `_save` (`torch/serialization.py`). For each tensor, in the order in which pickle meets them, note `storage_key` and
# `storage_numel`.


# %% exercise="11.6" role="given"
IN_TORCH = """\
import io

import torch

table = torch.zeros(100, 10)
tensors = {"row": table[3], "column": table[:, 0], "copy": table[3].clone(), "half": table[3].half(), "whole": table}
torch.save(tensors, io.BytesIO())
"""
print(write_for_torch(IN_TORCH, "in_torch_11_6.py"))


# %% exercise="11.6" role="answer"
def storages() -> dict[str, tuple[str, int]]:
    # BEGIN SOLUTION
    return {"row": ("0", 1000), "column": ("0", 1000), "copy": ("1", 10), "half": ("2", 10), "whole": ("0", 1000)}
    # END SOLUTION


# %% exercise="11.6" role="check"
with check("11.6", "what pickle is told") as c:
    answer = storages()
    asked = ["storage_key", "storage_numel"]
    stops = stops_in_torch(IN_TORCH, "torch/serialization.py", "_save.persistent_id", 'return ("storage"', asked)
    pairs = [(stop["storage_key"].strip("'"), int(stop["storage_numel"])) for stop in stops]
    truth = dict(zip(["row", "column", "copy", "half", "whole"], pairs, strict=True))
    look = "A breakpoint at the line, and `p storage_key, storage_numel` at each stop."
    c.answers("keys and numbers of elements", came=answer, truth=truth, look=look)

# %% [markdown] exercise="11.6" role="debrief"
# **In PyTorch** the key is a number for each storage, in the order in which pickle meets the storages. Views of one
# table say the same key and the size of the whole table. How a tensor reads it, offset, sizes and strides, is in the
# pickle.

# %% [markdown] exercise="11.6" role="hint"
# After `import torch` has run, `break torch/serialization.py:NUMBER`. The lesson's view of the file has the number.

# %% [markdown] exercise="11.6" role="hint"
# `continue` five times. pickle also asks about objects that are not storages, and for these the function returns
# earlier.
