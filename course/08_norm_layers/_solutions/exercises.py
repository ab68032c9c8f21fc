"""The exercises of chapter 08, solved; `make course` makes the learner's notebook of it.

Mirrors: nothing in PyTorch: exercises.
Leaves out: what the lesson explains.

The file is some 700 lines long, because all exercises of a chapter are in one file.
"""

# %% [markdown]
# # Exercises 08: norm layers
#
# Each exercise has a cell that raises until you have written it, and a check below that you run as often as you like.
# The check says what it tests, and when it passes, how PyTorch does the same.
# Stuck? `course("hint 08.1")` in a cell of its own. Done? `course("check 08")` runs the notebook, as last saved, from
# top to bottom.

# %%
import copy

import reftorch as torch
from course._tools import check, course, rebuild, show_source, stops_in_torch, write_for_torch
from reftorch import nn
from reftorch.nn import functional as F

# %% [markdown] exercise="08.1" role="task" kind="read" title="how many means"
# ## 08.1 Read: how many means
#
# ★☆☆, 10 minutes. If you exchange one norm layer for another, the shapes stay, and the numbers come
# from other elements. The input has the shape (4, 6, 5, 5): 4 examples, 6 channels, 5 by 5 pixels. Answer with an int
# for each question.
#
# How many means does the layer compute in one call in training?
#
# - `"batch"`: `nn.BatchNorm2d(6)`
# - `"layer"`: `nn.LayerNorm((6, 5, 5))`
# - `"last"`: `nn.LayerNorm(5)`
# - `"instance"`: `nn.InstanceNorm2d(6)`
# - `"groups"`: `nn.GroupNorm(3, 6)`
# - `"one group"`: `nn.GroupNorm(1, 6)`
#
# How many numbers are in the `weight` of the layer?
#
# - `"weight of layer"`: `nn.LayerNorm((6, 5, 5))`
# - `"weight of groups"`: `nn.GroupNorm(3, 6)`


# %% exercise="08.1" role="answer"
def how_many() -> dict[str, int]:
    """For each question a number, as `{"batch": ..., "layer": ..., ...}`."""
    # BEGIN SOLUTION
    return {
        "batch": 6,
        "layer": 4,
        "last": 120,
        "instance": 24,
        "groups": 12,
        "one group": 4,
        "weight of layer": 150,
        "weight of groups": 6,
    }
    # END SOLUTION


# %% exercise="08.1" role="check"
def means_of(layer):
    """An output depends on the elements that share its mean, so their number is the size of one mean's part."""
    torch.manual_seed(0)
    x = torch.randn(4, 6, 5, 5, dtype=torch.float64, requires_grad=True)
    (gradient,) = torch.autograd.grad(layer.double()(x)[0, 0, 0, 0], x)
    return x.numel() // int((gradient != 0).sum().item())


with check("08.1", "how many means") as c:
    truth = {
        "batch": means_of(nn.BatchNorm2d(6)),
        "layer": means_of(nn.LayerNorm((6, 5, 5))),
        "last": means_of(nn.LayerNorm(5)),
        "instance": means_of(nn.InstanceNorm2d(6)),
        "groups": means_of(nn.GroupNorm(3, 6)),
        "one group": means_of(nn.GroupNorm(1, 6)),
        "weight of layer": nn.LayerNorm((6, 5, 5)).weight.numel(),
        "weight of groups": nn.GroupNorm(3, 6).weight.numel(),
    }
    c.answers("the numbers", came=how_many(), truth=truth, look="Look at the cubes of the lesson, and count.")

# %% [markdown] exercise="08.1" role="debrief"
# **In PyTorch** the numbers are the same. `GroupNorm(1, C)` and `LayerNorm((C, H, W))` compute equal means, but the
# first has a weight for each channel and takes images of any size, and the second has a weight for each element. The
# networks of images that say "layer norm" often mean the first, or a norm over the channels of each pixel.

# %% [markdown] exercise="08.1" role="hint"
# A layer that looks at each example alone has a multiple of 4 means.

# %% [markdown] exercise="08.1" role="hint"
# `LayerNorm(5)` normalizes over the last dimension, so one mean has five elements.


# %% [markdown] exercise="08.2" role="task" kind="build" title="statistics that fit the weights"
# ## 08.2 Build: statistics that fit the weights
#
# ★★☆, 25 minutes. After a short training, after a change of weights by hand, or before the model goes
# to another kind of camera, the running statistics do not fit. They can be computed again, without training. Write
# `recalibrate(model, batches)`:
#
# - afterwards each batch norm (`nn.BatchNorm1d`, `2d` or `3d`) that has running statistics has the plain averages over
#   `batches`: `running_mean` is the average of the means of the batches, and `running_var` that of their unbiased
#   variances. `num_batches_tracked` is the number of batches;
# - while the model runs, batch norms with running statistics are in training mode and all other modules in evaluation
#   mode, so that dropout does not change what is measured;
# - afterwards each module has the mode (`training`) and each batch norm the `momentum` that it had before. This also
#   holds if the model raises; the error goes on to the caller;
# - parameters stay as they are, and the calls record nothing for backward.


# %% exercise="08.2" role="answer"
def recalibrate(model, batches) -> None:
    """Compute the running statistics again, as averages over the batches."""
    # BEGIN SOLUTION
    kinds = (nn.BatchNorm1d, nn.BatchNorm2d, nn.BatchNorm3d)
    norms = [module for module in model.modules() if isinstance(module, kinds) and module.track_running_stats]
    modes = {module: module.training for module in model.modules()}
    momenta = {norm: norm.momentum for norm in norms}
    try:
        model.eval()
        for norm in norms:
            norm.reset_running_stats()
            norm.momentum = None
            norm.train()
        with torch.no_grad():
            for batch in batches:
                model(batch)
    finally:
        for module, training in modes.items():
            module.training = training
        for norm, momentum in momenta.items():
            norm.momentum = momentum
    # END SOLUTION


# %% exercise="08.2" role="check"
class Watches(nn.Module):
    """Passes its input on, and notes the modes of a model and whether gradients are recorded."""

    def __init__(self):
        super().__init__()
        self.seen, self.left = [], [None] * 6

    def forward(self, x):
        self.seen.append((self.training, torch.is_grad_enabled()))
        self.left.pop()  # raises an IndexError for the seventh batch
        return x


def small_model():
    torch.manual_seed(4)
    first, second = [nn.BatchNorm2d(2, momentum=0.3), nn.Conv2d(2, 3, 1), Watches()], [nn.Dropout(0.5)]
    second += [nn.BatchNorm2d(3), nn.BatchNorm2d(3, track_running_stats=False)]
    model = nn.Sequential(*first, *second, nn.InstanceNorm2d(3, track_running_stats=True))
    model[4].eval()
    return model


def average(batches, of):
    return torch.stack([of(batch) for batch in batches]).mean(0)


with check("08.2", "statistics that fit the weights") as c:
    torch.manual_seed(5)
    batches = [3 * torch.randn(4, 2, 3, 3) + 10 * number for number in range(1, 4)]
    model = small_model()
    before = copy.deepcopy(model.state_dict())
    modes = [module.training for module in model.modules()]
    recalibrate(model, iter(batches))
    case = c.case("three batches through a model of two tracked batch norms")
    c.close(
        f"{case}: the mean of the first",
        came=model[0].running_mean,
        expected=average(batches, lambda b: b.mean((0, 2, 3))),
    )
    c.close(
        f"{case}: the variance of the first",
        came=model[0].running_var,
        expected=average(batches, lambda b: b.var((0, 2, 3))),
        rtol=1e-4,
    )
    inside = [model[1](F.batch_norm(batch, None, None, training=True)) for batch in batches]
    expected = average(inside, lambda b: b.mean((0, 2, 3)))
    c.close(
        f"{case}: the mean of the second, without dropout", came=model[4].running_mean, expected=expected, atol=1e-5
    )
    c.equal(f"{case}: the number of batches", came=model[4].num_batches_tracked.item(), expected=3)
    c.equal(f"{case}: modes afterwards", came=[module.training for module in model.modules()], expected=modes)
    c.equal(f"{case}: momenta afterwards", came=(model[0].momentum, model[4].momentum), expected=(0.3, 0.1))
    c.equal(f"{case}: mode and recording of another module", came=model[2].seen, expected=[(False, False)] * 3)
    c.close(f"{case}: the weight of the convolution", came=model[1].weight, expected=before["1.weight"])
    c.close(f"{case}: the mean of the instance norm", came=model[6].running_mean, expected=before["6.running_mean"])
    recalibrate(model, batches[:1])
    c.close("again with one batch: the mean", came=model[0].running_mean, expected=batches[0].mean((0, 2, 3)))
    c.raises("a model that raises in the third batch", IndexError, "pop", recalibrate, model, batches)
    c.equal("modes after the error", came=[module.training for module in model.modules()], expected=modes)
    c.equal("momenta after the error", came=(model[0].momentum, model[4].momentum), expected=(0.3, 0.1))

# %% [markdown] exercise="08.2" role="debrief"
# **In PyTorch** this is `torch.optim.swa_utils.update_bn`, which you meet in chapter 09. It puts the whole model into
# training mode, so dropout is active while it measures; that is simpler, and the statistics are those of training. The
# average of variances leaves out how far the batches' means are apart: with few, different batches it is too small.

# %% [markdown] exercise="08.2" role="hint"
# `momentum=None` does the averaging for you: read `_BatchNorm.forward`. `reset_running_stats()` sets the count to 0.

# %% [markdown] exercise="08.2" role="hint"
# `model.eval()`, then `norm.train()` for the norms. Keep the modes in a dict of all modules before, and write them back
# to `module.training` in a `finally`: `module.train(mode)` would change the module's children too.


# %% [markdown] exercise="08.3" role="task" kind="read" title="which kernels run"
# ## 08.3 Read: which kernels run
#
# ★★☆, 20 minutes. A breakpoint in a kernel that does not run is a slow way to learn about a program.
# `x = torch.randn(4, 6, 5, 5)`, and here are six kernels:
#
# a: `batch_norm_stats_kernel`, b: `batch_norm_update_kernel`, c: `batch_norm_invstd_kernel`,
# d: `batch_norm_transform_kernel`, e: `layer_norm_kernel_impl`, f: `batch_norm_backward_kernel`
#
# Which of them are entered? Answer with the letters in the order of the alphabet, as `"abc"`.
#
# - `"training"`: `nn.BatchNorm2d(6)(x)`
# - `"evaluation"`: `nn.BatchNorm2d(6).eval()(x)`
# - `"untracked"`: `nn.BatchNorm2d(6, track_running_stats=False)(x)`
# - `"instance"`: `nn.InstanceNorm2d(6)(x)`
# - `"groups"`: `nn.GroupNorm(3, 6)(x)`
# - `"backward"`: `y.sum().backward()` alone, after `y = nn.BatchNorm2d(6).eval()(x)`


# %% exercise="08.3" role="answer"
def kernels_entered() -> dict[str, str]:
    """For each program the letters of the kernels, as `{"training": ..., "evaluation": ..., ...}`."""
    # BEGIN SOLUTION
    return {
        "training": "abcd",
        "evaluation": "cd",
        "untracked": "abcd",
        "instance": "abcd",
        "groups": "e",
        "backward": "cf",
    }
    # END SOLUTION


# %% exercise="08.3" role="check"
from course._tools.trees import called
from reftorch.debug import call_tree

SIX = {
    "batch_norm_stats_kernel": "a",
    "batch_norm_update_kernel": "b",
    "batch_norm_invstd_kernel": "c",
    "batch_norm_transform_kernel": "d",
    "layer_norm_kernel_impl": "e",
    "batch_norm_backward_kernel": "f",
}


def letters_of(program):
    with call_tree(only="native/") as tree:
        program()
    entered = called(tree)
    return "".join(letter for name, letter in SIX.items() if name in entered)


with check("08.3", "which kernels run") as c:
    x = torch.randn(4, 6, 5, 5)
    summed = nn.BatchNorm2d(6).eval()(x).sum()
    truth = {
        "training": letters_of(lambda: nn.BatchNorm2d(6)(x)),
        "evaluation": letters_of(lambda: nn.BatchNorm2d(6).eval()(x)),
        "untracked": letters_of(lambda: nn.BatchNorm2d(6, track_running_stats=False)(x)),
        "instance": letters_of(lambda: nn.InstanceNorm2d(6)(x)),
        "groups": letters_of(lambda: nn.GroupNorm(3, 6)(x)),
        "backward": letters_of(summed.backward),
    }
    look = "Read `native_batch_norm` and `native_batch_norm_backward` in Normalization.cpp: which stub is called when?"
    c.answers("the kernels of each program", came=kernels_entered(), truth=truth, look=look)

# %% [markdown] exercise="08.3" role="debrief"
# **In PyTorch** the three steps of the forward are two functions of `Normalization.cpp`,
# `batch_norm_cpu_update_stats_template` and `batch_norm_cpu_transform_input_template`. `native_group_norm` has a kernel
# of its own there. `instance_norm` is a view and a batch norm in both libraries.

# %% [markdown] exercise="08.3" role="hint"
# A stub is called with undefined tensors where there are no running statistics: the kernel is entered, and its two
# questions get the answer no.

# %% [markdown] exercise="08.3" role="hint"
# In evaluation nothing is saved for backward, so the backward computes `invstd` once more, from the running variance.


# %% [markdown] exercise="08.4" role="task" kind="fix" title="a frozen part that moves"
# ## 08.4 Fix: a frozen part that moves
#
# ★★☆, 20 minutes. For fine-tuning, somebody puts the trained part of a model into `BrokenFrozen`. Two
# reports came. First: the parameters of the frozen part do not change, and yet the part gives other outputs after each
# epoch. Second: a layer in front of the frozen part, which should learn, has no gradients. Write `Frozen`:
#
# - `Frozen(part)(x)` gives what `part` gives in evaluation mode, before and after any number of training steps, and
#   after any calls of `train()` and `eval()` on a model that contains it. Its buffers never change;
# - `model.train()` puts the rest of the model into training mode, and returns the model; so does `Frozen.train()`;
# - no parameter of the part requires a gradient, and an input that requires a gradient gets the right one;
# - the part is an attribute `part`, so that the keys of `state_dict()` begin with `part.`.


# %% exercise="08.4" role="given"
class BrokenFrozen(nn.Module):
    def __init__(self, part):
        super().__init__()
        self.part = part.eval()
        for parameter in part.parameters():
            parameter.requires_grad_(False)

    def forward(self, x):
        with torch.no_grad():
            return self.part(x)


# %% exercise="08.4" role="answer"
class Frozen(nn.Module):
    def __init__(self, part):
        super().__init__()
        # BEGIN SOLUTION
        self.part = part
        self.requires_grad_(False)
        self.eval()
        # END SOLUTION

    def forward(self, x):
        # BEGIN SOLUTION
        return self.part(x)

    def train(self, mode=True):
        super().train(mode)
        self.part.eval()
        return self
        # END SOLUTION


# %% exercise="08.4" role="check"
def trained_part():
    torch.manual_seed(6)
    part = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4), nn.Dropout(0.5), nn.Sequential(nn.BatchNorm1d(4)))
    for _ in range(5):
        part(torch.randn(16, 3) + 2)
    return part


with check("08.4", "a frozen part that moves") as c:
    part, x = trained_part(), torch.linspace(-1, 1, 24).reshape(8, 3)
    right = copy.deepcopy(part).eval()
    buffers = {name: buffer.clone() for name, buffer in part.named_buffers()}
    model = nn.Sequential(nn.Linear(3, 3), Frozen(part), nn.BatchNorm1d(4), nn.Linear(4, 1))
    c.close("the output, right after wrapping", came=model[1](x), expected=right(x))
    c.equal("what train() returns", came=(model.train() is model, model[1].train() is model[1]), expected=(True, True))
    c.equal("the mode of a batch norm that is not frozen", came=model[2].training, expected=True)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for _ in range(3):
        model.train()
        optimizer.zero_grad()
        model(x).square().sum().backward()
        optimizer.step()
        model.eval()
        model(x)
    model.train()
    c.close("the output, after three steps and train()", came=model[1](x), expected=right(x))
    for name, buffer in part.named_buffers():
        c.close(f"the buffer {name} after three steps", came=buffer, expected=buffers[name])
    asked = [name for name, parameter in model[1].named_parameters() if parameter.requires_grad]
    c.equal("parameters of the part that require a gradient", came=asked, expected=[])
    c.true("a gradient for the layer in front", model[0].weight.grad is not None, came="None", expected="a tensor")
    ours, theirs = x.clone().requires_grad_(), x.clone().requires_grad_()
    model[1](ours).square().sum().backward()
    right(theirs).square().sum().backward()
    c.close("the gradient of the input", came=ours.grad, expected=theirs.grad)
    keys = [key for key in model[1].state_dict() if not key.startswith("part.")]
    c.equal("keys that do not begin with part.", came=keys, expected=[])

# %% [markdown] exercise="08.4" role="debrief"
# **In PyTorch** the same trap waits, because `requires_grad_(False)` says nothing about buffers, and each
# `model.train()` visits all modules. The detection models of torchvision avoid the question with a class of their own,
# `FrozenBatchNorm2d`, whose four tensors are all buffers.

# %% [markdown] exercise="08.4" role="hint"
# Who calls `train()` of the part? `show_source("Module.train")`. What can a subclass of `nn.Module` do about it?

# %% [markdown] exercise="08.4" role="hint"
# Override `train(self, mode=True)`: whatever the mode is, the part goes to evaluation. And `no_grad` in `forward` cuts
# the graph, also for what lies in front of the part.


# %% [markdown] exercise="08.5" role="task" kind="fix" title="a broken library: gradients that drift"
# ## 08.5 Fix: a broken library, gradients that drift
#
# ★★★, 30 minutes. Since the last pull, models with batch norm train badly, and models without it as
# before. *One line of C++* of the library was changed. `PROGRAM` asks the questions, and `REPORT` holds what the broken
# library prints. The right library prints 0.0 for the first two sums.
#
# Find the line. You have found it when you can break the library in the same way: return the file, and a patch as
# `%%rebuild` takes one, with `-` and `+` before the lines. Your own library stays as it is. The check runs `PROGRAM` on
# a scratch copy with your patch, and names the first line that differs from `REPORT`.

# %% exercise="08.5" role="given"
PROGRAM = """
import reftorch as torch

x = torch.tensor([[1.0], [3.0], [5.0], [7.0]], requires_grad=True)
slopes = torch.tensor([[1.0], [0.0], [0.0], [3.0]])

def gradients(layer):
    x.grad = None
    (layer(x) * slopes).sum().backward()
    return x.grad

layer = torch.nn.BatchNorm1d(1)
grad = gradients(layer)
print("sum of the gradients:", round(grad.sum().item(), 3) + 0.0)
print("sum of gradient times x:", round((grad * (x - 4)).sum().item(), 3) + 0.0)
print("weight and bias:", round(layer.weight.grad.item(), 3), round(layer.bias.grad.item(), 3))
print("evaluation:", [round(g, 3) for g in gradients(layer.eval()).flatten().tolist()])
"""
REPORT = [
    "sum of the gradients: 1.789",
    "sum of gradient times x: 0.0",
    "weight and bias: 2.683 4.0",
    "evaluation: [0.799, 0.0, 0.0, 2.397]",
]


# %% exercise="08.5" role="answer"
def change() -> tuple[str, str]:
    """The file, and the patch that breaks the library as in REPORT."""
    # BEGIN SOLUTION
    return (
        "ATen/native/cpu/NormalizationKernel.cpp",
        """
-      offset[c] = scalar_t(train ? -factor * sums[c] / count : 0.0);
+      offset[c] = scalar_t(0.0);
""",
    )
    # END SOLUTION


# %% exercise="08.5" role="check"
with check("08.5", "a broken library: gradients that drift") as c:
    file, patch = change()
    c.case(f"the patch of {file}")
    broken = rebuild(file, patch)
    outcome = broken.run(PROGRAM)
    broken.close()
    c.equal("an error of the library with your patch", came=outcome.error, expected="")
    for came, expected in zip(outcome.printed.splitlines(), REPORT, strict=True):
        c.equal("a line that PROGRAM prints with your patch", came=came, expected=expected)

# %% [markdown] exercise="08.5" role="debrief"
# **In PyTorch** the backward of the CPU subtracts the mean of the gradients and the projection on the normalized input
# in the kernels behind `batch_norm_cpu_backward_stub`. The two sums are worth remembering as a test: the output of a
# norm layer does not change if all elements of a channel grow by the same number, or by the same factor, so the
# gradient must be orthogonal to both directions. `gradcheck` would have found this line too.

# %% [markdown] exercise="08.5" role="hint"
# In evaluation all is right, and so are weight and bias. So the line belongs to dx, and to training alone.

# %% [markdown] exercise="08.5" role="hint"
# The gradient has three terms: one of dy, one of x, one that is equal for all elements of a channel. Which of them
# makes the sum zero?


# %% [markdown] exercise="08.6" role="task" kind="build" title="project: a batch norm of your own"
# ## 08.6 Project: a batch norm of your own
#
# ★★★, an evening. Write batch normalization with Python and simple ops, the backward by hand, so that it can replace
# the library's. There are two parts.
#
# `Normalize`, a `torch.autograd.Function`, called as `Normalize.apply(x, weight, bias, running_mean, running_var,
# training, momentum, eps)`:
#
# - x is (N, C) or (N, C, ...) of any float dtype; weight and bias are (C) or None; the running statistics are (C), or
#   both None in training;
# - the result is that of `F.batch_norm` with the same arguments. In training the running statistics move in place, the
#   variance unbiased;
# - `backward` computes the gradients of x, weight and bias itself, with a formula: no `autograd.grad`, no graph. In
#   evaluation the mean and the variance do not depend on x. What needs no gradient gets None;
# - in training, the function keeps at most one tensor of the size of x for backward;
# - `gradcheck` accepts it in both modes.
#
# `MyBatchNorm2d(num_features, eps=1e-5, momentum=0.1, affine=True, track_running_stats=True)`, a module that uses it:
#
# - its `state_dict()` has the keys of `nn.BatchNorm2d`, in their order, and each loads the other's;
# - in both modes, outputs and buffers are those of `nn.BatchNorm2d`, also with `momentum=None`, `affine=False` and
#   `track_running_stats=False`;
# - an input that is not 4D raises a ValueError with "expected 4D input" in its message;
# - a model that trains with it has the losses of a model with `nn.BatchNorm2d`.


# %% exercise="08.6" role="answer"
class Normalize(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, weight, bias, running_mean, running_var, training, momentum, eps):
        # BEGIN SOLUTION
        dims, shape = [0, *range(2, x.dim())], [1, -1] + [1] * (x.dim() - 2)
        if training:
            mean, var = x.mean(dims), x.var(dims, correction=0)
            if running_mean is not None:
                count = x.numel() // x.shape[1]
                running_mean.lerp_(mean, momentum)
                running_var.lerp_(var * (count / (count - 1)), momentum)
        else:
            mean, var = running_mean.clone(), running_var
        invstd = (var + eps).rsqrt()
        ctx.save_for_backward(x, weight, mean, invstd)
        ctx.training, ctx.dims, ctx.shape = training, dims, shape
        y = (x - mean.reshape(shape)) * invstd.reshape(shape)
        y = y if weight is None else y * weight.reshape(shape)
        return y if bias is None else y + bias.reshape(shape)
        # END SOLUTION

    @staticmethod
    def backward(ctx, grad):
        # BEGIN SOLUTION
        x, weight, mean, invstd = ctx.saved_tensors
        dims, shape = ctx.dims, ctx.shape
        normal = (x - mean.reshape(shape)) * invstd.reshape(shape)
        of_x = of_weight = of_bias = None
        if ctx.needs_input_grad[0]:
            scaled = grad if weight is None else grad * weight.reshape(shape)
            if ctx.training:
                along = normal * (scaled * normal).mean(dims, keepdim=True)
                scaled = scaled - scaled.mean(dims, keepdim=True) - along
            of_x = scaled * invstd.reshape(shape)
        if ctx.needs_input_grad[1]:
            of_weight = (grad * normal).sum(dims)
        if ctx.needs_input_grad[2]:
            of_bias = grad.sum(dims)
        return of_x, of_weight, of_bias, None, None, None, None, None
        # END SOLUTION


class MyBatchNorm2d(nn.Module):
    def __init__(self, num_features, eps=1e-5, momentum=0.1, affine=True, track_running_stats=True):
        super().__init__()
        # BEGIN SOLUTION
        self.eps, self.momentum = eps, momentum
        self.weight = nn.Parameter(torch.ones(num_features)) if affine else None
        self.bias = nn.Parameter(torch.zeros(num_features)) if affine else None
        self.register_buffer("running_mean", torch.zeros(num_features) if track_running_stats else None)
        self.register_buffer("running_var", torch.ones(num_features) if track_running_stats else None)
        self.register_buffer("num_batches_tracked", torch.tensor(0) if track_running_stats else None)
        # END SOLUTION

    def forward(self, x):
        # BEGIN SOLUTION
        if x.dim() != 4:
            raise ValueError(f"expected 4D input (got {x.dim()}D input)")
        tracked, momentum = self.running_mean is not None, self.momentum
        if self.training and tracked:
            self.num_batches_tracked.add_(1)
            momentum = 1 / self.num_batches_tracked.item() if momentum is None else momentum
        own = self.training or not tracked
        return Normalize.apply(
            x, self.weight, self.bias, self.running_mean, self.running_var, own, momentum or 0.0, self.eps
        )
        # END SOLUTION


# %% exercise="08.6" role="check"
def operands(shape, dtype=torch.float32):
    torch.manual_seed(8)
    channels = shape[1]
    x = (torch.randn(shape, dtype=dtype) * 3 + 2).requires_grad_()
    weight = torch.linspace(0.5, 2, channels, dtype=dtype).requires_grad_()
    bias = torch.linspace(-1, 1, channels, dtype=dtype).requires_grad_()
    return x, weight, bias, torch.full((channels,), 1.5, dtype=dtype), torch.full((channels,), 4.0, dtype=dtype)


def theirs_of(x, weight, bias, mean, var, training, momentum, eps):
    return F.batch_norm(x, mean, var, weight, bias, training, momentum, eps)


def run_through(function, shape, training, parts, dtype=torch.float32):
    """Output, running statistics and gradients of a function; `parts` says what is there: w, b and s."""
    x, weight, bias, mean, var = operands(shape, dtype)
    weight, bias = weight if "w" in parts else None, bias if "b" in parts else None
    mean, var = (mean, var) if "s" in parts else (None, None)
    y = function(x, weight, bias, mean, var, training, 0.3, 1e-3)
    (y * torch.linspace(-1, 2, y.numel(), dtype=dtype).reshape(shape)).sum().backward()
    found = {"the result": y, "running_mean": mean, "running_var": var, "the gradient of x": x.grad}
    found |= {f"the gradient of {n}": t.grad for n, t in (("weight", weight), ("bias", bias)) if t is not None}
    return {name: tensor for name, tensor in found.items() if tensor is not None}


def kept_by(run):
    """The sizes of the tensors that are kept for backward."""
    sizes = []

    def keep(tensor):
        sizes.append(tensor.numel())
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(keep, lambda tensor: tensor):
        run()
    return sizes


def losses_with(kind):
    torch.manual_seed(9)
    model = nn.Sequential(nn.Conv2d(1, 4, 3), kind(4), nn.ReLU(), nn.Flatten(), nn.Linear(16, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    x, losses = torch.randn(12, 1, 4, 4) * 5 + 20, []
    for _ in range(15):
        loss = (model(x).flatten() - x.mean((1, 2, 3)) + 20).square().mean()
        losses.append(loss.item())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return torch.tensor([*losses, model.eval()(x).sum().item()])


with check("08.6", "a batch norm of your own") as c:
    for shape in ((6, 3), (4, 3, 5), (2, 3, 4, 5)):
        for training, parts in ((True, "wbs"), (True, "wb"), (True, "s"), (True, "bs"), (False, "wbs"), (False, "s")):
            mode = "training" if training else "evaluation"
            case = c.case(f"{mode}, shape {shape}, with {parts} of weight, bias, statistics")
            came = run_through(Normalize.apply, shape, training, parts)
            for name, expected in run_through(theirs_of, shape, training, parts).items():
                c.close(f"{case}: {name}", came=came[name], expected=expected, rtol=1e-4, atol=1e-4)
    for training in (True, False):
        case = c.case(f"gradcheck with training={training}")
        x, weight, bias, mean, var = operands((3, 2, 2), torch.float64)

        def function(*inputs, training=training, mean=mean, var=var):
            return Normalize.apply(*inputs, mean.clone(), var.clone(), training, 0.3, 1e-3)

        c.equal(case, came=torch.autograd.gradcheck(function, (x, weight, bias)), expected=True)
    case = c.case("gradients that nobody needs")
    x, weight, bias, mean, var = operands((6, 3))
    y = Normalize.apply(x.detach(), weight, bias.detach(), mean, var, True, 0.3, 1e-3)
    c.equal(f"{case}: the node of the result", came=type(y.grad_fn).__name__, expected="NormalizeBackward")
    given = y.grad_fn(torch.ones_like(y))
    c.equal(f"{case}: given to x, weight, bias", came=[g is not None for g in given[:3]], expected=[False, True, False])
    x, weight, bias, mean, var = operands((4, 3, 10))
    large = [
        size for size in kept_by(lambda: Normalize.apply(x, weight, bias, mean, var, True, 0.1, 1e-5)) if size >= 120
    ]
    c.true(
        "tensors of the size of x that are kept",
        len(large) <= 1,
        came=f"{len(large)} tensors",
        expected="at most one tensor",
    )

    batches = [torch.randn(3, 2, 4, 4) * 3 + number for number in range(4)]
    for options in (
        {},
        {"momentum": None},
        {"affine": False},
        {"track_running_stats": False},
        {"eps": 0.1, "momentum": 1.0},
    ):
        case = c.case(f"the module with {options}")
        ours, theirs = MyBatchNorm2d(2, **options), nn.BatchNorm2d(2, **options)
        c.equal(f"{case}: keys", came=list(ours.state_dict()), expected=list(theirs.state_dict()))
        for batch in batches:
            c.close(f"{case}: in training", came=ours(batch), expected=theirs(batch), rtol=1e-4, atol=1e-4)
        for name, expected in theirs.state_dict().items():
            c.close(f"{case}: {name}", came=ours.state_dict()[name], expected=expected, rtol=1e-4)
        came = ours.eval()(batches[0])
        c.close(f"{case}: in evaluation", came=came, expected=theirs.eval()(batches[0]), rtol=1e-4, atol=1e-4)
        MyBatchNorm2d(2, **options).load_state_dict(theirs.state_dict())
        nn.BatchNorm2d(2, **options).load_state_dict(ours.state_dict())
    c.raises("an input of three dimensions", ValueError, "expected 4D input", MyBatchNorm2d(2), torch.ones(2, 2, 2))
    came = losses_with(MyBatchNorm2d)
    c.close("15 losses and an evaluation", came=came, expected=losses_with(nn.BatchNorm2d), rtol=1e-2, atol=1e-2)

# %% [markdown] exercise="08.6" role="debrief"
# **In PyTorch** the formula is in C++, and a derivative of the backward exists besides (`batchnorm_double_backward`),
# so that `create_graph=True` works with it. Your function supports this, too, if its backward is made of ops on saved
# tensors and computes mean and invstd again from x. Without this change it is right for first derivatives only. The
# library keeps x, which the layer in front keeps anyway, and recomputes the normalized input: one tensor less in
# memory for a few multiplications.

# %% [markdown] exercise="08.6" role="hint"
# Begin with `forward`. Take `x.mean(dims)` and `x.var(dims, correction=0)` over all dimensions but 1, and reshape what
# belongs to channels to `(1, C, 1, ...)`. `running.lerp_(batch, momentum)` moves towards the batch.

# %% [markdown] exercise="08.6" role="hint"
# Save x, weight, mean and invstd, and compute the normalized input n in `backward`. With a = dy w the gradient of x is
# `invstd * (a - mean(a) - n * mean(a * n))` in training, and `invstd * a` in evaluation.

# %% [markdown] exercise="08.6" role="hint"
# In evaluation, clone `running_mean` before saving it: the buffer may change in place before backward runs. An optional
# tensor, None, can be given to `save_for_backward` too.


# %% [markdown] exercise="08.7" role="task" kind="read" title="in PyTorch: what reaches F.batch_norm"
# ## 08.7 Read, in PyTorch: what reaches F.batch_norm
#
# ★★☆, 15 minutes. This question is answered in PyTorch itself: it needs PyTorch (`make torch`), and no other exercise
# of the chapter does. The next cell writes `IN_TORCH` to a file, and prints the command that runs the file under pdb.
#
# `IN_TORCH` calls norm layers six times. Stop in `torch.nn.functional.batch_norm`, and note two of its arguments,
# `training` and `momentum` (rounded to 4 digits), for three of the calls: `"third"`, the third call in training;
# `"eval"`, the call in evaluation; `"frozen"`, the last call, of a layer whose running statistics are not to be
# tracked.


# %% exercise="08.7" role="given"
IN_TORCH = """\
import torch

torch.manual_seed(0)
layer = torch.nn.BatchNorm1d(2, momentum=None)
for _ in range(4):
    layer(torch.randn(4, 2))
layer.eval()
layer(torch.randn(4, 2))
plain = torch.nn.BatchNorm1d(2, track_running_stats=False).eval()
plain(torch.randn(4, 2))
"""
print(write_for_torch(IN_TORCH, "in_torch_08_7.py"))


# %% exercise="08.7" role="answer"
def arguments() -> dict[str, tuple[bool, float]]:
    # BEGIN SOLUTION
    return {"third": (True, 0.3333), "eval": (False, 0.0), "frozen": (True, 0.1)}
    # END SOLUTION


# %% exercise="08.7" role="check"
with check("08.7", "what reaches F.batch_norm") as c:
    answer = arguments()
    stops = stops_in_torch(
        IN_TORCH, "torch/nn/functional.py", "batch_norm", "if training:", ["training", "round(momentum, 4)"]
    )
    seen = [(training == "True", float(momentum)) for training, momentum in (stop.values() for stop in stops)]
    truth = {"third": seen[2], "eval": seen[4], "frozen": seen[5]}
    look = "pdb stops six times; the calls come in the order of the program."
    c.answers("training and momentum of three calls", came=answer, truth=truth, look=look)

# %% [markdown] exercise="08.7" role="debrief"
# **In PyTorch** a layer without running statistics passes `training=True` in evaluation too: it has nothing else to
# normalize by. With `momentum=None` the factor is one over the number of batches, computed in Python from a tensor,
# and 0 in evaluation, where nothing moves.

# %% [markdown] exercise="08.7" role="hint"
# After `import torch` has run: `break torch.nn.functional.batch_norm`, `continue`, and `args` at each stop.

# %% [markdown] exercise="08.7" role="hint"
# The lesson shows the lines of `_BatchNorm.forward` that compute both arguments.
