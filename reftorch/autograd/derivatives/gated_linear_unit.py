"""Derivatives of glu.

Mirrors: tools/autograd/derivatives.yaml (glu, glu_backward), aten/src/ATen/native/Activation.cpp (glu_double_backward)
"""

from typing import Any

from reftorch import _C
from reftorch.autograd.derivatives import derivative

_nn = _C._nn

derivative("glu", self=lambda grad, self, dim: _nn.glu_backward(grad, self, dim))


def _halves(t: Any, dim: int) -> Any:
    return t.chunk(2, dim)


# With s = sigmoid(b) and s' = s (1 - s), the gradient of a is g s, and the gradient of b is g a s'.
def _grad_output(grad: Any, self: Any, dim: int) -> Any:
    (grad_a, grad_b), (a, b) = _halves(grad, dim), _halves(self, dim)
    s = b.sigmoid()
    return grad_a * s + grad_b * a * s * (1 - s)


def _self(grad: Any, grad_output: Any, self: Any, dim: int) -> Any:
    (grad_a, grad_b), (a, b) = _halves(grad, dim), _halves(self, dim)
    s = b.sigmoid()
    slope = grad_output * s * (1 - s)
    return _C._VariableFunctions.cat([grad_b * slope, slope * (grad_a + grad_b * a * (1 - 2 * s))], dim)


derivative(
    "glu_backward",
    grad_output=lambda grad, self, dim: _grad_output(grad, self, dim),
    self=lambda grad, grad_output, self, dim: _self(grad, grad_output, self, dim),
)
