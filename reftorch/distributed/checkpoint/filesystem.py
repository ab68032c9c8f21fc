"""Checkpoints as folders: a file of each rank, and the list of what is in them.

Mirrors: torch/distributed/checkpoint/filesystem.py
Leaves out: several threads, extensions that change the bytes, safetensors, other file systems, files of one rank alone.
"""

from __future__ import annotations

import io
import os
import pickle
import uuid
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from reftorch import _C, _places, serialization
from reftorch._tensor import Tensor
from reftorch._warnings import warn
from reftorch.distributed.checkpoint.metadata import Metadata, MetadataIndex, StorageMeta
from reftorch.serialization.saving import _Pickler

__all__ = ["FileSystemReader", "FileSystemWriter"]

_metadata_fn = ".metadata"
CURRENT_DCP_VERSION = "1.0.0"
DEFAULT_SUFFIX = ".distcp"


@dataclass
class _StorageInfo:
    """Where the bytes of a piece are. Mirrors torch/distributed/checkpoint/filesystem.py, ``_StorageInfo``."""

    relative_path: str
    offset: int
    length: int
    transform_descriptors: Sequence[str] | None = None

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if value is not None}


class FileSystemWriter:
    """Writes a checkpoint to a folder.

    Args:
        path: the folder; it is made if it is missing.
        single_file_per_rank: whether a rank writes one file, or one for each piece.
        sync_files: whether to wait until the bytes are on the disk.
        thread_count: has no effect: one thread writes.
        per_thread_copy_ahead: has no effect.
        cache_staged_state_dict: has no effect.
        overwrite: whether a checkpoint in the folder may be replaced.

    Mirrors torch/distributed/checkpoint/filesystem.py, ``FileSystemWriter``.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        single_file_per_rank: bool = True,
        sync_files: bool = True,
        thread_count: int = 1,
        per_thread_copy_ahead: int = 10_000_000,
        cache_staged_state_dict: bool = False,
        overwrite: bool = True,
    ) -> None:
        self.path = Path(path)
        self.single_file_per_rank, self.sync_files, self.overwrite = single_file_per_rank, sync_files, overwrite

    @property
    def checkpoint_id(self) -> Path:
        """The folder."""
        return self.path

    def prepare(self, is_coordinator: bool) -> None:
        """Make the folder. On one rank, a finished checkpoint in it counts as unfinished from now on.

        Raises:
            RuntimeError: there is a checkpoint that must not be replaced.
        """
        self.path.mkdir(parents=True, exist_ok=True)
        if is_coordinator and (self.path / _metadata_fn).exists():
            if not self.overwrite:
                raise RuntimeError(f"Checkpoint already exists and self.overwrite={self.overwrite}.")
            warn(f"Detected an existing checkpoint in {self.path}, overwriting since self.overwrite={self.overwrite}.")
            (self.path / _metadata_fn).unlink()

    def write_data(self, rank: int, items: Iterable[tuple[MetadataIndex, Any]]) -> dict[MetadataIndex, _StorageInfo]:
        """Write the pieces of a rank, and return where each of them is.

        Args:
            rank: the number in the names of the files.
            items: tensors on the CPU, and other values.
        """
        pieces = list(items)
        files = [pieces] if self.single_file_per_rank else [[piece] for piece in pieces]
        found = {}
        for number, contents in enumerate(files):
            name = f"__{rank}_{number}{DEFAULT_SUFFIX}"
            if contents:
                with (self.path / name).open("wb") as file:
                    for index, value in contents:
                        start = file.tell()
                        buffer = io.BytesIO()  # the positions in the file of a tensor count from its own beginning
                        serialization.save(value, buffer)
                        file.write(buffer.getbuffer())
                        found[index] = _StorageInfo(name, start, file.tell() - start)
                    self._sync(file)
        return found

    def finish(self, metadata: Metadata) -> None:
        """Write the list of all pieces, which makes the checkpoint a whole one."""
        metadata.version = CURRENT_DCP_VERSION
        metadata.storage_meta = StorageMeta(str(self.path), str(uuid.uuid4()))
        unfinished = self.path / f"{_metadata_fn}.tmp"
        with unfinished.open("wb") as file:
            _Pickler(file, 4, lambda obj: None).dump(metadata)
            self._sync(file)
        unfinished.replace(self.path / _metadata_fn)

    def _sync(self, file: Any) -> None:
        if self.sync_files:
            file.flush()
            os.fsync(file.fileno())


_METADATA_NAMES = {
    "torch.distributed.checkpoint.metadata": None,  # all names of this file
    "torch.distributed.checkpoint.filesystem": ("_StorageInfo",),
    "torch.serialization": ("_get_layout",),
    "pathlib": ("Path", "PosixPath", "PurePosixPath"),
}


class _MetadataUnpickler(pickle.Unpickler):
    """Reads ``.metadata``, and refuses all names that no such file needs: a pickle could call any function."""

    def find_class(self, module: str, name: str) -> Any:
        if module == "torch":
            found = _places.find(module, name)
            if name == "Size" or isinstance(found, (_C.dtype, _C.layout)):
                return found
        elif module in _METADATA_NAMES and (_METADATA_NAMES[module] is None or name in (_METADATA_NAMES[module] or ())):
            return Path if module == "pathlib" else _places.find(module, name)
        raise pickle.UnpicklingError(f"the file names {module}.{name}, which the list of a checkpoint does not need")


class FileSystemReader:
    """Reads a checkpoint from a folder.

    Args:
        path: the folder.

    Mirrors torch/distributed/checkpoint/filesystem.py, ``FileSystemReader``.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)

    @property
    def checkpoint_id(self) -> Path:
        """The folder."""
        return self.path

    def read_metadata(self) -> Metadata:
        """Return the list of what the checkpoint has.

        Raises:
            FileNotFoundError: there is no checkpoint, or it was not finished.
            UnpicklingError: the file is not such a list.
        """
        with (self.path / _metadata_fn).open("rb") as file:
            return _MetadataUnpickler(file).load()

    def read_data(self, info: _StorageInfo) -> Any:
        """Return a piece of a tensor, or another value.

        Raises:
            UnpicklingError: the value has a class that was not allowed, see ``torch.serialization.add_safe_globals``.
        """
        with (self.path / info.relative_path).open("rb") as file:
            file.seek(info.offset)
            value = serialization.load(io.BytesIO(file.read(info.length)), map_location="cpu", weights_only=True)
        return value.detach() if isinstance(value, Tensor) else value
