"""Batching rules of looking up rows of a table.

Mirrors: aten/src/ATen/functorch/BatchRulesModules.cpp (embedding, embedding_dense_backward)
Leaves out: rules for bags; these and ``scale_grad_by_freq`` run example by example.
"""

from __future__ import annotations

from typing import Any

from reftorch import _C
from reftorch._functorch.batch_rules._common import Op, batch_rule, spread
from reftorch._functorch.batch_rules._generic import one_by_one

_fn = _C._VariableFunctions


def _in_one_table(indices: Any, batched: bool, size: int, rows: int) -> Any:
    """Turn row numbers of each example into row numbers of all tables, which stand below one another."""
    indices = spread(indices, batched, size)
    starts = _fn.arange(size, dtype=indices.dtype, device=indices.device) * rows
    return indices + starts.reshape(-1, *[1] * (indices.dim() - 1))


@batch_rule("embedding")
def embedding(op: Op, args: list[Any], batched: list[Any], size: int) -> Any:
    weight, indices, padding_idx, scale_grad_by_freq, sparse = args
    if not batched[0] and not scale_grad_by_freq:
        return op(args)
    if scale_grad_by_freq:  # rows are counted within an example
        return one_by_one(op, args, batched, size)
    places = _in_one_table(indices, batched[1], size, weight.size(1))
    found = op([weight.flatten(0, 1), places, -1, False, sparse])
    if padding_idx < 0:
        return found
    is_padding = (spread(indices, batched[1], size) == padding_idx).unsqueeze(-1)
    return _fn.where(is_padding, found.detach(), found)


@batch_rule("embedding_dense_backward")
def embedding_dense_backward(op: Op, args: list[Any], batched: list[Any], size: int) -> Any:
    grad, indices, num_weights, padding_idx, scale_grad_by_freq = args
    places = _in_one_table(indices, batched[1], size, num_weights)
    found = op([spread(grad, batched[0], size), places, size * num_weights, -1, scale_grad_by_freq])
    found = found.reshape(size, num_weights, found.size(1))
    if padding_idx < 0:
        return found
    is_padding = _fn.arange(num_weights, device=found.device) == padding_idx
    return found.masked_fill(is_padding.unsqueeze(1), 0)


@batch_rule("embedding_renorm_ embedding_renorm")
def embedding_renorm(op: Op, args: list[Any], batched: list[Any], size: int) -> Any:
    weight, indices, max_norm, norm_type = args
    tables = spread(weight, batched[0], size)
    rows = _in_one_table(indices, batched[1], size, tables.size(1))
    return op([tables.flatten(0, 1).clone(), rows, max_norm, norm_type]).reshape(tables.shape)
