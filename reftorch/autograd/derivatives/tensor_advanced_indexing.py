"""Derivatives of reading and writing at the positions that tensors of indices select.

Mirrors: tools/autograd/derivatives.yaml (index, index_put, nonzero)
Leaves out: sparse gradients.
"""

from reftorch import _C
from reftorch.autograd.derivatives import derivative, non_differentiable

_torch = _C._VariableFunctions

# --- x[indices] -------------------------------------------------------------------------------------------------------

derivative(
    "index.Tensor", self=lambda grad, self_sizes, indices: grad.new_zeros(self_sizes).index_put(indices, grad, True)
)
derivative(
    "index_put",
    self=lambda grad, indices, values_sizes, accumulate: (
        grad if accumulate else grad.index_put(indices, grad.new_zeros(values_sizes))
    ),
    values=lambda grad, indices: _torch.index(grad, indices),
)

# --- positions that are not zero --------------------------------------------------------------------------------------

non_differentiable("nonzero", "nonzero_static")
