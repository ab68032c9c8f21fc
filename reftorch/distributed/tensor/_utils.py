"""The piece of a tensor that a rank has.

Mirrors: torch/distributed/tensor/_utils.py
Leaves out: meshes of several dimensions.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from reftorch.distributed.device_mesh import DeviceMesh
from reftorch.distributed.tensor.placement_types import Partial, Placement, Replicate, Shard

__all__ = ["compute_local_shape_and_global_offset"]


def piece_of(length: int, pieces: int, number: int) -> tuple[int, int]:
    """Return where a piece begins and how long it is. All are as long as the first one, until nothing is left.

    >>> [piece_of(5, 3, number) for number in range(3)]
    [(0, 2), (2, 2), (4, 1)]
    """
    longest = -(-length // pieces)
    begin = min(longest * number, length)
    return begin, min(longest, length - begin)


def checked_placement(mesh: DeviceMesh, placements: Sequence[Placement] | None, ndim: int) -> Placement:
    """Return the placement on a mesh of one dimension, with a dimension that is not negative; None means Replicate.

    Raises:
        NotImplementedError: the mesh has several dimensions, or the placement is of a kind that is left out here.
        ValueError: there is not one placement.
        IndexError: the tensor lacks the dimension.
    """
    if mesh.ndim != 1:
        raise NotImplementedError(
            f"a tensor lies on a mesh of one dimension here, and this one has {mesh.ndim}. Hint: mesh[name] is the "
            "line of this rank along the dimension of that name"
        )
    placements = [Replicate()] if placements is None else placements
    if len(placements) != 1:
        raise ValueError(f"`placements` must have the same length as `device_mesh.ndim`! Found placements {placements}")
    placement = placements[0]
    if type(placement) is Shard:
        if not -ndim <= placement.dim < ndim:
            raise IndexError(f"{placement!r}: a tensor of {ndim} dimensions has no such dimension")
        return Shard(placement.dim % ndim)
    if not isinstance(placement, (Replicate, Partial)):
        raise NotImplementedError(f"{placement!r}: only Shard, Replicate and Partial are there")
    return placement


def compute_local_shape_and_global_offset(
    global_shape: Sequence[int], mesh: DeviceMesh, placements: Sequence[Placement]
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return the shape of this rank's piece, and the indices of its first element in the whole tensor.

    Args:
        global_shape: the shape of the whole tensor.
        mesh: the ranks.
        placements: how the tensor lies on them.

    Example:
        >>> from reftorch.distributed.device_mesh import init_device_mesh
        >>> from reftorch.distributed.tensor import Shard
        >>> from reftorch.distributed.tensor._utils import compute_local_shape_and_global_offset
        >>> from reftorch.testing._internal.common_distributed import spawn_threads_and_init_comms
        >>> @spawn_threads_and_init_comms(world_size=2)
        ... def program():
        ...     return compute_local_shape_and_global_offset((3, 4), init_device_mesh("cpu", (2,)), [Shard(0)])
        >>> program()
        [((2, 4), (0, 0)), ((1, 4), (2, 0))]

    Mirrors torch/distributed/tensor/_utils.py, ``compute_local_shape_and_global_offset``.
    """
    shape, offset = list(global_shape), [0] * len(global_shape)
    placement: Any = checked_placement(mesh, placements, len(shape))
    if isinstance(placement, Shard):
        dim = placement.dim
        offset[dim], shape[dim] = piece_of(shape[dim], mesh.size(), mesh.get_local_rank())
    return tuple(shape), tuple(offset)
