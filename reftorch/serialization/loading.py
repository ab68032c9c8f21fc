"""Reads files: zip archives, and what surrounds the reading of all formats.

Mirrors: torch/serialization.py (load, get_unsafe_globals_in_checkpoint)
Leaves out: TorchScript archives, fake tensors.
"""

from __future__ import annotations

import contextlib
import io
import mmap as _mmap
import os
import pickle
import sys
from collections.abc import Callable, Iterator
from typing import Any, TypeAlias

from reftorch import _C
from reftorch._warnings import warn
from reftorch._weights_only_unpickler import (
    _get_allowed_globals,
    _get_user_allowed_globals,
    get_globals_in_pkl,
)
from reftorch.serialization.archive import PyTorchStreamReader
from reftorch.serialization.legacy import load_legacy
from reftorch.serialization.locations import restore_location
from reftorch.serialization.options import LoadEndianness, _serialization_tls, check_dill_version
from reftorch.serialization.unpicklers import Unpicklers, storage_facts
from reftorch.storage import TypedStorage, UntypedStorage
from reftorch.utils.serialization import config

__all__ = ["get_unsafe_globals_in_checkpoint", "load"]

# What `load` accepts as map_location. Libraries use this name in their annotations.
MAP_LOCATION: TypeAlias = Callable[[Any, str], Any] | _C.device | str | dict[str, str] | None


def load(
    f: Any,
    map_location: MAP_LOCATION = None,
    pickle_module: Any = None,
    *,
    weights_only: bool | None = None,
    mmap: bool | None = None,
    **pickle_load_args: Any,
) -> Any:
    """Load an object that :func:`save` wrote, in this library or in PyTorch.

    A path that ends in ``.safetensors`` is read with the package `safetensors`, as in PyTorch. That package also writes
    such files: ``safetensors.numpy.save_file({name: x.numpy() for name, x in state.items()}, path)``.

    The environment can decide about ``weights_only``: ``TORCH_FORCE_WEIGHTS_ONLY_LOAD=1`` for all calls, and
    ``TORCH_FORCE_NO_WEIGHTS_ONLY_LOAD=1`` for the calls that do not.

    Args:
        f: a path, or a seekable file that is open for reading bytes.
        map_location: where to put the storages: a device, a dict from locations to locations, or a function that takes
            a storage and a location and returns a storage. A file from a GPU needs ``"cpu"``. With ``"meta"``, the
            storages are not read.
        pickle_module: the module whose Unpickler is used, with ``weights_only=False``.
        weights_only: True, the default, loads tensors and plain containers and refuses everything else, because a
            pickle from an unknown source can run any code.
        mmap: map the storages into memory, so that they are read from the disk when they are used. ``f`` must be a
            path. Damage in their bytes is not noticed then.
        pickle_load_args: arguments of the Unpickler, such as ``encoding="latin1"`` for files of Python 2.

    Raises:
        pickle.UnpicklingError: the file contains something that ``weights_only`` refuses, or its pickle is damaged.
        RuntimeError: the file is damaged, or needs a device that does not exist here.
        EOFError: the file is empty, or ends within a pickle.

    Example:
        >>> import io
        >>> file = io.BytesIO()
        >>> torch.save({"weight": torch.ones(2)}, file)
        >>> _ = file.seek(0)
        >>> torch.load(file)
        {'weight': tensor([1., 1.])}

    Mirrors torch/serialization.py, ``load``.
    """
    weights_only = _weights_only(weights_only, pickle_module)
    if pickle_module is not None and weights_only:
        raise RuntimeError("Can not safely load weights when explicit pickle_module is specified")
    if pickle_load_args and weights_only:
        warn("pickle_load_args only works if `weights_only=False`.")
    check_dill_version(pickle_module)
    mmap = config.load.mmap if mmap is None else mmap
    if isinstance(f, (str, os.PathLike)) and os.fspath(f).endswith(".safetensors"):
        return _load_safetensors(os.fspath(f), map_location)
    if mmap and not isinstance(f, (str, os.PathLike)):
        raise ValueError("f must be a file path in order to use the mmap argument")
    unpicklers = Unpicklers(weights_only, pickle_module, {"encoding": "utf-8", **pickle_load_args})
    shared = bool(mmap) and config.load.mmap_flags == getattr(_mmap, "MAP_SHARED", None)
    with _opened(f, "r+b" if shared else "rb") as file:
        try:
            if _is_zipfile(file):
                return _load_zip(file, unpicklers, map_location, bool(mmap))
            if mmap:
                raise RuntimeError(
                    "mmap can only be used with files saved with `torch.save(_use_new_zipfile_serialization=True), "
                    "please torch.save your checkpoint with this option in order to use mmap."
                )
            return load_legacy(file, unpicklers, map_location)
        except pickle.UnpicklingError as error:
            if not weights_only:
                raise
            raise pickle.UnpicklingError(_advice(str(error))) from None


def _weights_only(argument: bool | None, pickle_module: Any) -> bool:
    """Return whether the file is loaded without trust, from the argument of load and the environment."""
    always, never = (
        os.environ.get(name, "").lower() in ("1", "y", "yes", "true")
        for name in ("TORCH_FORCE_WEIGHTS_ONLY_LOAD", "TORCH_FORCE_NO_WEIGHTS_ONLY_LOAD")
    )
    if always and never:
        raise RuntimeError(
            "Only one of `TORCH_FORCE_WEIGHTS_ONLY_LOAD` or `TORCH_FORCE_NO_WEIGHTS_ONLY_LOAD` should be set, but both "
            "were set."
        )
    if always:
        return True
    if argument is not None:
        return argument
    if never:
        warn(
            "Environment variable TORCH_FORCE_NO_WEIGHTS_ONLY_LOAD detected, since the `weights_only` argument was not "
            "explicitly passed to `torch.load`, forcing weights_only=False."
        )
        return False
    return pickle_module is None


def _advice(message: str) -> str:
    """Return the message of an error of the restricted unpickler with what the user can do."""
    unsafe = (
        "Re-running `torch.load` with `weights_only` set to `False` will likely succeed, but it can result in "
        "arbitrary code execution. Do it only if you got the file from a trusted source."
    )
    if any(hopeless in message for hopeless in ("which this library lacks", "The file is damaged")):
        return f"Weights only load failed.\n\tWeightsUnpickler error: {message}"
    if "was not an allowed global by default" not in message:
        return f"Weights only load failed. {unsafe}\n\tWeightsUnpickler error: {message}"
    return (
        "Weights only load failed. This file can still be loaded, to do so you have two options, do those steps only "
        f"if you trust the source of the checkpoint.\n\t(1) {unsafe}\n\t(2) Alternatively, to load with "
        "`weights_only=True` please check the recommended steps in the following error message.\n\tWeightsUnpickler "
        f"error: {message}"
    )


def get_unsafe_globals_in_checkpoint(f: Any) -> list[str]:
    """Return the names in a file that :func:`load` with ``weights_only=True`` refuses.

    Raises:
        ValueError: the file is not a zip archive, the format that :func:`save` writes.

    Example:
        >>> import io, decimal
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
        archive = PyTorchStreamReader(file)
        if archive.has_record("constants.pkl"):
            raise ValueError(
                "Expected input to be a checkpoint returned by torch.save but got a torchscript checkpoint"
            )
        data = archive.get_record("data.pkl")
    safe = _get_allowed_globals().keys() | _get_user_allowed_globals().keys()
    return sorted(get_globals_in_pkl(io.BytesIO(data)) - safe)


# --- zip archives ----------------------------------------------------------------------------------------------------


def _load_zip(file: Any, unpicklers: Unpicklers, map_location: Any, mmap: bool) -> Any:
    archive = PyTorchStreamReader(file)
    if archive.has_record("constants.pkl"):
        raise RuntimeError("load: expected a file of torch.save, got a TorchScript archive, which this library lacks")
    byteorder = _byteorder(archive)
    restore = restore_location(map_location)
    to_meta = str(map_location) == "meta" and isinstance(map_location, (str, _C.device))
    mapped = _map(file) if mmap and not to_meta else None
    loaded: dict[str, TypedStorage] = {}

    def read(key: str, nbytes: int) -> UntypedStorage:
        size = archive.get_record_size(f"data/{key}")
        if size != nbytes:
            raise RuntimeError(f"load: storage {key} has {size} bytes, expected {nbytes}")
        if to_meta:
            return UntypedStorage(nbytes, device="meta")
        if mapped is not None and nbytes > 0 and not _serialization_tls.skip_data:
            offset = archive.get_record_offset(f"data/{key}")
            return UntypedStorage._wrap(_C.StorageBase._of(_C._frombuffer(mapped, _C.uint8, nbytes, offset)))
        archive.check_record(f"data/{key}")  # before memory is allocated for a wrong size
        storage = UntypedStorage(nbytes)
        if not _serialization_tls.skip_data:
            archive.read_into(f"data/{key}", storage._memory(), edited=True)
        return storage

    def persistent_load(saved_id: Any) -> TypedStorage:
        dtype, key, location, numel, _ = storage_facts(saved_id)
        if key not in loaded:
            storage = read(key, numel * dtype.itemsize)
            if byteorder != sys.byteorder and not to_meta:
                storage.byteswap(dtype)
            if not to_meta:
                storage = restore(storage, location)
            loaded[key] = TypedStorage(wrap_storage=storage, dtype=dtype, _internal=True)
        return loaded[key]

    data = archive.get_record("data.pkl")
    return unpicklers(io.BytesIO(data), persistent_load).load()


def _byteorder(archive: PyTorchStreamReader) -> str:
    if archive.has_record("byteorder"):
        found = archive.get_record("byteorder")
        if found not in (b"little", b"big"):
            raise ValueError(f"Unknown endianness type: {found[:20]!r}")
        return found.decode()
    if config.load.endianness is LoadEndianness.NATIVE:
        return sys.byteorder
    return "big" if config.load.endianness is LoadEndianness.BIG else "little"


def _map(file: Any) -> _mmap.mmap:
    if config.load.mmap_flags == getattr(_mmap, "MAP_SHARED", None):
        return _mmap.mmap(file.fileno(), 0, access=_mmap.ACCESS_WRITE)
    return _mmap.mmap(file.fileno(), 0, access=_mmap.ACCESS_COPY)


# --- other files -----------------------------------------------------------------------------------------------------


def _load_safetensors(path: str, map_location: Any) -> dict[str, Any]:
    """Return the tensors of a safetensors file, which contains nothing else."""
    import json  # here, as a program that only imports the library does not need it

    try:
        import safetensors
    except ImportError as error:
        raise RuntimeError(
            "Attempting to load a safetensors file but safetensors is not installed. Please install safetensors with: "
            "pip install safetensors"
        ) from error
    if map_location is not None and not isinstance(map_location, (str, bytes, _C.device)):
        kind = "dict" if isinstance(map_location, dict) else "callable"
        raise RuntimeError(
            f"Loading safetensors file with {kind} map_location is not supported. Use a device string or torch.device "
            "instead."
        )
    with open(path, "rb") as file:
        content = file.read()
    try:
        entries = safetensors.deserialize(content)
    except safetensors.SafetensorError as error:
        raise RuntimeError(f"load: {path} is not a safetensors file, or is damaged: {error}") from error
    header = json.loads(content[8 : 8 + int.from_bytes(content[:8], "little")])
    restore = restore_location(map_location)
    loaded = {}
    # In the order of their bytes, as in PyTorch; the package returns them in an order that changes from run to run.
    for name, entry in sorted(entries, key=lambda item: header[item[0]]["data_offsets"]):
        if entry["dtype"] not in _SAFETENSORS_DTYPES:
            raise RuntimeError(f"load: tensor {name} has the dtype {entry['dtype']}, which this library lacks")
        dtype = _SAFETENSORS_DTYPES[entry["dtype"]]
        storage = restore(UntypedStorage(bytes(entry["data"])), "cpu")
        empty: Any = _C._VariableFunctions.empty(0, dtype=dtype, device=storage.device)
        flat = empty.set_(storage)
        loaded[name] = flat.view(entry["shape"])
    return loaded


_SAFETENSORS_DTYPES = {
    "F64": _C.float64,
    "F32": _C.float32,
    "F16": _C.float16,
    "BF16": _C.bfloat16,
    "I64": _C.int64,
    "I32": _C.int32,
    "I16": _C.int16,
    "I8": _C.int8,
    "U8": _C.uint8,
    "BOOL": _C.bool,
}


@contextlib.contextmanager
def _opened(f: Any, mode: str) -> Iterator[Any]:
    if isinstance(f, (str, os.PathLike)):
        with open(f, mode) as file:
            yield file
        return
    for name in ("read", "readline", "tell", "seek"):
        if not hasattr(f, name):
            raise AttributeError(
                f"'{type(f).__name__}' object has no attribute '{name}'. You can only torch.load from a file that "
                "is seekable. Please pre-load the data into a buffer like io.BytesIO and try to load from it instead."
            )
    try:
        f.seek(f.tell())
    except io.UnsupportedOperation as error:
        raise io.UnsupportedOperation(
            f"{error}. You can only torch.load from a file that is seekable. Please pre-load the data into a buffer "
            "like io.BytesIO and try to load from it instead."
        ) from None
    yield f


def _is_zipfile(file: Any) -> bool:
    start = file.tell()
    magic = file.read(4)
    file.seek(start)
    return magic == b"PK\x03\x04"
