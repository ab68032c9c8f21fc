"""The fused step of Adagrad has no derivative.

Mirrors: tools/autograd/derivatives.yaml, which has no entry for _fused_adagrad_
"""

from reftorch.autograd.derivatives import non_differentiable

non_differentiable("_fused_adagrad_", "_fused_adagrad_.tensor_lr")
