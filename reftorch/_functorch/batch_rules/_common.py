"""The helpers of batching rules.

A rule gets the arguments of an op in the order of its schema; the batch dimension of each batched tensor has been moved
to the front. Beside each argument, the rule gets a flag that is true for batched tensors (a list of flags beside a list
of tensors). The rule returns the results of the op with the batch dimension in front.

Mirrors: aten/src/ATen/functorch/BatchRulesHelper.h
Leaves out: rules in C++.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

from reftorch import _C

__all__ = [
    "RULES",
    "Op",
    "Rule",
    "batch_rule",
    "call",
    "check_ranks",
    "front",
    "logical_rank",
    "reduced",
    "refuse_unbatched_self",
    "shifted",
    "spread",
    "tensor_or_none",
]

call = _C._functorch._call_op


class Op(NamedTuple):
    """An op, as its rule uses it."""

    name: str  # for example "sum.dim_IntList"
    parameters: tuple[str, ...]

    def __call__(self, args: Sequence[Any]) -> Any:
        return call(self.name, list(args))

    def position(self, parameter: str) -> int:
        """Return the position of a parameter."""
        return self.parameters.index(parameter)


Rule = Callable[[Op, list[Any], list[Any], int], Any]
RULES: dict[str, Rule] = {}


def batch_rule(*names: str) -> Callable[[Rule], Rule]:
    """Register the decorated rule for ops, which are named with their overloads; a string may hold several names."""

    def register(rule: Rule) -> Rule:
        for name in " ".join(names).split():
            RULES[name] = rule
        return rule

    return register


def front(value: Any, dim: int | None) -> Any:
    """Move the batch dimension of ``value`` to the front; return an unbatched value unchanged."""
    return value if dim is None or dim == 0 else value.movedim(dim, 0)


def spread(value: Any, batched: bool, size: int) -> Any:
    """Return ``value`` with a batch dimension in front; an unbatched value is expanded."""
    return value if batched or value is None else value.expand(size, *value.shape)


def reduced(loss: Any, reduction: int) -> Any:
    """Return the mean (1) or the sum (2) of each example's losses, or the losses (0). The batch is in front."""
    if reduction == 0:
        return loss
    flat = loss.reshape(loss.size(0), -1)
    return flat.mean(1) if reduction == 1 else flat.sum(1)


def logical_rank(value: Any, batched: bool) -> int:
    """Return the number of dimensions of one example."""
    return int(value.dim()) - batched


def refuse_unbatched_self(name: str, dims: list[Any], level: int) -> None:
    """Raise RuntimeError if an op would write a batched value into an unbatched tensor."""
    if dims[0] is None:
        op = "inplace arithmetic" if name == "copy_" else name.split(".")[0]
        raise RuntimeError(
            f"vmap: {op}(self, *extra_args) is not possible because there exists a Tensor `other` in extra_args that "
            "has more elements than `self`. This happened due to `other` being vmapped over but `self` not being "
            f"vmapped over at level {level}. Please try to use out-of-place operators instead of {op}. If said "
            "operator is being called inside the PyTorch framework, please file a bug report instead."
        )


def check_ranks(op: Op, args: list[Any], batched: list[Any], ranks: Sequence[int]) -> None:
    """Raise RuntimeError unless each example has the given ranks: the op would misread the batch as a dimension."""
    count = len(ranks)
    found = [logical_rank(v, b) for v, b in zip(args[:count], batched[:count], strict=True)]
    if found != list(ranks):
        name = op.name.partition(".")[0]
        raise RuntimeError(
            f"Shape mismatch: Got incorrect dims for {name}: its matrices and vectors have {found} "
            f"dimensions, but expected them to have {list(ranks)}"
        )


def shifted(dim: int, rank: int) -> int:
    """Turn a dimension of one example into a dimension of the batch; raise IndexError if it is out of range."""
    bound = max(rank, 1)
    if not -bound <= dim < bound:
        raise IndexError(f"Dimension out of range (expected to be in range of [{-bound}, {bound - 1}], but got {dim})")
    return dim % bound + 1


def tensor_or_none(values: Iterable[Any]) -> Iterable[Any]:
    """Return the arguments that are tensors, and None for each other argument."""
    return (value if isinstance(value, _C.TensorBase) else None for value in values)
