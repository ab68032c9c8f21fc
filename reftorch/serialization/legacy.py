"""Reads the formats before the zip archive: a sequence of pickles with the storages behind them, and a tar archive.

Mirrors: torch/serialization.py (_legacy_load)
Leaves out: patches from the saved source of a module to its present source.
"""

from __future__ import annotations

import inspect
import pickle
import struct
import sys
from typing import TYPE_CHECKING, Any

from reftorch import _C
from reftorch._places import is_ours
from reftorch._utils import set_from_file, typename
from reftorch._warnings import warn
from reftorch.serialization.archive import read_fully
from reftorch.serialization.locations import restore_location
from reftorch.serialization.options import SourceChangeWarning, _serialization_tls
from reftorch.serialization.saving import MAGIC_NUMBER, PROTOCOL_VERSION
from reftorch.serialization.unpicklers import Unpicklers, decoded, storage_facts
from reftorch.storage import TypedStorage, UntypedStorage

if TYPE_CHECKING:
    import tarfile

__all__ = ["load_legacy"]


def load_legacy(file: Any, unpicklers: Unpicklers, map_location: Any) -> Any:
    """Return the object in a file of one of the two old formats.

    Raises:
        RuntimeError: the file is damaged, or is a tar archive and ``weights_only`` is True.
    """
    start = file.tell()
    if _is_tar(file, start):
        if unpicklers.weights_only:
            raise RuntimeError(
                "Cannot use ``weights_only=True`` with files saved in the legacy .tar format. Re-running `torch.load` "
                "with `weights_only` set to `False` will likely succeed, but it can result in arbitrary code "
                "execution. Do it only if you got the file from a trusted source."
            )
        return _load_tar(file, unpicklers, map_location)
    left = file.seek(0, 2) - start
    file.seek(start)
    return _LegacyFile(file, unpicklers, map_location, left).load()


class _LegacyFile:
    """A file of pickles, followed by the bytes of the storages.

    ``left`` is the number of bytes of the file that no storage needs yet: storages are allocated before their bytes
    are read, and a damaged file must not make them larger than itself.
    """

    def __init__(self, file: Any, unpicklers: Unpicklers, map_location: Any, left: int) -> None:
        self.file, self.unpicklers, self.left = file, unpicklers, left
        self.restore = restore_location(map_location)
        self.on_cpu: dict[str, TypedStorage] = {}  # where the bytes are read to
        self.storages: dict[str, TypedStorage] = {}
        self.moved: list[tuple[TypedStorage, TypedStorage]] = []

    def part(self) -> Any:
        """Return the object of the next pickle."""
        return self.unpicklers(self.file, self.persistent_load).load()

    def load(self) -> Any:
        magic = self.part()
        if type(magic) is not int or magic != MAGIC_NUMBER:
            raise RuntimeError("Invalid magic number; corrupt file?")
        version = self.part()
        if type(version) is not int or version != PROTOCOL_VERSION:
            raise RuntimeError(f"Invalid protocol version: {version if type(version) is int else type(version)}")
        system = self.part()
        little = system.get("little_endian", True) if type(system) is dict else True
        result = self.part()
        keys = self.part()
        if not _serialization_tls.skip_data:
            self.read_storages(keys, little)
        return result

    def read_storages(self, keys: Any, little: bool) -> None:
        for key in keys if type(keys) is list else []:
            if decoded(key) not in self.on_cpu:
                raise RuntimeError("load: the file has the bytes of a storage that its pickle does not name")
            storage = self.on_cpu[decoded(key)]
            head = bytearray(8)
            read_fully(self.file, memoryview(head))
            numel = struct.unpack("<q" if little else ">q", head)[0]
            if numel != len(storage):
                raise RuntimeError(f"load: storage {key} has {numel} elements, expected {len(storage)}")
            read_fully(self.file, storage.untyped()._memory())
            if little != (sys.byteorder == "little"):
                storage.untyped().byteswap(storage.dtype)
        for source, target in self.moved:
            target.untyped().copy_(source.untyped())

    def persistent_load(self, saved_id: Any) -> Any:
        if type(saved_id) is tuple and saved_id and decoded(saved_id[0]) == "module" and len(saved_id) == 4:
            _check_container_source(*saved_id[1:])
            return saved_id[1]
        dtype, key, location, numel, rest = storage_facts(saved_id)
        if key not in self.storages:
            self.allocate(key, dtype, location, numel)
        storage = self.storages[key]
        if not rest or rest[0] is None:
            return storage
        if type(rest[0]) is not tuple or [type(part) for part in rest[0][1:]] != [int, int]:
            raise RuntimeError("load: expected a view of a storage (key, offset, numel)")
        view_key, offset, view_numel = rest[0]
        if decoded(view_key) not in self.storages:
            size = dtype.itemsize
            view = storage.untyped()._view(offset * size, view_numel * size)
            self.storages[decoded(view_key)] = TypedStorage(wrap_storage=view, dtype=dtype, _internal=True)
        return self.storages[decoded(view_key)]

    def allocate(self, key: str, dtype: Any, location: str, numel: int) -> None:
        self.left -= numel * dtype.itemsize
        if self.left < 0:
            raise RuntimeError(
                f"load: storage {key} has {numel * dtype.itemsize} bytes, more than the file. The file is not complete."
            )
        source = UntypedStorage(numel * dtype.itemsize)
        target = self.restore(source, location)
        self.on_cpu[key] = TypedStorage(wrap_storage=source, dtype=dtype, _internal=True)
        self.storages[key] = TypedStorage(wrap_storage=target, dtype=dtype, _internal=True)
        if target is not source and target.device.type != "meta":
            self.moved.append((self.on_cpu[key], self.storages[key]))


def _check_container_source(container_type: Any, source_file: Any, original_source: Any) -> None:
    """Warn if the class of a module has another source than when it was saved. PyTorch's own classes always have."""
    if not source_file or not original_source or is_ours(container_type.__module__):
        return
    try:
        source = inspect.getsource(container_type)
    except (OSError, TypeError):
        warn(
            f"Couldn't retrieve source code for container of type {container_type.__name__}. It won't be checked for "
            "correctness upon loading."
        )
        return
    if source != original_source:
        warn(
            f"source code of class '{typename(container_type)}' has changed. you can retrieve the original source code "
            "by accessing the object's source attribute",
            SourceChangeWarning,
        )


# --- the tar archive of the first alphas ------------------------------------------------------------------------------


def _is_tar(file: Any, start: int) -> bool:
    file.seek(start + 257)
    magic = file.read(5)
    file.seek(start)
    return magic == b"ustar"


def _load_tar(file: Any, unpicklers: Unpicklers, map_location: Any) -> Any:
    """Return the object of a tar archive, whose members are ``storages``, ``tensors`` and ``pickle``."""
    restore = restore_location(map_location)
    objects: dict[Any, Any] = {}

    def persistent_load(saved_id: Any) -> Any:
        if isinstance(saved_id, tuple):
            _check_container_source(*saved_id)
            return saved_id[0]
        return objects[int(saved_id)]

    import tarfile  # here, because `import reftorch` would pay for it

    with tarfile.open(fileobj=file, mode="r:") as tar:
        members = {name: _member(tar, name) for name in ("storages", "tensors", "pickle")}

        def part(name: str) -> Any:
            return unpicklers(members[name], persistent_load).load()

        for _ in range(part("storages")):
            key, location, storage_type = part("storages")
            dtype = storage_type.dtype
            numel = struct.unpack("<q", members["storages"].read(8))[0]
            storage = UntypedStorage(bytearray(members["storages"].read(numel * dtype.itemsize)))
            objects[key] = TypedStorage(wrap_storage=restore(storage, location), dtype=dtype, _internal=True)
        for target, root, offset, numel in part("storages"):
            size = objects[root].dtype.itemsize
            view = objects[root].untyped()._view(offset * size, numel * size)
            objects[target] = TypedStorage(wrap_storage=view, dtype=objects[root].dtype, _internal=True)
        for _ in range(part("tensors")):
            key, storage_key, _ = part("tensors")
            storage = objects[storage_key]
            dims = struct.unpack("<ixxxx", members["tensors"].read(8))[0]
            numbers = struct.unpack(f"<{2 * dims + 1}q", members["tensors"].read(8 * (2 * dims + 1)))
            empty: Any = _C._VariableFunctions.empty(0, dtype=storage.dtype)
            size, stride = numbers[:dims], numbers[dims : 2 * dims]
            objects[key] = set_from_file(empty, storage.untyped(), numbers[-1], size, stride)
        return part("pickle")


def _member(tar: tarfile.TarFile, name: str) -> Any:
    try:
        member = tar.extractfile(name)
    except KeyError:
        member = None
    if member is None:
        raise pickle.UnpicklingError(f"load: the tar archive has no file {name}")
    return member
