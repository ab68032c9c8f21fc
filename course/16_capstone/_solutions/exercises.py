"""The exercises of chapter 16, solved; `make course` makes the learner's notebook of it.

Mirrors: nothing in PyTorch: exercises.
Leaves out: what the lesson explains.

The file is some 700 lines long, because all exercises of a chapter are in one file.
"""

# %% [markdown]
# # Exercises 16: the capstone
#
# Each exercise has a cell that raises until you have written it, and a check below that you run as often as you like.
# The check says what it tests, and when it passes, how PyTorch does the same. Stars say how difficult an exercise is,
# from one to three. Stuck? `course("hint 16.1")` in a cell of its own. Done? `course("check 16")` runs the notebook, as
# last saved, from top to bottom.
#
# The exercises use your package `course/work/mytorch`. The next cell makes `import mytorch` find it. If you have not
# written a part yet, the part is taken from the course's solutions (`fill=True`), and the cell says who wrote each
# part.

# %%
import copy
import math
import re
import sys
from unittest import mock

import reftorch as torch
from course._tools import check, course, patched_torch, show_source, use_mytorch
from course._tools.torch_copies import run_each
from reftorch import nn
from reftorch.nn import functional as F
from reftorch.utils.data import DataLoader, Dataset, Subset

use_mytorch("ndarray", "engine", "module", "loader", fill=True)

# %% [markdown] exercise="16.1" role="task" kind="build" title="layers for your Module"
# ## 16.1 Build: layers for your Module
#
# ★★☆, 30 minutes. Your `Module` registers parameters and runs hooks, but it has no layers, and a network needs
# layers. Write four layers as subclasses of your `Module`, and the function that gives their parameters to an
# optimizer:
#
# - `Linear(inputs, outputs)`, `Embedding(count, width)`, `LayerNorm(width)` and `Conv2d(inputs, outputs, size)` compute
#   what `nn.Linear`, `nn.Embedding`, `nn.LayerNorm` and `nn.Conv2d(..., padding=size // 2)` compute, to the last bit.
#   You may call `F.linear`, `F.embedding`, `F.layer_norm` and `F.conv2d` for this.
# - The parameters have the library's names, `weight` and `bias`, in the library's order. An `Embedding` has no bias.
# - After `torch.manual_seed(s)` the first values of the parameters are the library's, to the last bit, and the random
#   generator is in the same state as after the library's layer.
# - No module of the library is made.
# - `parameters(module)` is the list of a module's parameters, in the order of `named_parameters()`. A parameter with
#   two names is in the list once, at its first place.
#
# `nn.init` has the functions that the library's layers call in `reset_parameters`.

# %% exercise="16.1" role="given"
from mytorch.module import Module


# %% exercise="16.1" role="answer"
class Linear(Module):
    def __init__(self, inputs, outputs):
        # BEGIN SOLUTION
        super().__init__()
        self.weight = nn.Parameter(torch.empty(outputs, inputs))
        self.bias = nn.Parameter(torch.empty(outputs))
        reset(self)
        # END SOLUTION

    def forward(self, x):
        # BEGIN SOLUTION
        return F.linear(x, self.weight, self.bias)
        # END SOLUTION


class Embedding(Module):
    def __init__(self, count, width):
        # BEGIN SOLUTION
        super().__init__()
        self.weight = nn.Parameter(nn.init.normal_(torch.empty(count, width)))
        # END SOLUTION

    def forward(self, x):
        # BEGIN SOLUTION
        return F.embedding(x, self.weight)
        # END SOLUTION


class LayerNorm(Module):
    def __init__(self, width):
        # BEGIN SOLUTION
        super().__init__()
        self.weight, self.bias = nn.Parameter(torch.ones(width)), nn.Parameter(torch.zeros(width))
        # END SOLUTION

    def forward(self, x):
        # BEGIN SOLUTION
        return F.layer_norm(x, self.weight.shape, self.weight, self.bias)
        # END SOLUTION


class Conv2d(Module):
    def __init__(self, inputs, outputs, size):
        # BEGIN SOLUTION
        super().__init__()
        self.weight = nn.Parameter(torch.empty(outputs, inputs, size, size))
        self.bias = nn.Parameter(torch.empty(outputs))
        reset(self)
        # END SOLUTION

    def forward(self, x):
        # BEGIN SOLUTION
        return F.conv2d(x, self.weight, self.bias, padding=self.weight.shape[-1] // 2)
        # END SOLUTION


def parameters(module: Module) -> list:
    """Return the parameters of a module, each once."""
    # BEGIN SOLUTION
    return list({id(parameter): parameter for _, parameter in module.named_parameters()}.values())


def reset(layer):
    """Set the first values of a weight and a bias: the weight is drawn first."""
    nn.init.kaiming_uniform_(layer.weight, a=math.sqrt(5))
    bound = 1 / math.sqrt(layer.weight[0].numel())
    nn.init.uniform_(layer.bias, -bound, bound)
    # END SOLUTION


# %% exercise="16.1" role="check"
def refuse_modules(module):
    raise RuntimeError("a module of the library was made")


def same_bits(one, other):
    return one.shape == other.shape and one.dtype == other.dtype and one.equal(other)


class Tied(Module):
    def __init__(self):
        super().__init__()
        self.first, self.last = Linear(3, 3), Linear(3, 3)
        self.last.weight = self.first.weight


with check("16.1", "layers for your Module") as c:
    torch.manual_seed(3)
    words, rows, images = torch.randint(0, 7, (4, 5)), torch.randn(4, 6), torch.randn(2, 3, 8, 8)
    for what, mine, theirs, x in (
        ("Linear(6, 4)", lambda: Linear(6, 4), lambda: nn.Linear(6, 4), rows),
        ("Linear(6, 11)", lambda: Linear(6, 11), lambda: nn.Linear(6, 11), rows),
        ("Embedding(7, 6)", lambda: Embedding(7, 6), lambda: nn.Embedding(7, 6), words),
        ("LayerNorm(6)", lambda: LayerNorm(6), lambda: nn.LayerNorm(6), rows),
        ("Conv2d(3, 4, 3)", lambda: Conv2d(3, 4, 3), lambda: nn.Conv2d(3, 4, 3, padding=1), images),
        ("Conv2d(3, 2, 5)", lambda: Conv2d(3, 2, 5), lambda: nn.Conv2d(3, 2, 5, padding=2), images),
    ):
        c.case(what)
        torch.manual_seed(11)
        with mock.patch.object(nn.Module, "__init__", refuse_modules):
            layer = mine()
        after = torch.get_rng_state()
        torch.manual_seed(11)
        right = theirs()
        c.equal(f"{what}: a subclass of your Module", came=isinstance(layer, Module), expected=True)
        named, names = dict(layer.named_parameters()), [name for name, _ in right.named_parameters()]
        c.equal(f"{what}: names of parameters", came=list(named), expected=names)
        for name, parameter in right.named_parameters():
            c.equal(f"{what}: {name} is a parameter", came=isinstance(named[name], nn.Parameter), expected=True)
            c.close(f"{what}: {name}", came=named[name], expected=parameter)
            c.equal(f"{what}: {name}, to the last bit", came=same_bits(named[name], parameter), expected=True)
        c.equal(f"{what}: the generator is where it is", came=after.equal(torch.get_rng_state()), expected=True)
        with torch.no_grad():
            for parameter in (*named.values(), *right.parameters()):
                parameter.mul_(1.5).add_(0.25)
        c.close(f"{what}: the result", came=layer(x), expected=right(x))
        c.equal(f"{what}: the result, to the last bit", came=same_bits(layer(x), right(x)), expected=True)
    tied = Tied()
    named = dict(tied.named_parameters())
    order = [next(name for name, each in named.items() if each is parameter) for parameter in parameters(tied)]
    c.equal("parameters() of a tied module", came=order, expected=["first.weight", "first.bias", "last.bias"])

# %% [markdown] exercise="16.1" role="debrief"
# **In PyTorch** each layer calls `reset_parameters` in its `__init__`, and `torch/nn/modules/linear.py` passes
# `a=math.sqrt(5)`: with this `a` the bound of `kaiming_uniform_` is 1 over the root of the number of inputs. The
# order of the two draws is part of the layer's contract. A layer that draws the bias first would not be wrong, but
# every experiment with a seed would give other numbers.

# %% [markdown] exercise="16.1" role="hint"
# `%torch_source nn.Linear`, or `show_source("Linear.reset_parameters")`. Which of the two is drawn first?

# %% [markdown] exercise="16.1" role="hint"
# `nn.init.kaiming_uniform_(self.weight, a=math.sqrt(5))`, then `nn.init.uniform_` for the bias, from minus to plus 1
# over the root of the inputs. For a convolution an output has `inputs * size * size` inputs: `weight[0].numel()`.


# %% [markdown] exercise="16.2" role="task" kind="build" title="the order of an epoch"
# ## 16.2 Build: the order of an epoch
#
# ★★★, 40 minutes. Your `SurvivingLoader` takes the samples in their order, but a training needs a new order in each
# epoch. The lesson has shown what happens if a loader draws its order in another way than the library: another model.
# Write `ShuffledLoader(dataset, batch_size, num_workers)`:
#
# - Iterating over it yields the batches of `DataLoader(dataset, batch_size, shuffle=True)`: the same samples in the
#   same order, if the random generator was in the same state. This holds for the second epoch, too.
# - After an epoch the generator is in the state in which `DataLoader` leaves it. What a program draws afterwards is the
#   same with both loaders.
# - The batches are made by a `SurvivingLoader` with `num_workers` workers. No loader or sampler of the library is used.
# - `len(loader)` is the number of batches.
#
# `DataLoader` and `RandomSampler` say in their source what they draw, and in which order. `Subset(dataset, indices)`
# is a dataset with the samples of these indices, in their order.

# %% exercise="16.2" role="given"
from mytorch.loader import SurvivingLoader


# %% exercise="16.2" role="answer"
class ShuffledLoader:
    def __init__(self, dataset, batch_size, num_workers):
        # BEGIN SOLUTION
        self.dataset, self.batch_size, self.num_workers = dataset, batch_size, num_workers
        # END SOLUTION

    def __len__(self):
        # BEGIN SOLUTION
        return -(-len(self.dataset) // self.batch_size)
        # END SOLUTION

    def __iter__(self):
        # BEGIN SOLUTION
        drawn_number()  # the loader's own draw: the seed of its workers
        generator = torch.Generator().manual_seed(drawn_number())  # the sampler's
        order = torch.randperm(len(self.dataset), generator=generator).tolist()
        yield from SurvivingLoader(Subset(self.dataset, order), self.batch_size, self.num_workers)


def drawn_number():
    """A number from the default generator, drawn as loaders and samplers draw it."""
    return int(torch.empty((), dtype=torch.int64).random_().item())
    # END SOLUTION


# %% exercise="16.2" role="check"
class Squares(Dataset):
    def __init__(self, length):
        self.length = length

    def __len__(self):
        return self.length

    def __getitem__(self, index):
        return index, index * index


def two_epochs(loader):
    """Return the batches of two epochs, each as a list of lists, and what the default generator draws then."""
    torch.manual_seed(5)
    epochs = [[[part.tolist() for part in batch] for batch in loader] for _ in range(2)]
    return epochs, torch.rand(3).tolist()


def refuse_loaders(*arguments, **options):
    raise RuntimeError("a loader or a random sampler of the library was made")


made_by, make_it = [], SurvivingLoader.__init__


def noted(loader, dataset, batch_size, num_workers):
    made_by.append((batch_size, num_workers))
    make_it(loader, dataset, batch_size, num_workers)


with check("16.2", "the order of an epoch") as c:
    for length, batch_size in ((12, 4), (10, 4), (3, 5)):
        case = c.case(f"{length} samples in batches of {batch_size}")
        expected, then = two_epochs(DataLoader(Squares(length), batch_size, shuffle=True))
        with (
            mock.patch.object(torch.utils.data.DataLoader, "__init__", refuse_loaders),
            mock.patch.object(torch.utils.data.RandomSampler, "__init__", refuse_loaders),
            mock.patch.object(SurvivingLoader, "__init__", noted),
        ):
            made_by.clear()
            loader = ShuffledLoader(Squares(length), batch_size, 2)
            c.equal(f"{case}: len()", came=len(loader), expected=len(expected[0]))
            epochs, drawn = two_epochs(loader)
        c.equal(f"{case}: the first epoch", came=epochs[0], expected=expected[0])
        c.equal(f"{case}: the second epoch", came=epochs[1], expected=expected[1])
        c.equal(f"{case}: what is drawn afterwards", came=drawn, expected=then)
        c.equal(f"{case}: SurvivingLoaders, as (batch size, workers)", came=made_by, expected=[(batch_size, 2)] * 2)

# %% [markdown] exercise="16.2" role="debrief"
# **In PyTorch** `_BaseDataLoaderIter.__init__` draws the base seed of the workers even if there are none, and
# `RandomSampler.__iter__` draws a seed of its own. So a pass over a shuffled loader takes two numbers from the
# default generator, and a pass over a loader without `shuffle` takes one. If you add a loader for validation to a
# training, this changes the training from then on. A `generator=` of its own for each loader prevents this.

# %% [markdown] exercise="16.2" role="hint"
# Draw a number from the default generator after one pass of a `DataLoader`. Then draw several numbers from the same
# seed without a loader, and look for the first number among them. How many numbers come before it?

# %% [markdown] exercise="16.2" role="hint"
# First the loader draws its seed, then the sampler draws one and makes a generator with it, and `randperm` draws the
# order from that generator. Only the seed of this generator is taken from the default stream.


# %% [markdown] exercise="16.3" role="task" kind="fix" title="an Adam that is off by a bit"
# ## 16.3 Fix: an Adam that is off by a bit
#
# ★★☆, 40 minutes. `PaperAdam` has the formulas of the paper, and is not wrong. But the lesson has shown that a model
# which it trains differs from the library's model after a few steps, first in the last bit. Write `Adam`, whose
# models do not differ:
#
# - `Adam(params, lr=1e-3, betas=(0.9, 0.999), eps=1e-8)` is a `torch.optim.Optimizer`.
# - After each step all parameters equal those of `torch.optim.Adam(..., foreach=False, fused=False)`, to the last bit.
# - Parameters without a gradient are left out. Parameters change in place.
# - The state of a parameter has the library's entries: `step` (a tensor of float32 without dimensions), `exp_avg` and
#   `exp_avg_sq`. If the library's Adam loads a state that your Adam has saved, it makes the same steps as yours, and
#   the other way round.
# - It is your own: `torch.optim.Adam` and `torch.optim.adam.adam` are not called.


# %% exercise="16.3" role="given"
class PaperAdam(torch.optim.Optimizer):
    """Adam, by the formulas of the paper."""

    def __init__(self, params, lr=1e-3, betas=(0.9, 0.999), eps=1e-8):
        super().__init__(params, {"lr": lr, "betas": betas, "eps": eps})

    @torch.no_grad()
    def step(self):
        for group in self.param_groups:
            beta1, beta2 = group["betas"]
            for p in group["params"]:
                state = self.state[p]
                if not state:
                    state |= {"t": 0, "m": torch.zeros_like(p), "v": torch.zeros_like(p)}
                state["t"] += 1
                state["m"] = beta1 * state["m"] + (1 - beta1) * p.grad
                state["v"] = beta2 * state["v"] + (1 - beta2) * p.grad * p.grad
                m = state["m"] / (1 - beta1 ** state["t"])
                v = state["v"] / (1 - beta2 ** state["t"])
                p -= group["lr"] * m / (v.sqrt() + group["eps"])


# %% exercise="16.3" role="answer"
class Adam(torch.optim.Optimizer):
    """Adam, to the last bit as the library computes it."""

    def __init__(self, params, lr=1e-3, betas=(0.9, 0.999), eps=1e-8):
        # BEGIN SOLUTION
        super().__init__(params, {"lr": lr, "betas": betas, "eps": eps})
        # END SOLUTION

    @torch.no_grad()
    def step(self):
        # BEGIN SOLUTION
        for group in self.param_groups:
            beta1, beta2 = group["betas"]
            for p in [p for p in group["params"] if p.grad is not None]:
                state = self.state[p]
                if not state:
                    state["step"] = torch.tensor(0.0)
                    state["exp_avg"], state["exp_avg_sq"] = torch.zeros_like(p), torch.zeros_like(p)
                state["step"] += 1
                step = state["step"].item()
                state["exp_avg"].lerp_(p.grad, 1 - beta1)
                state["exp_avg_sq"].mul_(beta2).addcmul_(p.grad, p.grad, value=1 - beta2)
                denominator = (state["exp_avg_sq"].sqrt() / (1 - beta2**step) ** 0.5).add_(group["eps"])
                p.addcdiv_(state["exp_avg"], denominator, value=-group["lr"] / (1 - beta1**step))
        # END SOLUTION


# %% exercise="16.3" role="check"
def exchanged(mine, theirs):
    """Load into each optimizer a copy of the state that the other one has saved."""
    saved = copy.deepcopy((mine.state_dict()["state"], theirs.state_dict()["state"]))
    for optimizer, state in zip((theirs, mine), saved, strict=True):
        optimizer.load_state_dict({**optimizer.state_dict(), "state": state})


def both(options, between):
    """Return the parameters of your Adam and of the library's in each of 40 steps; call `between` after 20 steps."""
    torch.manual_seed(7)
    first = [nn.Parameter(torch.randn(40, 5)), nn.Parameter(torch.randn(7)), nn.Parameter(torch.randn(3))]
    other = [nn.Parameter(p.detach().clone()) for p in first]
    mine, theirs = Adam(first, **options), torch.optim.Adam(other, foreach=False, fused=False, **options)
    for half in (range(20), range(20, 40)):
        for step in half:
            for p, q in zip(first[:2], other[:2], strict=True):
                p.grad = torch.randn(p.shape) * 10.0 ** (step % 5 - 2)
                q.grad = p.grad.clone()
            yield first, other, mine, theirs, step
        between(mine, theirs)


def refuse_adam(*arguments, **options):
    raise RuntimeError("the library's Adam was called")


with check("16.3", "an Adam that is off by a bit") as c:
    c.equal("a torch.optim.Optimizer", came=issubclass(Adam, torch.optim.Optimizer), expected=True)
    c.equal("made from torch.optim.Adam", came=issubclass(Adam, torch.optim.Adam), expected=False)
    for options in ({}, {"lr": 0.1}, {"lr": 0.1, "betas": (0.5, 0.7), "eps": 1e-2}):
        for what, between in (("", lambda mine, theirs: None), (", states exchanged after 20 steps", exchanged)):
            case = c.case(f"{options or 'all defaults'}{what}")
            for mine, theirs, optimizer, library, step in both(options, between):
                places = [p.data_ptr() for p in mine]
                with mock.patch.object(torch.optim.adam, "adam", refuse_adam):
                    optimizer.step()
                library.step()
                for number, (p, q) in enumerate(zip(mine, theirs, strict=True)):
                    c.close(f"{case}: parameter {number} after step {step}", came=p, expected=q, rtol=1e-3, atol=1e-4)
                    bits = int((p != q).sum().item())
                    told = f"{case}: elements of parameter {number} that differ in a bit after step {step}"
                    c.equal(told, came=bits, expected=0)
                c.equal(f"{case}: same memory", came=[p.data_ptr() for p in mine] == places, expected=True)
            states = [{name: (v.dtype, tuple(v.shape)) for name, v in optimizer.state[p].items()} for p in mine[:2]]
            right = [{name: (v.dtype, tuple(v.shape)) for name, v in library.state[q].items()} for q in theirs[:2]]
            c.equal(f"{case}: names, dtypes and shapes in the states", came=states, expected=right)
            c.equal(f"{case}: a state without a gradient", came=mine[2] in optimizer.state, expected=False)

# %% [markdown] exercise="16.3" role="debrief"
# **In PyTorch** `_single_tensor_adam` has the lines that you have written. They are not closer to the paper than
# `PaperAdam`, and not less exact. But they read and write the memory less often: `lerp_` and `addcdiv_` go over an
# array only once. Each of these forms rounds at other places. This is why PyTorch promises no equal bits from version
# to version: a faster kernel is a different order of roundings. The notes on reproducibility in PyTorch's
# documentation say what it does promise.

# %% [markdown] exercise="16.3" role="hint"
# Compare after one step, and then after two. Compare the states, too, and not only the parameters: does the mean
# differ first? `show_source("_single_tensor_adam")` has the library's lines.

# %% [markdown] exercise="16.3" role="hint"
# The order matters in four places: the mean is a `lerp_`; the squares are `mul_`, then `addcmul_`; the correction of
# the squares divides the *root*; the correction of the mean is in the number by which `addcdiv_` multiplies.


# %% [markdown] exercise="16.4" role="task" kind="read" title="which bits move"
# ## 16.4 Read: which bits move
#
# ★★☆, 15 minutes. Each letter has two programs that give the same result by the rules of algebra. Do the float32
# results agree to the last bit, for each element of random tensors? Answer `True` or `False` for each letter, without
# running them:
#
# - a: `x + y` and `y + x`
# - b: `(x + y) + z` and `x + (y + z)`
# - c: `x * 0.25` and `x / 4`
# - d: `x * 0.1` and `x / 10`
# - e: `(x * 2) * y` and `x * (y * 2)`
# - f: `x * (y + z)` and `x * y + x * z`
# - g: `x + y + z + w` and `w + z + y + x`
# - h: `-(x - y)` and `y - x`
# - i: `x - 0.1 * y` and `x - 0.05 * y - 0.05 * y`
#
# The check runs all of them and counts how many of your answers are right.


# %% exercise="16.4" role="answer"
def equal_bits() -> dict[str, bool]:
    """Whether the two programs agree to the last bit, as `{"a": ..., "b": ..., ...}`."""
    # BEGIN SOLUTION
    return {"a": True, "b": False, "c": True, "d": False, "e": True, "f": False, "g": False, "h": True, "i": False}
    # END SOLUTION


# %% exercise="16.4" role="check"
with check("16.4", "which bits move") as c:
    torch.manual_seed(1)
    x, y, z, w = torch.randn(4, 100, 100)
    pairs = {
        "a": (x + y, y + x),
        "b": ((x + y) + z, x + (y + z)),
        "c": (x * 0.25, x / 4),
        "d": (x * 0.1, x / 10),
        "e": ((x * 2) * y, x * (y * 2)),
        "f": (x * (y + z), x * y + x * z),
        "g": (x + y + z + w, w + z + y + x),
        "h": (-(x - y), y - x),
        "i": (x - 0.1 * y, x - 0.05 * y - 0.05 * y),
    }
    truth = {letter: bool((one == other).all().item()) for letter, (one, other) in pairs.items()}
    look = "Which operations round? A product with a power of two does not round, and a change of sign does not either."
    c.answers("whether all elements agree", came=equal_bits(), truth=truth, look=look)

# %% [markdown] exercise="16.4" role="debrief"
# **In PyTorch** the answers are the same, because they follow from IEEE 754 and not from a library: each single
# addition, product and division is rounded once, to the nearest float. So a single operation has one right result,
# but a sequence of operations may have another result in each order. Compilers keep the order that a program has,
# unless they are told otherwise (`-ffast-math`), or join a product and a sum into one instruction that rounds once.

# %% [markdown] exercise="16.4" role="hint"
# Addition and multiplication of floats are commutative: `a + b` is `b + a`. They are not associative: the place of
# the parentheses matters.

# %% [markdown] exercise="16.4" role="hint"
# 0.25 and 4 are powers of two, so the product and the quotient are exact. 0.1 is not a float: it is rounded first,
# and then the product is rounded. Rounding to the nearest float does not depend on the sign.


# %% [markdown] exercise="16.5" role="task" kind="build" title="the floor below: a product on your own array"
# ## 16.5 Build: the floor below, a product on your own array
#
# ★★★, 40 minutes. One part of your package has not been used yet: the array of strides. Write a product for this
# array, and make the product an op that autograd records.
#
# - `product(a, b)` takes two `NDArray`s with sizes (n, k) and (k, m), of any strides and offset, and returns a new
#   contiguous one with sizes (n, m). Sizes that do not fit are a `ValueError`.
# - `Product.apply(x, y)` multiplies two float32 tensors with two dimensions by `product`. Its `backward` computes
#   both gradients by `product`, too: `grad @ y.t()` and `x.t() @ grad`. The transposed arrays are views: `transpose`
#   of your `NDArray` does not copy.
# - A gradient that is not needed is not computed: `ctx.needs_input_grad` says which gradients are needed.
# - No sum and no product of the library is used, in `forward` or in `backward`. `tensor.tolist()` and
#   `torch.tensor(list)` lead to your array and back.

# %% exercise="16.5" role="given"
from mytorch.ndarray import NDArray


def array_of(tensor):
    """A tensor as an NDArray, contiguous."""
    array = NDArray.arange(*tensor.shape)
    array.storage[:] = tensor.reshape(-1).tolist()
    return array


# %% exercise="16.5" role="answer"
def product(a: NDArray, b: NDArray) -> NDArray:
    """The product of two matrices."""
    # BEGIN SOLUTION
    (n, k), (other, m) = a.sizes, b.sizes
    if k != other:
        raise ValueError(f"sizes {a.sizes} and {b.sizes} do not fit: {k} is not {other}")
    result = NDArray.arange(n, m)
    rows = [[a.storage[a.offset + i * a.strides[0] + j * a.strides[1]] for j in range(k)] for i in range(n)]
    columns = [[b.storage[b.offset + i * b.strides[0] + j * b.strides[1]] for i in range(k)] for j in range(m)]
    result.storage[:] = [
        sum(one * other for one, other in zip(row, column, strict=True)) for row in rows for column in columns
    ]
    return result
    # END SOLUTION


class Product(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, y):
        # BEGIN SOLUTION
        ctx.save_for_backward(x, y)
        return torch.tensor(product(array_of(x), array_of(y)).tolist())
        # END SOLUTION

    @staticmethod
    def backward(ctx, grad):
        # BEGIN SOLUTION
        x, y = ctx.saved_tensors
        gradient, for_x, for_y = array_of(grad), None, None
        if ctx.needs_input_grad[0]:
            for_x = torch.tensor(product(gradient, array_of(y).transpose(0, 1)).tolist())
        if ctx.needs_input_grad[1]:
            for_y = torch.tensor(product(array_of(x).transpose(0, 1), gradient).tolist())
        return for_x, for_y
        # END SOLUTION


# %% exercise="16.5" role="check"
OF_THE_LIBRARY = {"mm", "matmul", "bmm", "addmm", "mv", "dot", "vdot", "inner", "outer", "einsum", "linear", "baddbmm"}
OF_THE_LIBRARY |= {"mul", "sum", "addmv", "tensordot", "multi_dot", "chain_matmul", "addcmul", "vecdot", "kron"}
multiplied = []


def counted_product(a, b):
    multiplied.append(tuple((tuple(each.sizes), tuple(each.strides)) for each in (a, b)))
    return own_product(a, b)


with check("16.5", "a product on your own array") as c:
    own_product = product
    base = NDArray.arange(4, 6)
    numbers = torch.arange(24.0).reshape(4, 6)
    for step in ("[1:3, 1:4]", "[:, ::2].transpose(0, 1)", "[2:, 1:2]", "[0:1, :].transpose(0, 1)"):
        c.case(f"x{step} and its transpose")
        one, right = eval(f"base{step}"), eval(f"numbers{step}")
        came = product(one, one.transpose(0, 1))
        c.equal(f"x{step} @ its transpose", came=came.tolist(), expected=(right @ right.t()).long().tolist())
        c.equal(
            f"x{step} @ its transpose: contiguous, offset", came=(came.is_contiguous(), came.offset), expected=(True, 0)
        )
    c.raises("sizes (4, 6) and (4, 6)", ValueError, "", product, base, base)
    torch.manual_seed(2)
    for wants in ((True, True), (True, False), (False, True)):
        case = c.case(f"whether a gradient is wanted for x and y: {wants}")
        x, y = (torch.randn(3, 4), torch.randn(4, 2))
        weights = torch.randn(3, 2)
        x.requires_grad_(wants[0])
        y.requires_grad_(wants[1])
        inputs = [tensor for tensor in (x, y) if tensor.requires_grad]
        expected = torch.autograd.grad(x @ y, inputs, weights)
        multiplied.clear()
        with (
            mock.patch.object(sys.modules["__main__"], "product", counted_product),
            torch.autograd.profiler.profile() as profile,
        ):
            result = Product.apply(x, y)
            came = torch.autograd.grad(result, inputs, weights)
        ops = sorted({event.name.split("::")[-1].rstrip("_") for event in profile.function_events} & OF_THE_LIBRARY)
        c.close(f"{case}: the product", came=result, expected=x @ y)
        for one, right in zip(came, expected, strict=True):
            c.close(f"{case}: a gradient", came=one, expected=right)
        c.equal(f"{case}: products and sums of the library", came=ops, expected=[])
        pairs = [(((3, 4), (4, 1)), ((4, 2), (2, 1)))]
        pairs += [(((3, 2), (2, 1)), ((2, 4), (1, 2)))] if wants[0] else []
        pairs += [(((4, 3), (1, 4)), ((3, 2), (2, 1)))] if wants[1] else []
        c.equal(f"{case}: sizes and strides of what your product multiplies", came=multiplied, expected=pairs)

# %% [markdown] exercise="16.5" role="debrief"
# **In PyTorch** `at::mm` passes the three arrays to a BLAS library, with a flag that says which of them is
# transposed. So PyTorch does not copy the transposed matrices of the backward pass either. Your product is within the
# tolerances of the check, but not equal to the last bit: Python's floats have 53 bits, so your sums are rounded to
# float32 once, at the end. A kernel of float32 rounds in each step. Use `Product` in your GPT instead of `F.linear`,
# and see for how many steps the losses agree, and how much time an exact sum costs.

# %% [markdown] exercise="16.5" role="hint"
# Element (i, j) of an array is `a.storage[a.offset + i * a.strides[0] + j * a.strides[1]]`. Take the rows of `a` and
# the columns of `b` as lists; an element of the result is the sum of the products of two such lists.

# %% [markdown] exercise="16.5" role="hint"
# `ctx.save_for_backward(x, y)` in `forward`, and `array_of(y).transpose(0, 1)` in `backward`. Return None for a
# gradient that is not needed.


# %% [markdown] exercise="16.6" role="task" kind="build" title="project: one bug in the real thing"
# ## 16.6 Project: one bug in the real thing
#
# ★★★, an evening. PyTorch 2.13 has the fault of the lesson: `Optimizer.load_state_dict` leaves the tensors of the state
# shared between the dict and the optimizer. Write what a pull request needs. The check runs all of it in PyTorch, on a
# copy of `torch/optim/optimizer.py`; your torch stays as it is.
#
# - `reproduction()` returns a program of at most ten lines (empty lines not counted). It ends with an `assert` that
#   fails in PyTorch 2.13, and passes with your patch.
# - `patch()` returns a patch for `torch/optim/optimizer.py`, with `-` and `+`, as `%%rebuild` takes it. With it, a
#   loaded optimizer shares no tensor with the dict, whatever the rule: momentum of SGD, and `step`, `exp_avg` and
#   `exp_avg_sq` of Adam, also in a list or a dict of the state. Everything else stays the same: values, dtypes and
#   devices are those that 2.13 gives a loaded state, `step` keeps its dtype, numbers and None do not change, and the
#   caller's dict does not change.
# - `test()` returns the source of one function, `test_load_state_dict_copies_tensors(self)`, as a `unittest.TestCase`
#   has it, with `import torch` in its first line. It fails by an `assert` in 2.13 and passes with your patch. It also
#   fails for three patches that do too little: one that copies everything but `step`, one that copies `step` alone, and
#   one that copies only tensors in which all numbers are zero. Test with SGD and with Adam, and after a real step.
# - `pull_request()` returns its text. The first line is the title: at most 72 characters, it names `load_state_dict`
#   and has no full stop at its end. After an empty line follow at most 250 words. They say what a user sees, and name
#   the test, the file that changes, and the price of the change (use the word *memory*). Somebody made the copy
#   shallow on purpose: name that change, `#106082`.

# %% exercise="16.6" role="given"
FILE = "torch/optim/optimizer.py"


# %% exercise="16.6" role="answer"
def reproduction() -> str:
    """A program of at most ten lines."""
    # BEGIN SOLUTION
    return """
import torch

w, other = (torch.nn.Parameter(torch.zeros(1)) for _ in range(2))
trained, loaded = (torch.optim.SGD([p], lr=0.1, momentum=0.9) for p in (w, other))
w.grad, other.grad = torch.ones(1), torch.ones(1)
trained.step()
loaded.load_state_dict(trained.state_dict())
loaded.step()
momentum = trained.state[w]["momentum_buffer"].item()
assert momentum == 1.0, f"a step of the other optimizer has made the momentum {momentum}"
"""
    # END SOLUTION


def patch() -> str:
    """The change of torch/optim/optimizer.py."""
    # BEGIN SOLUTION
    return """
             if isinstance(value, torch.Tensor):
+                value = value.clone()
"""
    # END SOLUTION


def test() -> str:
    """The source of `test_load_state_dict_copies_tensors(self)`."""
    # BEGIN SOLUTION
    return """
import torch


def test_load_state_dict_copies_tensors(self):
    for make in (
        lambda params: torch.optim.SGD(params, lr=0.1, momentum=0.9),
        lambda params: torch.optim.Adam(params, lr=0.1, foreach=False, fused=False),
    ):
        p, q = (torch.nn.Parameter(torch.zeros(2)) for _ in range(2))
        trained, loaded = make([p]), make([q])
        p.grad, q.grad = torch.ones(2), torch.ones(2)
        trained.step()
        before = {name: value.clone() for name, value in trained.state[p].items()}
        loaded.load_state_dict(trained.state_dict())
        loaded.step()
        for name, value in trained.state[p].items():
            self.assertIsNot(value, loaded.state[q][name])
            torch.testing.assert_close(value, before[name], rtol=0, atol=0)
"""
    # END SOLUTION


def pull_request() -> str:
    """The text of the pull request; its first line is the title."""
    # BEGIN SOLUTION
    return """
Copy the tensors of the state in Optimizer.load_state_dict

After `b.load_state_dict(a.state_dict())` the two optimizers share their momentum buffers and step counts. A step of `b`
changes the next step of `a`, without an error. The same happens if one checkpoint dict is loaded into several models.
It does not happen with a dict that comes from `torch.load`, because each load makes new tensors.

`load_state_dict` in `torch/optim/optimizer.py` passes each value to `_cast`, whose docstring promises a deep copy.
`value.to(dtype, device)` returns the tensor itself if nothing has to be converted, and `step` is not converted at all.

This change copies each tensor before the conversion. `test_load_state_dict_copies_tensors` fails without the change,
for SGD and for Adam.

Cost: #106082 made the copy shallow in order to save memory. While a state dict is alive, loading now needs the memory
of the state once more, one tensor after the other; a program that deletes the dict afterwards gets it back. Users who
cannot afford that could pass a dict whose tensors they give up; an option for them is left out of this change.
"""
    # END SOLUTION


# %% exercise="16.6" role="check"
RUN_TEST = """
import unittest

space = {}
exec(SOURCE, space)
case = type("TestOptim", (unittest.TestCase,), {"runTest": space["test_load_state_dict_copies_tensors"]})
result = unittest.TestResult()
case().run(result)
print("ERROR" if result.errors else "FAILED" if result.failures else "PASSED", flush=True)
for _, text in (result.errors + result.failures)[:1]:
    print(text.splitlines()[-1])
"""
TOO_LITTLE = {
    "copies everything but step": 'if isinstance(value, torch.Tensor) and key != "step":\n    value = value.clone()',
    "copies step alone": 'if isinstance(value, torch.Tensor) and key == "step":\n    value = value.clone()',
    "copies only zeros": "if isinstance(value, torch.Tensor) and not value.any():\n    value = value.clone()",
}
BEHAVIOUR = """
import copy

import torch


class Holder(torch.optim.Optimizer):
    def __init__(self, params):
        super().__init__(params, {"lr": 0.1})

    def step(self):
        pass


def tensors(value):
    if isinstance(value, torch.Tensor):
        return [value]
    parts = value.values() if isinstance(value, dict) else value if isinstance(value, (list, tuple)) else []
    return [tensor for part in parts for tensor in tensors(part)]


def told(value):
    if isinstance(value, torch.Tensor):
        return (str(value.dtype), tuple(value.shape), value.tolist())
    if isinstance(value, dict):
        return {key: told(part) for key, part in value.items()}
    if isinstance(value, (list, tuple)):
        return [told(part) for part in value]
    return value


def moved(make):
    p = torch.nn.Parameter(torch.zeros(2))
    optimizer = make([p])
    for _ in range(2):
        p.grad = torch.tensor([1.0, -2.0])
        optimizer.step()
    return optimizer


def holder(params):
    optimizer = Holder(params)
    state = {"nested": {"deep": torch.ones(2)}, "list": [torch.zeros(2), torch.ones(1)], "count": 3, "none": None}
    optimizer.state[optimizer.param_groups[0]["params"][0]] = {**state, "half": torch.ones(2, dtype=torch.bfloat16)}
    return optimizer


makes = {
    "SGD with momentum": lambda params: torch.optim.SGD(params, lr=0.1, momentum=0.9),
    "Adam": lambda params: torch.optim.Adam(params, lr=0.1, foreach=False, fused=False),
    "fused Adam": lambda params: torch.optim.Adam(params, lr=0.1, fused=True),
    "an optimizer with nested state": holder,
}
for what, make in makes.items():
    for dtype in (torch.float32, torch.float64):
        saved = moved(make).state_dict()
        before = told(copy.deepcopy(saved))
        q = torch.nn.Parameter(torch.zeros(2, dtype=dtype))
        loaded = make([q])
        loaded.load_state_dict(saved)
        own, given = tensors(loaded.state[q]), tensors(saved["state"])
        shared = sum(one.data_ptr() == other.data_ptr() for one in own for other in given)
        kept = told(saved) == before
        print(f"{what}, {dtype}: tensors shared: {shared}, dict unchanged: {kept}, {told(loaded.state[q])}")
"""


def little(condition):
    """A patch that copies too little."""
    first, second = condition.splitlines()
    return f"+            {first}\n+            {second}\n             if isinstance(value, torch.Tensor):"


with check("16.6", "one bug in the real thing") as c:
    case = c.case("the text of the pull request")
    title, _, body = pull_request().strip("\n").partition("\n")
    c.equal(f"{case}: the title has at most 72 characters", came=len(title) <= 72, expected=True)
    c.equal(f"{case}: the title names load_state_dict", came="load_state_dict" in title, expected=True)
    c.equal(f"{case}: a full stop at the end of the title", came=title.rstrip().endswith("."), expected=False)
    c.equal(f"{case}: an empty line below the title", came=body[:1], expected="\n")
    c.equal(f"{case}: at most 250 words below", came=len(body.split()) <= 250, expected=True)
    for word in ("test_load_state_dict_copies_tensors", FILE, "memory", "#106082"):
        c.equal(f"{case}: has {word}", came=word in body, expected=True)
    case = c.case("the reproduction")
    lines = [line for line in reproduction().splitlines() if line.strip()]
    c.equal(f"{case}: at most ten lines", came=len(lines) <= 10, expected=True)
    c.equal(f"{case}: its last line is an assert", came=lines[-1].lstrip().startswith("assert"), expected=True)
    c.case("your patch, and PyTorch with it")
    as_it_is, fixed = patched_torch(FILE), patched_torch(FILE, patch())
    run_test = RUN_TEST.replace("SOURCE", repr(test()))
    too_little = [(patched_torch(FILE, little(condition)), run_test) for condition in TOO_LITTLE.values()]
    before, after, right, came, tested_before, tested_after, *tested = run_each(
        [
            (as_it_is, reproduction()),
            (fixed, reproduction()),
            (as_it_is, BEHAVIOUR),
            (fixed, BEHAVIOUR),
            (as_it_is, run_test),
            (fixed, run_test),
            *too_little,
        ]
    )
    c.equal("the reproduction: its error in 2.13", came=before.error.partition(":")[0], expected="AssertionError")
    c.equal("your patch: an error of its own", came=came.error, expected="")
    for line, other in zip(came.printed.splitlines(), right.printed.splitlines(), strict=True):
        c.equal("your patch: shares, and leaves", came=line, expected=re.sub(r"shared: \d+", "shared: 0", other))
    c.equal("your patch: the error of the reproduction", came=after.error, expected="")
    ends = [each.error or each.printed.strip() for each in (tested_after, tested_before, *tested)]
    c.equal("the test: with your patch", came=ends[0], expected="PASSED")
    c.equal("the test: in 2.13", came=ends[1].split("\n")[0], expected="FAILED")
    for what, end in zip(TOO_LITTLE, ends[2:], strict=True):
        c.equal(f"the test: with a patch that {what}", came=end.split("\n")[0], expected="FAILED")

# %% [markdown] exercise="16.6" role="debrief"
# **In PyTorch** the fault is known as issue 196083: another user found it in the same way. The change 106082 removed
# the deep copy in 2023, to save memory, but the docstring of `_cast` still promises the copy. Read both before you
# send anything: perhaps the fault is already fixed, or the maintainers have said which solution they want. A short
# discussion in the issue comes before a pull request, and costs you less than a patch that nobody asked for.
#
# The same function has a second fault. A state that is a string, such as `state["mode"] = "warm"`, is loaded as
# `"<generator object ...>"`, because a string is an `Iterable` as well. Look for an issue about that fault; if there
# is none, you have everything that you need for a second pull request.

# %% [markdown] exercise="16.6" role="hint"
# `patched_torch("torch/optim/optimizer.py", patch).run(program)` returns an outcome with `printed` and `error`. Begin
# with the reproduction, and run it in `patched_torch("torch/optim/optimizer.py")`, which has no patch.

# %% [markdown] exercise="16.6" role="hint"
# In `_cast` each tensor passes one line. If the value is copied there, in front of the conversion, the momentum and
# `step` are both copied, and so are tensors in lists and dicts.

# %% [markdown] exercise="16.6" role="hint"
# The test has to look at every entry of the state: `for name, value in trained.state[p].items()`. Zeros in a state
# would hide a fault, so take a real step first, and make a copy of the values before the other optimizer's step.
