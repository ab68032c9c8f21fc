"""Batching rules of reading and writing at the indices of one dimension.

Mirrors: aten/src/ATen/functorch/BatchRulesScatterOps.cpp
"""

from __future__ import annotations

from typing import Any

from reftorch import _C
from reftorch._functorch.batch_rules._common import Op, batch_rule, call, logical_rank, shifted, spread

_fn = _C._VariableFunctions


def _with_offsets(index: Any, size: int, length: int) -> Any:
    """Turn indices within each example into indices into the concatenation of all examples."""
    starts = _fn.arange(size, dtype=index.dtype, device=index.device).unsqueeze(1) * length
    return (index.remainder(length) + starts).reshape(-1) if length else index.reshape(-1)


@batch_rule("index_select")
def index_select(op: Op, args: list[Any], batched: list[Any], size: int) -> Any:
    self, dim, index = args
    rank = logical_rank(self, batched[0])
    if not batched[2]:
        return op([self, shifted(dim, rank), index]) if rank else self.index_select(0, index.new_zeros(1).expand(0))
    index = index.reshape(size, -1)
    rows = spread(self, batched[0], size).movedim(shifted(dim, rank), 1)
    picked = rows.reshape(size * rows.size(1), *rows.shape[2:]).index_select(
        0, _with_offsets(index, size, rows.size(1))
    )
    return picked.reshape(size, index.size(1), *rows.shape[2:]).movedim(1, shifted(dim, rank))


@batch_rule("index_add", "index_copy", "index_reduce", "index_fill.int_Scalar", "index_fill.int_Tensor")
def index_add(op: Op, args: list[Any], batched: list[Any], size: int) -> Any:
    self, index = spread(args[0], batched[0], size), args[2]
    rank, dim = self.dim() - 1, shifted(args[1], self.dim() - 1)
    has_source = isinstance(args[3], _C.TensorBase)
    fills = op.name.startswith("index_fill")
    if fills and batched[3]:  # one number per example
        mask = (
            call("index_fill.int_Scalar", [_fn.zeros_like(self, dtype=_C.bool), dim, index, True])
            if not batched[2]
            else index_add(
                Op("index_fill.int_Scalar", op.parameters),
                [_fn.zeros_like(self, dtype=_C.bool), args[1], index, True],
                [True, False, True, False],
                size,
            )
        )
        return _fn.where(mask, args[3].reshape(size, *[1] * rank), self)
    rest = list(args[3:])
    if has_source and not fills:
        rest[0] = spread(rest[0], batched[3], size)
        if rest[0].dim() == 1:  # one number per example
            rest[0] = rest[0].reshape(size, *[1] * rank)
    if rank == 0:
        self = self.unsqueeze(1)
        rest[0] = rest[0].reshape(size, -1) if has_source and not fills else rest[0]
        dim = 1
    if not batched[2]:
        return op([self, dim, index, *rest]).reshape(size, *self.shape[1 : rank + 1])
    rows = self.movedim(dim, 1)
    flat = rows.reshape(size * rows.size(1), *rows.shape[2:])
    if has_source and not fills:
        source = rest[0].movedim(dim, 1)
        rest[0] = source.reshape(size * source.size(1), *source.shape[2:])
    offset = _with_offsets(index.reshape(size, -1), size, rows.size(1))
    result = op([flat, 0, offset, *rest]).reshape(rows.shape).movedim(1, dim)
    return result if rank else result.squeeze(1)


@batch_rule("take")
def take(op: Op, args: list[Any], batched: list[Any], size: int) -> Any:
    self, index = spread(args[0], batched[0], size), spread(args[1], batched[1], size)
    flat = self.reshape(size, -1)
    return flat.gather(1, index.reshape(size, -1).remainder(max(flat.size(1), 1))).reshape(index.shape)


@batch_rule("put")
def put(op: Op, args: list[Any], batched: list[Any], size: int) -> Any:
    self, index, source = (spread(v, b, size) for v, b in zip(args[:3], batched[:3], strict=True))
    length = self[0].numel()
    offset = _with_offsets(index.reshape(size, -1), size, length)
    return op([self.contiguous(), offset, source.reshape(-1), args[3]])
