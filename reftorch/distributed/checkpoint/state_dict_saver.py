"""Saving a state dict from several ranks.

Mirrors: torch/distributed/checkpoint/state_dict_saver.py, torch/distributed/checkpoint/_dedup_save_plans.py
Leaves out: planners, saving in another process, ranks that do not talk to each other.
"""

from __future__ import annotations

import copy
import os
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from enum import Enum
from typing import Any

from reftorch._tensor import Tensor
from reftorch._warnings import warn
from reftorch.distributed import distributed_c10d as c10d
from reftorch.distributed._state_dict_utils import _map_tensors
from reftorch.distributed.checkpoint._nested_dict import _Place, flatten_state_dict
from reftorch.distributed.checkpoint.filesystem import FileSystemWriter
from reftorch.distributed.checkpoint.metadata import (
    BytesStorageMetadata,
    Metadata,
    MetadataIndex,
    TensorProperties,
    TensorStorageMetadata,
)
from reftorch.distributed.checkpoint.utils import _DistWrapper, _local_piece, _states
from reftorch.distributed.tensor import DTensor

__all__ = ["AsyncCheckpointerType", "async_save", "save"]

# What a rank has: for each piece, the tensor or value that it belongs to, and its number of bytes.
_Plan = dict[MetadataIndex, tuple[Any, int]]


def _checked_dist(no_dist: bool, verb: str) -> bool:
    """Return whether the ranks of a group work together."""
    if no_dist or not c10d.is_initialized():
        warn(
            "torch.distributed is disabled, unavailable or uninitialized, assuming the intent is to "
            f"{verb} in a single process."
        )
        return False
    return True


def save(
    state_dict: dict[str, Any],
    *,
    checkpoint_id: str | os.PathLike[str] | None = None,
    storage_writer: FileSystemWriter | None = None,
    planner: Any = None,
    process_group: Any = None,
    no_dist: bool = False,
    use_collectives: bool = True,
) -> Metadata:
    """Write a state dict that all ranks have, each of them perhaps other pieces of tensors. All ranks call this.

    See Note [Checkpoints of several ranks]. A value that all ranks have is taken from one of them.

    Args:
        state_dict: tensors, DTensors and other values in dicts and lists. An object with the methods ``state_dict``
            and ``load_state_dict`` is saved as its state.
        checkpoint_id: the folder.
        storage_writer: in place of the folder, what writes to it.
        planner: must be None.
        process_group: the ranks; None means the default group.
        no_dist: whether this process saves alone. It does so, too, if there is no process group.
        use_collectives: must be True.

    Returns:
        What the checkpoint has, the same on all ranks.

    Raises:
        CheckpointException: (on all ranks) something has failed on some of them.
        NotImplementedError: there is a planner, or the ranks shall not talk to each other.
        ValueError: neither a folder nor a writer is given.

    Example:
        >>> import tempfile, warnings
        >>> import reftorch.distributed.checkpoint as dcp
        >>> folder = tempfile.mkdtemp()
        >>> with warnings.catch_warnings():
        ...     warnings.simplefilter("ignore")  # there is no process group
        ...     _ = dcp.save({"weight": torch.tensor([1.0, 2.0]), "step": 3}, checkpoint_id=folder)
        ...     state = {"weight": torch.zeros(2), "step": 0}
        ...     dcp.load(state, checkpoint_id=folder)
        >>> state
        {'weight': tensor([1., 2.]), 'step': 3}

    Mirrors torch/distributed/checkpoint/state_dict_saver.py, ``save``.
    """
    writer = _checked_writer("save", checkpoint_id, storage_writer, planner, use_collectives)
    return _save(lambda: _states(state_dict), writer, _DistWrapper(process_group, _checked_dist(no_dist, "save")))


def _checked_writer(verb: str, folder: Any, writer: FileSystemWriter | None, planner: Any, collectives: bool) -> Any:
    if planner is not None or not collectives:
        raise NotImplementedError(f"{verb}: planner must be None and use_collectives must be True")
    if folder is None and writer is None:
        raise ValueError(f"{verb}: expected checkpoint_id, the folder of the checkpoint, or storage_writer")
    return FileSystemWriter(folder) if writer is None else writer


def _save(states: Callable[[], dict[str, Any]], writer: Any, ranks: _DistWrapper) -> Metadata:
    """Write what ``states()`` returns, on any thread: the ranks are given."""
    places: dict[str, _Place] = {}

    def plan() -> tuple[_Plan, dict[str, Any]]:
        places.update(flatten_state_dict(states()))
        writer.prepare(ranks.rank == 0)
        return _plan_of(places), {fqn: place.path for fqn, place in places.items()}

    plans = ranks.all_gather("plan", plan)
    metadata = Metadata({}, {fqn: path for _, paths in plans for fqn, path in paths.items()})
    ranks.all_gather("plan", lambda: _collect(metadata, [each for each, _ in plans]))
    ours = _dedup([each for each, _ in plans])[ranks.rank]

    def write() -> Any:
        return writer.write_data(ranks.rank, ((index, _resolve(places[index.fqn].value)) for index in ours))

    written = ranks.all_gather("write", write)
    metadata.storage_data = {index: info for found in written for index, info in found.items()}
    ranks.all_gather("write", lambda: writer.finish(metadata) if ranks.rank == 0 else None)
    return metadata


class AsyncCheckpointerType(Enum):
    """Where :func:`async_save` writes. Only THREAD is there.

    Mirrors torch/distributed/checkpoint/state_dict_saver.py, ``AsyncCheckpointerType``.
    """

    THREAD = "thread"
    PROCESS = "process"


def async_save(
    state_dict: dict[str, Any],
    *,
    checkpoint_id: str | os.PathLike[str] | None = None,
    storage_writer: FileSystemWriter | None = None,
    planner: Any = None,
    process_group: Any = None,
    async_checkpointer_type: AsyncCheckpointerType = AsyncCheckpointerType.THREAD,
    async_stager: Any = None,
    no_dist: bool = False,
    use_collectives: bool = True,
) -> Future[Metadata]:
    """Copy a state dict, and write the copy from a thread of its own while the program goes on. All ranks call this.

    The program may change the tensors as soon as the function returns. The ranks talk to each other while they write,
    and a group runs its collectives in the order in which they are called. So a program that calls collectives before
    the Future is done needs a second group for the checkpoint: ``process_group=dist.new_group()``, made once.

    Args:
        state_dict, checkpoint_id, storage_writer, planner, process_group, no_dist, use_collectives: as for
            :func:`save`.
        async_checkpointer_type: only THREAD.
        async_stager: only None.

    Returns:
        A Future, whose ``result()`` waits for the end and returns what :func:`save` returns, or raises its errors.

    Raises:
        NotImplementedError: a process shall write, there is a stager, or as for :func:`save`.
        ValueError: neither a folder nor a writer is given.

    Example:
        >>> import tempfile, warnings
        >>> import reftorch.distributed.checkpoint as dcp
        >>> folder, weight = tempfile.mkdtemp(), torch.tensor([1.0, 2.0])
        >>> with warnings.catch_warnings():
        ...     warnings.simplefilter("ignore")  # there is no process group
        ...     future = dcp.async_save({"weight": weight}, checkpoint_id=folder)
        ...     _ = weight.zero_()  # too late for the checkpoint
        ...     _ = future.result()
        ...     dcp.load({"weight": weight}, checkpoint_id=folder)
        >>> weight
        tensor([1., 2.])

    Mirrors torch/distributed/checkpoint/state_dict_saver.py, ``async_save``.
    """
    if async_checkpointer_type != AsyncCheckpointerType.THREAD or async_stager is not None:
        raise NotImplementedError("async_save: async_checkpointer_type must be THREAD and async_stager must be None")
    writer = _checked_writer("async_save", checkpoint_id, storage_writer, planner, use_collectives)
    ranks = _DistWrapper(process_group, _checked_dist(no_dist, "save"))
    staged = _map_tensors(_staged, _states(state_dict), copy.deepcopy)
    executor = ThreadPoolExecutor(1, thread_name_prefix="async_save")
    future = executor.submit(_save, lambda: staged, writer, ranks)
    executor.shutdown(wait=False)
    return future


def _staged(tensor: Any) -> Any:
    """Return a copy of a tensor in memory of its own on the CPU, without a graph."""
    if isinstance(tensor, DTensor):
        local = tensor._local_tensor.detach().to("cpu", copy=True)
        return DTensor(local, tensor.device_mesh, tensor.placements, shape=tensor.shape)
    return tensor.detach().to("cpu", copy=True)


def _plan_of(places: dict[str, _Place]) -> _Plan:
    """Return what this rank has."""
    plan: _Plan = {}
    for fqn, place in places.items():
        value = place.value
        if not isinstance(value, Tensor):
            plan[MetadataIndex(fqn)] = (BytesStorageMetadata(), 1)
            continue
        local, chunk = _local_piece(value)
        if local.numel() > 0 or value.numel() == 0:
            properties = TensorProperties(value.dtype, requires_grad=value.requires_grad)
            tensor = TensorStorageMetadata(properties, value.shape, [chunk])
            plan[MetadataIndex(fqn, chunk.offsets)] = (tensor, local.numel() * local.element_size())
    return plan


def _collect(metadata: Metadata, plans: Sequence[_Plan]) -> None:
    """Note what all ranks have.

    Raises:
        ValueError: two ranks disagree about the shape of a tensor.
    """
    known, pieces = metadata.state_dict_metadata, set()
    for rank, plan in enumerate(plans):
        for index, (found, _) in plan.items():
            former: Any = known.setdefault(index.fqn, found)
            if type(former) is not type(found) or getattr(former, "size", None) != getattr(found, "size", None):
                raise ValueError(f"{index.fqn} is {found} on rank {rank}, and {former} on a rank before")
            if former is not found and index not in pieces:
                former.chunks += found.chunks
            pieces.add(index)


def _dedup(plans: Sequence[_Plan]) -> list[list[MetadataIndex]]:
    """Return the pieces that each rank writes. Of the ranks that have a piece, the one with the fewest bytes does.

    Mirrors torch/distributed/checkpoint/_dedup_save_plans.py, ``dedup_save_plans``.
    """
    sizes, chosen = [0] * len(plans), [list[MetadataIndex]() for _ in plans]
    for index, size in {index: size for plan in plans for index, (_, size) in plan.items()}.items():
        rank = min((r for r, plan in enumerate(plans) if index in plan), key=sizes.__getitem__)
        sizes[rank] += size
        chosen[rank].append(index)
    return chosen


def _resolve(value: Any) -> Any:
    """Return what is written: of a tensor the piece of this rank, on the CPU, in memory of its own size."""
    if not isinstance(value, Tensor):
        return value
    local = _local_piece(value)[0].cpu()
    return local.clone() if local.untyped_storage().nbytes() != local.numel() * local.element_size() else local
