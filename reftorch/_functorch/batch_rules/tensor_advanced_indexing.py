"""Batching rules of reading and writing at the positions that tensors of indices select.

Mirrors: aten/src/ATen/functorch/BatchRulesScatterOps.cpp
"""

from __future__ import annotations

from typing import Any

from reftorch import _C
from reftorch._functorch.batch_rules._common import Op, batch_rule, logical_rank, spread
from reftorch._functorch.batch_rules._generic import aligned, dynamic_shape

_fn = _C._VariableFunctions

batch_rule("nonzero where")(dynamic_shape)


def _without_masks(indices: list[Any], batched: list[Any]) -> tuple[list[Any], list[Any]]:
    """Replace masks by equivalent indices; a batched mask is refused, because it could select different numbers."""
    found: list[Any] = []
    flags: list[Any] = []
    for index, is_batched in zip(indices, batched, strict=True):
        if index is not None and index.dtype in (_C.bool, _C.uint8):
            if is_batched:
                raise RuntimeError(
                    "vmap: We do not support batching operators that can output dynamic shape. Attempted to vmap over "
                    "aten::index.Tensor with a mask. Hint: torch.where keeps the shape."
                )
            columns = index.nonzero().unbind(1)
            found += columns
            flags += [False] * len(columns)
        else:
            found.append(index)
            flags.append(is_batched)
    return found, flags


class _Places:
    """The indices into the whole batch, with an index for the examples, and the layout of the result."""

    def __init__(self, self_rank: int, indices: list[Any], batched: list[Any], size: int) -> None:
        indices, batched = _without_masks(indices, batched)
        places = [i for i, index in enumerate(indices) if index is not None]
        given = aligned([indices[i] for i in places], [batched[i] for i in places])
        self.index_rank = max(logical_rank(v, batched[i]) for v, i in zip(given, places, strict=True))
        examples = _fn.arange(size, device=given[0].device).reshape(size, *[1] * self.index_rank)
        self.indices: list[Any] = [examples, *indices]
        for i, value in zip(places, given, strict=True):
            self.indices[i + 1] = value
        self.rank = self.index_rank + self_rank - len(places)  # the rank of one result
        adjacent = places == list(range(places[0], places[-1] + 1))
        # The dimensions of the index replace the indexed ones if those are adjacent; otherwise they come first.
        self.start = places[0] if adjacent else 0

    def _moved(self) -> tuple[list[int], list[int]]:
        ours = list(range(1, self.index_rank + 1))
        return ours, [d + self.start for d in ours]

    def taken(self, value: Any) -> Any:
        ours, theirs = self._moved()
        return value.movedim(ours, theirs) if self.start and self.index_rank else value

    def given(self, value: Any) -> Any:
        ours, theirs = self._moved()
        return value.movedim(theirs, ours) if self.start and self.index_rank else value


@batch_rule("index.Tensor")
def index(op: Op, args: list[Any], batched: list[Any], size: int) -> Any:
    self = spread(args[0], batched[0], size)
    places = _Places(self.dim() - 1, args[1], batched[1], size)
    return places.taken(op([self, places.indices]))


@batch_rule("index_put")
def index_put(op: Op, args: list[Any], batched: list[Any], size: int) -> Any:
    self = spread(args[0], batched[0], size)
    places = _Places(self.dim() - 1, args[1], batched[1], size)
    values = spread(args[2], batched[2], size)
    values = values.reshape(size, *[1] * (places.rank + 1 - values.dim()), *values.shape[1:])
    return op([self, places.indices, places.given(values), args[3]])
