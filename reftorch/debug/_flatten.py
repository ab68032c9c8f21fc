"""The tensors in a structure of containers, each with a path such as ``hidden/0``.

Mirrors: nothing in PyTorch: torch/utils/_pytree.py has key paths, for trees that are rebuilt.
Left out: rebuilding the structure.
"""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Iterator, Mapping
from typing import Any

from reftorch import _C


def is_tensor(value: Any) -> bool:
    """Return whether the value is a tensor of reftorch or torch, without importing torch."""
    if isinstance(value, _C.TensorBase):
        return True
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(value, getattr(torch, "Tensor", ()))


def flatten(value: Any, path: str, levels: int = 32) -> Iterator[tuple[str, Any]]:
    """Yield pairs of path and tensor, from tuples, lists, mappings, named tuples and dataclasses, in order.

    Containers deeper than ``levels`` are skipped, because a container may contain itself.

    Example:
        >>> import reftorch as torch
        >>> from reftorch.debug._flatten import flatten
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
    if isinstance(value, Mapping):
        yield from value.items()
    elif isinstance(value, tuple) and hasattr(value, "_fields"):
        yield from zip(value._fields, value, strict=True)
    elif isinstance(value, (tuple, list)):
        yield from enumerate(value)
    elif dataclasses.is_dataclass(value) and not isinstance(value, type):
        yield from ((f.name, getattr(value, f.name)) for f in dataclasses.fields(value))
