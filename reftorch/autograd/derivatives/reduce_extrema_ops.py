"""Derivatives of reductions to the largest and the smallest element.

Mirrors: tools/autograd/derivatives.yaml (max, min, aminmax, amax, ...), torch/csrc/autograd/FunctionsManual.cpp
Leaves out: complex numbers.
"""

from collections.abc import Sequence
from typing import Any

from reftorch.autograd.derivatives import derivative, non_differentiable
from reftorch.autograd.derivatives._functions_manual import restored, share_equally


def _to_index(grad: Any, self_sizes: Sequence[int], indices: Any, dim: int, keepdim: bool) -> Any:
    """Give the whole gradient to the chosen element."""
    if not self_sizes:
        return grad
    grad, indices = (restored(t, self_sizes, dim, keepdim) for t in (grad, indices))
    return grad.new_zeros(self_sizes).scatter(dim, indices, grad)


derivative("max", self=lambda grad, self, result: share_equally(grad, self, result), node_number=1)
derivative("min", self=lambda grad, self, result: share_equally(grad, self, result), node_number=1)


@derivative("aminmax", inputs=["self"])
def aminmax(grads: Any, self: Any, min: Any, max: Any, dim: int | None, keepdim: bool) -> tuple[Any]:
    return (share_equally(grads[0], self, min, dim, keepdim) + share_equally(grads[1], self, max, dim, keepdim),)


derivative("amax", self=share_equally)
derivative("amin", self=share_equally)
derivative("max.dim", self=_to_index)
derivative("min.dim", self=_to_index)

non_differentiable("argmax", "argmin")
