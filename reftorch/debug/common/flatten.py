"""The tensors in a structure of containers, each with a path such as ``hidden/0``.

Mirrors: nothing in PyTorch: torch/utils/_pytree.py, on which this file is built, knows neither other mappings nor
dataclasses, and does not end in a container that contains itself. Left out: rebuilding the structure.
"""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Iterator, Mapping
from typing import Any

from reftorch.debug.common.library import is_tensor
from reftorch.utils._pytree import KeyEntry, MappingKey, SequenceKey, tree_leaves_with_path


def flatten(value: Any, path: str, levels: int = 32) -> Iterator[tuple[str, Any]]:
    """Yield pairs of path and tensor, from tuples, lists, mappings, named tuples and dataclasses, in order.

    Containers deeper than ``levels`` are skipped, because a container may contain itself.

    Example:
        >>> from reftorch.debug.common.flatten import flatten
        >>> [path for path, _ in flatten({"y": torch.ones(1), "state": (torch.ones(1), None, [torch.ones(1)])}, "out")]
        ['out/y', 'out/state/0', 'out/state/2/0']
    """
    if is_tensor(value):
        yield path, value
        return
    if levels:
        for name, item in _items(value):
            yield from flatten(item, f"{path}/{name}", levels - 1)


def _items(value: Any) -> Iterator[tuple[Any, Any]]:
    """Yield the name and the value of each child of a container."""
    kind = type(value)  # reading __class__ of a foreign object may run code of that object
    if issubclass(kind, Mapping):
        value = dict(value)
    elif dataclasses.is_dataclass(kind):
        value = {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
    inside = itertools.chain([False], itertools.repeat(True))  # the container itself is flattened, its children are not
    for path, item in tree_leaves_with_path(value, is_leaf=lambda _: next(inside)):
        for key in path:
            yield name_of(key), item


def name_of(key: KeyEntry) -> Any:
    """Return the index, the key or the name of the field."""
    return key.idx if isinstance(key, SequenceKey) else key.key if isinstance(key, MappingKey) else key.name
