"""Derivatives of inner, Kronecker and cross products, and Vandermonde matrices.

Mirrors: tools/autograd/derivatives.yaml (linalg_cross)
Leaves out: complex numbers.
"""

from reftorch import _C
from reftorch.autograd.derivatives import derivative

# a x b = -(b x a), and g . (a x b) = a . (b x g) = b . (g x a)
derivative(
    "linalg_cross",
    self=lambda grad, other, dim: _C._linalg.linalg_cross(other, grad, dim=dim),
    other=lambda grad, self, dim: _C._linalg.linalg_cross(grad, self, dim=dim),
)
