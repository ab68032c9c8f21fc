"""Loading a state dict on several ranks.

Mirrors: torch/distributed/checkpoint/state_dict_loader.py, torch/distributed/checkpoint/planner_helpers.py
Leaves out: planners.
"""

from __future__ import annotations

import os
from typing import Any

from reftorch._tensor import Tensor
from reftorch.autograd.grad_mode import no_grad
from reftorch.distributed.checkpoint._nested_dict import flatten_state_dict
from reftorch.distributed.checkpoint.filesystem import FileSystemReader
from reftorch.distributed.checkpoint.metadata import (
    ChunkStorageMetadata,
    Metadata,
    MetadataIndex,
    TensorStorageMetadata,
)
from reftorch.distributed.checkpoint.state_dict_saver import _checked_dist
from reftorch.distributed.checkpoint.stateful import Stateful
from reftorch.distributed.checkpoint.utils import _DistWrapper, _local_piece, _states

__all__ = ["load"]


def load(
    state_dict: dict[str, Any],
    *,
    checkpoint_id: str | os.PathLike[str] | None = None,
    storage_reader: FileSystemReader | None = None,
    planner: Any = None,
    process_group: Any = None,
    no_dist: bool = False,
) -> None:
    """Read the values of a state dict from a checkpoint, into the tensors that are there. All ranks call this.

    Each rank reads what it needs, so the number of ranks, and how tensors lie on them, may be another than for
    :func:`save`. Values that are not tensors replace those of the state dict.

    Args:
        state_dict: what to load; the checkpoint may have more. An object with the methods ``state_dict`` and
            ``load_state_dict`` gets its state.
        checkpoint_id: the folder.
        storage_reader: in place of the folder, what reads from it.
        planner: must be None.
        process_group: the ranks; None means the default group.
        no_dist: whether this process loads alone. It does so, too, if there is no process group.

    Raises:
        CheckpointException: (on all ranks) something has failed on some of them: a value is missing, or has another
            shape.
        NotImplementedError: there is a planner.
        ValueError: neither a folder nor a reader is given.

    Mirrors torch/distributed/checkpoint/state_dict_loader.py, ``load``.
    """
    if planner is not None:
        raise NotImplementedError("load: planner must be None")
    if checkpoint_id is None and storage_reader is None:
        raise ValueError("load: expected checkpoint_id, the folder of the checkpoint, or storage_reader")
    ranks = _DistWrapper(process_group, _checked_dist(no_dist, "load"))
    reader = FileSystemReader(checkpoint_id) if storage_reader is None else storage_reader  # type: ignore[arg-type]
    states = _states(state_dict)

    def read() -> None:
        metadata = reader.read_metadata()
        for fqn, place in flatten_state_dict(states).items():
            known = metadata.state_dict_metadata.get(fqn)
            if known is None:
                raise RuntimeError(f"Missing key in checkpoint state_dict: {fqn}.")
            if isinstance(known, TensorStorageMetadata) != isinstance(place.value, Tensor):
                raise ValueError(f"{fqn}: one of checkpoint and state dict has a tensor, and the other one has not")
            if isinstance(known, TensorStorageMetadata):
                _read_tensor(reader, metadata, fqn, place.value)
            else:
                place.container[place.key] = reader.read_data(metadata.storage_data[MetadataIndex(fqn)])

    ranks.all_gather("read", read)
    for key, value in list(state_dict.items()):
        if isinstance(value, Stateful):
            value.load_state_dict(states[key])
        else:
            state_dict[key] = states[key]


@no_grad()
def _read_tensor(reader: FileSystemReader, metadata: Metadata, fqn: str, tensor: Any) -> None:
    """Copy the pieces of a tensor that overlap with the one of this rank."""
    known = metadata.state_dict_metadata[fqn]
    if known.size != tensor.shape:
        raise ValueError(f"Size mismatch between saved {known.size} and current: {tensor.shape} for {fqn}")
    local, ours = _local_piece(tensor)
    for chunk in known.chunks:
        overlap = _overlap(chunk, ours)
        if overlap is not None:
            source = reader.read_data(metadata.storage_data[MetadataIndex(fqn, chunk.offsets)])
            target = local
            for dim, (begin, length) in enumerate(overlap):
                source = source.narrow(dim, begin - chunk.offsets[dim], length)
                target = target.narrow(dim, begin - ours.offsets[dim], length)
            target.copy_(source)


def _overlap(a: ChunkStorageMetadata, b: ChunkStorageMetadata) -> list[tuple[int, int]] | None:
    """Return where the overlap of two pieces begins in the whole tensor, and its length, for each dimension.

    None means that there is none.
    """
    found = []
    for start_a, size_a, start_b, size_b in zip(a.offsets, a.sizes, b.offsets, b.sizes, strict=True):
        begin, end = max(start_a, start_b), min(start_a + size_a, start_b + size_b)
        if begin >= end:
            return None
        found.append((begin, end - begin))
    return found
