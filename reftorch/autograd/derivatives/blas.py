"""Derivatives of products of a vector with a matrix or a vector.

Mirrors: tools/autograd/derivatives.yaml (mv, addmv, dot, vdot)
Leaves out: complex numbers.
"""

from reftorch.autograd.derivatives import derivative
from reftorch.autograd.derivatives._functions_manual import times

derivative("mv", self=lambda grad, vec: grad.outer(vec), vec=lambda grad, self: self.t().mv(grad))

derivative(
    "addmv",
    self=lambda grad, beta: times(grad, beta),
    mat=lambda grad, vec, alpha: times(grad.outer(vec), alpha),
    vec=lambda grad, mat, alpha: times(mat.t().mv(grad), alpha),
)

derivative("dot", self=lambda grad, tensor: grad * tensor, tensor=lambda grad, self: grad * self)
derivative("vdot", self=lambda grad, other: grad * other, other=lambda grad, self: grad * self)
