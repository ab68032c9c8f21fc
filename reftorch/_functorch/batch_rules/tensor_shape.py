"""Batching rules of views: the same elements in another shape.

Mirrors: aten/src/ATen/functorch/BatchRulesViews.cpp
"""

from __future__ import annotations

from typing import Any

from reftorch._functorch.batch_rules._common import Op, batch_rule, call, shifted
from reftorch._functorch.batch_rules._generic import one_answer, pointwise

batch_rule("alias lift_fresh view.dtype")(pointwise)
batch_rule("is_set_to")(one_answer)


def _reach(shape: list[int], stride: list[int], offset: int) -> range:
    """Return the range from the first to the last place in memory."""
    return range(offset, offset + 1 + sum((n - 1) * s for n, s in zip(shape, stride, strict=True)))


@batch_rule("view", "_unsafe_view")
def view(op: Op, args: list[Any], batched: list[Any], size: int) -> Any:
    shape = list(args[1])
    if size == 0 and -1 in shape:  # -1 is ambiguous without an example
        known = 1
        for n in shape:
            known *= n if n != -1 else 1
        numel = 1
        for n in args[0].shape[1:]:
            numel *= n
        shape[shape.index(-1)] = numel // known if known else 0
    return op([args[0], [size, *shape]])


@batch_rule("expand")
def expand(op: Op, args: list[Any], batched: list[Any], size: int) -> Any:
    self, shape = args[0], args[1]
    missing = len(shape) - (self.dim() - 1)
    if missing > 0:
        self = self.reshape(size, *[1] * missing, *self.shape[1:])
    return op([self, [size, *shape], args[2]])


@batch_rule("permute")
def permute(op: Op, args: list[Any], batched: list[Any], size: int) -> Any:
    rank = args[0].dim() - 1
    if len(args[1]) != rank:
        raise RuntimeError(
            f"permute(sparse_coo): number of dimensions in the tensor input does not match the length of the desired "
            f"ordering of dimensions i.e. input.dim() = {rank} is not equal to len(dims) = {len(args[1])}"
        )
    return op([args[0], [0, *(shifted(d, rank) for d in args[1])]])


@batch_rule("transpose.int")
def transpose(op: Op, args: list[Any], batched: list[Any], size: int) -> Any:
    rank = args[0].dim() - 1
    dims = [shifted(d, rank) for d in args[1:3]]
    return call("transpose.int", [args[0], *dims]) if rank > 0 else args[0]


@batch_rule("t")
def t(op: Op, args: list[Any], batched: list[Any], size: int) -> Any:
    rank = args[0].dim() - 1
    if rank > 2:
        raise RuntimeError(f"t() expects a tensor with <= 2 dimensions, but self is {rank}D")
    return call("transpose.int", [args[0], 1, 2]) if rank == 2 else args[0]


@batch_rule("unsqueeze")
def unsqueeze(op: Op, args: list[Any], batched: list[Any], size: int) -> Any:
    return call("unsqueeze", [args[0], shifted(args[1], args[0].dim())])


@batch_rule("squeeze")
def squeeze(op: Op, args: list[Any], batched: list[Any], size: int) -> Any:
    return call("squeeze.dims", [args[0], [d for d in range(1, args[0].dim()) if args[0].size(d) == 1]])


@batch_rule("squeeze.dim", "squeeze.dims")
def squeeze_dims(op: Op, args: list[Any], batched: list[Any], size: int) -> Any:
    rank = args[0].dim() - 1
    dims = [args[1]] if isinstance(args[1], int) else args[1]
    dims = [shifted(d, rank) for d in dims]
    return call("squeeze.dims", [args[0], dims if rank > 0 else []])


@batch_rule("as_strided")
def as_strided(op: Op, args: list[Any], batched: list[Any], size: int) -> Any:
    self, shape, stride, offset = args
    if len(shape) != len(stride):
        raise RuntimeError(
            "Tensor.as_strided(size, stride, ...): size and stride must have the same length! Got size "
            f"{list(shape)} and stride {list(stride)}"
        )
    offset = self.storage_offset() if offset is None else offset
    if 0 not in shape and size > 0:
        example = self[0]
        ours = _reach(example.shape, example.stride(), example.storage_offset()) if example.numel() else range(0)
        wanted = _reach(shape, stride, offset)
        if not (ours and wanted[0] >= ours[0] and wanted[-1] <= ours[-1]):
            raise RuntimeError(
                f"result = tensor.as_strided({list(shape)}, {list(stride)}, {offset}) can access memory outside of "
                f"`tensor`: it reads places {wanted.start} to {wanted.stop}, and the first example has those from "
                f"{ours.start} to {ours.stop}. This is not supported inside of vmap, please try to rewrite the "
                "`as_strided` call as a sequence of PyTorch view operations"
            )
    return call("as_strided", [self, [size, *shape], [self.stride(0), *stride], offset])
