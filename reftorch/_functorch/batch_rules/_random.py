"""The batching rules of random ops, which follow the ``randomness`` of vmap.

Mirrors: aten/src/ATen/functorch/BatchRulesRandomness.cpp
Leaves out: dropout, which draws by the ops here (native/Dropout.cpp).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from reftorch import _C
from reftorch._functorch.batch_rules._common import Op, front, refuse_unbatched_self, spread
from reftorch._functorch.batch_rules._generic import aligned

_fn = _C._VariableFunctions

RandomEntry = Callable[[Op, list[Any], list[Any], int, str, int], tuple[Any, Any]]
ENTRIES: dict[str, RandomEntry] = {}


def random_rule(names: str) -> Callable[[RandomEntry], RandomEntry]:
    """Register the decorated rule for random ops, whose names with their overloads are separated by spaces."""

    def register(entry: RandomEntry) -> RandomEntry:
        for name in names.split():
            ENTRIES[name] = entry
        return entry

    return register


def _checked(randomness: str) -> None:
    if randomness == "error":
        raise RuntimeError(
            "vmap: called random operation while in randomness error mode. Please either use the 'same' or 'different' "
            "randomness flags on vmap or perform the randomness operation out of vmap"
        )


def _same_for_batched() -> None:
    raise RuntimeError(
        "Vmap does not currently support same randomness with a batched tensor input. Please use different randomness "
        "with vmap or perform the randomness operation out of vmap"
    )


def factory(op: Op, args: list[Any], dims: list[Any], size: int, randomness: str, level: int) -> tuple[Any, Any]:
    """Draw a new tensor."""
    _checked(randomness)
    if randomness == "same":
        return op(args), None
    at = op.position("size")
    return op([*args[:at], [size, *args[at]], *args[at + 1 :]]), 0


def permutation(op: Op, args: list[Any], dims: list[Any], size: int, randomness: str, level: int) -> tuple[Any, Any]:
    """Draw a permutation for each example."""
    _checked(randomness)
    if randomness == "same":
        return op(args), None
    return _fn.stack([op(args) for _ in range(size)]), 0


def like(op: Op, args: list[Any], dims: list[Any], size: int, randomness: str, level: int) -> tuple[Any, Any]:
    """Draw in the shape of a tensor; its values are not used."""
    _checked(randomness)
    value = front(args[0], dims[0])
    if randomness == "same":
        return op([value[0] if dims[0] is not None else value, *args[1:]]), None
    return op([spread(value, dims[0] is not None, size), *args[1:]]), 0


def of_tensors(op: Op, args: list[Any], dims: list[Any], size: int, randomness: str, level: int) -> tuple[Any, Any]:
    """Draw from distributions whose parameters are tensors."""
    _checked(randomness)
    batched = [dim is not None for dim in dims]
    if randomness == "same":
        if any(batched):
            _same_for_batched()
        return op(args), None
    values = [front(v, d) for v, d in zip(args, dims, strict=True)]
    aligned_values = aligned(values, batched)
    return op(
        [
            spread(v, b, size) if isinstance(v, _C.TensorBase) else v
            for v, b in zip(aligned_values, batched, strict=True)
        ]
    ), 0


def rows(op: Op, args: list[Any], dims: list[Any], size: int, randomness: str, level: int) -> tuple[Any, Any]:
    """Draw for each row of a matrix; the rows of all examples form one matrix."""
    if randomness != "different":
        return of_tensors(op, args, dims, size, randomness, level)
    value = spread(front(args[0], dims[0]), dims[0] is not None, size)
    return op([value.reshape(-1, value.size(-1)), *args[1:]]).reshape(*value.shape[:-1], args[1]), 0


def inplace(op: Op, args: list[Any], dims: list[Any], size: int, randomness: str, level: int) -> tuple[Any, Any]:
    """Draw into a tensor."""
    _checked(randomness)
    if any(d is not None for d in dims[1:]):
        if randomness == "same":
            _same_for_batched()
        refuse_unbatched_self(op.name, dims, level)
    if dims[0] is None:
        if randomness == "different":
            raise RuntimeError(
                "vmap: Cannot ask for different inplace randomness on an unbatched tensor. This will appear like same "
                "randomness. If this is necessary for your usage, please file an issue with functorch."
            )
        op(args)
        return None, None
    values = [front(v, d) for v, d in zip(args, dims, strict=True)]
    if randomness == "same":
        values[0].copy_(op([_fn.empty_like(values[0][0]), *values[1:]]))
    else:
        op([values[0], *aligned(values[:2], [True, dims[1] is not None])[1:], *values[2:]])
    return None, None
