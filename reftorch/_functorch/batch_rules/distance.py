"""Batching rules of distances between vectors, and renorm.

Mirrors: aten/src/ATen/functorch/BatchRulesLinearAlgebra.cpp
"""

from __future__ import annotations

from typing import Any

from reftorch import _C
from reftorch._functorch.batch_rules._common import Op, batch_rule, call, shifted, spread
from reftorch._functorch.batch_rules._generic import aligned

_fn = _C._VariableFunctions


@batch_rule("dist")
def dist(op: Op, args: list[Any], batched: list[Any], size: int) -> Any:
    left, right = aligned(args[:2], batched[:2])
    difference = left - right
    return difference.reshape(size, -1).norm(args[2], 1)


@batch_rule("renorm")
def renorm(op: Op, args: list[Any], batched: list[Any], size: int) -> Any:
    self, p, dim, maxnorm = args
    rows = self.movedim(shifted(dim, self.dim() - 1), 1)
    flat = _fn.renorm(rows.reshape(size * rows.size(1), -1), p, 0, maxnorm)
    return flat.reshape(rows.shape).movedim(1, shifted(dim, self.dim() - 1))


@batch_rule("_cdist_forward")
def cdist(op: Op, args: list[Any], batched: list[Any], size: int) -> Any:
    left, right = aligned(args[:2], batched[:2])
    left, right = (spread(v, b, size) for v, b in zip((left, right), batched[:2], strict=True))
    return call(op.name, [left, right, *args[2:]])


@batch_rule("_euclidean_dist")
def euclidean_dist(op: Op, args: list[Any], batched: list[Any], size: int) -> Any:
    return op([spread(v, b, size) for v, b in zip(args, batched, strict=True)])


@batch_rule("_cdist_backward")
def cdist_backward(op: Op, args: list[Any], batched: list[Any], size: int) -> Any:
    places = (0, 1, 2, 4)
    tensors = aligned([spread(args[i], batched[i], size) for i in places], [True] * 4)
    grad, x1, x2, distances = tensors
    return op([grad, x1, x2, args[3], distances])


def _pairs(self: Any) -> Any:
    """The places of the pairs of rows of ``self``, (batch, rows, columns), in the matrix of all distances."""
    return _fn.triu_indices(self.size(1), self.size(1), 1, device=self.device)


@batch_rule("_pdist_forward")
def pdist(op: Op, args: list[Any], batched: list[Any], size: int) -> Any:
    self, p = args
    first, second = _pairs(self)
    return call("_cdist_forward", [self, self, p, 2])[:, first, second]


@batch_rule("_pdist_backward")
def pdist_backward(op: Op, args: list[Any], batched: list[Any], size: int) -> Any:
    grad, self, p, distances = args
    grad, self, distances = (spread(v, b, size) for v, b in zip((grad, self, distances), (*batched[:2], batched[3]),
                                                                strict=True))  # fmt: skip
    first, second = _pairs(self)
    square = _fn.zeros((size, self.size(1), self.size(1)), dtype=self.dtype, device=self.device)
    grads, all_distances = square.clone(), square.clone()
    for target, source in ((grads, grad), (all_distances, distances)):
        target[:, first, second] = source
        target[:, second, first] = source
    return call("_cdist_backward", [grads, self, self, p, all_distances])
