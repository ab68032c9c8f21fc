"""Checkpoints that several ranks write and read together, in PyTorch's files.

Mirrors: torch/distributed/checkpoint/__init__.py
Leaves out: planners, other storages than folders, writing in another process, state dicts of sharded optimizers.

Note [Checkpoints of several ranks]
Problem: each rank has values that all ranks have, and pieces of tensors that no other rank has; and the next run may
have another number of ranks. Trick: each value has a name, and each piece has the place of its first element in the
whole tensor. The ranks tell each other what they have. A piece that several ranks have is written by one of them, the
one with the fewest bytes so far, so all of them write at the same time. Each rank writes one file; rank 0 then writes
the list of all pieces, with file, position and length, to ``.metadata``. A rank that loads reads this list, and of each
tensor the pieces that overlap with its own one. So the ranks may be more or fewer, and a tensor may lie on them in
another way. Limits: a checkpoint without ``.metadata`` was not finished, and cannot be read.
"""

from reftorch import _api
from reftorch.distributed.checkpoint.api import CheckpointException
from reftorch.distributed.checkpoint.filesystem import FileSystemReader, FileSystemWriter
from reftorch.distributed.checkpoint.metadata import (
    BytesStorageMetadata,
    ChunkStorageMetadata,
    Metadata,
    TensorStorageMetadata,
)
from reftorch.distributed.checkpoint.state_dict_loader import load
from reftorch.distributed.checkpoint.state_dict_saver import async_save, save

__all__ = [
    "BytesStorageMetadata",
    "CheckpointException",
    "ChunkStorageMetadata",
    "FileSystemReader",
    "FileSystemWriter",
    "Metadata",
    "TensorStorageMetadata",
    "async_save",
    "load",
    "save",
]

__getattr__ = _api.getattr_of(__name__)
