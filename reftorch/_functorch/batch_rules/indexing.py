"""Batching rules of indexing: an example's indices refer to that example.

Mirrors: aten/src/ATen/functorch/BatchRulesScatterOps.cpp
Leaves out: nothing.
"""

from __future__ import annotations

from typing import Any

from reftorch import _C
from reftorch._functorch.batch_rules._common import Op, batch_rule, call, logical_rank, shifted, spread
from reftorch._functorch.batch_rules.pointwise import aligned

_fn = _C._VariableFunctions

# --- gather and scatter: each value has an index of its own -----------------------------------------------------------


@batch_rule("gather", "scatter.src", "scatter.value", "scatter.reduce", "scatter.value_reduce", "scatter_add",
            "scatter_reduce.two")  # fmt: skip
def gather(op: Op, args: list[Any], batched: list[Any], size: int) -> Any:
    rank = logical_rank(args[0], batched[0])
    values = [spread(v, b, size) if isinstance(v, _C.TensorBase) else v for v, b in zip(args, batched, strict=True)]
    values[1] = shifted(args[1], rank)
    if rank > 0:
        return op(values)
    values = [v.unsqueeze(1) if isinstance(v, _C.TensorBase) and v.dim() == 1 else v for v in values]
    return op(values).squeeze(1)


# --- an index into one dimension --------------------------------------------------------------------------------------


def _with_offsets(index: Any, size: int, length: int) -> Any:
    """Turn indices within each example into indices into the concatenation of all examples."""
    starts = _fn.arange(size, dtype=index.dtype).unsqueeze(1) * length
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


# --- x[i, :, j] -------------------------------------------------------------------------------------------------------


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
        examples = _fn.arange(size).reshape(size, *[1] * self.index_rank)
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


# --- results whose shape depends on the values ------------------------------------------------------------------------


@batch_rule("nonzero", "masked_select", "_unique", "_unique2", "unique_dim", "unique_consecutive",
            "unique_dim_consecutive", "repeat_interleave.Tensor", "where")  # fmt: skip
def dynamic(op: Op, args: list[Any], batched: list[Any], size: int) -> Any:
    raise RuntimeError(
        "vmap: We do not support batching operators that can output dynamic shape. Attempted to vmap over "
        f"aten::{op.name}. Hint: torch.where keeps the shape."
    )


@batch_rule("is_set_to", "equal", "allclose", "is_nonzero")
def one_answer(op: Op, args: list[Any], batched: list[Any], size: int) -> Any:
    raise RuntimeError(
        f"Batching rule not implemented for aten::{op.name}. We could not generate a fallback. It looks like you're "
        "attempting to use a Tensor in some data-dependent control flow: there is one answer for each example."
    )


@batch_rule("searchsorted.Tensor")
def searchsorted(op: Op, args: list[Any], batched: list[Any], size: int) -> Any:
    sequence, values = args[0], args[1]
    if not batched[0] and logical_rank(sequence, False) == 1 and not batched[5]:
        return op(args)
    sequence, values = spread(sequence, batched[0], size), spread(values, batched[1], size)
    sorter = spread(args[5], batched[5], size)
    if sequence.dim() > 2:
        return op([sequence, values, *args[2:5], sorter])
    return op([sequence, values.reshape(size, -1), *args[2:5], sorter]).reshape(values.shape)


# --- one class for each row -------------------------------------------------------------------------------------------


def _chosen(self: Any, target: Any, weight: Any, ignore_index: int, size: int) -> tuple[Any, Any, Any]:
    """Return the class of each row as an index into ``self``, the dimension of the classes, and each row's weight."""
    dim = 1 if self.dim() == 2 else 2
    target = target.to(_C.int64).unsqueeze(dim)
    kept = target != ignore_index
    target = _fn.where(kept, target, 0)
    if weight is None:
        return target, dim, kept.to(self.dtype)
    flat = weight.gather(1, target.reshape(size, -1)).reshape(target.shape)
    return target, dim, flat * kept


@batch_rule("nll_loss_forward")
def nll_loss_forward(op: Op, args: list[Any], batched: list[Any], size: int) -> Any:
    self, target, weight = (spread(v, b, size) for v, b in zip(args[:3], batched[:3], strict=True))
    reduction, ignore_index = args[3:]
    target, dim, weights = _chosen(self, target, weight, ignore_index, size)
    loss = (-self.gather(dim, target) * weights).squeeze(dim)
    total = weights.reshape(size, -1).sum(1)
    if reduction == 0:
        return loss, (_fn.zeros_like(total) if self.dim() == 3 else total)
    summed = loss.reshape(size, -1).sum(1)
    return (summed / total if reduction == 1 else summed), total


@batch_rule("nll_loss_backward")
def nll_loss_backward(op: Op, args: list[Any], batched: list[Any], size: int) -> Any:
    grad, self, target, weight = (spread(v, b, size) for v, b in zip(args[:4], batched[:4], strict=True))
    reduction, ignore_index, total = args[4], args[5], spread(args[6], batched[6], size)
    target, dim, weights = _chosen(self, target, weight, ignore_index, size)
    if reduction == 0:
        share = grad.unsqueeze(dim)
    else:
        share = (grad / total if reduction == 1 else grad).reshape(size, *[1] * (self.dim() - 1))
    return _fn.zeros_like(self).scatter(dim, target, -(share * weights))
