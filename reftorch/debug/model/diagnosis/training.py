"""Checks that train: the step of the user, its learning rate, its evaluation, and whether one batch can be learned.

Mirrors: nothing in PyTorch, where people go through such lists by hand.
Left out: whether the model generalizes.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

from reftorch.debug.common.library import has_base, is_tensor, no_grad
from reftorch.debug.model.diagnosis.findings import Finding, LearningRate, NotRun
from reftorch.debug.model.diagnosis.parameters import depends_on_mode, listed
from reftorch.debug.model.diagnosis.program import Program, fixed_random_numbers, mode
from reftorch.debug.model.diagnosis.scales import normalized_targets, target_advice
from reftorch.utils._pytree import tree_leaves

SCAN = (1e-3, 1e-2, 1e-1)  # of Adam, where no optimizer is given
FACTORS = (1e-3, 1e-2, 1e-1, 1.0)  # of the learning rate of a given optimizer
LARGER = (1e2, 1e3, 1e4, 1e5, 1e6)  # factors of a learning rate that moves nothing
UNMOVED = 1e-5  # the part of the loss that a step of a useful learning rate moves, and more
DECAYED = 2  # without decay, the loss may fall by so many times as much as with it, and by a part of itself
LEARNED = 0.05  # the part of the loss that a batch must lose to count as learned
LEARNED_BEFORE = 1e-3  # a smaller loss counts as learned already
LONGER = 10  # times the steps of a trial: a model that learns slowly is not accused
MOST_CALLS = 32  # of train_step until the parameters change: gradients may be collected over several calls


def kept_gradients(program: Program) -> Iterator[Finding]:
    """Do the gradients of one update reach the next one, and does the step change the parameters at all?

    A step that collects the gradients of several calls before it changes the parameters is as it should be, and so is
    one that clears the gradients after the update.
    """
    if program.train_step is None:
        raise NotRun("no train_step was passed")
    with program.untouched():
        # The first update may need fewer calls than the second, if the user's own count has begun already.
        calls = update(program) and update(program)
    if not calls:
        yield Finding(
            "train_step",
            f"train_step changes no parameter in {MOST_CALLS} calls",
            "call loss.backward() and then optimizer.step(), with an optimizer of this model's parameters",
        )
        return
    results = []
    for clear in (True, False):
        with program.untouched():
            for call in range(2 * calls):
                if call == calls and clear:
                    for p in program.trained().values():
                        p.grad = None
                program.one_step()
            results.append({name: p.detach().clone() for name, p in program.trained().items()})
    clean, after = results
    kept = [name for name in clean if not bool((clean[name] == after[name]).all())]
    if kept:
        yield Finding(
            "train_step",
            f"the step depends on the gradients from before it, for example of {listed(kept, 1)}: they add up from "
            "step to step",
            "call optimizer.zero_grad() before backward",
        )


def update(program: Program) -> int:
    """Call train_step until a parameter changes; return the number of calls, or 0 if no call changes one."""
    start = {name: p.detach().clone() for name, p in program.trained().items()}
    for call in range(1, MOST_CALLS + 1):
        program.one_step()
        if not all(bool((p == start[name]).all()) for name, p in program.trained().items()):
            return call
    return 0


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
    if decay := [*too_much_decay(program, mine)]:
        yield from decay
    elif mine.after > mine.before or not math.isfinite(mine.after):
        better = [factor for factor in (1e-1, 1e-2, 1e-3) if losses[factor].after < losses[factor].before]
        if better:
            yield Finding(
                f"{type(optimizer).__name__}, lr={float(own[0]):.3g}",
                f"after {program.steps} steps on one batch the loss is {mine.after:.4g}, from {mine.before:.4g}; at "
                f"{float(own[0]) * better[0]:.3g} it falls to {losses[better[0]].after:.4g}",
                f"set lr to about {float(own[0]) * better[0]:.2g}",
            )
    else:
        yield from too_small(program, mine)


def too_much_decay(program: Program, mine: LearningRate) -> Iterator[Finding]:
    """Yield a finding if the loss falls much further, at the user's own learning rate, when nothing decays."""
    optimizer = program.optimizer
    decays = [group.get("weight_decay", 0.0) for group in optimizer.param_groups]
    if not any(decays):
        return
    with program.untouched():
        for group in optimizer.param_groups:
            group["weight_decay"] = 0.0
        without = trial(program, None, mine.rate)
    fallen, falls = mine.before - mine.after, without.before - without.after
    if falls > DECAYED * max(fallen, 0.0) + LEARNED * abs(without.before):
        yield Finding(
            f"{type(optimizer).__name__}, weight_decay={max(map(float, decays)):.3g}",
            f"after {program.steps} steps on one batch the loss is {mine.after:.4g}, from {mine.before:.4g}; without "
            f"weight decay it falls to {without.after:.4g}",
            "lower weight_decay: 0.01 is usual for AdamW, and 1e-4 for SGD",
        )


def too_small(program: Program, mine: LearningRate) -> Iterator[Finding]:
    """Yield a finding if the loss does not move at the user's learning rate, and falls at one much larger."""
    optimizer = program.optimizer
    if abs(mine.before - mine.after) >= UNMOVED * abs(mine.before) or abs(mine.before) <= LEARNED_BEFORE:
        return
    own = [group["lr"] for group in optimizer.param_groups]
    for factor in LARGER:
        with program.untouched():
            for group, rate in zip(optimizer.param_groups, own, strict=True):
                group["lr"] = rate * factor
            better = trial(program, None, float(own[0]) * factor)
        if learned(better):
            yield Finding(
                f"{type(optimizer).__name__}, lr={float(own[0]):.3g}",
                f"after {program.steps} steps on one batch the loss is {mine.after:.6g}, from {mine.before:.6g}, so it "
                f"does not move; at {better.rate:.3g} it falls to {better.after:.4g}",
                f"set lr to about {better.rate:.2g}",
            )
            return


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
    if learned(best) or abs(best.before) <= LEARNED_BEFORE:
        return
    values, numbers = target_values(program), sum(p.numel() for p in program.trained().values())
    if values > numbers:
        raise NotRun(f"the target has {values} values and the model {numbers} parameters: too few to learn it by heart")
    steps = LONGER * program.steps
    if learns(program, best.rate, steps):
        return
    advice = "look at the other findings first; then at the targets, and at the path from the inputs to the loss"
    normal = normalized_targets(program)
    if normal is not None and learns(normal, best.rate, steps):
        advice = target_advice(program)
    yield Finding(
        "the model",
        f"Adam cannot learn this one batch in {steps} steps: from {best.before:.4g}, the best of "
        f"{len(SCAN)} learning rates reaches {best.after:.4g} in {program.steps}",
        advice,
    )


def learned(one: LearningRate) -> bool:
    """Return whether the loss has fallen by the part that counts as learned."""
    return one.before - one.after >= LEARNED * abs(one.before)


def learns(program: Program, rate: float, steps: int) -> bool:
    """Return whether the batch is learned at this rate of Adam in so many steps, which end when it is."""
    with program.untouched():
        optimizer, before, done = program.fresh_optimizer(rate), program.loss_now(), 0
        while done < steps:
            after = trial(program, optimizer, rate).after
            done += program.steps
            if learned(LearningRate(rate, before, after)):
                return True
    return False


def constant_output(program: Program) -> Iterator[Finding]:
    """Does the output depend on the input at all, now or after a few steps of training?"""
    if program.loss_fn is None:
        raise NotRun("the model computes the loss itself")
    if program.batch_size < 2:
        raise NotRun("the batch has one sample")
    inputs = [t for t in tree_leaves(program.inputs) if program.has_samples(t)]
    if all(equal_samples(t, program.batch_dim) for t in inputs):
        raise NotRun("the samples are equal")
    with program.untouched():
        if not all_outputs_equal(program):
            return
        optimizer = program.fresh_optimizer(SCAN[1])  # a last layer of zeros gives equal outputs before the first step
        for _ in range(program.steps):
            program.one_step(optimizer)
        if not all_outputs_equal(program):
            return
    yield Finding(
        "the output of the model",
        f"the output is the same for all {program.batch_size} samples, before and after {program.steps} steps of Adam",
        "look for a layer whose weights or gradients are zero, for units that are all dead, and for a forward that "
        "does not use its input",
    )


def equal_samples(tensor: Any, dim: int) -> bool:
    """Return whether all samples of a tensor are equal."""
    first = tensor.narrow(dim, 0, 1)
    return bool((tensor == first).all())


def all_outputs_equal(program: Program) -> bool:
    """Return whether the output, in evaluation mode, is the same for each sample of the batch."""
    with no_grad(), mode(program.model, training=False), fixed_random_numbers():
        leaves = tree_leaves(program.call(program.inputs))
    outputs = [t for t in leaves if program.has_samples(t) and t.shape[program.batch_dim] == program.batch_size]
    return bool(outputs) and all(equal_samples(t, program.batch_dim) for t in outputs)


def target_values(program: Program) -> int:
    """Return the number of values that the model is to learn: those of the target, or one for each sample."""
    sizes = [t.numel() for t in tree_leaves(program.target) if is_tensor(t)]
    return sum(sizes) if sizes else program.batch_size


def evaluation(program: Program) -> Iterator[Finding]:
    """Does an evaluation leave the model as it was, and run in evaluation mode?"""
    if program.eval_step is None:
        raise NotRun("no eval_step was passed")
    with program.untouched(), fixed_random_numbers():
        program.model.train()
        before = {name: t.detach().clone() for name, t in program.model.state_dict().items()}
        awake: list[str] = []
        names = {id(module): name for name, module in program.model.named_modules()}
        handles = [
            module.register_forward_pre_hook(
                lambda module, args: awake.append(names[id(module)]) if module.training else None
            )
            for module in program.model.modules()
            if depends_on_mode(module)
        ]
        try:
            program.evaluate()
        finally:
            for handle in handles:
                handle.remove()
        after = program.model.state_dict()
        changed = [name for name, t in before.items() if not bool((t == after[name]).all())]
    if changed:
        norms = [n for n, m in program.model.named_modules() if has_base(m, "_BatchNorm")]
        leaks = [name for name in changed if any(name.startswith(f"{norm}.") for norm in norms)]
        yield Finding(
            listed(leaks or changed),
            "eval_step changes the state of the model: "
            + ("batch norm learns the statistics of the data that is to test it" if leaks else "it trains"),
            "call model.eval() before, and model.train() after the evaluation",
        )
    elif awake:
        yield Finding(
            f"{'module' if len(set(awake)) == 1 else 'modules'} {listed([*dict.fromkeys(awake)])}",
            "eval_step runs the model in training mode: dropout drops values of the data that is to test the model",
            "call model.eval() before, and model.train() after the evaluation",
        )
