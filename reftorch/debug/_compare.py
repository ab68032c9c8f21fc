"""Where two models part: in their state, in what their modules compute, in their gradients.

Mirrors: nothing in PyTorch: there one compares two state dicts by hand.
Left out: models whose modules have other names; a mapping of names can be compared with record_tensors and diff.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from typing import Any

from reftorch import _C
from reftorch.debug._comparison import Comparison, Difference
from reftorch.debug._expect import described, expect_number
from reftorch.debug._flatten import flatten, is_tensor
from reftorch.debug._record_tensors import record_tensors
from reftorch.debug._table import Report, Table
from reftorch.nn.modules.module import Module
from reftorch.random import get_rng_state, set_rng_state
from reftorch.utils._pytree import tree_map


class ModelComparison(Report):
    """What :func:`compare` found: ``state``, ``activations`` and ``gradients`` are each a comparison or None."""

    def __init__(self, state: Comparison, activations: Comparison | None, gradients: Comparison | None) -> None:
        self.state, self.activations, self.gradients = state, activations, gradients

    @property
    def parts(self) -> list[Comparison]:
        """The comparisons that were made."""
        return [part for part in (self.state, self.activations, self.gradients) if part is not None]

    @property
    def equal(self) -> bool:
        """Whether the models part nowhere."""
        return all(part.equal for part in self.parts)

    @property
    def first(self) -> Difference | None:
        """The first difference: of the state, else of the activations, else of the gradients."""
        return next((part.first for part in self.parts if not part.equal), None)

    def tables(self) -> list[Table]:
        return [table for part in self.parts for table in part.tables()]


def compare(
    a: Any, b: Any, *inputs: Any, rtol: float | None = None, atol: float | None = None, loss: Callable | None = None
) -> ModelComparison:
    """Say where two models first part.

    Their states are compared by name. Where inputs are given both models are called with them, and what goes into and
    comes out of each module is compared in the order of events; with a loss, so are the gradients. Both draw the same
    random numbers, so dropout does not part two models of ours.

    Args:
        a, b: two models, each ours or torch's; or two mappings from names to tensors, such as ``state_dict()``.
        inputs: what both are called with, of tensors of either library.
        rtol, atol: allowed difference, as in ``|a - b| <= atol + rtol * |b|``; None goes by the dtypes.
        loss: makes a number of a model's output, such as ``lambda output: output.sum()``; backward starts from it.

    Returns:
        ``equal`` says whether they do not part, ``first`` where they first do; shown, it is a table.

    Raises:
        TypeError: one is neither a model nor a mapping, or the loss is no tensor.
        ValueError: a loss without inputs, or one that is no single number.

    Example:
        >>> import copy
        >>> import reftorch as torch
        >>> from reftorch.debug import compare
        >>> one = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.ReLU())
        >>> other = copy.deepcopy(one)
        >>> compare(one, other, torch.ones(1, 2)).equal
        True
        >>> _ = other[0].bias.data.add_(1)
        >>> compare(one, other).first.name
        '0.bias'
    """
    state = Comparison(state_of(a), state_of(b), rtol, atol, "state")
    if not inputs:
        if loss is not None:
            raise ValueError("compare: a loss needs inputs. Hint: compare(a, b, x, loss=...).")
        return ModelComparison(state, None, None)
    random_numbers, runs = get_rng_state(), []
    for model in (a, b):
        set_rng_state(random_numbers)
        runs.append(run(model, inputs, loss))
    activations = Comparison(runs[0][0], runs[1][0], rtol, atol, "activations")
    gradients = None if loss is None else Comparison(runs[0][1], runs[1][1], rtol, atol, "gradients")
    return ModelComparison(state, activations, gradients)


def state_of(model: Any) -> dict[str, Any]:
    """Names and tensors of a model, or of a mapping."""
    if not isinstance(model, Mapping) and not hasattr(model, "state_dict"):
        hint = (
            "two tensors are compare({'x': a}, {'x': b})" if is_tensor(model) else "mappings go from names to tensors"
        )
        raise TypeError(f"compare: expected two models, or two mappings, got {described(model)}. Hint: {hint}.")
    state = model if isinstance(model, Mapping) else model.state_dict()
    return {name: tensor for name, tensor in state.items() if is_tensor(tensor)}


def run(model: Any, inputs: tuple, loss: Callable | None) -> tuple[Mapping[str, Any], dict[str, Any]]:
    """The recording of one call, and the gradients: those of outputs in the order of backward, then of parameters."""
    ours = isinstance(model, Module)
    arguments = tree_map(lambda value: moved(value, ours), inputs)
    if loss is None:
        with record_tensors(model) as recorded:
            model(*arguments)
        return recorded, {}
    former = [(parameter, parameter.grad) for parameter in model.parameters()]
    for parameter, _ in former:
        parameter.grad = None
    try:
        with record_tensors(model, gradients=True) as recorded:
            value = loss(model(*arguments))
            expect_number("compare", value)
            value.backward()
        gradients = {name: tensor for name, tensor in recorded.items() if is_gradient(name)}
        for name, parameter in model.named_parameters():
            gradients.update(flatten(parameter.grad, f"{name}.grad"))
    finally:
        for parameter, grad in former:
            parameter.grad = grad
    return {name: tensor for name, tensor in recorded.items() if not is_gradient(name)}, gradients


def is_gradient(name: str) -> bool:
    return any(part.partition("#")[0] == "grad_output" for part in name.split("/")[:2])


def moved(value: Any, ours: bool) -> Any:
    """A tensor for a model of ours, or of torch."""
    if not is_tensor(value) or isinstance(value, _C.TensorBase) == ours:
        return value
    numbers = value.detach().cpu()
    if ours:
        tensor = _C.from_numpy(numbers.numpy().copy())
    else:
        tensor = sys.modules["torch"].from_numpy(numbers.numpy().copy())
    return tensor.requires_grad_(value.requires_grad)
