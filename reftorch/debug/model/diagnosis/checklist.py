"""The checklist of a training run that does not learn: the program goes through the list itself.

Mirrors: nothing in PyTorch, where people go through such lists by hand.
Left out: what needs many batches: overfitting, the order of the data, a split that leaks.
"""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import Any

from reftorch.debug.common.expect import described, expect_module, expect_values
from reftorch.debug.model.diagnosis.activations import dead_units, saturated_units
from reftorch.debug.model.diagnosis.batches import data
from reftorch.debug.model.diagnosis.findings import Diagnosis, Finding, NotRun
from reftorch.debug.model.diagnosis.losses import broadcast_loss, first_loss, softmax_of_attention, summed_loss
from reftorch.debug.model.diagnosis.parameters import (
    frozen_parameters,
    parameters_of_the_optimizer,
    training_mode,
    untied_parameters,
)
from reftorch.debug.model.diagnosis.program import Program
from reftorch.debug.model.diagnosis.runs import an_error, gradient_flow, gradient_size, not_finite
from reftorch.debug.model.diagnosis.samples import mixed_samples, seen_future, shifted_target
from reftorch.debug.model.diagnosis.training import (
    constant_output,
    evaluation,
    kept_gradients,
    learning_rate,
    one_batch,
)
from reftorch.utils._pytree import tree_leaves

MOST_FINDINGS = 3  # of one check: the first ones explain the others
Check = Callable[[Program], Iterator[Finding]]

BEFORE_A_CALL: dict[str, Check] = {
    "frozen parameters": frozen_parameters,
    "optimizer's parameters": parameters_of_the_optimizer,
    "tied parameters": untied_parameters,
    "data": data,
}
# If one of these finds something, the checks after it would only repeat the finding in other words.
RUNS: dict[str, Check] = {"runs": an_error, "finite numbers": not_finite}
OF_A_CALL: dict[str, Check] = {
    "training mode": training_mode,
    "shape of the loss": broadcast_loss,
    "first loss": first_loss,
    "mean over the batch": summed_loss,
    "shift of the target": shifted_target,
    "future": seen_future,
    "samples apart": mixed_samples,
    "softmax of an attention": softmax_of_attention,
    "gradient flow": gradient_flow,
    "size of gradients": gradient_size,
    "dead units": dead_units,
    "saturated units": saturated_units,
    "constant output": constant_output,
    "zero_grad": kept_gradients,
    "evaluation": evaluation,
}


def diagnose(
    model: Any,
    batch: Any,
    loss_fn: Callable[[Any, Any], Any] | None = None,
    optimizer: Any = None,
    *,
    train_step: Callable[[Any, Any, Any], Any] | None = None,
    eval_step: Callable[[Any, Any], Any] | None = None,
    frozen: Iterable[str] = (),
    skip: Iterable[str] = (),
    batch_dim: int = 0,
    steps: int = 10,
) -> Diagnosis:
    """Go through the checklist of a model that does not learn, and report what is wrong, where, and what to do.

    The checks look at the parameters, run the model on the batch, follow its ops, gradients and samples, train it for a
    few steps, and try learning rates. Afterwards the model, the optimizer, the gradients and the random numbers are as
    they were. With ``optimizer``, ``train_step`` and ``eval_step``, the checks also see faults of the loop. The
    checks call the model about 120 times in all, so a batch of 8 to 32 samples is best.

    Args:
        model: a module.
        batch: ``(inputs, target)``; inputs are a tensor, a tuple of arguments or a dict of keyword arguments. Without
            ``loss_fn``, the batch is the inputs, and the model returns the loss, or an object with ``loss``.
        loss_fn: ``loss_fn(output, target)``, one number.
        optimizer: the optimizer of the run.
        train_step: ``train_step(model, optimizer, batch)``, the body of the loop: one step of training.
        eval_step: ``eval_step(model, batch)``, the body of the loop that validates.
        frozen: names of modules or parameters that are frozen on purpose.
        skip: names of checks to leave out, such as "samples apart" for a loss that compares samples.
        batch_dim: the dimension of the samples in the inputs.
        steps: the number of steps in each trial of training.

    Returns:
        A report: ``ok``, ``findings``, ``checks`` and ``learning_rates``.

    Raises:
        TypeError: the model is not a module; or there is no loss.
        ValueError: ``skip`` names no check, ``train_step`` comes without an optimizer, or there is nothing to measure:
            the model is lazy or on meta, or the batch has no samples.

    Example:
        >>> from reftorch.debug import diagnose
        >>> _ = torch.manual_seed(0)
        >>> net = torch.nn.Sequential(torch.nn.Linear(4, 16), torch.nn.Tanh(), torch.nn.Linear(16, 3))
        >>> batch = (torch.randn(16, 4), torch.arange(16) % 3)
        >>> diagnose(net, batch, torch.nn.functional.cross_entropy).ok
        True
        >>> _ = net[0].requires_grad_(False)
        >>> print(diagnose(net, batch, torch.nn.functional.cross_entropy).findings[0].what)
        '0.weight', '0.bias' of 4 parameters have requires_grad=False, so they are never trained
    """
    expect_module("diagnose", model)
    if loss_fn is not None and not (isinstance(batch, (tuple, list)) and len(batch) == 2):
        raise TypeError(f"diagnose: with loss_fn, the batch must be (inputs, target), got {described(batch)}.")
    if train_step is not None and optimizer is None:
        raise ValueError("diagnose: train_step needs an optimizer. Hint: diagnose(..., optimizer, train_step=...).")
    if steps < 1:
        raise ValueError(f"diagnose: expected at least one step, got steps={steps}.")
    expect_values("diagnose", model, batch)
    program = Program(
        model, batch, loss_fn, optimizer, train_step, eval_step, tuple(frozen), batch_dim, steps
    )  # fmt: skip
    sizes = [t.shape[batch_dim] for t in tree_leaves(program.inputs) if program.has_samples(t)]
    if sizes and max(sizes) == 0:
        raise ValueError("diagnose: the batch has no samples. Hint: 8 to 32 samples are best.")
    diagnosis = Diagnosis()
    rows = diagnosis.learning_rates
    trials: dict[str, Check] = {
        "learning rate": lambda program: learning_rate(program, rows),
        "one batch": lambda program: one_batch(program, rows),
    }
    left_out = set(skip)
    everything = {**BEFORE_A_CALL, **RUNS, **OF_A_CALL, **trials}
    if left_out - everything.keys():
        raise ValueError(
            f"diagnose: no check is called {sorted(left_out - everything.keys())}; they are {[*everything]}."
        )
    for name, check in everything.items():
        if name in left_out:
            diagnosis.checks[name] = "not run: left out"
        elif stopped := next((each for each in RUNS if diagnosis.checks.get(each) == "found"), None):
            diagnosis.checks[name] = f"not run: see {stopped}"
        else:
            run(name, check, program, diagnosis)
    return diagnosis


def run(name: str, check: Check, program: Program, diagnosis: Diagnosis) -> None:
    """Run one check, and note its result and its findings."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # what a warning would say, the finding says
            found = list(itertools.islice(check(program), MOST_FINDINGS))
    except NotRun as why:
        diagnosis.checks[name] = f"not run: {why}"
        return
    diagnosis.checks[name] = "found" if found else "ok"
    diagnosis.findings += [replace(finding, check=name) for finding in found]
