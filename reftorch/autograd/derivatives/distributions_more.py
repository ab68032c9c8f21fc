"""Derivatives of draws from exponential, geometric, Cauchy, Poisson and discrete distributions.

A draw has no gradient by the overwritten elements, nor by the parameters of the distribution.

Mirrors: tools/autograd/derivatives.yaml (binomial, multinomial)
Leaves out: complex numbers.
"""

from reftorch import _C
from reftorch.autograd.derivatives import derivative, non_differentiable

_zeros_like = _C._VariableFunctions.zeros_like
for _op in ("exponential_", "geometric_", "cauchy_", "log_normal_", "poisson"):
    derivative(_op, self=lambda grad: _zeros_like(grad))

derivative("binomial", prob=lambda grad: _zeros_like(grad))

non_differentiable("multinomial", "multinomial.out")
