"""What a checkpoint says about itself: which values there are, and where the pieces of each tensor are.

Mirrors: torch/distributed/checkpoint/metadata.py
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

from reftorch import _C

__all__ = [
    "BytesStorageMetadata",
    "ChunkStorageMetadata",
    "Metadata",
    "MetadataIndex",
    "StorageMeta",
    "TensorProperties",
    "TensorStorageMetadata",
]


@dataclass
class ChunkStorageMetadata:
    """A piece of a tensor.

    Args:
        offsets: the indices of its first element in the whole tensor.
        sizes: its shape.

    Mirrors torch/distributed/checkpoint/metadata.py, ``ChunkStorageMetadata``.
    """

    offsets: Any
    sizes: Any


class _MEM_FORMAT_ENCODING(Enum):
    """The number that a file has for a memory format. Mirrors the class of PyTorch's file."""

    TORCH_CONTIGUOUS_FORMAT = 0
    TORCH_CHANNELS_LAST = 1
    TORCH_PRESERVE_FORMAT = 2


_MEMORY_FORMATS = {
    _MEM_FORMAT_ENCODING.TORCH_CONTIGUOUS_FORMAT: _C.contiguous_format,
    _MEM_FORMAT_ENCODING.TORCH_CHANNELS_LAST: _C.channels_last,
    _MEM_FORMAT_ENCODING.TORCH_PRESERVE_FORMAT: _C.preserve_format,
}


@dataclass
class TensorProperties:
    """What a tensor is besides its numbers. All but the dtype is there for PyTorch's older versions.

    Mirrors torch/distributed/checkpoint/metadata.py, ``TensorProperties``.
    """

    dtype: Any = field(default_factory=_C.get_default_dtype)
    layout: Any = _C.strided
    requires_grad: bool = False
    memory_format: Any = _C.contiguous_format
    pin_memory: bool = False

    def __getstate__(self) -> tuple[Any, ...]:
        encoding = next(number for number, known in _MEMORY_FORMATS.items() if known == self.memory_format)
        return self.dtype, self.layout, self.requires_grad, encoding, self.pin_memory

    def __setstate__(self, state: tuple[Any, ...]) -> None:
        self.dtype, self.layout, self.requires_grad, encoding, self.pin_memory = state
        self.memory_format = _MEMORY_FORMATS[encoding]


@dataclass
class TensorStorageMetadata:
    """A tensor: its properties, its whole shape and its pieces.

    Mirrors torch/distributed/checkpoint/metadata.py, ``TensorStorageMetadata``.
    """

    properties: TensorProperties
    size: Any
    chunks: list[ChunkStorageMetadata]


@dataclass
class BytesStorageMetadata:
    """A value that is not a tensor. Mirrors torch/distributed/checkpoint/metadata.py, ``BytesStorageMetadata``."""


@dataclass
class StorageMeta:
    """Where the checkpoint was written. Mirrors torch/distributed/checkpoint/metadata.py, ``StorageMeta``."""

    checkpoint_id: Any = None
    save_id: str | None = None
    load_id: str | None = None
    modules: list[str] = field(default_factory=list)


@dataclass
class Metadata:
    """The contents of a checkpoint.

    Args:
        state_dict_metadata: the values by name.
        planner_data: the keys that lead to each value in the state dict.
        storage_data: file, position and length of each piece.
        storage_meta: where the checkpoint was written.
        version: of the format.

    Mirrors torch/distributed/checkpoint/metadata.py, ``Metadata``.
    """

    state_dict_metadata: dict[str, Any]
    planner_data: Any = None
    storage_data: Any = None
    storage_meta: StorageMeta | None = None
    version: str | None = None


@dataclass(frozen=True, init=False)
class MetadataIndex:
    """What a piece is found by.

    Args:
        fqn: the name of the value.
        offset: the indices of the first element of the piece in the whole tensor; None if the value is not a tensor.
        index: the number of the piece in the list of pieces, which has no meaning for equality.

    Mirrors torch/distributed/checkpoint/metadata.py, ``MetadataIndex``.
    """

    fqn: str
    offset: Any = None
    index: int | None = field(hash=False, compare=False, default=None)

    def __init__(self, fqn: str, offset: Sequence[int] | None = None, index: int | None = None) -> None:
        object.__setattr__(self, "fqn", fqn)
        object.__setattr__(self, "index", index)
        if offset is not None:
            object.__setattr__(self, "offset", _C.Size(offset))
