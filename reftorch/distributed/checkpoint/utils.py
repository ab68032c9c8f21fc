"""The ranks that save or load together, and the piece of a tensor that a rank has.

Mirrors: torch/distributed/checkpoint/utils.py
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from reftorch import _C
from reftorch.distributed import distributed_c10d as c10d
from reftorch.distributed.checkpoint.api import CheckpointException, _wrap_exception
from reftorch.distributed.checkpoint.metadata import ChunkStorageMetadata
from reftorch.distributed.checkpoint.stateful import Stateful
from reftorch.distributed.tensor import DTensor
from reftorch.distributed.tensor._utils import compute_local_shape_and_global_offset

__all__: list[str] = []


class _DistWrapper:
    """The ranks of a group, or this process alone.

    Args:
        group: the group; None means the default group.
        use_dist: False means this process alone.

    Mirrors torch/distributed/checkpoint/utils.py, ``_DistWrapper``.
    """

    def __init__(self, group: Any, use_dist: bool) -> None:
        # The default group is looked up now, because another thread may save, and a thread may have groups of its own.
        self.group = c10d._get_default_group() if use_dist and group is None else group
        self.use_dist = use_dist
        self.rank = c10d.get_rank(group) if use_dist else 0

    def all_gather(self, step: str, map_fun: Callable[[], Any]) -> list[Any]:
        """Call a function on each rank, and return the results of all ranks.

        Raises:
            CheckpointException: (on all ranks) the function has raised an error on some of them.
        """
        failed, result = False, None
        try:
            result = map_fun()
        except Exception as error:
            failed, result = True, _wrap_exception(error)
        everyone: list[Any] = [(failed, result)]
        if self.use_dist:
            everyone = [None] * self.group.size()
            c10d.all_gather_object(everyone, (failed, result), group=self.group)
        failures = {rank: result for rank, (failed, result) in enumerate(everyone) if failed}
        if failures:
            raise CheckpointException(step, failures)
        return [result for _, result in everyone]


def _states(state_dict: dict[str, Any]) -> dict[str, Any]:
    """Return a state dict with the states of its objects in their places."""
    return {key: value.state_dict() if isinstance(value, Stateful) else value for key, value in state_dict.items()}


def _local_piece(tensor: Any) -> tuple[Any, ChunkStorageMetadata]:
    """Return the numbers of a tensor that this rank has, without a graph, and their place in the whole tensor.

    Raises:
        NotImplementedError: each rank has a part of the sum.
    """
    if not isinstance(tensor, DTensor):
        return tensor.detach(), ChunkStorageMetadata(_C.Size([0] * tensor.dim()), tensor.shape)
    if any(placement.is_partial() for placement in tensor.placements):
        raise NotImplementedError(
            "a checkpoint takes no tensor of which each rank has a part of the sum. Hint: tensor.redistribute() adds"
        )
    shape, offset = compute_local_shape_and_global_offset(tensor.shape, tensor.device_mesh, tensor.placements)
    return tensor.to_local().detach(), ChunkStorageMetadata(_C.Size(offset), _C.Size(shape))
