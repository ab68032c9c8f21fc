"""Batching rules of views, rearranged copies, and concatenations.

Mirrors: aten/src/ATen/functorch/BatchRulesViews.cpp, aten/src/ATen/functorch/BatchRulesDecompositions.cpp
Leaves out: nothing.
"""

from __future__ import annotations

from typing import Any

from reftorch import _C
from reftorch._functorch.batch_rules._common import Op, batch_rule, call, shifted, spread

_fn = _C._VariableFunctions

# --- the same elements in another shape -------------------------------------------------------------------------------


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


@batch_rule("constant_pad_nd")
def constant_pad_nd(op: Op, args: list[Any], batched: list[Any], size: int) -> Any:
    self, pad = args[0], args[1]
    if len(pad) > 2 * (self.dim() - 1):  # the padding would reach the batch dimension
        raise RuntimeError(
            "Length of pad should be no more than twice the number of dimensions of the input. Pad length is "
            f"{len(pad)} while the input has {self.dim() - 1} dimensions."
        )
    return op(args)


def _reach(shape: list[int], stride: list[int], offset: int) -> range:
    """Return the range from the first to the last place in memory."""
    return range(offset, offset + 1 + sum((n - 1) * s for n, s in zip(shape, stride, strict=True)))


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


@batch_rule("as_strided_scatter")
def as_strided_scatter(op: Op, args: list[Any], batched: list[Any], size: int) -> Any:
    raise RuntimeError(
        f"Error: aten::{op.name} requires special handling, and does not yet have a batching rule. "
        "Hint: its offset counts from the start of the memory, which is that of all examples."
    )


# --- parts ------------------------------------------------------------------------------------------------------------


@batch_rule("select.int", "slice.Tensor", "unbind.int", "split.Tensor", "split_with_sizes", "unsafe_split.Tensor",
            "unsafe_split_with_sizes")  # fmt: skip
def part(op: Op, args: list[Any], batched: list[Any], size: int) -> Any:
    at, rank = op.position("dim"), args[0].dim() - 1
    if rank == 0:
        raise IndexError(f"{op.name.split('.')[0]}() cannot be applied to a 0-dim tensor.")
    args[at] = shifted(args[at], rank)
    return op(args)


@batch_rule("diagonal")
def diagonal(op: Op, args: list[Any], batched: list[Any], size: int) -> Any:
    self, offset, dim1, dim2 = args
    rank = self.dim() - 1
    return op([self, offset, shifted(dim1, rank), shifted(dim2, rank)])


@batch_rule("unfold")
def unfold(op: Op, args: list[Any], batched: list[Any], size: int) -> Any:
    self, dim, length, step = args
    rank = self.dim() - 1
    return op([self, shifted(dim, rank), length, step]) if rank else op([self.unsqueeze(1), 1, length, step]).squeeze(1)


# --- the reverse: a part in a tensor of zeros -------------------------------------------------------------------------


@batch_rule("select_backward", "slice_backward", "unfold_backward")
def part_backward(op: Op, args: list[Any], batched: list[Any], size: int) -> Any:
    at, rank = op.position("dim"), len(args[1])
    args[at] = shifted(args[at], rank)
    args[1] = [size, *args[1]]
    return op(args)


@batch_rule("diagonal_backward")
def diagonal_backward(op: Op, args: list[Any], batched: list[Any], size: int) -> Any:
    grad, sizes, offset, dim1, dim2 = args
    rank = len(sizes)
    return op([grad, [size, *sizes], offset, shifted(dim1, rank), shifted(dim2, rank)])


@batch_rule("select_scatter", "slice_scatter")
def part_scatter(op: Op, args: list[Any], batched: list[Any], size: int) -> Any:
    args[0], args[1] = spread(args[0], batched[0], size), spread(args[1], batched[1], size)
    at = op.position("dim")
    args[at] = shifted(args[at], args[0].dim() - 1)
    return op(args)


@batch_rule("diagonal_scatter")
def diagonal_scatter(op: Op, args: list[Any], batched: list[Any], size: int) -> Any:
    self, source = spread(args[0], batched[0], size), spread(args[1], batched[1], size)
    rank = self.dim() - 1
    return op([self, source, args[2], shifted(args[3], rank), shifted(args[4], rank)])


# --- rearranged copies ------------------------------------------------------------------------------------------------


@batch_rule("flip")
def flip(op: Op, args: list[Any], batched: list[Any], size: int) -> Any:
    rank = args[0].dim() - 1
    dims = [shifted(d, rank) for d in args[1]]
    return op([args[0], dims if rank else []])


@batch_rule("roll")
def roll(op: Op, args: list[Any], batched: list[Any], size: int) -> Any:
    self, shifts, dims = args
    if len(dims) == 0:
        return op([self.reshape(size, -1), shifts, [1]]).reshape(self.shape)
    return op([self, shifts, [shifted(d, self.dim() - 1) for d in dims]])


@batch_rule("rot90")
def rot90(op: Op, args: list[Any], batched: list[Any], size: int) -> Any:
    self, k, dims = args
    return op([self, k, [shifted(d, self.dim() - 1) for d in dims]])


@batch_rule("repeat")
def repeat(op: Op, args: list[Any], batched: list[Any], size: int) -> Any:
    self, repeats = args
    missing = len(repeats) - (self.dim() - 1)
    return op([self.reshape(size, *[1] * missing, *self.shape[1:]), [1, *repeats]])


@batch_rule("diag_embed")
def diag_embed(op: Op, args: list[Any], batched: list[Any], size: int) -> Any:
    self, offset, dim1, dim2 = args
    return op([self, offset, shifted(dim1, self.dim()), shifted(dim2, self.dim())])


# --- several tensors --------------------------------------------------------------------------------------------------


@batch_rule("cat")
def cat(op: Op, args: list[Any], batched: list[Any], size: int) -> Any:
    tensors = [spread(t, b, size) for t, b in zip(args[0], batched[0], strict=True)]
    rank = max(t.dim() for t in tensors) - 1
    kept = [t for t in tensors if t.dim() == rank + 1 or t.numel() or t.dim() != 2]  # an empty vector fits any tensor
    return op([kept, shifted(args[1], rank)])


@batch_rule("stack")
def stack(op: Op, args: list[Any], batched: list[Any], size: int) -> Any:
    tensors = [spread(t, b, size) for t, b in zip(args[0], batched[0], strict=True)]
    return op([tensors, shifted(args[1], tensors[0].dim())])


@batch_rule("block_diag")
def block_diag(op: Op, args: list[Any], batched: list[Any], size: int) -> Any:
    matrices = []
    for t, b in zip(args[0], batched[0], strict=True):
        t = spread(t, b, size)
        matrices.append(t.reshape(size, *[1] * (3 - t.dim()), *t.shape[1:]))
    rows, cols = sum(m.size(1) for m in matrices), sum(m.size(2) for m in matrices)
    result = matrices[0].new_zeros((size, rows, cols))
    row = col = 0
    for m in matrices:
        pads = _fn.zeros((size, rows, cols), dtype=m.dtype)
        place = pads[:, row : row + m.size(1), col : col + m.size(2)]
        place.copy_(m)
        result = result + pads
        row, col = row + m.size(1), col + m.size(2)
    return result


# --- new tensors with the dtype and device of an example --------------------------------------------------------------


@batch_rule("new_empty", "new_zeros", "new_ones", "new_full")
def new(op: Op, args: list[Any], batched: list[Any], size: int) -> Any:
    return op([args[0], [size, *args[1]], *args[2:]])


@batch_rule("new_empty_strided")
def new_empty_strided(op: Op, args: list[Any], batched: list[Any], size: int) -> Any:
    self, shape, stride = args[:3]
    reach = 1 + sum((n - 1) * s for n, s in zip(shape, stride, strict=True)) if 0 not in shape else 0
    return op([self, [size, *shape], [reach, *stride], *args[3:]])
