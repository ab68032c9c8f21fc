"""Arguments of layers that stand for one number in each dimension. Functions and modules share these helpers.

Mirrors: torch/nn/modules/utils.py
Leaves out: ``consume_prefix_in_state_dict_if_present``, which is in ``modules/utils.py``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import repeat
from typing import Any

__all__: list[str] = []


def _ntuple(n: int, name: str = "parse") -> Callable[[Any], tuple]:
    """Return a function that repeats one value n times, and leaves several values as they are."""

    def parse(x: Any) -> tuple:
        return tuple(x) if isinstance(x, Iterable) else tuple(repeat(x, n))

    parse.__name__ = name
    return parse


_single = _ntuple(1, "_single")
_pair = _ntuple(2, "_pair")
_triple = _ntuple(3, "_triple")
_quadruple = _ntuple(4, "_quadruple")


def _reverse_repeat_tuple(t: tuple, n: int) -> tuple:
    """Return the elements in reverse order, each n times: ``padding`` of a convolution as ``F.pad`` takes it."""
    return tuple(x for x in reversed(t) for _ in range(n))


def _list_with_default(out_size: Any, defaults: Sequence[int]) -> Any:
    """Replace each None in the size of an output by the size of the input in that dimension."""
    if isinstance(out_size, int):
        return out_size
    if len(defaults) <= len(out_size):
        raise ValueError(f"Input dimension should be at least {len(out_size) + 1}")
    known = defaults[-len(out_size) :]
    return [default if size is None else size for size, default in zip(out_size, known, strict=False)]
