"""The exercises of chapter 05, solved; `make course` makes the learner's notebook of it.

Mirrors: nothing in PyTorch: exercises.
Leaves out: what the lesson explains.
"""

# %% [markdown]
# # Exercises 05: the graph
#
# Each exercise has a cell that raises until you have written it, and a check below that you run as often as you like.
# Stuck? `course("hint 05.1")` in a cell of its own. Done? `course("check 05")` runs the notebook, as last saved, from
# top to bottom.

# %%
import gc
import weakref

import reftorch as torch
from course._tools import check, course, graph, show_source
from reftorch.autograd.graph import saved_tensors_hooks

# %% [markdown] exercise="05.1" role="task" kind="read" title="what each op keeps"
# ## 05.1 Read: what each op keeps
#
# Memory in training is what the graph keeps, so the question comes up with every op: which tensors does it keep, and
# what changes when an input is frozen? `x` requires a gradient and `f` does not. For each call below answer with the
# names of the tensors that its node keeps, of `"x"`, `"f"` and `"result"`, in alphabetical order.
#
# The formulas say it: `reftorch/autograd/derivatives/binary.py`, `unary.py`, `activation.py`, `linalg.py`.

# %% exercise="05.1" role="given"
CALLS = {
    "x / f": lambda x, f: x / f,
    "f / x": lambda x, f: f / x,
    "f @ x": lambda x, f: f @ x,
    "x - f": lambda x, f: x - f,
    "x.tanh()": lambda x, f: x.tanh(),
    "x.log()": lambda x, f: x.log(),
}


def kept_by(call):
    """The names of the tensors that the graph of `call(x, f)` keeps, sorted."""
    x, f, seen = torch.rand(3, 3, requires_grad=True), torch.rand(3, 3) + 1, []
    with saved_tensors_hooks(lambda tensor: seen.append(tensor.data_ptr()) or tensor.detach(), lambda tensor: tensor):
        named = {"x": x, "f": f, "result": call(x, f)}
    return sorted(name for name, tensor in named.items() if tensor.data_ptr() in seen)


# %% exercise="05.1" role="answer"
def what_is_kept() -> dict[str, list[str]]:
    """For each of CALLS the sorted names of what its node keeps."""
    # BEGIN SOLUTION
    return {
        "x / f": ["f"],
        "f / x": ["f", "x"],
        "f @ x": ["f"],
        "x - f": [],
        "x.tanh()": ["result"],
        "x.log()": ["x"],
    }
    # END SOLUTION


# %% exercise="05.1" role="check"
with check("05.1", "what each op keeps") as c:
    answer = what_is_kept()
    for text, call in CALLS.items():
        c.equal(f"what the graph of {text} keeps", came=answer.get(text), expected=kept_by(call))

# %% [markdown] exercise="05.1" role="hint"
# Open `binary.py` and look for `"div.Tensor"`. Or draw: with `x = torch.rand(3, 3, requires_grad=True)` and an `f`,
# `graph(f / x, x=x)` shows what is kept.

# %% [markdown] exercise="05.1" role="hint"
# A formula for an input that wants no gradient is never asked for, and its parameters are not kept. For `x / f` only
# the formula for `self` counts.


# %% [markdown] exercise="05.2" role="task" kind="build" title="the bytes that a graph keeps"
# ## 05.2 Build: the bytes that a graph keeps
#
# Write the meter that you would have wanted in the loop of the lesson: how many bytes of memory does the graph of a
# computation keep? `saved_tensors_hooks` shows you every tensor that is kept. A tensor is not its memory, though: a
# view of one row keeps the whole storage, and a storage that is kept three times is there once.


# %% exercise="05.2" role="answer"
def kept_bytes(forward) -> int:
    """The bytes of all storages that the graph of `forward()` keeps, each counted once."""
    # BEGIN SOLUTION
    storages = {}

    def pack(tensor):
        storage = tensor.untyped_storage()
        storages[storage.data_ptr()] = storage.nbytes()
        return tensor.detach()

    with saved_tensors_hooks(pack, lambda tensor: tensor):
        result = forward()  # held: a storage that is freed could lend its address to the next
    del result
    return sum(storages.values())
    # END SOLUTION


# %% exercise="05.2" role="check"
def step(x, w):
    hidden = (x @ w).relu()
    return (hidden * hidden).mean()


with check("05.2", "the bytes that a graph keeps") as c:
    a, b = torch.randn(3, 3, requires_grad=True), torch.randn(3, 3, requires_grad=True)
    table = torch.randn(100, 3)
    c.equal("a + b keeps nothing", came=kept_bytes(lambda: a + b), expected=0)
    c.equal("a @ b keeps both", came=kept_bytes(lambda: a @ b), expected=2 * 9 * 4)
    c.equal("a * a keeps one storage, twice", came=kept_bytes(lambda: a * a), expected=9 * 4)
    c.equal("a row keeps its whole table", came=kept_bytes(lambda: a[0] * table[5]), expected=100 * 3 * 4)
    c.equal("float64 takes eight bytes", came=kept_bytes(lambda: a.double().exp()), expected=9 * 8)
    c.equal("x, w and hidden of a layer", came=kept_bytes(lambda: step(table, b)), expected=(300 + 300) * 4)
    with torch.no_grad():
        c.equal("no graph, nothing kept", came=kept_bytes(lambda: step(table, b)), expected=0)

# %% [markdown] exercise="05.2" role="hint"
# `with saved_tensors_hooks(pack, unpack): result = forward()`. `pack` gets each tensor and returns what is kept in its
# place: `tensor.detach()` will do. `unpack` is never called here, and may return what it gets.

# %% [markdown] exercise="05.2" role="hint"
# `tensor.untyped_storage()` has a `data_ptr()`, which tells storages apart, and `nbytes()`. A dict from the one to the
# other counts each once.


# %% [markdown] exercise="05.3" role="task" kind="read" title="who counts together"
# ## 05.3 Read: who counts together
#
# An error says *is at version 3; expected version 2*, and you count the in-place ops of your program and find one. The
# others came by other names of the same memory. Which version has each tensor after `changes()`? And which *one* of the
# names `row`, `twin`, `data` could you use to change `kept` below so that backward notices nothing and the gradient is
# wrong?


# %% exercise="05.3" role="given"
def changes():
    whole = torch.zeros(4)
    row, twin, data, copy = whole[:2], whole.detach(), whole.data, whole.clone()
    row.add_(1)
    twin[0] = 5
    data.mul_(2)
    whole.clamp_(max=3).neg_()
    return {"whole": whole, "row": row, "twin": twin, "data": data, "copy": copy}


def is_noticed(name):
    """Whether backward notices that `kept` was changed by another of its names."""
    kept = torch.ones(4, requires_grad=True).exp()
    total = kept.sum()
    {"row": kept[:2], "twin": kept.detach(), "data": kept.data}[name].zero_()
    try:
        total.backward()
    except RuntimeError:
        return True
    return False


# %% exercise="05.3" role="answer"
def versions() -> tuple[dict[str, int], str]:
    """The version of each tensor that `changes` returns, and the name by which a change goes unnoticed."""
    # BEGIN SOLUTION
    return {"whole": 4, "row": 4, "twin": 4, "data": 1, "copy": 0}, "data"
    # END SOLUTION


# %% exercise="05.3" role="check"
with check("05.3", "who counts together") as c:
    counted, unnoticed = versions()
    for name, tensor in changes().items():
        c.equal(f"the version of {name}", came=counted.get(name), expected=tensor._version)
    silent = [name for name in ("row", "twin", "data") if not is_noticed(name)]
    c.equal("the names by which a change goes unnoticed", came=[unnoticed], expected=silent)

# %% [markdown] exercise="05.3" role="hint"
# A tensor shares its counter with its views and with what `detach()` gives. `twin[0] = 5` is an in-place op like any
# other. `whole.clamp_(max=3).neg_()` are two.

# %% [markdown] exercise="05.3" role="hint"
# `variable_data` and `tensor_data` in `cpp/csrc/autograd/variable.h` differ in one argument. One of them is `.data`.


# %% [markdown] exercise="05.4" role="task" kind="fix" title="a Function that never lets go"
# ## 05.4 Fix: a Function that never lets go
#
# Below is a sigmoid as one finds it on the web, with correct gradients. Its author meant well: it keeps the result,
# which is alive anyway, and not the input. Yet memory grows until the garbage collector happens to run, and when
# somebody changed an activation in place, training went on with wrong gradients and no error.
#
# Write the mended Function. It still keeps the result and not the input.


# %% exercise="05.4" role="given"
class BrokenSigmoid(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.result = 1 / (1 + (-x).exp())
        return ctx.result

    @staticmethod
    def backward(ctx, grad):
        return grad * ctx.result * (1 - ctx.result)


# %% exercise="05.4" role="answer"
class Sigmoid(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        # BEGIN SOLUTION
        result = 1 / (1 + (-x).exp())
        ctx.save_for_backward(result)
        return result
        # END SOLUTION

    @staticmethod
    def backward(ctx, grad):
        # BEGIN SOLUTION
        (result,) = ctx.saved_tensors
        return grad * result * (1 - result)
        # END SOLUTION


# %% exercise="05.4" role="check"
from contextlib import contextmanager


def backward_after(change):
    result = Sigmoid.apply(torch.zeros(3, requires_grad=True))
    total = result.sum()
    change(result)
    total.backward()


@contextmanager
def no_collector():
    gc.disable()
    yield
    gc.enable()


def the_result():
    result = Sigmoid.apply(torch.zeros(3, requires_grad=True))
    seen = weakref.ref(result)
    del result
    return seen() is not None


def the_input():
    x = torch.zeros(3, requires_grad=True) * 1
    seen, result = weakref.ref(x), Sigmoid.apply(x)
    del x
    return result.requires_grad and seen() is not None


with check("05.4", "a Function that never lets go") as c:
    x = torch.tensor([-2.0, 0.0, 3.0], requires_grad=True)
    Sigmoid.apply(x).sum().backward()
    c.close("the gradient", came=x.grad, expected=torch.autograd.grad(x.sigmoid().sum(), x)[0])
    with no_collector():
        c.equal("the result is alive although nobody knows it any more", came=the_result(), expected=False)
        c.equal("the graph keeps the input alive", came=the_input(), expected=False)
    c.raises(
        "the result was changed in place before backward", RuntimeError, "inplace", backward_after, lambda y: y.zero_()
    )
    c.raises("a second backward", RuntimeError, "second time", backward_after, lambda y: y.sum().backward())

# %% [markdown] exercise="05.4" role="hint"
# Follow the pointers: the result owns its node, the node is `ctx`, and `ctx.result` is the result. Who lets go first?

# %% [markdown] exercise="05.4" role="hint"
# `ctx.save_for_backward(result)` in `forward`, `(result,) = ctx.saved_tensors` in `backward`. Of an output only the
# data is kept, with its version.


# %% [markdown] exercise="05.5" role="task" kind="build" title="a Function that works in place"
# ## 05.5 Build: a Function that works in place
#
# Activations are the largest part of what a graph keeps, and one that works in place needs no memory of its own. Write
# *leaky ReLU* so: negative elements of `x` are multiplied by `slope`, in `x` itself, and `x` is returned. The slope is
# positive, so the result has the signs of the input, and the result is all that `backward` has to keep.
#
# Autograd cannot see what `forward` does. It must be told that `x` was changed, or the history of `x` stays the old
# one.


# %% exercise="05.5" role="answer"
class LeakyReLUInPlace(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, slope):
        # BEGIN SOLUTION
        ctx.slope = slope
        x.mul_(torch.where(x > 0, 1.0, slope))
        ctx.mark_dirty(x)
        ctx.save_for_backward(x)
        return x
        # END SOLUTION

    @staticmethod
    def backward(ctx, grad):
        # BEGIN SOLUTION
        (result,) = ctx.saved_tensors
        return grad * torch.where(result > 0, 1.0, ctx.slope), None
        # END SOLUTION


# %% exercise="05.5" role="check"
def backward_of_a_kept_value():
    kept = torch.zeros(2, requires_grad=True).exp()
    LeakyReLUInPlace.apply(kept, 0.1).sum().backward()


with check("05.5", "a Function that works in place") as c:
    values = torch.tensor([-2.0, -1.0, 0.5, 3.0])
    leaf = values.clone().requires_grad_()
    x = leaf * 1
    address = x.data_ptr()
    result = LeakyReLUInPlace.apply(x, 0.1)
    c.close("the values", came=result, expected=torch.tensor([-0.2, -0.1, 0.5, 3.0]))
    c.equal(
        "the result is x, and in the same memory", came=(result is x, x.data_ptr() == address), expected=(True, True)
    )
    c.equal("the history of x begins with", came=x.grad_fn.name(), expected="LeakyReLUInPlaceBackward")
    c.equal("what comes before it", came=x.grad_fn.next_functions[0][0].name(), expected="MulBackward0")
    weights = torch.tensor([1.0, 10.0, 100.0, 1000.0])
    (x * weights).sum().backward()
    c.close("the gradient", came=leaf.grad, expected=torch.tensor([0.1, 1.0, 100.0, 1000.0]))
    c.raises("a value that exp has kept", RuntimeError, "inplace", backward_of_a_kept_value)
    c.raises("a leaf", RuntimeError, "leaf", LeakyReLUInPlace.apply, values.clone().requires_grad_(), 0.1)

# %% [markdown] exercise="05.5" role="hint"
# In `forward` four things: change `x` with an in-place op, `ctx.mark_dirty(x)`, `ctx.save_for_backward(x)`, `return x`.
# A number may be kept as an attribute of `ctx`.

# %% [markdown] exercise="05.5" role="hint"
# `torch.where(x > 0, 1.0, slope)` is the factor for each element, and in `backward`, asked of the result, the
# derivative. `backward` returns a gradient for each argument of `forward`: None for the slope.


# %% [markdown] exercise="05.6" role="task" kind="fix" title="a softmax that saved too much memory"
# ## 05.6 Fix: a softmax that saved too much memory
#
# This softmax was made lean, with two in-place ops, and its forward is right. Its backward raises, and the message does
# not name the line that is to blame. One of the two in-place ops is harmless; leave it as it is. Change the other, and
# nothing else.


# %% exercise="05.6" role="given"
def broken_softmax(x, temperature):
    scaled = x - x.max(dim=1, keepdim=True).values.detach()
    scaled.mul_(1 / temperature)
    weights = scaled.exp()
    total = weights.sum(dim=1, keepdim=True)
    weights.div_(total)
    return weights


# %% exercise="05.6" role="answer"
def softmax(x, temperature):
    # BEGIN SOLUTION
    scaled = x - x.max(dim=1, keepdim=True).values.detach()
    scaled.mul_(1 / temperature)
    weights = scaled.exp()
    total = weights.sum(dim=1, keepdim=True)
    return weights / total
    # END SOLUTION


# %% exercise="05.6" role="check"
from course._tools.trees import called
from reftorch.debug import call_tree


def names_of_nodes(tensor):
    """The names of all nodes behind a tensor, each once."""
    found, pending = [], [tensor.grad_fn]
    while pending:
        node = pending.pop()
        found.append(node.name().split("::")[-1])
        pending += [child for child, _ in node.next_functions if child is not None]
    return sorted(set(found))


with check("05.6", "a softmax that saved too much memory") as c:
    x = torch.tensor([[1.0, 2.0, 3.0], [1000.0, 1000.0, 0.0]], requires_grad=True)
    weights = torch.tensor([[1.0, -2.0, 3.0], [4.0, 5.0, 6.0]])
    with call_tree() as tree:
        result = softmax(x, 2.0)
    c.close("the values", came=result, expected=(x / 2).softmax(dim=1))
    expected = torch.autograd.grad(((x / 2).softmax(dim=1) * weights).sum(), x)[0]
    c.close("the gradient", came=torch.autograd.grad((result * weights).sum(), x)[0], expected=expected)
    c.equal("the input is as it was", came=x._version, expected=0)
    c.equal("how many ops work in place", came=called(tree).count("check_inplace"), expected=1)
    nodes = ["AccumulateGrad", "DivBackward0", "ExpBackward0", "MulBackward0", "SubBackward0", "SumBackward1"]
    c.equal("the kinds of node in the graph", came=names_of_nodes(result), expected=nodes)

# %% [markdown] exercise="05.6" role="hint"
# Run `broken_softmax` and backward, and read: *output 0 of Exp, is at version 1*. Exp kept its result. Who changed it?

# %% [markdown] exercise="05.6" role="hint"
# Subtraction keeps nothing, so its result may change. `exp` keeps its result, which `weights.div_` then divides. The
# out-of-place form of that one line is all.
