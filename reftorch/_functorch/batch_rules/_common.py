"""What batching rules are made of.

A rule gets the arguments of an op in the order of its schema, each batched tensor with its batch dimension moved to the
front, and a flag beside each argument that says which those are (a list of flags beside a list of tensors). It returns
what the op returns, the batch dimension in front.

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
    "refuse_unbatched_self",
    "shifted",
    "spread",
    "tensor_or_none",
]

call = _C._functorch._call_op


class Op(NamedTuple):
    """An op as its rule sees it."""

    name: str  # "sum.dim_IntList"
    parameters: tuple[str, ...]

    def __call__(self, args: Sequence[Any]) -> Any:
        return call(self.name, list(args))

    def position(self, parameter: str) -> int:
        """Where an argument is."""
        return self.parameters.index(parameter)


Rule = Callable[[Op, list[Any], list[Any], int], Any]
RULES: dict[str, Rule] = {}


def batch_rule(*names: str) -> Callable[[Rule], Rule]:
    """Decorate the rule of some ops, named with their overloads."""

    def register(rule: Rule) -> Rule:
        for name in names:
            RULES[name] = rule
        return rule

    return register


def front(value: Any, dim: int | None) -> Any:
    """``value`` with its batch dimension in front; as it is where it has none."""
    return value if dim is None or dim == 0 else value.movedim(dim, 0)


def spread(value: Any, batched: bool, size: int) -> Any:
    """``value`` with a batch dimension in front: one and the same for all examples where it had none."""
    return value if batched or value is None else value.expand(size, *value.shape)


def logical_rank(value: Any, batched: bool) -> int:
    """How many dimensions one example has."""
    return int(value.dim()) - batched


def refuse_unbatched_self(name: str, dims: list[Any], level: int) -> None:
    """RuntimeError where an op would write what differs by example into what does not."""
    if dims[0] is None:
        op = "inplace arithmetic" if name == "copy_" else name.split(".")[0]
        raise RuntimeError(
            f"vmap: {op}(self, *extra_args) is not possible because there exists a Tensor `other` in extra_args that "
            "has more elements than `self`. This happened due to `other` being vmapped over but `self` not being "
            f"vmapped over at level {level}. Please try to use out-of-place operators instead of {op}. If said "
            "operator is being called inside the PyTorch framework, please file a bug report instead."
        )


def check_ranks(op: Op, args: list[Any], batched: list[Any], ranks: Sequence[int]) -> None:
    """RuntimeError unless each example has so many dimensions, for an op that would take a batch for one of them."""
    count = len(ranks)
    found = [logical_rank(v, b) for v, b in zip(args[:count], batched[:count], strict=True)]
    if found != list(ranks):
        name = op.name.partition(".")[0]
        raise RuntimeError(
            f"Shape mismatch: Got incorrect dims for {name}: its matrices and vectors have {found} "
            f"dimensions, but expected them to have {list(ranks)}"
        )


def shifted(dim: int, rank: int) -> int:
    """A dimension of one example, counted in the whole batch; IndexError where there is none such."""
    bound = max(rank, 1)
    if not -bound <= dim < bound:
        raise IndexError(f"Dimension out of range (expected to be in range of [{-bound}, {bound - 1}], but got {dim})")
    return dim % bound + 1


def tensor_or_none(values: Iterable[Any]) -> Iterable[Any]:
    """The tensors among arguments, and Nones for the rest."""
    return (value if isinstance(value, _C.TensorBase) else None for value in values)
