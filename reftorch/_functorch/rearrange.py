"""Splitting, reordering and merging dimensions by a pattern of names.

Mirrors: torch/_functorch/einops.py (rearrange)
Leaves out: first-class dimensions, which PyTorch uses for this; here it is a reshape, a permute and a reshape.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import Any

from reftorch import _C
from reftorch._tensor import Tensor

__all__ = ["rearrange"]

_fn = _C._VariableFunctions
_ELLIPSIS = "…"

# The names in each dimension; no names for a dimension of size 1. An ellipsis outside parentheses is not a list.
Groups = list[Sequence[str]]


def _checked_name(name: str) -> str:
    if name.isdecimal():
        raise ValueError("rearrange only supports unnamed axes of size 1")
    if name != _ELLIPSIS and not (name.isidentifier() and name == name.strip("_")):
        raise ValueError(
            f"Invalid axis identifier: {name}. Hint: a name is a Python identifier that neither starts nor ends with _"
        )
    return name


def _parsed(side: str) -> Groups:
    """Parse one side of a pattern: ``"a (b c) 1 ..."`` becomes ``[["a"], ["b", "c"], [], "…"]``."""
    side = side.replace("...", _ELLIPSIS)
    if side.count(_ELLIPSIS) > 1 or "." in side:
        raise ValueError("Expression may contain dots only inside ellipsis (...); only one ellipsis is allowed")
    groups: Groups = []
    inside = False
    for token in re.findall(r"[()]|[^\s()]+", side):
        if token in "()":
            if inside == (token == "("):
                raise ValueError(f"Imbalanced parentheses in expression: '{side}'. Hint: they do not nest")
            inside = not inside
            if inside:
                groups.append([])
            continue
        names = [] if token == "1" else [_checked_name(token)]
        if inside:
            groups[-1] = [*groups[-1], *names]
        else:
            groups.append(_ELLIPSIS if token == _ELLIPSIS else names)
    if inside:
        raise ValueError(f"Imbalanced parentheses in expression: '{side}'")
    names = [name for group in groups for name in group]
    for name in names:
        if names.count(name) > 1:
            raise ValueError(f'Indexing expression contains duplicate dimension "{name}"')
    return groups


def _check_sides(left: Groups, right: Groups, lengths: dict[str, int], pattern: str) -> None:
    on_left, on_right = ({name for group in side for name in group} for side in (left, right))
    if _ELLIPSIS in on_right - on_left:
        raise ValueError(f"Ellipsis found in right side, but not left side of a pattern {pattern}")
    if any(_ELLIPSIS in group and group != _ELLIPSIS for group in left):
        raise ValueError(f"Ellipsis is parenthesis in the left side is not allowed: {pattern}")
    if on_left != on_right:
        raise ValueError(
            f"Identifiers only on one side of rearrange expression (should be on both): {sorted(on_left ^ on_right)}"
        )
    if not lengths.keys() <= on_left:
        raise ValueError(f"Identifiers not found in rearrange expression: {sorted(lengths.keys() - on_left)}")
    for length in lengths.values():
        if type(length) is not int:
            raise TypeError(f"rearrange axis lengths must be integers, got: {type(length)}")


def _spelled_out(groups: Groups, names: list[str]) -> Groups:
    """Replace the ellipsis in the groups by names for its dimensions."""
    spelled: Groups = []
    for group in groups:
        if group == _ELLIPSIS:
            spelled += [[name] for name in names]
        else:
            spelled.append([n for name in group for n in (names if name == _ELLIPSIS else [name])])
    return spelled


def _sizes(group: Sequence[str], size: int, lengths: dict[str, int], pattern: str) -> dict[str, int]:
    """Return the size of each part of a dimension; a part of unknown size gets the rest."""
    unknown = [name for name in group if name not in lengths]
    if len(unknown) > 1:
        raise ValueError(f"rearrange {pattern}: only one of {group} may have a length that is not given, as in a=2")
    known = math.prod(lengths[name] for name in group if name in lengths)
    if (size % known if unknown and known else size != known) != 0:
        given = " * ".join(f"{name}={lengths[name]}" for name in group if name in lengths) or "1"
        raise ValueError(f"rearrange {pattern}: a dimension of size {size} can not be split into {given}")
    return {name: lengths[name] if name in lengths else size // known if known else 0 for name in group}


def rearrange(tensor: Tensor | Sequence[Tensor], pattern: str, **axes_lengths: int) -> Tensor:
    """Split, reorder and merge dimensions by ``pattern``: ``"dimensions of the tensor -> dimensions of the result"``.

    A name stands for a dimension. Names in parentheses stand for one dimension that is made of several; the last varies
    fastest. ``1`` stands for a dimension of size 1, and ``...`` for any number of dimensions.

    Args:
        tensor: a tensor with as many dimensions as the left side; several tensors are stacked first.
        pattern: the pattern; each name must occur once on each side.
        axes_lengths: the sizes of names in parentheses on the left; one name in each parenthesis may be left out.

    Returns:
        A view where that is possible.

    Raises:
        ValueError: the pattern is malformed, or does not match the tensor.
        TypeError: a length is not an int.

    Example:
        >>> from reftorch.func import rearrange
        >>> images = torch.arange(2 * 4 * 6).view(2, 4, 6)
        >>> rearrange(images, "batch h w -> h (batch w)").shape
        torch.Size([4, 12])
        >>> rearrange(images, "b (h h2) (w w2) -> b h w (h2 w2)", h2=2, w2=2)[0, 0, 0]
        tensor([0, 1, 6, 7])
        >>> rearrange(images, "... w -> w ... 1").shape
        torch.Size([6, 2, 4, 1])

    Mirrors functorch/einops/rearrange.py, ``rearrange``.
    """
    if not isinstance(tensor, Tensor):
        tensor = _fn.stack(list(tensor))
    sides = pattern.split("->")
    if len(sides) != 2:
        raise ValueError("Pattern must contain a single '->' separator")
    left, right = map(_parsed, sides)
    _check_sides(left, right, axes_lengths, pattern)
    others = tensor.dim() - len(left) + 1 if _ELLIPSIS in left else 0
    if others < 0 or (_ELLIPSIS not in left and len(left) != tensor.dim()):
        raise ValueError(
            f"Number of dimensions in pattern ({len(left) - (others < 0)}) must be "
            f"{'less than or ' if others < 0 else ''}equal to the number of dimensions in the tensor ({tensor.dim()})"
        )
    names = [f"{_ELLIPSIS}{i}" for i in range(others)]
    left, right = _spelled_out(left, names), _spelled_out(right, names)
    sizes: dict[str, Any] = {}
    for group, size in zip(left, tensor.shape, strict=True):
        sizes |= _sizes(group, size, axes_lengths, pattern)
    order = list(sizes)
    parts = tensor.reshape([sizes[name] for name in order])
    moved = parts.permute([order.index(name) for group in right for name in group])
    return moved.reshape([math.prod(sizes[name] for name in group) for group in right])
