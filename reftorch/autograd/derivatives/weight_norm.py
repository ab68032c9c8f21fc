"""The derivative of weight norm.

Mirrors: tools/autograd/derivatives.yaml (_weight_norm_interface)
"""

from typing import Any

from reftorch import _C
from reftorch.autograd.derivatives import derivative

_nn = _C._nn


# The norms exist for backward only. A gradient that is differentiated again computes them anew, so that the second
# derivative knows that they depend on v. PyTorch uses those of the forward there, and its second derivative is wrong.
@derivative("_weight_norm_interface", inputs=["v", "g"], output_differentiability=[True, False])
def weight_norm_interface(grad: Any, v: Any, g: Any, dim: int, result1: Any) -> Any:
    if not _C.is_grad_enabled():
        return _nn._weight_norm_interface_backward(grad.contiguous(), v, g, result1, dim)
    norms = _C._VariableFunctions.norm_except_dim(v, 2, dim)
    return _nn._weight_norm_differentiable_backward(grad.contiguous(), v, g, norms, dim)
