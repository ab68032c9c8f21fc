"""The exercises of chapter 14, solved; `make course` makes the learner's notebook of it.

Mirrors: nothing in PyTorch: exercises.
Leaves out: what the lesson explains.

The file is some 790 lines long, because all exercises of a chapter are in one file.
"""

# %% [markdown]
# # Exercises 14: debugging models
#
# Most of these are models with one planted fault, and you are told the symptom alone. Use the tools of the lesson
# before you read the code: that is what the exercises are for.
#
# Each exercise has a cell that raises until you have written it, and a check below that you run as often as you like.
# The check says what it tests, and when it passes, how PyTorch does the same.
# Stuck? `course("hint 14.1")` in a cell of its own. Done? `course("check 14")` runs the notebook, as last saved, from
# top to bottom.

# %%
import contextlib
import copy
import math

import reftorch as torch
from course._tools import check, course, stops_in_torch, write_for_torch
from course._tools.rebuilds import unpacked
from reftorch import nn
from reftorch.debug import diagnose, draw_activations, find_nan, find_wrong_gradient, record_tensors

# %% [markdown] exercise="14.1" role="task" kind="read" title="the gradient at zero"
# ## 14.1 Read: the gradient at zero
#
# ★☆☆, 10 minutes. A NaN usually begins at a special value: equal places, an empty mask, a constant
# column. `x` is a leaf with two zeros. What does `x.grad` have after `backward()` of each of these? Answer with
# `"finite"`, `"Inf"` (at least one infinity and no NaN) or `"NaN"` (at least one NaN).
#
# - `"a"`: `x.sqrt().sum()`
# - `"b"`: `(x.sqrt() * 0).sum()`
# - `"c"`: `x.norm()`
# - `"d"`: `x.std()`
# - `"e"`: `x.square().sum().sqrt()`
# - `"f"`: `torch.where(x > 0, x.log(), 0.0).sum()`
# - `"g"`: `x.abs().sum()`
# - `"h"`: `torch.where(x > 0, x, 1.0).log().sum()`


# %% exercise="14.1" role="answer"
def at_zero() -> dict[str, str]:
    """`"finite"`, `"Inf"` or `"NaN"` for each program, as `{"a": ..., "b": ..., ...}`."""
    # BEGIN SOLUTION
    return {
        "a": "Inf",
        "b": "NaN",
        "c": "finite",
        "d": "finite",
        "e": "NaN",
        "f": "NaN",
        "g": "finite",
        "h": "finite",
    }
    # END SOLUTION


# %% exercise="14.1" role="check"
def kind_of_gradient(program):
    x = torch.zeros(2, requires_grad=True)
    program(x).backward()
    has_nan, has_inf = bool(x.grad.isnan().any()), bool(x.grad.isinf().any())
    return "NaN" if has_nan else "Inf" if has_inf else "finite"


with check("14.1", "the gradient at zero") as c:
    truth = {
        "a": kind_of_gradient(lambda x: x.sqrt().sum()),
        "b": kind_of_gradient(lambda x: (x.sqrt() * 0).sum()),
        "c": kind_of_gradient(lambda x: x.norm()),
        "d": kind_of_gradient(lambda x: x.std()),
        "e": kind_of_gradient(lambda x: x.square().sum().sqrt()),
        "f": kind_of_gradient(lambda x: torch.where(x > 0, x.log(), 0.0).sum()),
        "g": kind_of_gradient(lambda x: x.abs().sum()),
        "h": kind_of_gradient(lambda x: torch.where(x > 0, x, 1.0).log().sum()),
    }
    look = "Which gradient arrives at the root or the logarithm, and what is it divided by?"
    c.answers("the gradients of the eight programs", came=at_zero(), truth=truth, look=look)

# %% [markdown] exercise="14.1" role="debrief"
# **In PyTorch** all eight are the same. `norm` and `std` are ops with formulas of their own, and these have a guard;
# the same functions written with `sqrt` have none. That is a reason to use the op: its author has thought of the
# special values.

# %% [markdown] exercise="14.1" role="hint"
# The formula of the root is `grad / (2 * result)`. With `grad` = 1 that is 1 / 0, and with `grad` = 0 it is 0 / 0.

# %% [markdown] exercise="14.1" role="hint"
# In `e` the root gets 1 / 0, an infinity. `square` multiplies it by `2 * x`, which is 0.


# %% [markdown] exercise="14.2" role="task" kind="build" title="where the gradients go"
# ## 14.2 Build: where the gradients go
#
# ★★☆, 25 minutes. You want one line for each layer that says how large the gradient is that reaches it.
# Then you see at a glance where gradients vanish or stop. Write `flow(model, run)`:
#
# - `run()` is a function without arguments that calls the model and `backward()`. You call it once;
# - the result is a list of pairs `(name, norm)`: for each call of a module *without children*, the module's dotted
#   name, and the norm of the gradient of its output as a float, in the order in which backward computes these
#   gradients;
# - a module whose output gets no gradient is not in the list; one that is called twice is in it twice;
# - the outputs of these modules are single tensors; an output that does not require a gradient is allowed, and left
#   out;
# - afterwards the model has no hooks of yours, of whatever kind, also when `run()` raises an error; the error comes
#   through.


# %% exercise="14.2" role="answer"
def flow(model, run) -> list[tuple[str, float]]:
    """Names of modules and norms of the gradients of their outputs, in the order of backward."""
    # BEGIN SOLUTION
    found, handles = [], []

    def watch(name):
        def after(module, args, output):
            if output.requires_grad:
                output.register_hook(lambda grad: found.append((name, grad.norm().item())))

        return after

    for name, module in model.named_modules():
        if not list(module.children()):
            handles.append(module.register_forward_hook(watch(name)))
    try:
        run()
    finally:
        for handle in handles:
            handle.remove()
    return found
    # END SOLUTION


# %% exercise="14.2" role="check"
class Twice(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = nn.Sequential(nn.Linear(3, 3), nn.Tanh())
        self.cut = nn.Linear(3, 3)

    def forward(self, x):
        h = self.inner(self.inner(x))
        return h + self.cut(h).detach()


def hooks_of(model):
    """The hooks of all modules, of every kind: of forward and of backward, before and after."""
    return sum(
        len(value)
        for module in model.modules()
        for name, value in vars(module).items()
        if name.endswith("_hooks") and isinstance(value, dict)
    )


with check("14.2", "where the gradients go") as c:
    torch.manual_seed(0)
    model, x = nn.Sequential(nn.Linear(2, 4), nn.Tanh(), nn.Linear(4, 1)), torch.ones(3, 2)
    calls = []

    def run():
        calls.append(1)
        model(x).square().sum().backward()

    case = c.case("three layers")
    came = flow(model, run)
    hidden = model[0](x)
    active = hidden.tanh()
    result = model[2](active)
    gradients = torch.autograd.grad(result.square().sum(), [result, active, hidden])
    c.equal(f"{case}: calls of run", came=len(calls), expected=1)
    c.equal(f"{case}: names, in the order of backward", came=[name for name, _ in came], expected=["2", "1", "0"])
    c.equal(f"{case}: the type of a norm", came={type(norm) for _, norm in came}, expected={float})
    c.close(
        f"{case}: norms",
        came=torch.tensor([norm for _, norm in came]),
        expected=torch.stack([gradient.norm() for gradient in gradients]),
    )
    c.equal(f"{case}: hooks that are left", came=hooks_of(model), expected=0)

    case = c.case("a block that is called twice, and a layer without a gradient")
    twice = Twice()
    came = flow(twice, lambda: twice(torch.ones(1, 3)).sum().backward())
    c.equal(f"{case}: names", came=[name for name, _ in came], expected=["inner.1", "inner.0", "inner.1", "inner.0"])

    case = c.case("a frozen layer below")
    half = nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 1))
    half[0].requires_grad_(False)
    came = flow(half, lambda: half(torch.ones(1, 2)).sum().backward())
    c.equal(f"{case}: names", came=[name for name, _ in came], expected=["1"])

    case = c.case("run raises")

    def fail():
        raise ValueError("out of data")

    c.raises(case, ValueError, "out of data", flow, model, fail)
    c.equal(f"{case}: hooks that are left", came=hooks_of(model), expected=0)

# %% [markdown] exercise="14.2" role="debrief"
# **In PyTorch** the same lines work. `register_full_backward_hook` gives the gradients of a module's inputs and outputs
# too, at the price of a node around the module, which copies nothing but makes views of the outputs: an op in place on
# such an output raises an error. A hook on the output tensor has no such side effect.

# %% [markdown] exercise="14.2" role="hint"
# A forward hook gets `(module, args, output)` after each call (chapter 07). In it, `output.register_hook` takes a
# function of the gradient. Beware of a loop variable that the inner function reads later, when it has changed.

# %% [markdown] exercise="14.2" role="hint"
# `try: run()`, and `finally:` remove the handles that `register_forward_hook` returned.


# %% [markdown] exercise="14.3" role="task" kind="fix" title="a sensor is off"
# ## 14.3 Fix: a sensor is off
#
# ★★☆, 20 minutes. **Symptom.** The model below trains for weeks. Then one sensor is switched off, and
# sends 0 in all rows of the batch. The loss of that batch is finite, and from the next batch on, everything is NaN.
# Write `Sensors`, with the layers
# of `BrokenSensors`:
#
# - where `BrokenSensors` has finite gradients, outputs and gradients of all parameters agree with it to 1e-4;
# - where a column, or all columns, have one value in the whole batch, outputs and gradients of all parameters are
#   finite, and the outputs agree with those of `BrokenSensors` to 1e-4;
# - the gradient also flows through the mean and the deviation, so it agrees with measured slopes.


# %% exercise="14.3" role="given"
class BrokenSensors(nn.Module):
    def __init__(self):
        super().__init__()
        self.gain = nn.Parameter(torch.ones(4))
        self.out = nn.Linear(4, 1)

    def forward(self, x):
        x = x * self.gain
        centered = x - x.mean(0)
        deviation = centered.square().mean(0).sqrt()
        return self.out(centered / (deviation + 1e-5))


# %% exercise="14.3" role="answer"
class Sensors(nn.Module):
    def __init__(self):
        super().__init__()
        self.gain = nn.Parameter(torch.ones(4))
        self.out = nn.Linear(4, 1)

    def forward(self, x):
        # BEGIN SOLUTION
        x = x * self.gain
        centered = x - x.mean(0)
        variance = centered.square().mean(0)
        varies = variance > 0
        deviation = torch.where(varies, torch.where(varies, variance, 1.0).sqrt(), 0.0)
        return self.out(centered / (deviation + 1e-5))
        # END SOLUTION


# %% exercise="14.3" role="check"
def outputs_and_gradients(kind, x, scale=1.0):
    torch.manual_seed(0)
    model = kind()
    with torch.no_grad():
        model.gain.mul_(scale)
    output = model(x)
    (output * torch.arange(len(x)).reshape(-1, 1)).sum().backward()
    return {"the output": output, **{f"the gradient of {name}": p.grad for name, p in model.named_parameters()}}


with check("14.3", "a sensor is off") as c:
    torch.manual_seed(1)
    batch = torch.randn(8, 4)
    for what, x, scale in (("a batch", batch, 1.0), ("another gain", batch * 3 + 1, torch.tensor([2.0, 0.5, 1, 1]))):
        c.case(what)
        expected = outputs_and_gradients(BrokenSensors, x, scale)
        for part, value in outputs_and_gradients(Sensors, x, scale).items():
            c.close(f"{what}: {part}", came=value, expected=expected[part], rtol=1e-4, atol=1e-4)
    off, all_off = batch.clone(), torch.full((8, 4), 2.0)
    off[:, 1] = 0.0
    for what, x in (("one column is 0", off), ("all columns are 2", all_off)):
        c.case(what)
        expected = outputs_and_gradients(BrokenSensors, x)["the output"]
        came = outputs_and_gradients(Sensors, x)
        c.close(f"{what}: the output", came=came["the output"], expected=expected, rtol=1e-4, atol=1e-4)
        for part, value in came.items():
            finite = bool(value.isfinite().all())
            c.true(f"{what}: {part} is finite", finite, came=repr(value), expected="finite numbers")
    wrong = find_wrong_gradient(Sensors(), batch).first
    c.true("gradients agree with slopes", wrong is None, came=str(wrong), expected="no wrong gradient")

# %% [markdown] exercise="14.3" role="debrief"
# **In PyTorch** `BatchNorm1d` computes `(var + eps).rsqrt()`: the small number is *inside* the root, so its argument is
# never 0. With `eps` outside, as in many a program, the forward pass is safe and the backward pass is not. An `eps`
# inside changes the output where the deviation is about as small as its root, which is usually what you want.

# %% [markdown] exercise="14.3" role="hint"
# `with find_nan(model) as found:` around forward and backward of a batch with a column of zeros; then look at `found`.

# %% [markdown] exercise="14.3" role="hint"
# The root's argument must not be 0, and the result must still be 0 there. The lesson has a program with two `where`.


# %% [markdown] exercise="14.4" role="task" kind="fix" title="a reader without a memory"
# ## 14.4 Fix: a reader without a memory
#
# ★★☆, 20 minutes. **Symptom.** A recurrent model reads sequences of 1000 steps. To save memory, its
# author cuts the graph after every `every` steps. The model learns what depends on the last symbol, and never anything
# that is two symbols back, although `every` is 8. All parameters get gradients, and slopes measured for `every=1`
# agree. Write `Reader`, with the layers of `BrokenReader`:
#
# - for inputs of the shape (time, batch, 2), the outputs are equal to those of `BrokenReader`;
# - the graph is cut before the steps `every`, `2 * every`, ... and nowhere else: the gradient of the output of a step
#   reaches the inputs of its own stretch, up to this step, and no input of an earlier stretch.


# %% exercise="14.4" role="given"
class BrokenReader(nn.Module):
    def __init__(self, every=8):
        super().__init__()
        self.every = every
        self.read = nn.Linear(2, 4)
        self.remember = nn.Linear(4, 4)

    def forward(self, x):
        state, outputs = torch.zeros(x.shape[1], 4), []
        for time in range(x.shape[0]):
            if time % self.every:
                state = state.detach()
            state = (self.read(x[time]) + self.remember(state)).tanh()
            outputs.append(state)
        return torch.stack(outputs)


# %% exercise="14.4" role="answer"
class Reader(nn.Module):
    def __init__(self, every=8):
        super().__init__()
        self.every = every
        self.read = nn.Linear(2, 4)
        self.remember = nn.Linear(4, 4)

    def forward(self, x):
        # BEGIN SOLUTION
        state, outputs = torch.zeros(x.shape[1], 4), []
        for time in range(x.shape[0]):
            if time % self.every == 0:
                state = state.detach()
            state = (self.read(x[time]) + self.remember(state)).tanh()
            outputs.append(state)
        return torch.stack(outputs)
        # END SOLUTION


# %% exercise="14.4" role="check"
def reached(model, x, time):
    """The steps whose inputs the gradient of the output of a step reaches."""
    leaf = x.clone().requires_grad_()
    (gradient,) = torch.autograd.grad(model(leaf)[time].sum(), leaf)
    return [step for step in range(len(x)) if bool(gradient[step].any())]


with check("14.4", "a reader without a memory") as c:
    for every, steps in ((4, 10), (1, 3), (8, 8), (3, 7)):
        case = c.case(f"every={every}, {steps} steps")
        torch.manual_seed(every)
        broken, model, x = BrokenReader(every), Reader(every), torch.randn(steps, 2, 2)
        model.load_state_dict(broken.state_dict())
        c.close(f"{case}: the outputs", came=model(x), expected=broken(x))
        for time in range(steps):
            expected = list(range(time // every * every, time + 1))
            c.equal(f"{case}: inputs that output {time} reaches", came=reached(model, x, time), expected=expected)

# %% [markdown] exercise="14.4" role="debrief"
# **In PyTorch** this is called truncated backpropagation through time, and people cut with `detach()` as here. Nothing
# checks that a cut is where it should be: a cut graph gives gradients that are finite and too short. The test of this
# exercise, the gradient of one output with respect to all inputs, is the way to see it; `autograd.grad` does it in a
# line.

# %% [markdown] exercise="14.4" role="hint"
# Take `x.requires_grad_()`, and `torch.autograd.grad(model(x)[5].sum(), x)`: for which steps is the gradient not 0?

# %% [markdown] exercise="14.4" role="hint"
# When is `time % every` true? Print `time` beside it for `every=4`.


# %% [markdown] exercise="14.5" role="task" kind="fix" title="slower with larger batches"
# ## 14.5 Fix: slower with larger batches
#
# ★★☆, 25 minutes. **Symptom.** `BrokenScale` multiplies each feature by a trained weight. With batches
# of one sample it trains as the same model without it. The larger the batch, the slower its weights learn. With inputs
# of three dimensions `backward()` raises. Write `Scale`:
#
# - `Scale.apply(x, weight)` is `x * weight`, for `x` of the shape (..., features) with any number of dimensions, one
#   included, and `weight` of the shape (features,);
# - the gradients of both agree with those of `x * weight` that autograd computes;
# - where only one of them requires a gradient, the other one gets None, and no work is done for it: `backward` asks
#   `ctx.needs_input_grad`.


# %% exercise="14.5" role="given"
class BrokenScale(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, weight):
        ctx.save_for_backward(x, weight)
        return x * weight

    @staticmethod
    def backward(ctx, grad):
        x, weight = ctx.saved_tensors
        return grad * weight, (grad * x).mean(0)


# %% exercise="14.5" role="answer"
class Scale(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, weight):
        # BEGIN SOLUTION
        ctx.save_for_backward(x, weight)
        return x * weight
        # END SOLUTION

    @staticmethod
    def backward(ctx, grad):
        # BEGIN SOLUTION
        x, weight = ctx.saved_tensors
        for_x = grad * weight if ctx.needs_input_grad[0] else None
        for_weight = (grad * x).reshape(-1, len(weight)).sum(0) if ctx.needs_input_grad[1] else None
        return for_x, for_weight
        # END SOLUTION


# %% exercise="14.5" role="check"
def both_gradients(function, shape, needs):
    torch.manual_seed(len(shape))
    leaves = [torch.randn(shape), torch.randn(shape[-1])]
    for leaf, need in zip(leaves, needs, strict=True):
        leaf.requires_grad_(need)
    result = function(*leaves)
    (result * torch.arange(result.numel()).reshape(shape).cos()).sum().backward()
    return [result, *(leaf.grad for leaf in leaves)]


def multiplications(needs):
    leaves = [torch.ones(2, 3, requires_grad=needs[0]), torch.ones(3, requires_grad=needs[1])]
    result = Scale.apply(*leaves).sum()
    with record_ops() as names:
        result.backward()
    return sum("aten::mul" in name for name in names)


def record_ops():
    from reftorch.utils._python_dispatch import TorchDispatchMode

    class Names(TorchDispatchMode):
        def __enter__(self):
            super().__enter__()
            self.names = []
            return self.names

        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            self.names.append(str(func).replace("aten.", "aten::"))
            return func(*args, **(kwargs or {}))

    return Names()


with check("14.5", "slower with larger batches") as c:
    for shape in ((1, 3), (5, 3), (2, 4, 3), (3,), (2, 1, 2, 5)):
        case = c.case(f"x of the shape {shape}")
        expected = both_gradients(lambda x, weight: x * weight, shape, (True, True))
        came = both_gradients(Scale.apply, shape, (True, True))
        parts = ("the result", "the gradient of x", "the gradient of weight")
        for part, one, other in zip(parts, came, expected, strict=True):
            c.close(f"{case}: {part}", came=one, expected=other)
    for needs, name in (((True, False), "x alone"), ((False, True), "weight alone")):
        case = c.case(f"{name} requires a gradient")
        came, expected = (both_gradients(f, (4, 3), needs) for f in (Scale.apply, lambda x, weight: x * weight))
        missing = [gradient is None for gradient in expected]
        c.equal(f"{case}: gradients that are None", came=[gradient is None for gradient in came], expected=missing)
        c.equal(f"{case}: multiplications in backward", came=multiplications(needs), expected=1)

# %% [markdown] exercise="14.5" role="debrief"
# **In PyTorch** a weight that was broadcast gets a sum over all places where it was read: the engine does that by
# itself for ops (`validate_outputs`, chapter 06), if the formula returns a gradient of the larger shape. It would do so
# here, too: `return grad * weight, grad * x` is right. A mean has the right shape, so nothing raises, and it is wrong
# by a factor that depends on the batch, which Adam hides almost completely.

# %% [markdown] exercise="14.5" role="hint"
# Put it into a module and call `find_wrong_gradient(module, x)` with two samples. By which factor do computed and
# measured values differ? And with four samples?

# %% [markdown] exercise="14.5" role="hint"
# `(grad * x).reshape(-1, features)` makes one row for each place where the weights were read.


# %% [markdown] exercise="14.6" role="task" kind="read" title="six patients"
# ## 14.6 Read: six patients
#
# ★★☆, 30 minutes. Six classifiers do not learn as they should. Their source is packed, and `print` shows the same
# layers for each, so read their *behaviour*: `patients()` makes six new models under the names `"p1"` to `"p6"`, and
# `BATCH` has inputs and labels for `nn.functional.cross_entropy`. Each patient has one of these:
#
# - `"a"`: a forward call changes a parameter
# - `"b"`: a tensor that the forward needs is not registered, so `model.double()` leaves it behind
# - `"c"`: in `eval()`, two calls with one input give two outputs
# - `"d"`: the output of a sample depends on the other samples of the batch
# - `"e"`: a layer has no part in the output: its parameters can be changed without an effect
# - `"f"`: a backward computes a wrong gradient
# - `"g"`: nothing is wrong
#
# A letter may be right for no patient. One illness can bring the sign of another: where a call changes a parameter, two
# calls also give two outputs. So the answer is the first letter that holds, in the order of the alphabet. For each
# letter think of an experiment of a few lines; the tools of the lesson know some, and not all of them.


# %% exercise="14.6" role="given"
PACKED = (
    "c-oDWU2EGg6o&8fD@3m3%oRzy6%q)v7aI(^GFYG&V;IGfV^Lc&lDx!>{r4SN@<*Jt#8*Oj&-0!yrJ`1FX$`5GSz1tI&=YOA#!`|eAvx92W`^"
    "KnJVQw$q_9bX4KK1730c+F#7NcFAND*`ns1+#<T0X|<+?owg8NKe0Xrf+X~KvGC0Kxri4<f%=gE;a^IvEiJOchrbtz7*+A5vqgf|@b27NWaI"
    "a19+F{e?MXC6TDbjYArh%AVZFi0wkT%7}8fVA|Xs>abm4?6$T@U!N&))G{}_vV0iXv7P{{Z+`ffl9)_UK|DH^-Zz5;P1^#!bGqiPdk_x<$^I"
    "T&o18^*JM5|5lZqab04GCZHyM}?L_H)da2X3T7N$g!>mSFr@OmqZh1GWHUnrZu~g>xqQ8R)&e4Z)f;jJDhW74`!dT9*-z8dGb<mWNFSSgqP%"
    "`*G7z-~cExFAVyT~=Qr}I?df*AUnC!k37G<|(z6+k5<4%PqPqmOP)Ty7&De2OFJN@vFs%cW7;OnqD!T7X@u4335qbisL;TnqV%3pbEJKMI?N"
    "_a#;0;_=A0RgxnYhuo5~E)u*X>-F04d`wAYO^d{E=<F(*eSh42{rtT90lEHZA@gcA-}u!&+uMScdqzDUUcm;z;%8wLv>;5Y3MPx27%d4bj@1"
    "-aS01)IUBhZeae&`;@bd?7K@Y<xw5o~*HzUH`m4pU8gl@Qhr6K;~q&(l^?hSUTPglF#poWy3O1vB;d4F~I0xezG-`PKH=+Nf"
)
BATCH = (torch.arange(96).reshape(16, 6).sin(), torch.arange(16) % 3)


def patients():
    names = {"torch": torch, "nn": nn}
    exec(unpacked(PACKED)[1], names)
    return names["PATIENTS"]


# %% exercise="14.6" role="answer"
def illnesses() -> dict[str, str]:
    """The letter of each patient, as `{"p1": ..., "p2": ..., ...}`."""
    # BEGIN SOLUTION
    return {"p1": "c", "p2": "f", "p3": "b", "p4": "a", "p5": "d", "p6": "e"}
    # END SOLUTION


# %% exercise="14.6" role="check"
def changes_a_parameter(model):
    before = [parameter.clone() for parameter in model.parameters()]
    model(BATCH[0])
    return not all(map(torch.equal, before, model.parameters()))


def cannot_be_converted(model):
    with contextlib.suppress(RuntimeError):
        return model.double()(BATCH[0].double()).dtype != torch.float64
    return True


def calls_differ(model):
    model.eval()
    return not torch.equal(model(BATCH[0]), model(BATCH[0]))


def has_an_idle_layer(model):
    output, idle = model(BATCH[0]), False
    for name, _ in model.named_children():
        changed = copy.deepcopy(model)
        with torch.no_grad():
            for parameter in changed.get_submodule(name).parameters():
                parameter.add_(1)
        idle |= torch.equal(changed(BATCH[0]), output)
    return idle


EXAMINATIONS = {  # in this order; the first one that says yes is the answer
    "a": changes_a_parameter,
    "b": cannot_be_converted,
    "c": calls_differ,
    "d": lambda model: not torch.allclose(model(BATCH[0])[:1], model(BATCH[0][:1]), atol=1e-4),
    "e": has_an_idle_layer,
    "f": lambda model: find_wrong_gradient(model, BATCH[0][:4]).first is not None,
    "g": lambda model: True,
}

with check("14.6", "six patients") as c:
    truth = {
        name: next(letter for letter, examine in EXAMINATIONS.items() if examine(copy.deepcopy(model)))
        for name, model in patients().items()
    }
    look = "An experiment for each letter: call twice, change one thing in between, compare."
    c.answers("the illnesses of the patients", came=illnesses(), truth=truth, look=look)

# %% [markdown] exercise="14.6" role="debrief"
# **In PyTorch** these experiments work, without any tool: call twice and compare, compare parameters before and after a
# call, one sample alone and in its batch, `double()` and call again. Each is a line of a test that you can keep with
# your model. For wrong gradients there is `torch.autograd.gradcheck`, for a function at a time.

# %% [markdown] exercise="14.6" role="hint"
# For `"a"`, clone the parameters before a call, and compare with `torch.equal` afterwards. For `"d"`, compare
# `model(x)[:1]` with `model(x[:1])`.

# %% [markdown] exercise="14.6" role="hint"
# For `"e"`, add 1 to the parameters of one layer in a copy of the model. `find_wrong_gradient(model, BATCH[0][:4])` is
# for what is left.


# %% [markdown] exercise="14.7" role="task" kind="fix" title="project: an unknown model that does not train"
# ## 14.7 Project: an unknown model that does not train
#
# ★★★, an evening. You take over a small language model. `BrokenTalker` should read a text character by
# character and predict the next one. **Symptom.** The loss stays where a guess is, about `log(12)` = 2.48 for 12
# characters. Somebody has tried ten learning rates. After you fix one thing, the loss moves, and then something else
# is wrong: there are several faults, in the model, in the loss and in the loop. Write `Talker`, `loss_of` and `train`:
#
# - `Talker` has the layers of `BrokenTalker` with their names, and takes ids of the shape (batch, time), time at most
#   16; `model(ids)` has the shape (batch, time, 12) and holds scores, not probabilities;
# - the scores at a time depend on the ids up to that time, on the order of the ids before it, and on no later id; no
#   sample depends on another one;
# - each row of the attention's weights adds up to 1: for equal rows of values, the attention returns that value;
# - `output.weight` is the parameter `embed.weight`, one parameter under two names;
# - `loss_of(model, ids)` is the mean over batch and time of the cross entropy of the scores at time t with the id at
#   t + 1, for t = 0 to time - 2;
# - each parameter gets a gradient that is not 0 in some element;
# - `train(model, ids, steps, lr)` trains with Adam: each step uses the gradient of its own batch alone. `train` returns
#   the list of losses as floats, one before each step, and the model stays in training mode;
# - `Talker` on the text of the check, 60 steps with `lr=0.01`: the last loss is below 0.6.


# %% exercise="14.7" role="given"
TEXT = "the cat sat, the hen ate. " * 8
LETTERS = sorted(set(TEXT))


class BrokenTalker(nn.Module):
    def __init__(self, size=32):
        super().__init__()
        self.embed = nn.Embedding(12, size)
        self.position = nn.Embedding(16, size)
        self.query, self.key, self.value = (nn.Linear(size, size) for _ in range(3))
        self.norm = nn.LayerNorm(size)
        self.wide, self.narrow = nn.Linear(size, 64), nn.Linear(64, size)
        self.output = nn.Linear(size, 12, bias=False)
        self.output.weight = nn.Parameter(self.embed.weight.clone())
        nn.init.normal_(self.embed.weight, std=0.1)

    def attention(self, x):
        scores = self.query(x) @ self.key(x).mT / math.sqrt(x.shape[-1])
        future = torch.ones(x.shape[1], x.shape[1]).triu(1).bool()
        weights = scores.masked_fill(future, -1e9).softmax(dim=1)
        return weights @ self.value(x)

    def forward(self, ids):
        x = self.embed(ids) + self.position(torch.arange(ids.shape[1])).detach()
        x = x + self.attention(x)
        x = x + self.narrow((self.wide(self.norm(x)) - 20.0).relu())
        return self.output(x).softmax(dim=-1)


def broken_loss_of(model, ids):
    scores = model(ids)
    return nn.functional.cross_entropy(scores.reshape(-1, 12), ids.reshape(-1))


def broken_train(model, ids, steps, lr):
    optimizer, losses = torch.optim.Adam(model.parameters(), lr=lr), []
    for _ in range(steps):
        loss = broken_loss_of(model, ids)
        losses.append(loss.item())
        loss.backward()
        optimizer.step()
    model.eval()
    return losses


# %% exercise="14.7" role="answer"
class Talker(nn.Module):
    def __init__(self, size=32):
        # BEGIN SOLUTION
        super().__init__()
        self.embed = nn.Embedding(12, size)
        self.position = nn.Embedding(16, size)
        self.query, self.key, self.value = (nn.Linear(size, size) for _ in range(3))
        self.norm = nn.LayerNorm(size)
        self.wide, self.narrow = nn.Linear(size, 64), nn.Linear(64, size)
        self.output = nn.Linear(size, 12, bias=False)
        self.output.weight = self.embed.weight
        nn.init.normal_(self.embed.weight, std=0.1)
        # END SOLUTION

    def attention(self, x):
        # BEGIN SOLUTION
        scores = self.query(x) @ self.key(x).mT / math.sqrt(x.shape[-1])
        future = torch.ones(x.shape[1], x.shape[1]).triu(1).bool()
        weights = scores.masked_fill(future, -1e9).softmax(dim=-1)
        return weights @ self.value(x)
        # END SOLUTION

    def forward(self, ids):
        # BEGIN SOLUTION
        x = self.embed(ids) + self.position(torch.arange(ids.shape[1]))
        x = x + self.attention(x)
        x = x + self.narrow(self.wide(self.norm(x)).relu())
        return self.output(x)
        # END SOLUTION


def loss_of(model, ids):
    # BEGIN SOLUTION
    scores = model(ids)[:, :-1]
    return nn.functional.cross_entropy(scores.reshape(-1, 12), ids[:, 1:].reshape(-1))
    # END SOLUTION


def train(model, ids, steps, lr) -> list[float]:
    # BEGIN SOLUTION
    optimizer, losses = torch.optim.Adam(model.parameters(), lr=lr), []
    for _ in range(steps):
        loss = loss_of(model, ids)
        losses.append(loss.item())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return losses
    # END SOLUTION


# %% exercise="14.7" role="check"
def words(count):
    numbers = [LETTERS.index(letter) for letter in TEXT]
    return torch.tensor([numbers[start * 5 : start * 5 + 16] for start in range(count)])


with check("14.7", "an unknown model that does not train") as c:
    torch.manual_seed(0)
    model, ids = Talker(), words(8)
    names = [name for name, _ in BrokenTalker().named_modules()]
    c.equal("the names of the layers", came=[name for name, _ in model.named_modules()], expected=names)
    scores = model(ids)
    c.equal("the shape of the scores", came=tuple(scores.shape), expected=(8, 16, 12))
    sums = scores.detach().sum(-1)
    constant = bool(((sums - 1).abs() < 1e-3).all())
    c.true("scores, not probabilities", not constant, came="each row adds up to 1", expected="scores of any size")

    case = c.case("what a score depends on")
    changed = ids.clone()
    changed[:, 9] = (changed[:, 9] + 1) % 12
    differs = ((model(changed) - scores).abs() > 1e-6).any(-1)
    c.equal(f"{case}: times before a changed id that change", came=int(differs[:, :9].sum()), expected=0)
    c.true(f"{case}: the id itself", bool(differs[:, 9].all()), came="not all scores change", expected="all change")
    c.true(f"{case}: later times", bool(differs[:, 10:].any()), came="no later score changes", expected="some change")
    swapped = ids.clone()
    swapped[:, 0], swapped[:, 1] = ids[:, 1], ids[:, 0]
    order = ((model(swapped) - scores).abs() > 1e-6)[:, 2:].any(-1)
    c.true(f"{case}: the order of two ids", bool(order.any()), came="no later score changes", expected="some change")
    c.close(f"{case}: a sample alone", came=model(ids[:1]), expected=scores[:1], rtol=1e-4, atol=1e-5)

    case = c.case("the attention, for equal rows")
    equal_rows = torch.randn(2, 1, 32).expand(2, 6, 32)
    came, expected = model.attention(equal_rows), model.value(equal_rows)
    c.close(case, came=came, expected=expected, rtol=1e-4, atol=1e-5)

    c.case("tied weights")
    c.equal("one parameter", came=model.output.weight is model.embed.weight, expected=True)

    case = c.case("the loss")
    logs = model(ids).log_softmax(-1)
    by_hand = -sum(logs[b, t, ids[b, t + 1]] for b in range(8) for t in range(15)) / (8 * 15)
    c.close(case, came=loss_of(model, ids), expected=by_hand, rtol=1e-4)

    case = c.case("gradients")
    loss_of(model, ids).backward()
    without = [name for name, p in model.named_parameters() if p.grad is None or not bool(p.grad.any())]
    c.equal(f"{case}: parameters without one", came=without, expected=[])

    case = c.case("training")
    torch.manual_seed(1)
    model = Talker()
    again = copy.deepcopy(model)
    came = train(model, ids, 3, 0.01)
    optimizer, expected = torch.optim.Adam(again.parameters(), lr=0.01), []
    for _ in range(3):
        loss = loss_of(again, ids)
        expected.append(loss.item())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    c.close(f"{case}: three losses", came=torch.tensor(came), expected=torch.tensor(expected), rtol=1e-4)
    c.equal(f"{case}: in training mode afterwards", came=model.training, expected=True)
    last = train(model, ids, 57, 0.01)[-1]
    c.true(f"{case}: the loss after 60 steps", last < 0.6, came=f"{last:.3f}", expected="below 0.6")

# %% [markdown] exercise="14.7" role="debrief"
# **In PyTorch** each of these faults is as silent as here. `cross_entropy` takes scores and applies `log_softmax`
# itself, so a softmax before it only flattens the gradient. `zero_grad`, the shift of the target and the dimension of a
# softmax are conventions that no library can check for you. What helps is to go in one direction: first the shapes and
# the first loss, then the gradients of all parameters, then one batch learned by heart, and a real training last.

# %% [markdown] exercise="14.7" role="hint"
# Begin with `diagnose(BrokenTalker(), ids, optimizer=...)` for a model that returns its loss, or with `(ids, ids)` and
# a `loss_fn` of your own. Mend what it finds, and run it again. Its checks know six of the faults.

# %% [markdown] exercise="14.7" role="hint"
# What remains: `record_tensors(model, gradients=True)` shows a layer without a gradient, and `draw_activations` a layer
# of dead units. Compare `model.output.weight is model.embed.weight` with what `__init__` does in its last lines.

# %% [markdown] exercise="14.7" role="hint"
# There are eight: a copy in the place of a tied weight, the dimension of a softmax, a `detach`, a number in front of
# `relu`, a softmax at the end, a shift, a `zero_grad`, and a mode.


# %% [markdown] exercise="14.8" role="task" kind="read" title="in PyTorch: how gradcheck measures"
# ## 14.8 Read, in PyTorch: how gradcheck measures
#
# ★★☆, 15 minutes. This question is answered in PyTorch itself: it needs PyTorch (`make torch`), and no other exercise
# of the chapter does. The next cell writes `IN_TORCH` to a file, and prints the command that runs the file under pdb.
#
# `IN_TORCH` checks one gradient. Stop in `_compute_numerical_gradient` of `torch/autograd/gradcheck.py`, before the
# line `entry.copy_(orig + v)`. How often does the program come there (`"stops"`)? What is `orig` as a number at the
# second stop (`"orig"`), what is `v` (`"v"`), and what is `entry` at this moment, rounded to 7 digits (`"entry"`)?


# %% exercise="14.8" role="given"
IN_TORCH = """\
import torch

x = torch.tensor([1.0, 2.0, 4.0], dtype=torch.float64, requires_grad=True)
torch.autograd.gradcheck(lambda x: x.pow(3).sum(), (x,), eps=1e-3)
"""
print(write_for_torch(IN_TORCH, "in_torch_14_8.py"))


# %% exercise="14.8" role="answer"
def measured() -> dict[str, int | float]:
    # BEGIN SOLUTION
    return {"stops": 3, "orig": 2.0, "v": 0.001, "entry": 1.999}
    # END SOLUTION


# %% exercise="14.8" role="check"
with check("14.8", "how gradcheck measures") as c:
    answer = measured()
    asked = ["orig.item()", "float(v)", "round(entry.item(), 7)"]
    stops = stops_in_torch(
        IN_TORCH, "torch/autograd/gradcheck.py", "_compute_numerical_gradient", "entry.copy_(orig + v)", asked
    )
    number, step, entry = map(float, stops[1].values())
    truth = {"stops": len(stops), "orig": number, "v": step, "entry": entry}
    look = "The line before has changed one element of the input in place."
    c.answers("the stops, and the values at the second one", came=answer, truth=truth, look=look)

# %% [markdown] exercise="14.8" role="debrief"
# **In PyTorch** `gradcheck` moves one element of your input at a time, in place, and calls the function twice for
# each: 2,000 calls for 1,000 elements. `fast_mode=True` measures along one random direction instead. `entry` is a
# view of your input, so at the stop the input itself has the number 1.999.

# %% [markdown] exercise="14.8" role="hint"
# After `import torch` has run: `break torch.autograd.gradcheck._compute_numerical_gradient`, then `next` to the line.

# %% [markdown] exercise="14.8" role="hint"
# The stop is before the line runs. The line above has written `orig - v` into `entry`.
