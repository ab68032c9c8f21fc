"""Saves objects with tensors to files and loads them, in PyTorch's formats.

Mirrors: torch/serialization.py
Leaves out: TorchScript, fake tensors, devices other than the CPU, CUDA and meta.

The parts of the file that this package mirrors are in its modules; this file exports them under PyTorch's names.

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

from reftorch import _places
from reftorch._weights_only_unpickler import (
    StorageType,
    add_safe_globals,
    clear_safe_globals,
    get_safe_globals,
    safe_globals,
)
from reftorch.serialization import loading, locations, options, saving
from reftorch.serialization.loading import *  # noqa: F403
from reftorch.serialization.loading import MAP_LOCATION  # noqa: F401
from reftorch.serialization.locations import *  # noqa: F403
from reftorch.serialization.options import *  # noqa: F403
from reftorch.serialization.saving import *  # noqa: F403
from reftorch.serialization.saving import DEFAULT_PROTOCOL, MAGIC_NUMBER, PROTOCOL_VERSION  # noqa: F401

__all__ = [
    "StorageType",
    "add_safe_globals",
    "clear_safe_globals",
    "get_safe_globals",
    "safe_globals",
    *loading.__all__,
    *locations.__all__,
    *options.__all__,
    *saving.__all__,
]  # fmt: skip

_places.adopt(__name__, __all__, globals())
_places.split(__name__)
