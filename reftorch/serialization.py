"""Saves objects with tensors to files and loads them, in PyTorch's formats.

Mirrors: torch/serialization.py
Leaves out: devices other than the CPU, big-endian files, the tar format from before 2017.
This file is more than 500 lines long because it mirrors one file of PyTorch: it writes and reads two file formats.

Note [File format]
Problem: tensors share memory and are large. A file must contain shared memory only once, and views must share memory
again after loading. Trick: the pickle contains a persistent id ("storage", class, key, location, numel) instead of each
storage, and the bytes are stored outside the pickle. A file is an uncompressed zip archive: data.pkl is the pickle;
data/<key> has the bytes of a storage, at a multiple of 64 so that they can be mapped into memory; version and byteorder
describe the file. The older format is a sequence of pickles (a magic number, a version, facts about the system, the
object, the keys), followed by the length and the bytes of each storage. In both formats the pickle names PyTorch's
modules, whichever library wrote the file.
"""

from __future__ import annotations

import contextlib
import io
import mmap as _mmap
import os
import pickle
import struct
import sys
import types
import zipfile
from collections.abc import Callable, Iterator
from typing import Any

from reftorch import _C
from reftorch._weights_only_unpickler import (
    Unpickler,
    _get_allowed_globals,
    _get_user_allowed_globals,
    add_safe_globals,
    clear_safe_globals,
    find_global,
    get_globals_in_pkl,
    get_safe_globals,
    in_torch,
    safe_globals,
)
from reftorch.storage import TypedStorage, UntypedStorage

__all__ = [
    "add_safe_globals",
    "clear_safe_globals",
    "get_safe_globals",
    "get_unsafe_globals_in_checkpoint",
    "load",
    "safe_globals",
    "save",
]

DEFAULT_PROTOCOL = 2
MAGIC_NUMBER = 0x1950A86A20F9469CFC6C
PROTOCOL_VERSION = 1001
_ALIGNMENT = 64


# --- names that a pickle may contain ---------------------------------------------------------------------------------


def get_unsafe_globals_in_checkpoint(f: Any) -> list[str]:
    """Return the names in a file that :func:`load` with ``weights_only=True`` refuses.

    Raises:
        ValueError: the file is not a zip archive, the format that :func:`save` writes.

    Example:
        >>> import io, decimal, reftorch as torch
        >>> file = io.BytesIO()
        >>> torch.save(decimal.Decimal(1), file)
        >>> _ = file.seek(0)
        >>> torch.serialization.get_unsafe_globals_in_checkpoint(file)
        ['decimal.Decimal']

    Mirrors torch/serialization.py, ``get_unsafe_globals_in_checkpoint``.
    """
    with _opened(f, "rb") as file:
        if not _is_zipfile(file):
            raise ValueError("Expected input to be a checkpoint returned by torch.save")
        with zipfile.ZipFile(file) as archive:
            data = archive.read(_prefix(archive) + "data.pkl")
    safe = _get_allowed_globals().keys() | _get_user_allowed_globals().keys()
    return sorted(get_globals_in_pkl(io.BytesIO(data)) - safe)


# --- writing ---------------------------------------------------------------------------------------------------------


class _Storages:
    """The storages to which a pickle refers, and their persistent ids."""

    def __init__(self, legacy: bool) -> None:
        self.legacy = legacy
        self.by_key: dict[str, tuple[UntypedStorage, Any]] = {}
        self._keys: dict[int, str] = {}
        self._dtypes: dict[int, Any] = {}

    def persistent_id(self, obj: Any) -> Any:
        if not isinstance(obj, (TypedStorage, UntypedStorage)):
            return None
        storage, dtype = obj.untyped(), obj.dtype if isinstance(obj, TypedStorage) else _C.uint8
        if storage.data_ptr() != 0 and self._dtypes.setdefault(storage.data_ptr(), dtype) != dtype:
            raise RuntimeError("Cannot save multiple tensors or storages that view the same data as different types")
        key = self._keys.setdefault(storage._cdata, str(storage._cdata if self.legacy else len(self._keys)))
        self.by_key[key] = storage, dtype
        name = obj.pickle_storage_type() if isinstance(obj, TypedStorage) else "UntypedStorage"
        module = "torch" if isinstance(obj, TypedStorage) else "torch.storage"
        numel = storage.nbytes() // dtype.itemsize
        saved_id = ("storage", _Global(module, name), key, "cpu", numel)
        return (*saved_id, None) if self.legacy else saved_id


class _Global:
    """A name of PyTorch that is written into a pickle."""

    def __init__(self, module: str, name: str) -> None:
        self.module, self.name = module, name


_PythonPickler: Any = pickle._Pickler  # the pickler in C does not let a subclass choose names


class _Pickler(_PythonPickler):
    """Writes PyTorch's names for the classes and functions of this library."""

    dispatch = dict(_PythonPickler.dispatch)

    def __init__(self, file: Any, protocol: int, persistent_id: Callable[[Any], Any]) -> None:
        super().__init__(file, protocol=protocol)
        self.persistent_id = persistent_id

    def _save_name(self, module: str, name: str) -> None:
        if self.proto >= 4:
            self.save(module)
            self.save(name)
            self.write(pickle.STACK_GLOBAL)
        else:
            self.write(pickle.GLOBAL + f"{module}\n{name}\n".encode())

    def _save_global_object(self, obj: _Global) -> None:
        self._save_name(obj.module, obj.name)

    def save_global(self, obj: Any, name: str | None = None) -> None:
        module, called = getattr(obj, "__module__", None), name or getattr(obj, "__qualname__", None)
        if called is None or not (module or type(obj).__module__ or "").startswith("reftorch"):
            super().save_global(obj, name)
            return
        self._save_name(*in_torch(module or type(obj).__module__, called))
        self.memoize(obj)

    dispatch[types.FunctionType] = save_global
    dispatch[_Global] = _save_global_object


def _write_pickle(obj: Any, file: Any, storages: _Storages, pickle_module: Any, protocol: int) -> None:
    if pickle_module is None or pickle_module is pickle:
        _Pickler(file, protocol, storages.persistent_id).dump(obj)
        return

    class Pickler(pickle_module.Pickler):
        def persistent_id(self, obj: Any) -> Any:
            saved_id = storages.persistent_id(obj)
            if saved_id is None:
                return None
            kind, named, *rest = saved_id
            return (kind, find_global(named.module, named.name), *rest)

    Pickler(file, protocol=protocol).dump(obj)


def save(
    obj: Any,
    f: Any,
    pickle_module: Any = pickle,
    pickle_protocol: int = DEFAULT_PROTOCOL,
    _use_new_zipfile_serialization: bool = True,
    _disable_byteorder_record: bool = False,
) -> None:
    """Write an object, and the tensors in it, to a file that PyTorch can read, too.

    Views that share memory also share memory after loading. Hooks and graphs are not saved.

    Args:
        obj: any object that can be pickled.
        f: a path, or a file that is open for writing bytes.
        pickle_module: the module whose Pickler is used.
        pickle_protocol: the version of the pickle format.

    Raises:
        RuntimeError: two tensors read the same memory as different dtypes, or the folder of the path does not exist.

    Example:
        >>> import io, reftorch as torch
        >>> file = io.BytesIO()
        >>> torch.save({"weight": torch.ones(2)}, file)
        >>> torch.load(io.BytesIO(file.getvalue()))
        {'weight': tensor([1., 1.])}

    Mirrors torch/serialization.py, ``save``.
    """
    if isinstance(f, (str, os.PathLike)) and not os.path.isdir(os.path.dirname(os.fspath(f)) or "."):
        raise RuntimeError(f"Parent directory {os.path.dirname(os.fspath(f))} does not exist.")
    with _opened(f, "wb") as file:
        if _use_new_zipfile_serialization:
            name = os.path.splitext(os.path.basename(os.fspath(f)))[0] if isinstance(f, (str, os.PathLike)) else ""
            _save_zip(obj, file, name or "archive", pickle_module, pickle_protocol, not _disable_byteorder_record)
        else:
            _save_legacy(obj, file, pickle_module, pickle_protocol)


def _save_zip(obj: Any, file: Any, name: str, pickle_module: Any, protocol: int, byteorder: bool) -> None:
    storages = _Storages(legacy=False)
    data = io.BytesIO()
    _write_pickle(obj, data, storages, pickle_module, protocol)
    with zipfile.ZipFile(file, "w") as archive:
        _write_record(archive, f"{name}/data.pkl", data.getvalue())
        _write_record(archive, f"{name}/.format_version", b"1")
        _write_record(archive, f"{name}/.storage_alignment", str(_ALIGNMENT).encode())
        if byteorder:
            _write_record(archive, f"{name}/byteorder", sys.byteorder.encode())
        for key, (storage, _) in storages.by_key.items():
            on_cpu = storage.cpu()
            _write_record(archive, f"{name}/data/{key}", on_cpu._memory())
        _write_record(archive, f"{name}/version", b"3\n")


def _write_record(archive: zipfile.ZipFile, name: str, data: bytes | memoryview) -> None:
    info = zipfile.ZipInfo(name)
    assert archive.fp is not None
    header = 30 + len(name.encode()) + 4  # the record's header, its name, and the start of the padding
    padding = -(archive.fp.tell() + header) % _ALIGNMENT
    info.extra = b"FB" + struct.pack("<H", padding) + b"Z" * padding
    archive.writestr(info, data)


def _save_legacy(obj: Any, file: Any, pickle_module: Any, protocol: int) -> None:
    storages = _Storages(legacy=True)
    system = {
        "protocol_version": PROTOCOL_VERSION,
        "little_endian": sys.byteorder == "little",
        "type_sizes": {"short": 2, "int": 4, "long": 4},
    }
    for head in (MAGIC_NUMBER, PROTOCOL_VERSION, system):
        pickle.dump(head, file, protocol=protocol)
    _write_pickle(obj, file, storages, pickle_module, protocol)
    pickle.dump(sorted(storages.by_key), file, protocol=protocol)
    for key in sorted(storages.by_key):
        storage, dtype = storages.by_key[key]
        file.write(struct.pack("<q", storage.nbytes() // dtype.itemsize))
        on_cpu = storage.cpu()
        file.write(on_cpu._memory())


# --- reading ---------------------------------------------------------------------------------------------------------


def load(
    f: Any,
    map_location: Any = None,
    pickle_module: Any = None,
    *,
    weights_only: bool | None = None,
    mmap: bool | None = None,
    **pickle_load_args: Any,
) -> Any:
    """Load an object that :func:`save` wrote, in this library or in PyTorch.

    Args:
        f: a path, or a seekable file that is open for reading bytes.
        map_location: where to put the storages: a device, a dict from locations to locations, or a function that takes
            a storage and a location and returns a storage. A file from a GPU needs ``"cpu"``.
        pickle_module: the module whose Unpickler is used, with ``weights_only=False``.
        weights_only: True, the default, loads tensors and plain containers and refuses everything else, because a
            pickle from an unknown source can run any code.
        mmap: map the storages into memory, so that they are read from the disk when they are used. ``f`` must be a
            path.

    Raises:
        pickle.UnpicklingError: the file contains something that ``weights_only`` refuses.
        RuntimeError: the file is damaged, or needs a device that does not exist here.

    Example:
        >>> import io, reftorch as torch
        >>> file = io.BytesIO()
        >>> torch.save({"weight": torch.ones(2)}, file)
        >>> _ = file.seek(0)
        >>> torch.load(file)
        {'weight': tensor([1., 1.])}

    Mirrors torch/serialization.py, ``load``.
    """
    if pickle_module is not None and weights_only:
        raise RuntimeError("Can not safely load weights when explicit pickle_module is specified")
    weights_only = pickle_module is None if weights_only is None else weights_only
    if mmap and not isinstance(f, (str, os.PathLike)):
        raise ValueError("f must be a file path in order to use the mmap argument")
    pickle_load_args.setdefault("encoding", "utf-8")
    unpickler = _Unpicklers(weights_only, pickle_module, pickle_load_args)
    restore = _restore_location(map_location)
    with _opened(f, "rb") as file:
        try:
            if _is_zipfile(file):
                return _load_zip(file, unpickler, restore, bool(mmap))
            if mmap:
                raise RuntimeError(
                    "mmap can only be used with files saved with `torch.save(_use_new_zipfile_serialization=True), "
                    "please torch.save your checkpoint with this option in order to use mmap."
                )
            return _load_legacy(file, unpickler, restore)
        except zipfile.BadZipFile as error:
            raise RuntimeError(f"PytorchStreamReader failed reading zip archive: {error}") from error
        except pickle.UnpicklingError as error:
            if not weights_only:
                raise
            if "was not an allowed global by default" not in str(error):
                raise pickle.UnpicklingError(
                    "Weights only load failed. Re-running `torch.load` with `weights_only` set to `False` will likely "
                    "succeed, but it can result in arbitrary code execution. Do it only if you got the file from a "
                    f"trusted source.\n\tWeightsUnpickler error: {error}"
                ) from None
            raise pickle.UnpicklingError(
                "Weights only load failed. This file can still be loaded, to do so you have two options, do those "
                "steps only if you trust the source of the checkpoint.\n\t(1) Re-running `torch.load` with "
                "`weights_only` set to `False` will likely succeed, but it can result in arbitrary code execution.\n\t"
                "(2) Alternatively, to load with `weights_only=True` please check the recommended steps in the "
                f"following error message.\n\tWeightsUnpickler error: {error}"
            ) from None


class _Unpicklers:
    """Makes the unpickler that the options of load require."""

    def __init__(self, weights_only: bool, module: Any, options: dict[str, Any]) -> None:
        self.weights_only, self.module, self.options = weights_only, module or pickle, options

    def __call__(self, file: Any, persistent_load: Callable[[Any], Any]) -> Any:
        if self.weights_only:
            return _with_storages(Unpickler(file, **self.options), persistent_load)

        base: Any = self.module.Unpickler

        class TrustingUnpickler(base):
            def find_class(self, module: str, name: str) -> Any:
                try:
                    return (
                        find_global(module, name)
                        if module.partition(".")[0] == "torch"
                        else self._default(module, name)
                    )
                except (ImportError, AttributeError):
                    return self._default(module, name)

            def _default(self, module: str, name: str) -> Any:
                return super().find_class(module, name)

        return _with_storages(TrustingUnpickler(file, **self.options), persistent_load)


def _with_storages(unpickler: Any, persistent_load: Callable[[Any], Any]) -> Any:
    unpickler.persistent_load = persistent_load
    return unpickler


def _storage_facts(saved_id: Any) -> tuple[Any, str, str, int, tuple[Any, ...]]:
    """Return the parts of a persistent id: dtype, key, location, number of elements, and the rest.

    Raises:
        RuntimeError: the id does not describe a storage. It comes from the file, so its parts can be anything.
    """
    if type(saved_id) is tuple and len(saved_id) >= 5 and saved_id[0] == "storage":
        _, storage_type, key, location, numel, *rest = saved_id
        dtype = _C.uint8 if storage_type is UntypedStorage else getattr(storage_type, "dtype", None)
        sound = type(key) is str and type(location) is str and type(numel) is int and numel >= 0
        if sound and isinstance(dtype, _C.dtype):
            return dtype, key, location, numel, tuple(rest)
    raise RuntimeError(f"load: expected a persistent id (storage, class, key, location, numel), got {saved_id!r:.200}")


def _restore_location(map_location: Any) -> Callable[[UntypedStorage, str], UntypedStorage]:
    if callable(map_location) and not isinstance(map_location, _C.device):

        def restore(storage: UntypedStorage, location: str) -> UntypedStorage:
            result = map_location(storage, location)
            return to_cpu(storage, location) if result is None else result.untyped()

        return restore
    if isinstance(map_location, dict):
        return lambda storage, location: to_cpu(storage, str(map_location.get(location, location)))
    if map_location is None:
        return to_cpu
    return lambda storage, location: to_cpu(storage, str(_C.device(map_location)))


def to_cpu(storage: UntypedStorage, location: str) -> UntypedStorage:
    """Return the storage if its location is the CPU.

    Raises:
        RuntimeError: the location is another device.
    """
    if location == "cpu":
        return storage
    raise RuntimeError(
        f"Attempting to deserialize object on a {location.partition(':')[0].upper()} device but "
        "torch.cuda.is_available() is False. If you are running on a CPU-only machine, please use torch.load with "
        "map_location=torch.device('cpu') to map your storages to the CPU."
    )


def _load_zip(file: Any, unpicklers: _Unpicklers, restore: Callable[..., UntypedStorage], mmap: bool) -> Any:
    loaded: dict[str, TypedStorage] = {}
    with zipfile.ZipFile(file) as archive:
        prefix = _prefix(archive)
        names = set(archive.namelist())
        if prefix + "byteorder" in names and archive.read(prefix + "byteorder").decode() != sys.byteorder:
            raise RuntimeError("load: expected a file of this machine's byte order, got the other")
        mapped = _mmap.mmap(file.fileno(), 0, access=_mmap.ACCESS_COPY) if mmap else None

        def read(key: str, nbytes: int) -> UntypedStorage:
            info = archive.getinfo(f"{prefix}data/{key}")
            if info.file_size < nbytes:
                raise RuntimeError(f"load: storage {key} has {info.file_size} bytes, expected {nbytes}")
            if mapped is not None and nbytes > 0:
                return _on_map(mapped, info.header_offset, nbytes)
            storage = UntypedStorage(nbytes)
            with archive.open(info) as record:
                record.readinto(storage._memory())  # type: ignore[attr-defined]
            return storage

        def persistent_load(saved_id: Any) -> TypedStorage:
            dtype, key, location, numel, _ = _storage_facts(saved_id)
            if key not in loaded:
                storage = restore(read(key, numel * dtype.itemsize), location)
                loaded[key] = TypedStorage(wrap_storage=storage, dtype=dtype, _internal=True)
            return loaded[key]

        return unpicklers(io.BytesIO(archive.read(prefix + "data.pkl")), persistent_load).load()


def _on_map(mapped: _mmap.mmap, header: int, nbytes: int) -> UntypedStorage:
    name, extra = struct.unpack("<HH", mapped[header + 26 : header + 30])
    t = _C._frombuffer(mapped, _C.uint8, nbytes, header + 30 + name + extra)
    return UntypedStorage._wrap(_C.StorageBase._of(t))


def _load_legacy(file: Any, unpicklers: _Unpicklers, restore: Callable[..., UntypedStorage]) -> Any:
    storages: dict[str, TypedStorage] = {}

    def persistent_load(saved_id: Any) -> Any:
        dtype, key, location, numel, view = _storage_facts(saved_id)
        if key not in storages:
            untyped = restore(UntypedStorage(numel * dtype.itemsize), location)
            storages[key] = TypedStorage(wrap_storage=untyped, dtype=dtype, _internal=True)
        if view and view[0] is not None:
            raise RuntimeError("load: expected a file whose storages are whole, got views of storages")
        return storages[key]

    def part() -> Any:
        return unpicklers(file, persistent_load).load()

    try:
        magic = part()
    except (pickle.UnpicklingError, EOFError) as error:
        if isinstance(error, EOFError):
            raise EOFError("Ran out of input") from None
        raise
    if magic != MAGIC_NUMBER:
        raise RuntimeError("Invalid magic number; corrupt file?")
    version = part()
    if version != PROTOCOL_VERSION:
        raise RuntimeError(f"Invalid protocol version: {version}")
    part()  # facts about the system
    result = part()
    for key in part():
        storage = storages[key]
        numel = struct.unpack("<q", file.read(8))[0]
        if numel != len(storage):
            raise RuntimeError(f"load: storage {key} has {numel} elements, expected {len(storage)}")
        memory = storage.untyped()._memory()
        memory[:] = file.read(len(memory))
    return result


# --- files -----------------------------------------------------------------------------------------------------------


@contextlib.contextmanager
def _opened(f: Any, mode: str) -> Iterator[Any]:
    if isinstance(f, (str, os.PathLike)):
        with open(f, mode) as file:
            yield file
        return
    wanted = ("write",) if mode == "wb" else ("read", "readline", "tell", "seek")
    for name in wanted:
        if not hasattr(f, name):
            raise AttributeError(
                f"expected 'f' to be string, path, or a file-like object with a '{name}' attribute"
                if mode == "wb"
                else f"'{type(f).__name__}' object has no attribute '{name}'. You can only torch.load from a file that "
                "is seekable. Please pre-load the data into a buffer like io.BytesIO and try to load from it instead."
            )
    yield f
    if hasattr(f, "flush"):
        f.flush()


def _is_zipfile(file: Any) -> bool:
    start = file.tell()
    magic = file.read(4)
    file.seek(start)
    return magic == b"PK\x03\x04"


def _prefix(archive: zipfile.ZipFile) -> str:
    """Return the name of the folder that contains the records, with a slash."""
    return archive.namelist()[0].partition("/")[0] + "/"
