"""Random numbers: a draw has no gradient by the overwritten elements, nor by the parameters of the distribution.

Mirrors: tools/autograd/derivatives.yaml (uniform_, normal_, bernoulli, ...)
Leaves out: gradients through samples (rsample of torch.distributions).
"""

from reftorch import _C
from reftorch.autograd.derivatives import derivative, non_differentiable, not_implemented

_zeros_like = _C._VariableFunctions.zeros_like

for _op in (
    "uniform_", "normal_", "random_", "random_.to", "random_.from", "bernoulli_.float",
    "exponential_", "geometric_", "cauchy_", "log_normal_", "bernoulli", "poisson",
):  # fmt: skip
    derivative(_op, self=lambda grad: _zeros_like(grad))

derivative("binomial", prob=lambda grad: _zeros_like(grad))
derivative("bernoulli_.Tensor", self=lambda grad: _zeros_like(grad), p=lambda grad: _zeros_like(grad))
not_implemented("bernoulli.p")

derivative("normal.Tensor_float", mean=lambda grad: _zeros_like(grad))
derivative("normal.float_Tensor", std=lambda grad: _zeros_like(grad))
derivative("normal.Tensor_Tensor", mean=lambda grad: _zeros_like(grad), std=lambda grad: _zeros_like(grad))

non_differentiable("bernoulli.out", "multinomial", "multinomial.out")
