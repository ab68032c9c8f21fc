"""Moving a tensor of a mesh from one placement to another: which collective leads from where to where.

Mirrors: torch/distributed/tensor/_redistribute.py
Leaves out: meshes of several dimensions, and the search for the cheapest way between several placements.

| from      | to Replicate    | to Shard(d)             |
|-----------|-----------------|-------------------------|
| Replicate |                 | each rank cuts its own  |
| Shard(e)  | all_gather      | all_gather, then cut    |
| Partial   | all_reduce      | reduce_scatter          |
"""

from __future__ import annotations

from typing import Any

from reftorch import _C, _VF
from reftorch._tensor import Tensor
from reftorch.autograd import Function
from reftorch.distributed import distributed_c10d as c10d
from reftorch.distributed.device_mesh import DeviceMesh
from reftorch.distributed.tensor._utils import piece_of
from reftorch.distributed.tensor.placement_types import Partial, Placement, Replicate, Shard

__all__ = ["Redistribute", "padded", "redistribute_local_tensor"]


def padded(tensor: Any, dim: int, length: int) -> Tensor:
    """Return a contiguous tensor that is ``length`` long along a dimension: the collectives want equal pieces."""
    missing = length - tensor.shape[dim]
    if missing == 0:
        return tensor.contiguous()
    shape = list(tensor.shape)
    shape[dim] = missing
    return _VF.cat([tensor, tensor.new_zeros(shape)], dim)


def redistribute_local_tensor(local: Any, shape: Any, mesh: DeviceMesh, source: Placement, target: Placement) -> Tensor:
    """Return what this rank has of a tensor after it has moved to another placement. All ranks call this.

    Args:
        local: what this rank has now.
        shape: the shape of the whole tensor.
        mesh: the ranks.
        source, target: the placements before and after.

    Raises:
        NotImplementedError: the target is Partial.
    """
    if source == target:
        return local
    if isinstance(target, Partial):
        raise NotImplementedError(f"redistribute: no way leads from {source!r} to {target!r}")
    group, size, rank = mesh.get_group(), mesh.size(), mesh.get_local_rank()
    if isinstance(source, Partial):
        op = getattr(c10d.ReduceOp, source.reduce_op.upper())
        if isinstance(target, Shard):
            dim, length = target.dim, shape[target.dim]
            longest = piece_of(length, size, 0)[1]
            pieces = [padded(local.narrow(dim, *piece_of(length, size, r)), dim, longest) for r in range(size)]
            mine = _VF.empty_like(pieces[rank])
            c10d.reduce_scatter(mine, pieces, op, group)
            return mine.narrow(dim, 0, piece_of(length, size, rank)[1]).contiguous()
        local = local.clone().contiguous()
        c10d.all_reduce(local, op, group)
        return local
    if isinstance(source, Shard):
        dim, length = source.dim, shape[source.dim]
        mine = padded(local, dim, piece_of(length, size, 0)[1])
        pieces = [_VF.empty_like(mine) for _ in range(size)]
        c10d.all_gather(pieces, mine, group)
        local = _VF.cat(pieces, dim).narrow(dim, 0, length)
    if isinstance(target, Shard):
        local = local.narrow(target.dim, *piece_of(shape[target.dim], size, rank))
    return local.clone(memory_format=_C.contiguous_format)


def for_gradient(placement: Placement) -> Placement:
    """Return how the gradient of a tensor lies: each summand of a sum has the gradient of the sum."""
    return Replicate() if isinstance(placement, Partial) else placement


class Redistribute(Function):
    """The move as an operation of the graph: the gradient moves back."""

    @staticmethod
    def forward(ctx: Any, tensor: Any, mesh: DeviceMesh, target: Placement) -> Any:
        ctx.mesh, ctx.source = mesh, tensor.placements[0]
        return tensor._moved(target)

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        return grads[0]._moved(for_gradient(ctx.source)), None, None
