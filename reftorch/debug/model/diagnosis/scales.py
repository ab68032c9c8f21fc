"""The scales of inputs and targets: the program with normalized ones, and what to do where their size is the cause.

Mirrors: nothing in PyTorch, where people go through such lists by hand.
Left out: targets that the model computes itself; one scale for each feature.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from reftorch.debug.common.library import is_tensor
from reftorch.debug.model.diagnosis.program import Program
from reftorch.utils._pytree import tree_leaves, tree_map


def is_float(value: Any) -> bool:
    return is_tensor(value) and value.is_floating_point() and value.numel() > 1


def normalized(value: Any) -> Any:
    """Return a tensor with the mean 0 and the deviation 1; another value, and a constant tensor, as it is."""
    if not is_float(value):
        return value
    numbers = value.detach()
    deviation = float(numbers.double().std())
    return (numbers - numbers.mean()) / deviation if deviation > 0 else numbers - numbers.mean()


def normalized_targets(program: Program) -> Program | None:
    """Return the program with normalized targets; None if it has no targets that are real numbers."""
    if not any(map(is_float, tree_leaves(program.target))):
        return None
    return replace(program, batch=(program.inputs, tree_map(normalized, program.target)))


def normalized_inputs(program: Program) -> Program | None:
    """Return the program with normalized inputs; None if it has no inputs that are real numbers."""
    if not any(map(is_float, tree_leaves(program.inputs))):
        return None
    inputs = tree_map(normalized, program.inputs)
    return replace(program, batch=inputs if program.loss_fn is None else (inputs, program.target))


def scale_of(values: Any) -> str:
    """Return the mean and the deviation of the tensor with the largest element."""
    largest = max(filter(is_float, tree_leaves(values)), key=lambda tensor: float(tensor.abs().max())).double()
    return f"their mean is {float(largest.mean()):.3g}, their deviation {float(largest.std()):.3g}"


def target_advice(program: Program) -> str:
    """Return what to do where targets are the cause."""
    return f"normalize the targets: {scale_of(program.target)}. Train on (target - mean) / deviation"


def input_advice(program: Program) -> str:
    """Return what to do where inputs are the cause."""
    return f"normalize the inputs: {scale_of(program.inputs)}. Feed (input - mean) / deviation"
