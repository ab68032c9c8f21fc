"""Derivatives of draws from exponential, geometric, Cauchy, gamma, Poisson and discrete distributions.

A draw has no gradient by the overwritten elements, nor by the parameters of the distribution. A gamma variable is the
exception. The gradient of a Dirichlet sample is in ``reftorch.distributions.dirichlet``, as in PyTorch.

Mirrors: tools/autograd/derivatives.yaml (binomial, multinomial, _standard_gamma, _standard_gamma_grad)
Leaves out: complex numbers.
"""

from reftorch import _C
from reftorch.autograd.derivatives import derivative, non_differentiable, not_implemented

_fn = _C._VariableFunctions
_zeros_like = _fn.zeros_like
for _op in ("exponential_", "geometric_", "cauchy_", "log_normal_", "poisson"):
    derivative(_op, self=lambda grad: _zeros_like(grad))

derivative("binomial", prob=lambda grad: _zeros_like(grad))

derivative("_standard_gamma", self=lambda grad, self, result: grad * _fn._standard_gamma_grad(self, result.detach()))


derivative("_standard_gamma_grad", self=not_implemented("_standard_gamma_grad"))

non_differentiable("multinomial", "multinomial.out")
