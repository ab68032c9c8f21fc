"""The values of nested dicts and lists, with a name for each.

Mirrors: torch/distributed/checkpoint/_nested_dict.py, torch/distributed/checkpoint/_traverse.py
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from reftorch._tensor import Tensor

__all__: list[str] = []


@dataclass
class _Place:
    """Where a value is: ``container[key]``.

    A checkpoint has the path: the keys of dicts as texts, and the numbers in lists.
    """

    path: tuple[str | int, ...]
    container: Any
    key: Any

    @property
    def fqn(self) -> str:
        """The name of the value: the path with dots."""
        return ".".join(map(str, self.path))

    @property
    def value(self) -> Any:
        """The value."""
        return self.container[self.key]


def _is_terminal(value: Any) -> bool:
    """Return whether a value is one value. A list of numbers is; a list with a tensor or a dict in it is not."""
    if isinstance(value, Mapping):
        return False
    if not isinstance(value, list):
        return True
    return not any(isinstance(v, Tensor) or (isinstance(v, (Mapping, list)) and not _is_terminal(v)) for v in value)


def _places(container: Any, path: tuple[str | int, ...] = ()) -> Iterator[_Place]:
    of_list = isinstance(container, list)
    for key, value in enumerate(container) if of_list else container.items():
        place = _Place((*path, key if of_list else str(key)), container, key)
        if _is_terminal(value):
            yield place
        else:
            yield from _places(value, place.path)


def flatten_state_dict(state_dict: Any) -> dict[str, _Place]:
    """Return the values of nested dicts and lists by name.

    Args:
        state_dict: the dict.

    Raises:
        ValueError: two values have one name.

    Example:
        >>> from reftorch.distributed.checkpoint._nested_dict import flatten_state_dict
        >>> list(flatten_state_dict({"model": {"bias": 1}, "groups": [{"lr": 2}], "betas": [3, 4]}))
        ['model.bias', 'groups.0.lr', 'betas']

    Mirrors torch/distributed/checkpoint/_nested_dict.py, ``flatten_state_dict``.
    """
    found: dict[str, _Place] = {}
    for place in _places(state_dict):
        if place.fqn in found:
            raise ValueError(f"duplicated flatten key {place.fqn}")
        found[place.fqn] = place
    return found
