"""Checks that train: the step of the user, its learning rate, its evaluation, and whether one batch can be learned.

Mirrors: nothing in PyTorch, where people go through such lists by hand.
Left out: whether the model generalizes.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

from reftorch.autograd.grad_mode import no_grad
from reftorch.debug.model.diagnosis.findings import Finding, LearningRate, NotRun
from reftorch.debug.model.diagnosis.parameters import listed
from reftorch.debug.model.diagnosis.program import Program, fixed_random_numbers
from reftorch.nn.modules.batchnorm import _BatchNorm

SCAN = (1e-3, 1e-2, 1e-1)  # of Adam, where no optimizer is given
FACTORS = (1e-3, 1e-2, 1e-1, 1.0)  # of the learning rate of a given optimizer
LEARNED = 0.05  # the part of the loss that a batch must lose to count as learned


def kept_gradients(program: Program) -> Iterator[Finding]:
    """Do gradients of one step reach the next one, and does a step change the parameters at all?"""
    if program.train_step is None:
        raise NotRun("no train_step was passed")
    trained = program.trained()
    with no_grad():
        start = {name: p.detach().clone() for name, p in trained.items()}
    results = []
    for former in (None, 1.0):
        with program.untouched():
            for p in trained.values():
                p.grad = None if former is None else p.detach().clone().fill_(former)
            program.one_step()
            results.append({name: p.detach().clone() for name, p in trained.items()})
    clean, after = results
    kept = [name for name in trained if not bool((clean[name] == after[name]).all())]
    if all(bool((clean[name] == start[name]).all()) for name in trained):
        yield Finding(
            "train_step",
            "one step changes no parameter",
            "call loss.backward() and then optimizer.step(), with an optimizer of this model's parameters",
        )
    elif kept:
        yield Finding(
            "train_step",
            f"the step depends on the gradients from before it, for example of {listed(kept, 1)}: they add up from "
            "step to step",
            "call optimizer.zero_grad() before backward",
        )


def learning_rate(program: Program, rows: list[LearningRate]) -> Iterator[Finding]:
    """Does the loss of this batch fall at the learning rate of the optimizer?"""
    optimizer = program.optimizer
    if optimizer is None:
        raise NotRun("no optimizer was passed; the rates of Adam are in the table")
    own = [group["lr"] for group in optimizer.param_groups]
    losses: dict[float, LearningRate] = {}
    for factor in FACTORS:
        with program.untouched():
            for group, rate in zip(optimizer.param_groups, own, strict=True):
                group["lr"] = rate * factor
            losses[factor] = trial(program, None, float(own[0]) * factor)
    rows += losses.values()
    mine = losses[1.0]
    if mine.after > mine.before or not math.isfinite(mine.after):
        better = [factor for factor in (1e-1, 1e-2, 1e-3) if losses[factor].after < losses[factor].before]
        if better:
            yield Finding(
                f"{type(optimizer).__name__}, lr={float(own[0]):.3g}",
                f"after {program.steps} steps on one batch the loss is {mine.after:.4g}, from {mine.before:.4g}; at "
                f"{float(own[0]) * better[0]:.3g} it falls to {losses[better[0]].after:.4g}",
                f"set lr to about {float(own[0]) * better[0]:.2g}",
            )


def trial(program: Program, optimizer: Any, rate: float) -> LearningRate:
    """Train on the batch, and return the loss before and after; an error, such as of a NaN, counts as infinity."""
    before = program.loss_now()
    try:
        for _ in range(program.steps):
            program.one_step(optimizer)
        after = program.loss_now()
    except (RuntimeError, ValueError):
        after = math.inf
    return LearningRate(rate, before, after if math.isfinite(after) else math.inf)


def one_batch(program: Program, rows: list[LearningRate]) -> Iterator[Finding]:
    """Can the model learn one batch by heart?"""
    trials = []
    for rate in SCAN:
        with program.untouched():
            trials.append(trial(program, program.fresh_optimizer(rate), rate))
    if not rows:
        rows += trials
    best = min(trials, key=lambda each: each.after)
    gained = best.before - best.after
    if gained < LEARNED * abs(best.before) and abs(best.before) > 1e-3:
        yield Finding(
            "the model",
            f"Adam cannot learn this one batch in {program.steps} steps: from {best.before:.4g}, the best of "
            f"{len(SCAN)} learning rates reaches {best.after:.4g}",
            "look at the other findings first; then at the targets, and at the path from the inputs to the loss",
        )


def evaluation(program: Program) -> Iterator[Finding]:
    """Does an evaluation leave the model as it was, and run in evaluation mode?"""
    if program.eval_step is None:
        raise NotRun("no eval_step was passed")
    with program.untouched(), fixed_random_numbers():
        program.model.train()
        before = {name: t.detach().clone() for name, t in program.model.state_dict().items()}
        program.eval_step(program.model, program.batch)
        after = program.model.state_dict()
        changed = [name for name, t in before.items() if not bool((t == after[name]).all())]
    if changed:
        norms = [n for n, m in program.model.named_modules() if isinstance(m, _BatchNorm)]
        leaks = [name for name in changed if any(name.startswith(f"{norm}.") for norm in norms)]
        yield Finding(
            listed(leaks or changed),
            "eval_step changes the state of the model: "
            + ("batch norm learns the statistics of the data that is to test it" if leaks else "it trains"),
            "call model.eval() before, and model.train() after the evaluation",
        )
