"""The exercises of chapter 05, solved; `make course` makes the learner's notebook of it.

Mirrors: nothing in PyTorch: exercises.
Leaves out: what the lesson explains.

The file is some 760 lines long, because all exercises of a chapter are in one file.
"""

# %% [markdown]
# # Exercises 05: the graph
#
# Each exercise has a cell that raises until you have written it, and a check below that you run as often as you like.
# The check says what it tests, and when it passes, how PyTorch does the same. Stars say how difficult an exercise is,
# from one to three. Stuck? `course("hint 05.1")` in a cell of its own. Done? `course("check 05")` runs the notebook, as
# last saved, from top to bottom.

# %%
import gc
import weakref

import reftorch as torch
from course._tools import check, course, rebuild, show_source, stops_in_torch, write_for_torch
from reftorch import _C
from reftorch.autograd.graph import saved_tensors_hooks

# %% [markdown] exercise="05.1" role="task" kind="read" title="what each op keeps"
# ## 05.1 Read: what each op keeps
#
# ★☆☆, 10 minutes. The memory of training is what the graph keeps, so the question comes up with every
# op: which tensors does it keep, and what changes when an input is frozen?
#
# `x` requires a gradient and `f` does not; both are matrices. For each call answer with the names of the matrices that
# its node keeps, of `"x"`, `"f"` and `"result"`, in alphabetical order:
#
# `x / f`, `f / x`, `f @ x`, `x - f`, `x.tanh()`, `x.log()`
#
# The formulas say it. They are in `reftorch/autograd/derivatives/`: `binary_ops.py`, `unary_ops.py`,
# `linear_algebra.py`. The check counts how many of your six answers are right.


# %% exercise="05.1" role="answer"
def what_is_kept() -> dict[str, list[str]]:
    """For each call the sorted names of the matrices that its node keeps, as `{"x / f": [...], ...}`."""
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
    answer, truth = what_is_kept(), {}
    for text in ("x / f", "f / x", "f @ x", "x - f", "x.tanh()", "x.log()"):
        x, f, seen = torch.rand(3, 3, requires_grad=True), torch.rand(3, 3) + 1, []
        with saved_tensors_hooks(lambda t, seen=seen: seen.append(t.data_ptr()) or t.detach(), lambda t: t):
            named = {"x": x, "f": f, "result": eval(text)}
        truth[text] = sorted(name for name, tensor in named.items() if tensor.data_ptr() in seen)
    c.answers("what the node of each call keeps", came=answer, truth=truth, look="Read the formula of each op again.")

# %% [markdown] exercise="05.1" role="debrief"
# **In PyTorch** the same formulas are in `tools/autograd/derivatives.yaml`, and the code generator reads from them
# what a node keeps. A formula may often be written with the input or with the result. `tanh` could keep either; the
# result is the better choice, because the next layer often keeps that tensor anyway.

# %% [markdown] exercise="05.1" role="hint"
# Open `binary_ops.py` and look for `"div.Tensor"`. The names of the formula's parameters are what the node keeps:
# `self` is the first input of the op, `other` the second one.

# %% [markdown] exercise="05.1" role="hint"
# A formula for an input that wants no gradient is never asked for, and its parameters are not kept. For `x / f` only
# the formula for `self` counts.


# %% [markdown] exercise="05.2" role="task" kind="build" title="the bytes that a graph keeps"
# ## 05.2 Build: the bytes that a graph keeps
#
# ★★☆, 20 minutes. Write the meter that you would have wanted in the loop of the lesson: how many bytes
# of memory does the graph of a computation keep?
#
# - `forward` is a function without arguments. Call it once, and return the number of bytes as an `int`.
# - `saved_tensors_hooks` shows you every tensor that is kept. A tensor is not its memory: a view of one row keeps the
#   whole storage, so count the storage.
# - A storage that is kept three times is there once, so count each storage once.
# - Where nothing is recorded, as under `torch.no_grad()`, the answer is 0.


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

# %% [markdown] exercise="05.2" role="debrief"
# **In PyTorch** `saved_tensors_hooks` carries activation offloading (`torch.autograd.graph.save_on_cpu`) and
# activation checkpointing (`torch.utils.checkpoint`). Both replace what is kept. The price is time: for copies, or
# for a second forward pass.

# %% [markdown] exercise="05.2" role="hint"
# `with saved_tensors_hooks(pack, unpack): result = forward()`. `pack` gets each tensor and returns what is kept in its
# place: `tensor.detach()` will do. `unpack` is never called here, and may return what it gets.

# %% [markdown] exercise="05.2" role="hint"
# `tensor.untyped_storage()` has a `data_ptr()`, which tells storages apart, and `nbytes()`. A dict from the one to the
# other counts each once.


# %% [markdown] exercise="05.3" role="task" kind="read" title="who counts together"
# ## 05.3 Read: who counts together
#
# ★★☆, 15 minutes. An error says *is at version 3; expected version 2*. You count the in-place ops of
# your program and find one. The others used other names of the same memory. This program makes five names:
#
# ```python
# whole = torch.zeros(4)
# row, twin, data, copy = whole[:2], whole.detach(), whole.data, whole.clone()
# row.add_(1)
# twin[0] = 5
# data.mul_(2)
# whole.clamp_(max=3).neg_()
# ```
#
# Which version has each of the five tensors at the end? And a second question: `kept = x.exp()` was computed, and
# `row`, `twin` and `data` are made from `kept` as above from `whole`. By which *one* of the three names can you change
# `kept` so that backward raises no error and returns a wrong gradient?
#
# The check counts how many of your six answers are right.


# %% exercise="05.3" role="answer"
def versions() -> tuple[dict[str, int], str]:
    """The version of each tensor, as `{"whole": ..., "row": ..., ...}`, and the name that backward does not notice."""
    # BEGIN SOLUTION
    return {"whole": 4, "row": 4, "twin": 4, "data": 1, "copy": 0}, "data"
    # END SOLUTION


# %% exercise="05.3" role="check"
from contextlib import suppress


def is_noticed(name):
    kept = torch.ones(4, requires_grad=True).exp()
    total = kept.sum()
    {"row": kept[:2], "twin": kept.detach(), "data": kept.data}[name].zero_()
    with suppress(RuntimeError):
        total.backward()
        return False
    return True


with check("05.3", "who counts together") as c:
    counted, unnoticed = versions()
    whole = torch.zeros(4)
    row, twin, data, copy = whole[:2], whole.detach(), whole.data, whole.clone()
    row.add_(1)
    twin[0] = 5
    data.mul_(2)
    whole.clamp_(max=3).neg_()
    tensors = {"whole": whole, "row": row, "twin": twin, "data": data, "copy": copy}
    truth = {name: tensor._version for name, tensor in tensors.items()}
    truth["unnoticed"] = next(name for name in ("row", "twin", "data") if not is_noticed(name))
    came = {**counted, "unnoticed": unnoticed}
    c.answers("versions, and the name", came=came, truth=truth, look="Ask of each name which counter it has.")

# %% [markdown] exercise="05.3" role="debrief"
# **In PyTorch** the counters are the same: `VariableVersion` in `c10/core/TensorImpl.h`. `x.data` is there for old
# programs. Use `x.detach()`: a change through it is noticed.

# %% [markdown] exercise="05.3" role="hint"
# A tensor shares its counter with its views and with what `detach()` gives. `twin[0] = 5` is an in-place op like any
# other. `whole.clamp_(max=3).neg_()` are two.

# %% [markdown] exercise="05.3" role="hint"
# `variable_data` and `tensor_data` in `cpp/csrc/autograd/variable.h` differ in one argument, and their comments say
# which of them makes `.data`.


# %% [markdown] exercise="05.4" role="task" kind="fix" title="a Function that never lets go"
# ## 05.4 Fix: a Function that never lets go
#
# ★★☆, 15 minutes. Below is a sigmoid as one finds it on the web. Its gradients are right. Its author
# meant well: it keeps the result, which is alive anyway, and not the input. But memory grows until the garbage
# collector happens to run. And when a later line changed an activation in place, training went on with wrong gradients
# and no error.
#
# Write the fixed Function:
#
# - values and gradients are those of `x.sigmoid()`;
# - when the last variable that names the result is deleted, the result is freed at once, without the collector;
# - it keeps the result and not the input;
# - `backward()` raises if the result was changed in place, and if `backward()` is called a second time.


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
        c.equal("the result is alive although no variable names it", came=the_result(), expected=False)
        c.equal("the graph keeps the input alive", came=the_input(), expected=False)
    c.raises(
        "the result was changed in place before backward", RuntimeError, "inplace", backward_after, lambda y: y.zero_()
    )
    c.raises("a second backward", RuntimeError, "second time", backward_after, lambda y: y.sum().backward())

# %% [markdown] exercise="05.4" role="debrief"
# **In PyTorch** the rule is the same: inputs and outputs go to `save_for_backward`, and attributes of `ctx` are for
# the rest. A kept output has no history, so no cycle arises. The price is one more tensor object for each kept
# output.

# %% [markdown] exercise="05.4" role="hint"
# Follow the pointers: the result owns its node, the node is `ctx`, and `ctx.result` is the result. Who lets go first?

# %% [markdown] exercise="05.4" role="hint"
# `ctx.save_for_backward(result)` in `forward`, `(result,) = ctx.saved_tensors` in `backward`. Of an output only the
# data is kept, with its version.


# %% [markdown] exercise="05.5" role="task" kind="build" title="a Function that works in place"
# ## 05.5 Build: a Function that works in place
#
# ★★★, 25 minutes. Activations are the largest part of what a graph keeps. An activation function that
# works in place needs no memory of its own. Write *leaky ReLU* in this way:
#
# - `LeakyReLUInPlace.apply(x, slope)` multiplies the negative elements of `x` by `slope`, in the memory of `x`, and
#   returns `x` itself;
# - the slope is positive, so the result has the signs of the input: `backward` needs the result and not the input;
# - the new node becomes the `grad_fn` of `x`, and the former one comes behind it;
# - if another node has kept the old values of `x`, its backward raises; a leaf that requires a gradient is refused.
#
# Autograd cannot see what `forward` does, so your Function must say that `x` was changed.


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

# %% [markdown] exercise="05.5" role="debrief"
# **In PyTorch** `torch.nn.functional.leaky_relu(x, slope, inplace=True)` keeps its result too. So its backward
# refuses a negative slope: the signs of the result would no longer say where the input was negative.

# %% [markdown] exercise="05.5" role="hint"
# In `forward` four things: change `x` with an in-place op, `ctx.mark_dirty(x)`, `ctx.save_for_backward(x)`, `return x`.
# A number may be kept as an attribute of `ctx`.

# %% [markdown] exercise="05.5" role="hint"
# `torch.where(x > 0, 1.0, slope)` is the factor for each element, and in `backward`, asked of the result, the
# derivative. `backward` returns a gradient for each argument of `forward`: None for the slope.


# %% [markdown] exercise="05.6" role="task" kind="fix" title="a softmax that saved too much memory"
# ## 05.6 Fix: a softmax that saved too much memory
#
# ★★☆, 15 minutes. This softmax was made lean, with two in-place ops, and its forward is right. Its
# backward raises, and the message does not name the line that is to blame.
#
# One of the two in-place ops is harmless; leave it as it is. Change the other one, and nothing else. The check tests
# the values, the gradient, that the input is unchanged, that one op works in place, and which kinds of node the graph
# has.


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

# %% [markdown] exercise="05.6" role="debrief"
# **In PyTorch** `torch.softmax` is one op with one kernel and one node, and keeps only its result. A chain of ops
# keeps more: here the result of `exp`, and both sides of the division.

# %% [markdown] exercise="05.6" role="hint"
# Run `broken_softmax` and backward, and read: *output 0 of Exp, is at version 1*. Exp kept its result. Who changed it?

# %% [markdown] exercise="05.6" role="hint"
# Subtraction keeps nothing, so its result may change. `exp` keeps its result, which `weights.div_` then divides. The
# out-of-place form of that one line is all.


# %% [markdown] exercise="05.7" role="task" kind="fix" title="a leak hunt"
# ## 05.7 Project: a leak hunt
#
# ★★★, an evening. `LeakyTrainer` below trains a layer. Its gradients are right, and it uses ever
# more memory: 65 kB more in each step, where a batch has 16 kB. It has more than one leak, and the symptom is all that
# you know.
# `bytes_in_use()` says how much memory the tensors of the process use, and the lesson has tools that show what a result
# keeps. Find the leaks, and write `Trainer`:
#
# - `Trainer(weight)` and `Trainer.step(batch)` are called as those of `LeakyTrainer`;
# - after each step `weight.grad`, `average` and the values in `samples` are those of `LeakyTrainer`;
# - `norms` gets one number in each step: the norm of the gradient that arrived at `weight`;
# - with the garbage collector off, a step adds less than 1 kB to the memory in use (a sample is 256 bytes);
# - nothing that the trainer keeps has a history, and no step adds a hook.


# %% exercise="05.7" role="given"
def bytes_in_use():
    return _C._cpu_memory_stats()["allocated_bytes"]


class Swish(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.x, ctx.gate = x, x.sigmoid()
        ctx.result = ctx.x * ctx.gate
        return ctx.result

    @staticmethod
    def backward(ctx, grad):
        return grad * (ctx.result + ctx.gate * (1 - ctx.result))


class LeakyTrainer:
    def __init__(self, weight):
        self.weight = weight
        self.average = torch.zeros(())
        self.samples = []  # the first row of each step's activations, for a picture
        self.norms = []

    def step(self, batch):
        self.weight.grad = None
        self.weight.register_hook(lambda grad: self.norms.append((grad.norm().item(), batch.shape)))
        hidden = Swish.apply(batch @ self.weight)
        loss = (hidden * hidden).mean()
        loss.backward()
        self.average = 0.9 * self.average + 0.1 * loss
        self.samples.append(hidden[0])
        with torch.no_grad():
            self.weight -= 0.01 * self.weight.grad


# %% exercise="05.7" role="answer"
class Trainer:
    def __init__(self, weight):
        # BEGIN SOLUTION
        self.weight = weight
        self.average = torch.zeros(())
        self.samples = []
        self.norms = []
        # END SOLUTION

    def step(self, batch):
        # BEGIN SOLUTION
        class LeanSwish(torch.autograd.Function):
            @staticmethod
            def forward(ctx, x):
                gate = x.sigmoid()
                result = x * gate
                ctx.save_for_backward(gate, result)
                return result

            @staticmethod
            def backward(ctx, grad):
                gate, result = ctx.saved_tensors
                return grad * (result + gate * (1 - result))

        self.weight.grad = None
        hidden = LeanSwish.apply(batch @ self.weight)
        loss = (hidden * hidden).mean()
        loss.backward()
        self.norms.append(self.weight.grad.norm().item())
        self.average = 0.9 * self.average + 0.1 * loss.detach()
        self.samples.append(hidden[0].detach().clone())
        with torch.no_grad():
            self.weight -= 0.01 * self.weight.grad
        # END SOLUTION


# %% exercise="05.7" role="check"
from contextlib import contextmanager


@contextmanager
def collector_off():
    gc.disable()
    yield
    gc.enable()


def trained(kind, steps):
    torch.manual_seed(0)
    trainer = kind(torch.randn(64, 64, requires_grad=True))
    for _ in range(steps):
        trainer.step(torch.randn(64, 64))
    return trainer


with check("05.7", "a leak hunt") as c:
    ours, leaky = trained(Trainer, 5), trained(LeakyTrainer, 5)
    c.close("weight.grad after 5 steps", came=ours.weight.grad, expected=leaky.weight.grad)
    c.close("average after 5 steps", came=ours.average.detach(), expected=leaky.average.detach())
    c.close("the samples of 5 steps", came=torch.stack(ours.samples), expected=torch.stack(leaky.samples))
    c.equal("how many norms 5 steps give", came=len(ours.norms), expected=5)
    c.close("the last norm", came=torch.tensor(ours.norms[-1]), expected=leaky.weight.grad.norm())
    kept = [ours.average, *ours.samples]
    c.equal("how many of the kept tensors have a history", came=sum(t.grad_fn is not None for t in kept), expected=0)
    hooks_after = [len(trained(Trainer, steps).weight._backward_hooks or {}) for steps in (1, 5)]
    c.equal("hooks that 4 more steps add to weight", came=hooks_after[1] - hooks_after[0], expected=0)
    gc.collect()
    with collector_off():
        trainer = trained(Trainer, 5)
        before = bytes_in_use()
        for _ in range(20):
            trainer.step(torch.randn(64, 64))
        each = (bytes_in_use() - before) // 20
    c.true("bytes that a step adds", each < 1024, came=f"{each} bytes", expected="less than 1024 bytes")

# %% [markdown] exercise="05.7" role="debrief"
# **In PyTorch** the same hunt on a GPU uses `torch.cuda.memory._record_memory_history()`, which notes the stack of
# each allocation. `gc.get_objects()` finds the tensors that Python still knows. What only a graph keeps is found by
# walking `grad_fn`, as in the lesson.

# %% [markdown] exercise="05.7" role="hint"
# Measure first: take lines out of `step` one after another, and look at `bytes_in_use()` before and after ten steps.
# Ask of each thing that outlives a step (a list, an attribute, a hook, a node): what does it own?

# %% [markdown] exercise="05.7" role="hint"
# There are four: a number with a history, a view that keeps a whole storage (and has a history), a hook that is
# registered in each step and owns what its function uses, and a Function that owns its own result.

# %% [markdown] exercise="05.7" role="hint"
# `loss.detach()` for the average; `hidden[0].detach().clone()` for the sample, because a view owns the storage of its
# base; the norm from `weight.grad` after backward; `save_for_backward` in a Swish of your own.

# %% [markdown] exercise="05.8" role="task" kind="fix" title="a broken library: the memory comes back late"
# ## 05.8 Fix: a broken library, the memory comes back late
#
# ★★☆, 30 minutes. Since the last pull all trainings need more memory. All losses and all gradients are
# right. The memory does come back, but late: when the loss is gone, and not at the end of `backward()`. *One line of
# C++* of the library was taken out or changed. `PROGRAM` asks four questions, and `REPORT` holds what the broken
# library prints.
#
# Find the line. You have found it when you can break the library in the same way: return the file, and a patch as
# `%%rebuild` takes one, with `-` and `+` before the lines. Your own library stays as it is. The check compiles the
# change in a scratch copy (some seconds), runs `PROGRAM`, and names the first line that differs from `REPORT`.

# %% exercise="05.8" role="given"
PROGRAM = """
import weakref
import reftorch as torch

x = torch.zeros(3, requires_grad=True)
result = x.exp()
alive = weakref.ref(result)
loss = (result * result).sum()
del result
loss.backward()
print("the gradient:", x.grad.tolist())
print("after backward, the graph keeps the result of exp:", alive() is not None)
try:
    loss.backward()
    print("a second backward: no error")
except RuntimeError:
    print("a second backward: RuntimeError")
del loss
print("without the loss, the result of exp is there:", alive() is not None)
"""
REPORT = [
    "the gradient: [2.0, 2.0, 2.0]",
    "after backward, the graph keeps the result of exp: True",
    "a second backward: no error",
    "without the loss, the result of exp is there: False",
]


# %% exercise="05.8" role="answer"
def change() -> tuple[str, str]:
    """The file, and the patch that breaks the library as in REPORT."""
    # BEGIN SOLUTION
    return (
        "cpp/csrc/autograd/formula.cpp",
        """
   for (SavedVariable& saved : saved_variables_) {
-    dropped.push_back(saved.release());
""",
    )
    # END SOLUTION


# %% exercise="05.8" role="check"
with check("05.8", "a broken library: the memory comes back late") as c:
    file, patch = change()
    c.case(f"the patch of {file}")
    broken = rebuild(file, patch)
    outcome = broken.run(PROGRAM)
    broken.close()
    c.equal("an error of the library with your patch", came=outcome.error, expected="")
    for came, expected in zip(outcome.printed.splitlines(), REPORT, strict=True):
        c.equal("a line that PROGRAM prints with your patch", came=came, expected=expected)

# %% [markdown] exercise="05.8" role="debrief"
# **In PyTorch** each generated node has its own `release_variables`, and the engine calls it unless `retain_graph` is
# set. The error of a second backward pass is the visible side of the same thing: a graph that was freed cannot be read
# again. A test that asks only for gradients would never have noticed. Tests of this library ask whether the tensor is
# gone.

# %% [markdown] exercise="05.8" role="hint"
# Which argument of `backward` makes your own library behave like the report? What does the engine leave out then?

# %% [markdown] exercise="05.8" role="hint"
# A node has a function that lets go of what the node kept. The picture of the way of a product, near the top of the
# lesson, names the function.

# %% [markdown] exercise="05.8" role="hint"
# `show_source("FormulaNode::release_variables")`. One node keeps single tensors, and some keep lists of tensors. Which
# of the two does `exp` have?


# %% [markdown] exercise="05.9" role="task" kind="read" title="in PyTorch: change what was saved"
# ## 05.9 Read, in PyTorch: change what was saved
#
# ★★★, 20 minutes. This question is answered in PyTorch itself: it needs PyTorch (`make torch`), and no other exercise
# of the chapter does. The next cell writes `IN_TORCH` to a file, and prints the command that runs the file under pdb.
#
# In the lesson a saved tensor that has changed is an error. PyTorch has a way to allow the change: under
# `allow_mutation_on_saved_tensors`, which is written in Python in `torch/autograd/graph.py`, a saved tensor is copied
# just before it changes. `IN_TORCH` changes three saved tensors: `b` twice, and `c` and `d` by way of a view. Stop at
# the line that copies, `ctx.cloned[handle] = ctx.original[handle].clone()` in
# `_CloneArgBeforeMutateMode.__torch_dispatch__`, and at the last line of `unpack_hook` in `_swap_with_cloned`, where
# backward gets a saved tensor. Return:
#
# - `"copied"`: which tensors are copied (`"b"`, `"c"`, `"d"`), a list in the order of the stops;
# - `"b"`, `"c"`, `"d"`: for each, the two numbers that backward gets, as a list of floats.


# %% exercise="05.9" role="given"
IN_TORCH = """\
import torch

with torch.autograd.graph.allow_mutation_on_saved_tensors():
    a = torch.ones(2, requires_grad=True)
    b, c, d = a * 2, a * 3, a * 5
    loss = (b * b).sum() + (c * c).sum() + (d * d).sum()
    b.add_(1)
    b.add_(1)
    c[0].mul_(10)
    d[1].mul_(10)
    loss.backward()
print(a.grad)
"""
print(write_for_torch(IN_TORCH, "in_torch_05_9.py"))


# %% exercise="05.9" role="answer"
def copies() -> dict[str, list]:
    # BEGIN SOLUTION
    return {"copied": ["b", "c"], "b": [2.0, 2.0], "c": [3.0, 3.0], "d": [5.0, 50.0]}
    # END SOLUTION


# %% exercise="05.9" role="check"
with check("05.9", "change what was saved") as c:
    answer = copies()
    file, mode = "torch/autograd/graph.py", "_CloneArgBeforeMutateMode.__torch_dispatch__"
    names = {2.0: "b", 3.0: "c", 5.0: "d"}
    cloned = stops_in_torch(IN_TORCH, file, mode, "ctx.cloned[handle] = ctx.orig", ["ctx.original[handle].tolist()"])
    truth = {"copied": [names[eval(value)[0]] for stop in cloned for value in stop.values()]}
    read = stops_in_torch(IN_TORCH, file, "_swap_with_cloned.__init__.unpack_hook", "return res", ["res.tolist()"])
    truth |= {names[eval(value)[0]]: eval(value) for stop in read for value in stop.values()}
    look = "Two breakpoints: `p ctx.original[handle]` at the first, `p res` at the second."
    c.answers("the copies, and what backward gets", came=answer, truth=truth, look=look)

# %% [markdown] exercise="05.9" role="debrief"
# **In PyTorch** this is a hook for saved tensors and a mode that sees every op before it runs. The mode knows a saved
# tensor again by the address of its first element and its version. `c[0]` begins at the address of `c`, so `c` is
# copied. `d[1]` begins four bytes later, so the mode takes it for another tensor. Nothing is copied, and because a
# hook holds the tensor, nobody compares versions any more: the second gradient is 526 where 76 is right, and there is
# no error. The version counter, which all views share, would have shown the change: this is a gap in PyTorch 2.13.

# %% [markdown] exercise="05.9" role="hint"
# After `import torch`: `break torch/autograd/graph.py:NUMBER` for both lines. `p ctx.original[handle]` is the tensor
# that will be copied.

# %% [markdown] exercise="05.9" role="hint"
# Each of the three is saved twice, as both factors of a product, and backward gets both.
