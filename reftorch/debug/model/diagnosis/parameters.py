"""Checks of the parameters that need no call of the model: frozen, forgotten by the optimizer, no longer tied; modes.

Mirrors: nothing in PyTorch, where people go through such lists by hand.
Left out: the values of an initialization; the check of the first loss sees their effect.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from reftorch.debug.common.library import has_base, no_grad
from reftorch.debug.model.diagnosis.findings import Finding, NotRun
from reftorch.debug.model.diagnosis.program import Program


def listed(names: list[str], most: int = 4) -> str:
    """Return the names as a text: 'a', 'b' and 3 more."""
    shown = ", ".join(f"'{name}'" for name in names[:most])
    return f"{shown} and {len(names) - most} more" if len(names) > most else shown


def frozen_parameters(program: Program) -> Iterator[Finding]:
    """Which parameters require no gradient, though nobody said so?"""
    named = dict(program.model.named_parameters())
    frozen = [name for name, p in named.items() if not p.requires_grad and not program.is_frozen(name)]
    if frozen:
        modules = list(dict.fromkeys(name.rpartition(".")[0] or "(the model itself)" for name in frozen))
        yield Finding(
            f"{'module' if len(modules) == 1 else 'modules'} {listed(modules)}",
            f"{listed(frozen)} of {len(named)} parameters have requires_grad=False, so they are never trained",
            f"call requires_grad_(True) on the module, or pass frozen=[{modules[0]!r}] if that is intended",
        )


def parameters_of_the_optimizer(program: Program) -> Iterator[Finding]:
    """Does the optimizer hold the parameters of this model, and all of them?"""
    if program.optimizer is None:
        raise NotRun("no optimizer was passed")
    held = {id(p) for group in program.optimizer.param_groups for p in group["params"]}
    named = dict(program.model.named_parameters())
    missing = [
        name for name, p in named.items() if p.requires_grad and id(p) not in held and not program.is_frozen(name)
    ]
    strangers = len(held - {id(p) for p in named.values()})
    kind = type(program.optimizer).__name__
    if missing:
        yield Finding(
            listed(missing),
            f"the {kind} does not hold {'this parameter' if len(missing) == 1 else 'these parameters'} of the model, "
            f"and holds {strangers} tensors that are not in the model",
            "make the optimizer from model.parameters(), after the last change of the model's parameters",
        )


@no_grad()
def untied_parameters(program: Program) -> Iterator[Finding]:
    """Are there equal copies where one shared parameter was meant?"""
    weights = [(name, p) for name, p in program.trained().items() if p.dim() >= 2]
    for i, (name, one) in enumerate(weights):
        for other_name, other in weights[i + 1 :]:
            # Equal layers of a stack are often made by deepcopy; their names differ in a number only.
            in_a_stack = re.sub(r"\d+", "*", name) == re.sub(r"\d+", "*", other_name)
            if in_a_stack or one.shape != other.shape or bool((one == one.reshape(-1)[0]).all()):
                continue
            if bool((one == other).all()):
                yield Finding(
                    f"'{name}' and '{other_name}'",
                    "two parameters of equal values are separate tensors, and will be trained to differ: as if they "
                    "had been tied, and a load or an assignment had replaced one of them",
                    "tie them after load_state_dict (one.weight = other.weight), or load without assign=True",
                )


def depends_on_mode(module: Any) -> bool:
    """Return whether the module computes something else in evaluation mode."""
    # An attention and a recurrent layer have no module for their dropout, only its probability.
    probability = module.p if has_base(module, "_DropoutNd") else getattr(module, "dropout", 0.0)
    return has_base(module, "_BatchNorm") or (isinstance(probability, float) and probability > 0)


def in_evaluation_mode(program: Program) -> list[str]:
    """Return the names of the modules that compute what they should compute only outside of training."""
    named = program.model.named_modules()
    return [n for n, m in named if depends_on_mode(m) and not m.training and not program.is_frozen(n)]


def training_mode(program: Program) -> Iterator[Finding]:
    """Is the model in training mode when it is trained?"""
    with program.untouched():
        if program.eval_step is not None:
            program.evaluate()
        asleep: list[str] = []
        if program.train_step is None:
            asleep = in_evaluation_mode(program)
        else:
            handle = program.model.register_forward_pre_hook(lambda *args: asleep.extend(in_evaluation_mode(program)))
            try:
                program.train()
            finally:
                handle.remove()
        asleep = list(dict.fromkeys(asleep))
    if asleep:
        after = "after eval_step, " if program.eval_step is not None else ""
        yield Finding(
            f"{'module' if len(asleep) == 1 else 'modules'} {listed(asleep)}",
            f"{after}the step of training runs in evaluation mode: dropout drops nothing, and batch norm does not "
            "learn its statistics",
            "call model.train() at the start of each epoch or step of training",
        )
