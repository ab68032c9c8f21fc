"""Derivatives of draws from uniform, normal and Bernoulli distributions.

A draw has no gradient by the overwritten elements, nor by the parameters of the distribution.

Mirrors: tools/autograd/derivatives.yaml (normal, bernoulli_, bernoulli)
Leaves out: gradients through samples (rsample of torch.distributions).
"""

from reftorch import _C
from reftorch.autograd.derivatives import derivative, non_differentiable

_zeros_like = _C._VariableFunctions.zeros_like
non_differentiable("normal.float_float")

for _op in ("uniform_", "normal_", "random_.from", "bernoulli"):
    derivative(_op, self=lambda grad: _zeros_like(grad))
derivative("random_.to", self=lambda grad: _zeros_like(grad), node_number=1)
derivative("random_", self=lambda grad: _zeros_like(grad), node_number=2)
derivative("bernoulli_.float", self=lambda grad: _zeros_like(grad), node_number=2)
derivative("bernoulli_.Tensor", self=lambda grad: _zeros_like(grad), p=lambda grad: _zeros_like(grad), node_number=1)

derivative("normal.Tensor_float", mean=lambda grad: _zeros_like(grad), node_number=1)
derivative("normal.float_Tensor", std=lambda grad: _zeros_like(grad), node_number=2)
derivative(
    "normal.Tensor_Tensor", mean=lambda grad: _zeros_like(grad), std=lambda grad: _zeros_like(grad), node_number=3
)

non_differentiable("bernoulli.out")
