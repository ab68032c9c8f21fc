"""The unpickler that the options of ``load`` require, and the description of a storage in a pickle.

Mirrors: torch/serialization.py (UnpicklerWrapper and persistent_load in load)
"""

from __future__ import annotations

import pickle
from collections.abc import Callable
from typing import Any

from reftorch import _C
from reftorch._weights_only_unpickler import Unpickler, find_global
from reftorch.storage import UntypedStorage

__all__: list[str] = []


class Unpicklers:
    """Makes the unpickler that the options of load require.

    Args:
        weights_only: whether the unpickler refuses what could run code.
        module: the module of the unpickler otherwise; None means :mod:`pickle`.
        options: arguments of the unpickler.
    """

    def __init__(self, weights_only: bool, module: Any, options: dict[str, Any]) -> None:
        self.weights_only, self.module, self.options = weights_only, module or pickle, options

    def __call__(self, file: Any, persistent_load: Callable[[Any], Any]) -> Any:
        """Return an unpickler for a file; ``persistent_load`` returns the storage of a persistent id."""
        if self.weights_only:
            return _with_storages(Unpickler(file, **self.options), persistent_load)

        base: Any = self.module.Unpickler

        class TrustingUnpickler(base):
            def find_class(self, module: str, name: str) -> Any:
                if module.partition(".")[0] != "torch":
                    return super().find_class(module, name)
                try:
                    return find_global(module, name)
                except (ImportError, AttributeError) as error:
                    raise AttributeError(
                        f"load: the file contains {module}.{name} of PyTorch, which this library lacks"
                    ) from error

        return _with_storages(TrustingUnpickler(file, **self.options), persistent_load)


def _with_storages(unpickler: Any, persistent_load: Callable[[Any], Any]) -> Any:
    unpickler.persistent_load = persistent_load
    return unpickler


def storage_facts(saved_id: Any) -> tuple[Any, str, str, int, tuple[Any, ...]]:
    """Return the parts of a persistent id: dtype, key, location, number of elements, and the rest.

    Raises:
        RuntimeError: the id does not describe a storage. It comes from the file, so its parts can be anything.
    """
    if type(saved_id) is tuple and len(saved_id) >= 5 and decoded(saved_id[0]) == "storage":
        storage_type, key, location, numel, *rest = saved_id[1:]
        dtype = _C.uint8 if storage_type is UntypedStorage else getattr(storage_type, "dtype", None)
        key, location = decoded(key), decoded(location)
        sound = type(key) is str and type(location) is str and type(numel) is int and numel >= 0
        if sound and isinstance(dtype, _C.dtype):
            return dtype, key, location, numel, tuple(rest)
    kinds = [type(part).__name__ for part in saved_id] if type(saved_id) is tuple else type(saved_id).__name__
    raise RuntimeError(f"load: expected a persistent id (storage, class, key, location, numel), got {kinds!s:.200}")


def _get_layout(name: str) -> Any:
    """Return the layout that a file of PyTorch names."""
    if name != str(_C.strided):
        raise RuntimeError(f"load: the file contains the layout {name}, and only {_C.strided} exists here")
    return _C.strided


def decoded(text: Any) -> Any:
    """Return text that an old file contains as bytes, because Python 2 wrote the file, as a string."""
    return text.decode("ascii", "replace") if type(text) is bytes else text
