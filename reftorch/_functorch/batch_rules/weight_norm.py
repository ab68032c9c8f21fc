"""Batching rules of weight norm.

Mirrors: nothing in PyTorch, whose vmap calls these ops example by example.
"""

from __future__ import annotations

from typing import Any

from reftorch._functorch.batch_rules._common import Op, batch_rule, shifted, spread


def _others(v: Any, dim: int) -> list[int]:
    """The dimensions of each example but one; v: (batch, *)"""
    return [d for d in range(1, v.dim()) if d != shifted(dim, v.dim() - 1)]


@batch_rule("_weight_norm_interface")
def weight_norm_interface(op: Op, args: list[Any], batched: list[Any], size: int) -> Any:
    v, g = (spread(value, b, size) for value, b in zip(args[:2], batched[:2], strict=True))
    others = _others(v, args[2])
    norms = v.norm(2, others, True) if others else v.abs()
    return v * (g / norms), norms


@batch_rule("_weight_norm_interface_backward")
def weight_norm_interface_backward(op: Op, args: list[Any], batched: list[Any], size: int) -> Any:
    grad, v, g, norms = (spread(value, b, size) for value, b in zip(args[:4], batched[:4], strict=True))
    others = _others(v, args[4])
    sums = (grad * v).sum(others, keepdim=True) if others else grad * v
    return g / norms * (grad - v * (sums / (norms * norms))), sums / norms
