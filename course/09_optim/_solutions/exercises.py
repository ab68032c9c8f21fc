"""The exercises of chapter 09, solved; `make course` makes the learner's notebook of it.

Mirrors: nothing in PyTorch: exercises.
Leaves out: what the lesson explains.

The file is some 740 lines long, because all exercises of a chapter are in one file.
"""

# %% [markdown]
# # Exercises 09: optim
#
# Each exercise has a cell that raises until you have written it, and a check below that you run as often as you like.
# The check says what it tests, and when it passes, how PyTorch does the same. Stars say how difficult an exercise is,
# from one to three. Stuck? `course("hint 09.1")` in a cell of its own. Done? `course("check 09")` runs the notebook, as
# last saved, from top to bottom.

# %%
import copy

import reftorch as torch
from course._tools import check, course, rebuild, show_source, stops_in_torch, use_mytorch, write_for_torch
from reftorch import nn
from reftorch.optim import lr_scheduler

# %% [markdown] exercise="09.1" role="task" kind="read" title="what a rule remembers"
# ## 09.1 Read: what a rule remembers
#
# ★☆☆, 10 minutes. Optimizer states need much memory: a model that fits on a GPU may still be too large to train
# there. How many tensors of the size of a parameter does each rule keep for the parameter, from the first step on?
# Leave out the count of steps, which is only one number.
#
# Answer for these six, with an int for each:
#
# - `"SGD"`: `SGD(lr=0.1)`
# - `"momentum"`: `SGD(lr=0.1, momentum=0.9, nesterov=True)`
# - `"Adagrad"`: `Adagrad(lr=0.1)`
# - `"RMSprop"`: `RMSprop(lr=0.1, momentum=0.9, centered=True)`
# - `"Adam"`: `Adam(lr=0.1)`
# - `"AMSGrad"`: `Adam(lr=0.1, amsgrad=True)`


# %% exercise="09.1" role="answer"
def tensors_kept() -> dict[str, int]:
    """For each rule the number of tensors that it keeps for one parameter, as `{"SGD": ..., "momentum": ..., ...}`."""
    # BEGIN SOLUTION
    return {"SGD": 0, "momentum": 1, "Adagrad": 1, "RMSprop": 3, "Adam": 2, "AMSGrad": 3}
    # END SOLUTION


# %% exercise="09.1" role="check"
def kept_by(rule, **options):
    parameter = nn.Parameter(torch.ones(5))
    parameter.grad = torch.ones(5)
    optimizer = rule([parameter], lr=0.1, **options)
    optimizer.step()
    return sum(isinstance(value, torch.Tensor) and value.shape == (5,) for value in optimizer.state[parameter].values())


with check("09.1", "what a rule remembers") as c:
    truth = {
        "SGD": kept_by(torch.optim.SGD),
        "momentum": kept_by(torch.optim.SGD, momentum=0.9, nesterov=True),
        "Adagrad": kept_by(torch.optim.Adagrad),
        "RMSprop": kept_by(torch.optim.RMSprop, momentum=0.9, centered=True),
        "Adam": kept_by(torch.optim.Adam),
        "AMSGrad": kept_by(torch.optim.Adam, amsgrad=True),
    }
    look = "Read what each `_init_group` puts into the state."
    c.answers("the tensors that each rule keeps", came=tensors_kept(), truth=truth, look=look)

# %% [markdown] exercise="09.1" role="debrief"
# **In PyTorch** the numbers are the same. With weights and gradients, training with Adam takes four times the memory of
# the weights, without the activations. For a matrix, Adafactor keeps one mean for each row and each column instead of a
# matrix of means. This is why large models are trained with it.

# %% [markdown] exercise="09.1" role="hint"
# `show_source("Adam._init_group")`: the names after `state[` are the tensors that the rule keeps. `SGD._init_group`
# makes none; look at what `step` does after the rule.

# %% [markdown] exercise="09.1" role="hint"
# Some options add tensors: `momentum` adds one, `centered` one, and `amsgrad` one.


# %% [markdown] exercise="09.2" role="task" kind="build" title="groups with and without decay"
# ## 09.2 Build: groups with and without decay
#
# ★☆☆, 20 minutes. Weight decay pulls parameters to zero. Weight decay is meant for matrices. It should not change a
# bias or the scale of a norm layer. Nearly every training script has this function. Write `groups_of(model,
# weight_decay)`, which returns a list of two groups for an optimizer:
#
# - the first group has the parameters with two or more dimensions, and the given `weight_decay`; the second one has all
#   others, and a `weight_decay` of 0.0;
# - within a group, the parameters are in the order of `model.named_parameters()`;
# - parameters that do not require a gradient are in no group;
# - a parameter with two names is in one group, once;
# - a group without parameters is left out of the list.


# %% exercise="09.2" role="answer"
def groups_of(model, weight_decay) -> list[dict]:
    """The parameters of a model as groups, with and without weight decay."""
    # BEGIN SOLUTION
    trained = [parameter for parameter in model.parameters() if parameter.requires_grad]
    groups = [
        {"params": [parameter for parameter in trained if parameter.dim() >= 2], "weight_decay": weight_decay},
        {"params": [parameter for parameter in trained if parameter.dim() < 2], "weight_decay": 0.0},
    ]
    return [group for group in groups if group["params"]]
    # END SOLUTION


# %% exercise="09.2" role="check"
class TiedModel(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(5, 4)
        self.norm = nn.LayerNorm(4)
        self.frozen = nn.Linear(4, 4)
        self.output = nn.Linear(4, 5)
        self.output.weight = self.embed.weight
        self.scale = nn.Parameter(torch.tensor(1.0))
        self.frozen.requires_grad_(False)


def names_in(groups, model):
    names = {id(parameter): name for name, parameter in model.named_parameters()}
    return [([names[id(parameter)] for parameter in group["params"]], group["weight_decay"]) for group in groups]


with check("09.2", "groups with and without decay") as c:
    plain, tied = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 2)), TiedModel()
    c.equal(
        "two linear layers",
        came=names_in(groups_of(plain, 0.1), plain),
        expected=[(["0.weight", "2.weight"], 0.1), (["0.bias", "2.bias"], 0.0)],
    )
    c.equal(
        "tied weights, a frozen layer, a norm, a number",
        came=names_in(groups_of(tied, 0.01), tied),
        expected=[(["embed.weight"], 0.01), (["scale", "norm.weight", "norm.bias", "output.bias"], 0.0)],
    )
    c.equal("no matrices", came=len(groups_of(nn.LayerNorm(3), 0.1)), expected=1)
    c.equal("nothing but matrices", came=len(groups_of(nn.Linear(3, 3, bias=False), 0.1)), expected=1)
    weight, bias = plain[0].weight, plain[0].bias
    before = weight.detach().clone(), bias.detach().clone()
    optimizer = torch.optim.SGD(groups_of(plain, 0.1), lr=0.5)
    for parameter in plain.parameters():
        parameter.grad = torch.zeros_like(parameter)
    optimizer.step()
    c.close("a weight after a step with a gradient of 0", came=weight, expected=before[0] * 0.95)
    c.close("a bias after the same step", came=bias, expected=before[1])

# %% [markdown] exercise="09.2" role="debrief"
# **In PyTorch** there is no such function; each library that trains models has one, with a list of names or of module
# types. The number of dimensions is the rule of many scripts for language models. An optimizer with two groups saves
# two groups, and cannot load the file of an optimizer with one group.

# %% [markdown] exercise="09.2" role="hint"
# `model.parameters()` yields a tied parameter once (chapter 07). `parameter.dim()` is the number of dimensions.

# %% [markdown] exercise="09.2" role="hint"
# Make one list of the parameters that require a gradient, divide it into two lists, and leave out the dict of an
# empty list.


# %% [markdown] exercise="09.3" role="task" kind="read" title="the rate in each epoch"
# ## 09.3 Read: the rate in each epoch
#
# ★★☆, 20 minutes. You read a training script, and want to know the learning rate of each epoch before
# the GPU is paid for. An optimizer has two groups, with `lr=1.0` and `lr=0.2`. In each epoch, `optimizer.step()` runs,
# then the schedulers' `step()`. Answer with the rates that `optimizer.step()` uses in the epochs 0 to 4.
#
# - `"step"`: `StepLR(optimizer, step_size=2, gamma=0.5)`. Give the rates of the second group
# - `"both"`: the same `StepLR`, and `LinearLR(optimizer, start_factor=0.5, total_iters=2)`, which is made after the
#   `StepLR`. In each epoch both make a step, `StepLR` first. Give the rates of the first group
# - `"late"`: `LambdaLR(optimizer, lambda epoch: 1 / (1 + epoch))`; after epoch 1 somebody writes
#   `optimizer.param_groups[0]["lr"] = 10.0`, before the scheduler makes its step. Give the rates of the first group
#
# Round to four digits after the decimal point.


# %% exercise="09.3" role="answer"
def rates() -> dict[str, list[float]]:
    """The five rates of each program, as `{"step": [...], "both": [...], "late": [...]}`."""
    # BEGIN SOLUTION
    return {
        "step": [0.2, 0.2, 0.1, 0.1, 0.05],
        "both": [0.5, 0.75, 0.5, 0.5, 0.25],
        "late": [1.0, 0.5, 0.3333, 0.25, 0.2],
    }
    # END SOLUTION


# %% exercise="09.3" role="check"
def rates_of(group, *schedules, change=None):
    optimizer = torch.optim.SGD([{"params": [torch.zeros(1)]}, {"params": [torch.zeros(1)], "lr": 0.2}], lr=1.0)
    schedulers, seen = [make(optimizer) for make in schedules], []
    for epoch in range(5):
        seen.append(round(optimizer.param_groups[group]["lr"], 4))
        optimizer.step()
        optimizer.param_groups[0].update({"lr": change} if epoch == 1 and change is not None else {})
        for scheduler in schedulers:
            scheduler.step()
    return seen


def step_lr(optimizer):
    return lr_scheduler.StepLR(optimizer, step_size=2, gamma=0.5)


def linear_lr(optimizer):
    return lr_scheduler.LinearLR(optimizer, start_factor=0.5, total_iters=2)


def lambda_lr(optimizer):
    return lr_scheduler.LambdaLR(optimizer, lambda epoch: 1 / (1 + epoch))


with check("09.3", "the rate in each epoch") as c:
    programs = {
        "step": rates_of(1, step_lr),
        "both": rates_of(0, step_lr, linear_lr),
        "late": rates_of(0, lambda_lr, change=10.0),
    }
    answer = {name: [float(rate) for rate in some] for name, some in rates().items()}
    look = "Read `get_lr` of each schedule: does it begin with the current rate, or with the first rate?"
    c.answers("the rates of each program", came=answer, truth=programs, look=look)

# %% [markdown] exercise="09.3" role="debrief"
# **In PyTorch** the rates are the same. A schedule that computes from the present rate can be combined with others, and
# goes on from a rate that you write by hand. A schedule that computes from `base_lrs`, such as `LambdaLR`, overwrites
# what others wrote. The warm-up of `LinearLR` multiplies the rate in each step, and ends at a factor of 1.

# %% [markdown] exercise="09.3" role="hint"
# `LRScheduler.__init__` makes the first step itself, so a scheduler can change the rate of epoch 0. `LinearLR` does.

# %% [markdown] exercise="09.3" role="hint"
# `show_source("LinearLR.get_lr")` and `show_source("LambdaLR.get_lr")`. From epoch 0 to 1 `LinearLR` multiplies by 1.5,
# and then by 1 / 0.75.


# %% [markdown] exercise="09.4" role="task" kind="fix" title="a checkpoint that is incomplete"
# ## 09.4 Fix: a checkpoint that is incomplete
#
# ★★☆, 25 minutes. `broken_save` and `broken_load` are from a training script. Resumed runs differ from runs in one
# go. And when somebody made a checkpoint in memory, trained further, and loaded the checkpoint, the weights did not
# go back. Write `save` and `load`:
#
# - `save(model, optimizer, scheduler)` returns a dict with everything that decides the rest of the training,
#   including the state of the default random generator. Training after `save` does not change the dict;
# - `load(checkpoint, model, optimizer, scheduler)` sets the model, the optimizer, the scheduler and the generator to
#   the state of the checkpoint. They may be new, or have made fewer or more steps than the checkpoint;
# - after `load`, training goes on as it did after `save`: all losses are equal to the last bit, with dropout too;
# - `load` does not change the checkpoint, and training after `load` does not change it either, so the checkpoint can
#   be loaded again.


# %% exercise="09.4" role="given"
def broken_save(model, optimizer, scheduler):
    return {"model": model.state_dict(), "optimizer": optimizer.state_dict(), "lr": scheduler.get_last_lr()}


def broken_load(checkpoint, model, optimizer, scheduler):
    model.load_state_dict(checkpoint["model"])
    optimizer.load_state_dict(checkpoint["optimizer"])
    for group, lr in zip(optimizer.param_groups, checkpoint["lr"], strict=True):
        group["lr"] = lr


# %% exercise="09.4" role="answer"
def save(model, optimizer, scheduler) -> dict:
    """Return everything that decides the rest of the training, as it is now."""
    # BEGIN SOLUTION
    parts = {"model": model, "optimizer": optimizer, "scheduler": scheduler}
    checkpoint = {name: copy.deepcopy(part.state_dict()) for name, part in parts.items()}
    return {**checkpoint, "random": torch.get_rng_state()}
    # END SOLUTION


def load(checkpoint, model, optimizer, scheduler) -> None:
    """Set the parts to the state of the checkpoint."""
    # BEGIN SOLUTION
    parts = {"model": model, "optimizer": optimizer, "scheduler": scheduler}
    for name, part in parts.items():
        part.load_state_dict(copy.deepcopy(checkpoint[name]))
    torch.set_rng_state(checkpoint["random"])
    # END SOLUTION


# %% exercise="09.4" role="check"
def parts_of(dropout):
    torch.manual_seed(3)
    model = nn.Sequential(nn.Linear(2, 8), nn.Tanh(), nn.Dropout(dropout), nn.Linear(8, 1))
    optimizer = torch.optim.Adam(model.parameters(), lr=0.05)
    return model, optimizer, lr_scheduler.StepLR(optimizer, step_size=7, gamma=0.5)


def trained(parts, steps):
    model, optimizer, scheduler = parts
    losses, x = [], torch.linspace(-1, 1, 32).reshape(16, 2)
    for _ in range(steps):
        loss = (model(x) - x.prod(dim=1, keepdim=True)).square().mean()
        losses.append(loss.item())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        scheduler.step()
    return losses


with check("09.4", "a checkpoint that is incomplete") as c:
    for dropout in (0.0, 0.5):
        case = f"a dropout of {dropout}"
        c.case(case)
        parts = parts_of(dropout)
        trained(parts, 10)
        checkpoint = save(*parts)
        expected = trained(parts, 12)
        fresh = parts_of(dropout)
        load(checkpoint, *fresh)
        c.equal(f"{case}: 12 losses of new parts", came=trained(fresh, 12), expected=expected)
        load(checkpoint, *parts)
        c.equal(f"{case}: 12 losses of the old parts, taken back", came=trained(parts, 12), expected=expected)
        load(checkpoint, *fresh)
        c.equal(f"{case}: 12 losses after a third load", came=trained(fresh, 12), expected=expected)

# %% [markdown] exercise="09.4" role="debrief"
# **In PyTorch** `torch.save` of these dicts makes the copy, because the file does not share memory with the model.
# Each device has a random generator of its own, and a data loader has a position in the data: you have to save both
# yourself. A checkpoint for daily use also has the version of the program.

# %% [markdown] exercise="09.4" role="hint"
# Chapter 07 has the reason why the weights do not go back. The same is true for the state of the optimizer: what does
# `state_dict()` share with the optimizer, and what does `load_state_dict` take over without a copy?

# %% [markdown] exercise="09.4" role="hint"
# The scheduler has a `state_dict()` too. `torch.get_rng_state()` returns a copy. Call `copy.deepcopy` when you save,
# and again when you load: Adam changes its means and its count of steps in place.


# %% [markdown] exercise="09.5" role="task" kind="fix" title="a rule that fails late"
# ## 09.5 Fix: a rule that fails late
#
# ★★☆, 30 minutes. `BrokenAdamW` agrees with `torch.optim.AdamW` in every test that its author wrote:
# one parameter, a gradient in each step, no weight decay. In use, layers that are unfrozen later make steps of a wrong
# length at first, weight decay acts weakly on elements with large gradients, and resuming fails. Write `AdamW`:
#
# - the constructor takes `params, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=1e-2`, and each group may have
#   its own values;
# - all parameters move as with `torch.optim.AdamW`, including a parameter that gets its first gradient later, and one
#   that has no gradient in some steps;
# - weight decay is *decoupled*: the parameter is multiplied by `1 - lr * weight_decay`, and the means do not contain
#   the decay;
# - everything that the rule remembers is in `state_dict()`: a new `AdamW` that loads the dict makes the steps that
#   the old one would have made;
# - `step(closure)` calls the closure with gradients enabled, and returns its loss; without a closure it returns None.
#   Autograd records nothing of the step.


# %% exercise="09.5" role="given"
class BrokenAdamW(torch.optim.Optimizer):
    def __init__(self, params, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=1e-2):
        super().__init__(params, {"lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay})
        self.steps = 0

    @torch.no_grad()
    def step(self, closure=None):
        loss = None if closure is None else closure()
        self.steps += 1
        for group in self.param_groups:
            (beta1, beta2), lr = group["betas"], group["lr"]
            for parameter in group["params"]:
                if parameter.grad is None:
                    continue
                gradient = parameter.grad + group["weight_decay"] * parameter
                state = self.state[parameter]
                if not state:
                    state["mean"], state["square"] = torch.zeros_like(parameter), torch.zeros_like(parameter)
                state["mean"].mul_(beta1).add_(gradient, alpha=1 - beta1)
                state["square"].mul_(beta2).add_(gradient * gradient, alpha=1 - beta2)
                mean = state["mean"] / (1 - beta1**self.steps)
                square = state["square"] / (1 - beta2**self.steps)
                parameter.sub_(lr * mean / (square.sqrt() + group["eps"]))
        return loss


# %% exercise="09.5" role="answer"
class AdamW(torch.optim.Optimizer):
    def __init__(self, params, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=1e-2):
        # BEGIN SOLUTION
        super().__init__(params, {"lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay})
        # END SOLUTION

    def step(self, closure=None):
        # BEGIN SOLUTION
        loss = None
        if closure is not None:
            with torch.enable_grad():
                loss = closure()
        with torch.no_grad():
            for group in self.param_groups:
                for parameter in group["params"]:
                    if parameter.grad is not None:
                        self.update(parameter, parameter.grad, group)
        return loss

    def update(self, parameter, gradient, group):
        (beta1, beta2), lr, state = group["betas"], group["lr"], self.state[parameter]
        if not state:
            state["step"] = 0
            state["mean"], state["square"] = torch.zeros_like(parameter), torch.zeros_like(parameter)
        state["step"] += 1
        parameter.mul_(1 - lr * group["weight_decay"])
        state["mean"].mul_(beta1).add_(gradient, alpha=1 - beta1)
        state["square"].mul_(beta2).add_(gradient * gradient, alpha=1 - beta2)
        mean = state["mean"] / (1 - beta1 ** state["step"])
        square = state["square"] / (1 - beta2 ** state["step"])
        parameter.sub_(lr * mean / (square.sqrt() + group["eps"]))
        # END SOLUTION


# %% exercise="09.5" role="check"
def two_parameters():
    return nn.Parameter(torch.tensor([1.0, -2.0, 3.0])), nn.Parameter(torch.tensor([[0.5, 4.0]]))


def gradients(first, second, step, has_second):
    first.grad = torch.tensor([1.0, -100.0, 0.01]) * (1 + step % 3)
    second.grad = torch.tensor([[2.0, -0.5]]) * (step + 1) if has_second(step) else None


def moved(kind, steps, has_second, second_options, **options):
    first, second = two_parameters()
    optimizer = kind([{"params": [first]}, {"params": [second], **second_options}], **options)
    for step in range(steps):
        gradients(first, second, step, has_second)
        optimizer.step()
    return torch.cat([first.detach(), second.detach().flatten()])


with check("09.5", "a rule that fails late") as c:
    for what, steps, has_second, second_options, options in (
        ("no weight decay, ten steps", 10, lambda step: True, {}, {"lr": 0.1, "weight_decay": 0.0}),
        ("weight decay", 10, lambda step: True, {}, {"lr": 0.1, "weight_decay": 0.5}),
        ("a parameter that begins in step 5", 12, lambda step: step >= 5, {}, {"lr": 0.1}),
        ("a parameter without a gradient in every third step", 12, lambda step: step % 3 != 0, {}, {"lr": 0.1}),
        ("a group of its own", 6, lambda step: True, {"lr": 0.01, "betas": (0.5, 0.9)}, {"lr": 0.1, "eps": 0.1}),
        ("all defaults", 6, lambda step: True, {}, {}),
    ):
        c.case(what)
        came = moved(AdamW, steps, has_second, second_options, **options)
        c.close(what, came=came, expected=moved(torch.optim.AdamW, steps, has_second, second_options, **options))
    case = c.case("resumed after 4 of 8 steps")
    first, second = two_parameters()
    saved = AdamW([first, second], lr=0.1).state_dict()
    for steps in (range(4), range(4, 8)):
        optimizer = AdamW([first, second], lr=0.1)
        optimizer.load_state_dict(saved)
        for step in steps:
            gradients(first, second, step, lambda step: True)
            optimizer.step()
        saved = copy.deepcopy(optimizer.state_dict())
    came = torch.cat([first.detach(), second.detach().flatten()])
    c.close(case, came=came, expected=moved(torch.optim.AdamW, 8, lambda step: True, {}, lr=0.1))
    case = c.case("a closure")
    first, _ = two_parameters()
    optimizer = AdamW([first], lr=0.1)

    def closure():
        optimizer.zero_grad()
        loss = first.square().sum()
        loss.backward()
        return loss

    c.close("the loss of the closure", came=optimizer.step(closure), expected=torch.tensor(14.0))
    c.equal("the result without a closure", came=optimizer.step(), expected=None)
    c.equal("the parameter is still a leaf", came=first.is_leaf, expected=True)

# %% [markdown] exercise="09.5" role="debrief"
# **In PyTorch** `AdamW` is `Adam` with `decoupled_weight_decay=True`. The count of steps is in the state of each
# parameter, as a tensor, for exactly this reason. If an optimizer remembers a value outside of `state` and
# `param_groups`, the value is not saved, because `state_dict()` returns only these two.

# %% [markdown] exercise="09.5" role="hint"
# Which count is right for a parameter that has seen two gradients, when the optimizer has made seven steps? Where is
# that count kept, so that `state_dict()` has it?

# %% [markdown] exercise="09.5" role="hint"
# The decay is one separate line, `parameter.mul_(1 - lr * weight_decay)`, and does not change the gradient. The
# closure needs `with torch.enable_grad():`, and the rest of `step` needs `torch.no_grad()`.


# %% [markdown] exercise="09.6" role="task" kind="build" title="project: an optimizer from a paper"
# ## 09.6 Project: an optimizer from a paper
#
# ★★★, an evening. *Lion* was found by a search over programs (X. Chen and others, *Symbolic Discovery of Optimization
# Algorithms*, 2023). *Lion* keeps one tensor for each parameter, whereas Adam keeps two. With gradient g and the
# tensor m, which begins at zero, one step does in this order:
#
# 1. the direction is the sign of `beta1 * m + (1 - beta1) * g`; the sign of 0 is 0;
# 2. the parameter loses `lr` times (the direction + `weight_decay` times the parameter);
# 3. `m` becomes `beta2 * m + (1 - beta2) * g`.
#
# Write the class `Lion`, with the features that the optimizers of the library have:
#
# - `Lion(params, lr=1e-4, betas=(0.9, 0.99), weight_decay=0.0, *, maximize=False)`; each group may have its own values.
#   With `maximize` the gradient is taken with the opposite sign;
# - a negative `lr` or `weight_decay`, or a beta outside of `[0, 1)`, raises a ValueError that names the value;
# - parameters without a gradient are left out, and have no state. Parameters change in place. Gradients do not change;
# - `step(closure)` is as in the lesson: the closure runs with gradients enabled, `step` returns its loss, and
#   autograd records nothing else;
# - the state has one entry for each parameter, `"exp_avg"`. A new `Lion` that loads the `state_dict()` makes the same
#   steps as the old one;
# - a scheduler, hooks of `register_step_post_hook` and `add_param_group` work, as with any optimizer.
#
# The last case of the check trains a model of your package `course/work/mytorch`: your `Module` of exercise 07.6, with
# the gradients of your `Engine` of 06.8. If you have not written one of the two, the next cell takes the course's.


# %% exercise="09.6" role="given"
use_mytorch("engine", "module", fill=True)

# %% exercise="09.6" role="given"
from mytorch.engine import Engine
from mytorch.module import Module


# %% exercise="09.6" role="answer"
class Lion(torch.optim.Optimizer):
    def __init__(self, params, lr=1e-4, betas=(0.9, 0.99), weight_decay=0.0, *, maximize=False):
        # BEGIN SOLUTION
        if lr < 0.0:
            raise ValueError(f"Invalid learning rate: {lr}")
        if weight_decay < 0.0:
            raise ValueError(f"Invalid weight_decay value: {weight_decay}")
        for index, beta in enumerate(betas):
            if not 0.0 <= beta < 1.0:
                raise ValueError(f"Invalid beta parameter at index {index}: {beta}")
        super().__init__(params, {"lr": lr, "betas": betas, "weight_decay": weight_decay, "maximize": maximize})
        # END SOLUTION

    def step(self, closure=None):
        # BEGIN SOLUTION
        loss = None
        if closure is not None:
            with torch.enable_grad():
                loss = closure()
        with torch.no_grad():
            for group in self.param_groups:
                for parameter in group["params"]:
                    if parameter.grad is not None:
                        self.update(parameter, -parameter.grad if group["maximize"] else parameter.grad, group)
        return loss

    def update(self, parameter, gradient, group):
        state, (beta1, beta2), lr = self.state[parameter], group["betas"], group["lr"]
        if not state:
            state["exp_avg"] = torch.zeros_like(parameter)
        direction = state["exp_avg"].lerp(gradient, 1 - beta1).sign_()
        parameter.mul_(1 - lr * group["weight_decay"]).add_(direction, alpha=-lr)
        state["exp_avg"].lerp_(gradient, 1 - beta2)
        # END SOLUTION


# %% exercise="09.6" role="check"
def in_plain_python(values, gradients, lr, betas, decay):
    """The rule of the paper on lists of numbers."""
    means = [0.0] * len(values)
    for gradient in gradients:
        for i, g in enumerate(gradient):
            blend = betas[0] * means[i] + (1 - betas[0]) * g
            direction = (blend > 0) - (blend < 0)
            values[i] -= lr * (direction + decay * values[i])
            means[i] = betas[1] * means[i] + (1 - betas[1]) * g
    return torch.tensor(values, dtype=torch.float64)


START = [1.0, -2.0, 0.5, 3.0]
GRADIENTS = [[0.5, -1.0, 0.0, 2.0], [-4.0, -1.0, 0.0, 0.1], [0.1, 20.0, 1.0, -3.0], [0.1, -1.0, -8.0, -3.0]] * 2


def moved_by_lion(gradients, **options):
    parameter = nn.Parameter(torch.tensor(START, dtype=torch.float64))
    optimizer = Lion([parameter], **options)
    for gradient in gradients:
        parameter.grad = torch.tensor(gradient, dtype=torch.float64)
        optimizer.step()
    return parameter.detach()


class Line(Module):
    """What `nn.Linear(3, 1)` computes, made of your Module."""

    def __init__(self):
        super().__init__()
        self.weight, self.bias = nn.Parameter(torch.tensor([[0.2, -0.4, 0.1]])), nn.Parameter(torch.zeros(1))

    def forward(self, x):
        return nn.functional.linear(x, self.weight, self.bias)


def trained_by_lion(model, backward):
    """The parameters of a model after ten steps on four points."""
    parameters = [parameter for _, parameter in model.named_parameters()]
    optimizer = Lion(iter(parameters), lr=0.05, weight_decay=0.1)
    points = torch.arange(12.0).reshape(4, 3) / 12
    for _ in range(10):
        optimizer.zero_grad()
        backward((model(points) - points.sum(1, keepdim=True)).square().mean())
        optimizer.step()
    return torch.cat([parameter.detach().flatten() for parameter in parameters])


with check("09.6", "an optimizer from a paper") as c:
    for what, options, (lr, betas, decay) in (
        ("all defaults", {}, (1e-4, (0.9, 0.99), 0.0)),
        ("a rate of 0.1", {"lr": 0.1}, (0.1, (0.9, 0.99), 0.0)),
        ("other betas", {"lr": 0.1, "betas": (0.5, 0.7)}, (0.1, (0.5, 0.7), 0.0)),
        ("weight decay", {"lr": 0.1, "weight_decay": 0.3}, (0.1, (0.9, 0.99), 0.3)),
    ):
        c.case(what)
        expected = in_plain_python(list(START), GRADIENTS, lr, betas, decay)
        c.close(f"{what}: after eight steps", came=moved_by_lion(GRADIENTS, **options), expected=expected)
    case = c.case("maximize")
    opposite = [[-g for g in gradient] for gradient in GRADIENTS]
    came = moved_by_lion(opposite, lr=0.1, weight_decay=0.3, maximize=True)
    c.close(case, came=came, expected=in_plain_python(list(START), GRADIENTS, 0.1, (0.9, 0.99), 0.3))

    case = c.case("two groups, one parameter without a gradient")
    first, second, idle = (nn.Parameter(torch.zeros(2)) for _ in range(3))
    optimizer = Lion([{"params": [first, idle]}], lr=0.1)
    optimizer.add_param_group({"params": [second], "lr": 0.01})
    first.grad, second.grad = torch.ones(2), -torch.ones(2)
    kept, address = first.grad.clone(), first.data_ptr()
    c.equal(f"{case}: what step() returns", came=optimizer.step(), expected=None)
    c.close(f"{case}: the first", came=first, expected=torch.full((2,), -0.1))
    c.close(f"{case}: the second", came=second, expected=torch.full((2,), 0.01))
    c.equal(f"{case}: whether the idle one has a state", came=idle in optimizer.state, expected=False)
    c.equal(f"{case}: the names in a state", came=list(optimizer.state[first]), expected=["exp_avg"])
    c.close(f"{case}: the gradient afterwards", came=first.grad, expected=kept)
    c.equal(f"{case}: the memory of the parameter is the same", came=first.data_ptr() == address, expected=True)
    c.equal(f"{case}: whether the parameter is a leaf", came=first.is_leaf, expected=True)

    for what, options in (
        ("a negative rate", {"lr": -0.5}),
        ("a negative decay", {"weight_decay": -0.5}),
        ("a beta of 1.5", {"betas": (0.9, 1.5)}),
        ("a beta of -0.5", {"betas": (-0.5, 0.9)}),
    ):
        value = next(str(each) for each in (*options.get("betas", ()), *options.values()) if each not in (0.9, 0.99))
        c.raises(what, ValueError, value, lambda options=options: Lion([nn.Parameter(torch.zeros(1))], **options))

    case = c.case("a closure, a hook and a scheduler")
    place, log = nn.Parameter(torch.tensor([3.0])), []
    optimizer = Lion([place], lr=1.0)
    scheduler = lr_scheduler.StepLR(optimizer, step_size=1, gamma=0.5)
    optimizer.register_step_post_hook(lambda optimizer, args, kwargs: log.append(round(place.item(), 4)))

    def closure():
        optimizer.zero_grad()
        loss = place.square().sum()
        loss.backward()
        return loss

    c.close(f"{case}: the loss", came=optimizer.step(closure), expected=torch.tensor(9.0))
    scheduler.step()
    optimizer.step(closure)
    c.equal(f"{case}: the places that the hook saw", came=log, expected=[2.0, 1.5])

    case = c.case("resumed after 4 of 8 steps")
    parameter = nn.Parameter(torch.tensor(START, dtype=torch.float64))
    saved = Lion([parameter], lr=0.1, betas=(0.5, 0.9)).state_dict()
    for four in (GRADIENTS[:4], GRADIENTS[4:]):
        optimizer = Lion([parameter], lr=5.0)
        optimizer.load_state_dict(saved)
        for gradient in four:
            parameter.grad = torch.tensor(gradient, dtype=torch.float64)
            optimizer.step()
        saved = copy.deepcopy(optimizer.state_dict())
    c.close(case, came=parameter, expected=in_plain_python(list(START), GRADIENTS, 0.1, (0.5, 0.9), 0.0))

    case = c.case("your Module with the gradients of your Engine, beside the library's layer")
    layer = nn.Linear(3, 1)
    layer.load_state_dict(dict(Line().named_parameters()))
    expected = trained_by_lion(layer, torch.Tensor.backward)
    c.close(f"{case}: after ten steps", came=trained_by_lion(Line(), Engine().backward), expected=expected)

# %% [markdown] exercise="09.6" role="debrief"
# **In PyTorch** there is no Lion: rules that are not yet widely used stay in packages of their own, and are subclasses
# of `Optimizer` like yours. PyTorch's own rules also have a second form with functions of lists (`torch._foreach_lerp_`
# and the like), which you may add. Train the model of the lesson with your rule: the paper takes a rate three to ten
# times smaller than Adam's, because each element moves by the full rate in each step.

# %% [markdown] exercise="09.6" role="hint"
# Take exercise 09.5 as the frame: groups, parameters with a gradient, a state that is made when it is empty. The
# constructor checks its values before `super().__init__(params, defaults)`.

# %% [markdown] exercise="09.6" role="hint"
# `m.lerp(g, 1 - beta)` is `beta * m + (1 - beta) * g`. The blend for the direction is a new tensor, because `m` itself
# is needed for line 3. The order of the three lines matters: the direction is computed with the old `m`.

# %% [markdown] exercise="09.6" role="hint"
# Line 2 is `parameter.mul_(1 - lr * weight_decay)`, then `add_(direction, alpha=-lr)`. For `maximize`, use
# `-parameter.grad`, which is a new tensor, and not an in-place op.


# %% [markdown] exercise="09.7" role="task" kind="fix" title="a broken library: the second load"
# ## 09.7 Fix: a broken library, the second load
#
# ★★★, 30 minutes. A script loads one checkpoint into one model after the other, to try several schedules. Since the
# last pull, only the first model gets momentum from the checkpoint, and the second one gets none. *One line of Python*
# of the library was changed. `PROGRAM` asks the questions, and `REPORT` holds what the broken library prints.
#
# Find the line. You have found it when you can break the library in the same way: return the file, and a patch as
# `%%rebuild` takes one, with `-` and `+` before the lines. Your own library stays as it is. The check runs `PROGRAM` on
# a scratch copy with your patch, and names the first line that differs from `REPORT`.

# %% exercise="09.7" role="given"
PROGRAM = """
import reftorch as torch

def new():
    w = torch.nn.Parameter(torch.zeros(1))
    return w, torch.optim.SGD([w], lr=0.1, momentum=0.5)

w, optimizer = new()
w.grad = torch.ones(1)
optimizer.step()
saved = optimizer.state_dict()
print("saved:", saved["param_groups"][0]["params"])

for attempt in ("first", "second"):
    w, optimizer = new()
    optimizer.load_state_dict(saved)
    w.grad = torch.zeros(1)
    optimizer.step()
    print(attempt, "load, moved by momentum:", round(w.item(), 4))
print("the rate is a copy:", optimizer.param_groups[0] is not saved["param_groups"][0])
"""
REPORT = [
    "saved: [0]",
    "first load, moved by momentum: -0.05",
    "second load, moved by momentum: 0.0",
    "the rate is a copy: False",
]


# %% exercise="09.7" role="answer"
def change() -> tuple[str, str]:
    """The file, and the patch that breaks the library as in REPORT."""
    # BEGIN SOLUTION
    return (
        "reftorch/optim/optimizer.py",
        """
-        saved_groups = deepcopy(state_dict["param_groups"])
+        saved_groups = state_dict["param_groups"]
""",
    )
    # END SOLUTION


# %% exercise="09.7" role="check"
with check("09.7", "a broken library: the second load") as c:
    file, patch = change()
    c.case(f"the patch of {file}")
    broken = rebuild(file, patch)
    outcome = broken.run(PROGRAM)
    broken.close()
    c.equal("an error of the library with your patch", came=outcome.error, expected="")
    for came, expected in zip(outcome.printed.splitlines(), REPORT, strict=True):
        c.equal("a line that PROGRAM prints with your patch", came=came, expected=expected)

# %% [markdown] exercise="09.7" role="debrief"
# **In PyTorch** `load_state_dict` copies the dict and then the groups, because it puts the optimizer's own parameters
# into them. Without the second copy, parameters replace the numbers in the caller's dict, and the next load finds no
# number to match a state with. But `load_state_dict` does not copy tensors: if dtype and device fit, the loaded
# tensor itself becomes the `momentum_buffer` or the `exp_avg` of the optimizer, and the next step changes this
# tensor. So this script goes wrong with the unbroken library as well: `PROGRAM` moves the second model by
# -0.025 and not by -0.05, because the step of the first model has halved the momentum in the checkpoint. Load
# `copy.deepcopy(saved)` into each model.

# %% [markdown] exercise="09.7" role="hint"
# What does `saved["param_groups"][0]["params"]` hold after the first load, in the broken library? The last line of
# the report says that the group itself was taken over.

# %% [markdown] exercise="09.7" role="hint"
# `show_source("Optimizer.load_state_dict", first="groups = self.param_groups")`: which lines write into the groups
# that were loaded?


# %% [markdown] exercise="09.8" role="task" kind="read" title="in PyTorch: the third step of Adam"
# ## 09.8 Read, in PyTorch: the third step of Adam
#
# ★★☆, 15 minutes. This question is answered in PyTorch itself: it needs PyTorch (`make torch`), and no other exercise
# of the chapter does. The next cell writes `IN_TORCH` to a file, and prints the command that runs the file under pdb.
#
# `IN_TORCH` takes three steps with Adam. Stop before the last line of the loop in `_single_tensor_adam` of
# `torch/optim/adam.py`, `param.addcdiv_(...)`, in the *third* step. Return `bias_correction2` and `step_size`,
# rounded to 4 digits, the first element of `denom`, rounded to 4 digits, and the name of the type of `step`.


# %% exercise="09.8" role="given"
IN_TORCH = """\
import torch

w = torch.nn.Parameter(torch.tensor([1.0, 2.0]))
optimizer = torch.optim.Adam([w], lr=0.1, betas=(0.9, 0.99), amsgrad=True)
for scale in (1.0, 4.0, 0.05):
    optimizer.zero_grad()
    (scale * w).sum().backward()
    optimizer.step()
"""
print(write_for_torch(IN_TORCH, "in_torch_09_8.py"))


# %% exercise="09.8" role="answer"
def third_step() -> dict[str, float | str]:
    # BEGIN SOLUTION
    return {"bias_correction2": 0.0297, "step_size": 0.369, "denom": 2.3917, "step": "float"}
    # END SOLUTION


# %% exercise="09.8" role="check"
with check("09.8", "the third step of Adam") as c:
    answer = third_step()
    asked = ["round(bias_correction2, 4)", "round(step_size, 4)", "round(denom[0].item(), 4)", "type(step).__name__"]
    stops = stops_in_torch(
        IN_TORCH, "torch/optim/adam.py", "_single_tensor_adam", "param.addcdiv_(exp_avg, denom, value", asked
    )
    correction, size, denominator, kind = stops[2].values()
    truth = {"bias_correction2": float(correction), "step_size": float(size), "denom": float(denominator)}
    truth["step"] = kind.strip("'")
    look = "`break torch/optim/adam.py:NUMBER`, and `continue` twice."
    c.answers("the third step", came=answer, truth=truth, look=look)

# %% [markdown] exercise="09.8" role="debrief"
# **In PyTorch** the count is a tensor on the CPU, and `_get_value` makes a number of it. So Python computes the two
# corrections, and the GPU gets them as plain arguments of its kernels. With `amsgrad=True` the denominator is made of
# the largest mean of squares so far, which the third, small gradient does not lower.

# %% [markdown] exercise="09.8" role="hint"
# `denom` exists only after its own line has run. `list _single_tensor_adam` does not work in pdb; `longlist` at a
# stop in the function shows its lines with their numbers.

# %% [markdown] exercise="09.8" role="hint"
# `p denom[0].item()` at the stop, and the same for the others.
