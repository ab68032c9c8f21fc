"""scatter_reduce and index_reduce: sums, means, products and extrema of the elements with one destination.

Mirrors: tools/autograd/derivatives.yaml, torch/csrc/autograd/FunctionsManual.cpp (scatter_reduce_backward,
    index_reduce_backward)

Both ops send elements of a source to positions of self; they differ in how the index selects a position. So each op has
three helpers, and both ops share the formulas, which use these helpers:

- ``send(self, src)``: self plus the elements that src sends to each position;
- ``fetch(x)``: for each element of src, the element of x at its position;
- ``erase(x)``: x with zeros at all positions that receive an element of src.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

from reftorch.autograd.derivatives._functions_manual import hides_values


class Moves(NamedTuple):
    send: Callable[[Any, Any], Any]
    fetch: Callable[[Any], Any]
    erase: Callable[[Any], Any]
    reduce: Callable[[Any, Any], Any]  # the op, as a function of (self, src)


def _mean(grad: Any, self: Any, src: Any, result: Any, moves: Moves, include_self: bool) -> tuple[Any, Any]:
    count = (grad.new_ones if include_self else grad.new_zeros)(grad.shape)
    count = moves.send(count, src.new_ones(src.shape))
    share = grad / count.masked_fill(count == 0, 1)
    return share, moves.fetch(share)


def _extremum(grad: Any, self: Any, src: Any, result: Any, moves: Moves, include_self: bool) -> tuple[Any, Any]:
    """Distribute the gradient equally among all elements that equal the extremum."""
    self_wins = (self == result).to(dtype=grad.dtype)
    src_wins = (src == moves.fetch(result)).to(dtype=grad.dtype)
    share = grad / moves.send(self_wins, src_wins)
    return self_wins * share, src_wins * moves.fetch(share)


def _refuse(grad: Any) -> None:
    raise RuntimeError(
        "scatter_reduce(): Double backward is unsupported for src when >1 zeros in src are scattered to the same "
        "position in self"
    )


def _product(grad: Any, self: Any, src: Any, result: Any, moves: Moves, include_self: bool) -> tuple[Any, Any]:
    """Return the product of all other elements: result / x, unless x is 0. Then the product has 1 in place of this
    zero, and is 0 if another zero has the same destination."""
    self_safe = self.masked_fill(self == 0, 1)
    grad_self = grad * moves.reduce(self_safe, src) / self_safe

    zero = src == 0
    zeros_at_place = moves.fetch(moves.send(self.new_zeros(self.shape), zero.to(dtype=self.dtype)))
    only_zero = zero.logical_and(zeros_at_place == 1)
    without_it = moves.fetch(grad * moves.reduce(self, src.masked_fill(only_zero, 1)))
    grad_src = without_it.where(only_zero, moves.fetch(grad * result) / src.masked_fill(zero, 1))
    if grad_src.requires_grad and not hides_values(self) and (zeros_at_place > 1).any().item():
        grad_src.register_hook(_refuse)
    return grad_self, grad_src


_RULES = {"mean": _mean, "prod": _product, "amax": _extremum, "amin": _extremum}


def reduced_gradients(
    grad: Any, self: Any, src: Any, reduce: str, include_self: bool, result: Any, moves: Moves
) -> tuple[Any, Any]:
    if reduce == "sum":
        grad_self, grad_src = grad, moves.fetch(grad)
    elif reduce not in _RULES:
        raise RuntimeError(f"Expected 'reduce' to be one of 'sum', 'prod', 'mean', 'amax', 'amin' but got {reduce}.")
    else:
        grad_self, grad_src = _RULES[reduce](grad, self, src, result, moves, include_self)
    return (grad_self if include_self else moves.erase(grad_self)), grad_src
