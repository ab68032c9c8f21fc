"""Checks of the arguments of tools, with messages that describe a wrong argument.

Mirrors: nothing in PyTorch, whose functions do not check such arguments.
Left out: the arguments of a module, which the module checks itself.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from reftorch import _C
from reftorch.debug.common.flatten import flatten
from reftorch.debug.common.library import is_lazy, why_no_values


def expect_module(tool: str, model: Any) -> None:
    """Raise TypeError if the value is not a module of reftorch or torch."""
    if not hasattr(model, "named_modules"):
        raise TypeError(f"{tool}: expected a module, got {described(model)}. Hint: the model comes first.")


def expect_values(tool: str, model: Any, values: Any = ()) -> None:
    """Raise ValueError if the model is lazy, or if the model or a tensor among the values is on meta."""
    named = [(f"the parameter '{name}'", p) for name, p in model.named_parameters()]
    named += [(f"the buffer '{name}'", b) for name, b in model.named_buffers()]
    named += [("an argument", tensor) for _, tensor in flatten(values, "")]
    for name, tensor in named:
        why = why_no_values(tensor)
        if why:
            hint = (
                "call the model once on a batch" if is_lazy(tensor) else "model.to_empty(device='cpu'), then set values"
            )
            raise ValueError(f"{tool}: {name} {why}. Hint: {hint}; summary(model, x) shows shapes without values.")


def expect_tensor(tool: str, value: Any) -> None:
    """Raise TypeError if the value is not a tensor of reftorch."""
    if not isinstance(value, _C.TensorBase):
        raise TypeError(f"{tool}: expected a tensor, got {described(value)}. Hint: {tool}(loss).")


def expect_number(tool: str, loss: Any) -> None:
    """Raise an error if the result of a loss function is not a tensor of one element."""
    if not hasattr(loss, "numel"):
        raise TypeError(f"{tool}: the loss must be a tensor, got {described(loss)}.")
    if loss.numel() != 1:
        raise ValueError(
            f"{tool}: the loss must be a single number, got the shape {tuple(loss.shape)}. Hint: end with .mean()."
        )


def described(value: Any) -> str:
    """Return a value in a few words: `a dict of 'logits', 'aux'`, `a Tensor`."""
    name = type(value).__name__
    if isinstance(value, Mapping):
        return f"a {name} of {', '.join(map(repr, value))}"
    return f"{'an' if name[:1].lower() in 'aeiou' else 'a'} {name}"
