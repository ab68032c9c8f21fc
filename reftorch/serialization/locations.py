"""Where storages were when they were saved, and where they go when they are loaded.

Mirrors: torch/serialization.py (register_package, location_tag, default_restore_location, ...)
Leaves out: devices other than the CPU, CUDA and meta; other devices can be registered.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from typing import Any

from reftorch import _C, cuda
from reftorch._utils import typename
from reftorch._weights_only_unpickler import find_global
from reftorch.storage import UntypedStorage

__all__ = [
    "default_restore_location",
    "location_tag",
    "normalize_storage_type",
    "register_package",
    "storage_to_tensor_type",
    "validate_cuda_device",
    "validate_hpu_device",
]

_package_registry: list[tuple[int, Callable[[Any], str | None], Callable[[Any, str], Any]]] = []


def register_package(
    priority: int, tagger: Callable[[Any], str | None], deserializer: Callable[[Any, str], Any]
) -> None:
    """Register how the storages of a device are saved and loaded.

    Args:
        priority: the functions with the lowest number are called first. The CPU has 10, CUDA 20, meta 22.
        tagger: takes a storage and returns the name of its location, or None for storages of other devices.
        deserializer: takes a storage on the CPU and the name of a location, and returns a storage there, or None for
            locations of other devices.

    Example:
        >>> from reftorch.serialization import locations, register_package
        >>> register_package(15, lambda storage: None, lambda storage, place: storage if place == "attic" else None)
        >>> torch.serialization.default_restore_location(torch.UntypedStorage(3), "attic").nbytes()
        3
        >>> del locations._package_registry[1]

    Mirrors torch/serialization.py, ``register_package``.
    """
    _package_registry.append((priority, tagger, deserializer))
    _package_registry.sort(key=lambda entry: entry[0])


def _validate_device(location: str, backend: str) -> _C.device:
    if backend != "cuda":
        raise RuntimeError(
            f"The {backend.upper()} device module is not registered. If you are running on a CPU-only machine, please "
            "use torch.load with map_location=torch.device('cpu') to map your storages to the CPU."
        )
    if not cuda.is_available():
        raise RuntimeError(
            "Attempting to deserialize object on a CUDA device but torch.cuda.is_available() is False. If you are "
            "running on a CPU-only machine, please use torch.load with map_location=torch.device('cpu') to map your "
            "storages to the CPU."
        )
    index = _C.device(location).index
    index = cuda.current_device() if index is None else index
    if index >= cuda.device_count():
        raise RuntimeError(
            f"Attempting to deserialize object on CUDA device {index} but torch.cuda.device_count() is "
            f"{cuda.device_count()}. Please use torch.load with map_location to map your storages to an existing "
            "device."
        )
    return _C.device("cuda", index)


def validate_cuda_device(location: str) -> int | None:
    """Return the number of the CUDA device that a location names.

    Raises:
        RuntimeError: there is no such device.

    Mirrors torch/serialization.py, ``validate_cuda_device``.
    """
    return _validate_device(location, "cuda").index


def validate_hpu_device(location: str) -> int | None:
    """Raise a RuntimeError: there are no HPU devices here.

    Mirrors torch/serialization.py, ``validate_hpu_device``.
    """
    return _validate_device(location, "hpu").index


def _cpu_deserialize(storage: Any, location: str) -> Any:
    return storage if location == "cpu" else None


def _device_deserialize(storage: Any, location: str) -> Any:
    backend = re.match(r"(cuda|hpu|xpu|mtia|mps)(:|[0-9]+|$)", location)
    return None if backend is None else storage.to(device=_validate_device(location, backend[1]))


def _meta_deserialize(storage: Any, location: str) -> Any:
    return UntypedStorage(storage.nbytes(), device="meta") if location == "meta" else None


register_package(10, lambda storage: "cpu" if storage.device.type == "cpu" else None, _cpu_deserialize)
register_package(20, lambda storage: str(storage.device) if storage.is_cuda else None, _device_deserialize)
register_package(22, lambda storage: "meta" if storage.device.type == "meta" else None, _meta_deserialize)


def location_tag(storage: Any) -> str:
    """Return the name of the location of a storage, which is saved with it.

    Raises:
        RuntimeError: no registered function knows the device.

    Example:
        >>> torch.serialization.location_tag(torch.UntypedStorage(3))
        'cpu'

    Mirrors torch/serialization.py, ``location_tag``.
    """
    for _, tagger, _ in _package_registry:
        location = tagger(storage)
        if location:
            return location
    raise RuntimeError(f"don't know how to determine data location of {typename(storage)}")


def default_restore_location(storage: Any, location: str) -> Any:
    """Return a storage with the contents of ``storage`` at a location.

    Args:
        storage: a storage on the CPU.
        location: a name that :func:`location_tag` returned when the storage was saved.

    Raises:
        RuntimeError: there is no such location here.

    Example:
        >>> torch.serialization.default_restore_location(torch.UntypedStorage(3), "meta").device
        device(type='meta')

    Mirrors torch/serialization.py, ``default_restore_location``.
    """
    for _, _, deserializer in _package_registry:
        result = deserializer(storage, location)
        if result is not None:
            return result
    raise RuntimeError(f"don't know how to restore data location of {typename(storage)} (tagged with {location})")


def restore_location(map_location: Any) -> Callable[[UntypedStorage, str], UntypedStorage]:
    """Return the function that moves a loaded storage to where ``map_location``, the argument of load, says."""
    if isinstance(map_location, dict):
        return lambda storage, location: default_restore_location(storage, map_location.get(location, location))
    if isinstance(map_location, (str, bytes, _C.device)):
        where = map_location.decode("ascii") if isinstance(map_location, bytes) else str(map_location)
        return lambda storage, location: default_restore_location(storage, where)
    if map_location is None:
        return default_restore_location

    def restore(storage: UntypedStorage, location: str) -> UntypedStorage:
        result = map_location(storage, location)
        return default_restore_location(storage, location) if result is None else result.untyped()

    return restore


def normalize_storage_type(storage_type: type) -> type:
    """Return the class of this library with the name of ``storage_type``.

    Example:
        >>> torch.serialization.normalize_storage_type(torch.FloatStorage) is torch.FloatStorage
        True

    Mirrors torch/serialization.py, ``normalize_storage_type``.
    """
    return find_global("torch", storage_type.__name__)


def storage_to_tensor_type(storage: Any) -> type:
    """Return the tensor type whose tensors have a storage of this type.

    Args:
        storage: a storage of a class such as ``torch.FloatStorage``.

    Example:
        >>> import warnings
        >>> with warnings.catch_warnings():
        ...     warnings.simplefilter("ignore")
        ...     torch.serialization.storage_to_tensor_type(torch.FloatStorage(2))
        <class 'torch.FloatTensor'>

    Mirrors torch/serialization.py, ``storage_to_tensor_type``.
    """
    storage_type = type(storage)
    return getattr(sys.modules[storage_type.__module__], storage_type.__name__.replace("Storage", "Tensor"))
