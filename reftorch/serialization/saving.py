"""Writes objects with tensors to files.

Mirrors: torch/serialization.py (save)
Leaves out: the source code of modules, which the old format can contain.
"""

from __future__ import annotations

import contextlib
import io
import os
import pickle
import stat
import struct
import sys
import types
from collections.abc import Callable, Iterator
from typing import Any

from reftorch import _C
from reftorch._ops import module_of_op
from reftorch._places import in_torch, is_ours
from reftorch._tensor import Tensor
from reftorch._weights_only_unpickler import find_global
from reftorch.serialization.archive import PyTorchStreamWriter
from reftorch.serialization.locations import location_tag
from reftorch.serialization.options import _serialization_tls, check_dill_version
from reftorch.storage import TypedStorage, UntypedStorage
from reftorch.utils.serialization import config

__all__ = ["save"]

DEFAULT_PROTOCOL = 2
MAGIC_NUMBER = 0x1950A86A20F9469CFC6C
PROTOCOL_VERSION = 1001


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
        saved_id = ("storage", _Global(module, name), key, location_tag(storage), numel)
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
        module = module or type(obj).__module__
        if called is None or not is_ours(module):
            super().save_global(obj, name)
            return
        owner, _, member = called.rpartition(".")
        if owner and "<locals>" not in owner:  # a method, or a class in a class
            self.save_reduce(getattr, (find_global(module, owner), member), obj=obj)
            return
        self._save_name(*in_torch(module, called))
        self.memoize(obj)

    def _save_op(self, obj: Any) -> None:
        self._save_name(module_of_op(obj), obj.__name__)
        self.memoize(obj)

    def _save_method(self, obj: Any) -> None:
        self.save_reduce(getattr, (Tensor, obj.__name__), obj=obj)

    def _save_builtin(self, obj: Any) -> None:
        if is_ours(obj.__module__):  # a function of the binding: pybind11 makes methods of an object without a name
            self._save_name(*in_torch(obj.__module__, obj.__name__))
            self.memoize(obj)
            return
        reduced = obj.__reduce_ex__(self.proto)
        if isinstance(reduced, str):
            super().save_global(obj, reduced)
        else:
            self.save_reduce(*reduced, obj=obj)

    dispatch[types.FunctionType] = save_global
    dispatch[types.BuiltinFunctionType] = _save_builtin
    dispatch[type(_C._VariableFunctions.add)] = _save_op
    dispatch[type(_C.TensorBase.add)] = _save_method
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
    obj: object,
    f: Any,
    pickle_module: Any = pickle,
    pickle_protocol: int = DEFAULT_PROTOCOL,
    _use_new_zipfile_serialization: bool = True,
    _disable_byteorder_record: bool = False,
) -> None:
    """Write an object, and the tensors in it, to a file that PyTorch can read, too.

    Views that share memory also share memory after loading. Hooks and graphs are not saved.

    A path gets the new contents when they are complete: if the disk is full or the process is killed, the path keeps
    what it had. PyTorch writes to the path itself. The contents can still be lost if the computer loses its power.

    Args:
        obj: any object that can be pickled.
        f: a path, or a file that is open for writing bytes.
        pickle_module: the module whose Pickler is used.
        pickle_protocol: the version of the pickle format.

    Raises:
        RuntimeError: two tensors read the same memory as different dtypes, or the folder of the path does not exist.
        OSError: the file cannot be written, for example because the disk is full.

    Example:
        >>> import io
        >>> file = io.BytesIO()
        >>> torch.save({"weight": torch.ones(2)}, file)
        >>> torch.load(io.BytesIO(file.getvalue()))
        {'weight': tensor([1., 1.])}

    Mirrors torch/serialization.py, ``save``.
    """
    check_dill_version(pickle_module)
    if _serialization_tls.skip_data and not _use_new_zipfile_serialization:
        raise RuntimeError("Cannot use skip_data=True with _use_new_zipfile_serialization=False")
    if isinstance(f, (str, os.PathLike)):
        path = os.fspath(f)
        if not os.path.isdir(os.path.dirname(path) or "."):
            raise RuntimeError(f"Parent directory {os.path.dirname(path)} does not exist.")
        name = os.path.splitext(os.path.basename(path))[0]
        opened: contextlib.AbstractContextManager[Any] = _replacing(path)
    elif hasattr(f, "write"):
        name, opened = "", contextlib.nullcontext(f)
    else:
        raise AttributeError("expected 'f' to be string, path, or a file-like object with a 'write' attribute")
    with opened as file:
        if _use_new_zipfile_serialization:
            _save_zip(obj, file, name or "archive", pickle_module, pickle_protocol, not _disable_byteorder_record)
        else:
            _save_legacy(obj, file, pickle_module, pickle_protocol)
        if hasattr(file, "flush"):
            file.flush()


@contextlib.contextmanager
def _replacing(path: str) -> Iterator[Any]:
    """Open a new file, which gets the name ``path`` if no exception is raised, and is removed otherwise.

    A link stays a link, and the new file has the permissions of the old one. A path that is not a regular file, such as
    a pipe, is written directly, and so is a file in a folder in which the process may not create files.
    """
    path = os.path.realpath(path)
    new = os.path.join(os.path.dirname(path), f".{os.urandom(8).hex()}.tmp")
    old = os.stat(path) if os.path.exists(path) else None
    created = None
    if old is None or stat.S_ISREG(old.st_mode):
        with contextlib.suppress(PermissionError):
            created = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o666)
    if created is None:
        with open(path, "wb") as file:
            yield file
        return
    try:
        with open(created, "wb") as file:
            if old is not None:
                os.chmod(new, stat.S_IMODE(old.st_mode))
            yield file
        os.replace(new, path)
    except BaseException:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(new)
        raise


def _save_zip(obj: Any, file: Any, name: str, pickle_module: Any, protocol: int, byteorder: bool) -> None:
    storages = _Storages(legacy=False)
    data = io.BytesIO()
    _write_pickle(obj, data, storages, pickle_module, protocol)
    archive = PyTorchStreamWriter(file, name, config.save.compute_crc32, config.save.storage_alignment)
    archive.write_record("data.pkl", data.getvalue())
    archive.write_record(".format_version", b"1")
    archive.write_record(".storage_alignment", str(config.save.storage_alignment).encode())
    if byteorder:
        archive.write_record("byteorder", sys.byteorder.encode())
    for key, (storage, _) in storages.by_key.items():
        if _serialization_tls.skip_data:
            archive.write_record_metadata(f"data/{key}", storage.nbytes())
        else:
            on_cpu = storage.cpu()
            archive.write_record(f"data/{key}", on_cpu._memory())
    archive.write_record("version", b"3\n")
    archive.write_end_of_file()


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
