"""Random numbers: a draw does not depend on what was there before, nor (for us) on its parameters.

Mirrors: tools/autograd/derivatives.yaml (uniform_, normal_, bernoulli, ...)
Leaves out: gradients through samples (rsample of torch.distributions).
"""

from reftorch import _C
from reftorch.autograd.derivatives import derivative, non_differentiable

_zeros_like = _C._VariableFunctions.zeros_like

for _op in ("uniform_", "normal_", "random_", "random_.to", "random_.from", "bernoulli_.float"):
    derivative(_op, self=lambda grad: _zeros_like(grad))

derivative("bernoulli_.Tensor", self=lambda grad: _zeros_like(grad), p=lambda grad: _zeros_like(grad))
derivative("bernoulli", self=lambda grad: _zeros_like(grad))

non_differentiable("normal.Tensor_float", "normal.float_Tensor", "normal.Tensor_Tensor")
