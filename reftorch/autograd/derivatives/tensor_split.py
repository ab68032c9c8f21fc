"""Derivatives of splitting a tensor.

Mirrors: tools/autograd/derivatives.yaml (unsafe_split, unsafe_split_with_sizes)
Leaves out: complex numbers.
"""

from reftorch import _C
from reftorch.autograd.derivatives import derivative

_torch = _C._VariableFunctions
derivative("unsafe_split.Tensor", self=lambda grads, dim: _torch.cat(grads, dim), result="auto_linear")
derivative("unsafe_split_with_sizes", self=lambda grads, dim: _torch.cat(grads, dim), result="auto_linear")
