"""The fused step of stochastic gradient descent has no derivative.

Mirrors: tools/autograd/derivatives.yaml, which has no entry for _fused_sgd_
"""

from reftorch.autograd.derivatives import non_differentiable

non_differentiable("_fused_sgd_", "_fused_sgd_.tensor_lr")
