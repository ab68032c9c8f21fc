"""Transforms of tensors whose pieces have transforms of their own.

Mirrors: torch/distributions/transforms.py (CatTransform, StackTransform)
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Iterator, Sequence
from typing import Any

import reftorch as torch
from reftorch import Tensor
from reftorch.distributions import constraints
from reftorch.distributions.transforms.transform import Transform
from reftorch.distributions.utils import _sum_rightmost, lazy_property


def _require_transforms(tseq: Sequence[Any], cache_size: int) -> list[Transform]:
    if not all(isinstance(t, Transform) for t in tseq):
        raise AssertionError("All elements of tseq must be Transform instances")
    return [t.with_cache(cache_size) for t in tseq] if cache_size else list(tseq)


def _require_size(name: str, value: Tensor, dim: int, size: int, size_name: str, noun: str = "tensor") -> None:
    if not -value.dim() <= dim < value.dim():
        raise AssertionError(f"dim {dim} out of range for {noun} with {value.dim()} dimensions")
    if value.size(dim) != size:
        raise AssertionError(f"{name}.size({dim}) = {value.size(dim)} must equal {size_name} {size}")


class CatTransform(Transform):
    """Apply a transform to each piece along a dimension, as ``torch.cat`` would join the pieces.

    Args:
        tseq: the transforms, one for each piece.
        dim: the dimension along which the pieces lie.
        lengths: the lengths of the pieces (default 1 each).
        cache_size: see ``Transform``.

    Example:
        >>> from reftorch.distributions import CatTransform, ExpTransform, identity_transform
        >>> CatTransform([ExpTransform(), identity_transform], lengths=[1, 2])(torch.tensor([0.0, 0.0, 3.0]))
        tensor([1., 0., 3.])

    Mirrors torch/distributions/transforms.py, ``CatTransform``.
    """

    def __init__(
        self, tseq: Sequence[Transform], dim: int = 0, lengths: Sequence[int] | None = None, cache_size: int = 0
    ) -> None:
        tseq = _require_transforms(tseq, cache_size)
        super().__init__(cache_size=cache_size)
        self.transforms = tseq
        self.lengths = [1] * len(tseq) if lengths is None else list(lengths)
        if len(self.lengths) != len(self.transforms):
            raise AssertionError(f"lengths ({len(self.lengths)}) must match transforms ({len(self.transforms)})")
        self.dim = dim

    @lazy_property
    def event_dim(self) -> int:
        return max(t.event_dim for t in self.transforms)

    @lazy_property
    def length(self) -> int:
        """The size of the dimension along which the pieces lie."""
        return sum(self.lengths)

    def with_cache(self, cache_size: int = 1) -> Any:
        if self._cache_size == cache_size:
            return self
        return CatTransform(self.transforms, self.dim, self.lengths, cache_size)

    def _pieces(self, value: Tensor) -> Iterator[Tensor]:
        start = 0
        for length in self.lengths:
            yield value.narrow(self.dim, start, length)
            start += length

    def _call(self, x: Tensor) -> Tensor:
        _require_size("x", x, self.dim, self.length, "length")
        return torch.cat([t(piece) for t, piece in zip(self.transforms, self._pieces(x), strict=True)], dim=self.dim)

    def _inverse(self, y: Tensor) -> Tensor:
        _require_size("y", y, self.dim, self.length, "length")
        pieces = zip(self.transforms, self._pieces(y), strict=True)
        return torch.cat([t.inv(piece) for t, piece in pieces], dim=self.dim)

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        _require_size("x", x, self.dim, self.length, "length", noun="x")
        _require_size("y", y, self.dim, self.length, "length", noun="y")
        terms: list[Any] = []
        for t, before, after in zip(self.transforms, self._pieces(x), self._pieces(y), strict=True):
            term = t.log_abs_det_jacobian(before, after)
            terms.append(_sum_rightmost(term, self.event_dim - t.event_dim))
        dim = self.dim if self.dim < 0 else self.dim - x.dim()
        dim = dim + self.event_dim
        if dim < 0:  # the pieces are parts of a batch
            return torch.cat(terms, dim=dim)
        return functools.reduce(operator.add, terms)  # the pieces are parts of an event

    @property
    def bijective(self) -> bool:
        return all(t.bijective for t in self.transforms)

    @constraints.dependent_property
    def domain(self) -> Any:
        return constraints.cat([t.domain for t in self.transforms], self.dim, self.lengths)

    @constraints.dependent_property
    def codomain(self) -> Any:
        return constraints.cat([t.codomain for t in self.transforms], self.dim, self.lengths)


class StackTransform(Transform):
    """Apply a transform to each slice along a dimension, as ``torch.stack`` would join the slices.

    Args:
        tseq: the transforms, one for each slice.
        dim: the dimension along which the slices lie.
        cache_size: see ``Transform``.

    Example:
        >>> from reftorch.distributions import ExpTransform, StackTransform, identity_transform
        >>> StackTransform([identity_transform, ExpTransform()], dim=1)(torch.zeros(2, 2))
        tensor([[0., 1.],
                [0., 1.]])

    Mirrors torch/distributions/transforms.py, ``StackTransform``.
    """

    def __init__(self, tseq: Sequence[Transform], dim: int = 0, cache_size: int = 0) -> None:
        tseq = _require_transforms(tseq, cache_size)
        super().__init__(cache_size=cache_size)
        self.transforms = tseq
        self.dim = dim

    def with_cache(self, cache_size: int = 1) -> Any:
        if self._cache_size == cache_size:
            return self
        return StackTransform(self.transforms, self.dim, cache_size)

    def _slices(self, value: Tensor) -> list[Tensor]:
        return [value.select(self.dim, i) for i in range(value.size(self.dim))]

    def _call(self, x: Tensor) -> Tensor:
        _require_size("x", x, self.dim, len(self.transforms), "len(transforms)")
        return torch.stack([t(piece) for t, piece in zip(self.transforms, self._slices(x), strict=True)], dim=self.dim)

    def _inverse(self, y: Tensor) -> Tensor:
        _require_size("y", y, self.dim, len(self.transforms), "len(transforms)")
        slices = zip(self.transforms, self._slices(y), strict=True)
        return torch.stack([t.inv(piece) for t, piece in slices], dim=self.dim)

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        _require_size("x", x, self.dim, len(self.transforms), "len(transforms)", noun="x")
        _require_size("y", y, self.dim, len(self.transforms), "len(transforms)", noun="y")
        slices = zip(self.transforms, self._slices(x), self._slices(y), strict=True)
        return torch.stack([t.log_abs_det_jacobian(before, after) for t, before, after in slices], dim=self.dim)

    @property
    def bijective(self) -> bool:
        return all(t.bijective for t in self.transforms)

    @constraints.dependent_property
    def domain(self) -> Any:
        return constraints.stack([t.domain for t in self.transforms], self.dim)

    @constraints.dependent_property
    def codomain(self) -> Any:
        return constraints.stack([t.codomain for t in self.transforms], self.dim)
