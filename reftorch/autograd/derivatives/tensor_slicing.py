"""Derivatives of parts of a tensor: slices, diagonals, pieces.

Mirrors: tools/autograd/derivatives.yaml (select, select_backward, slice, slice_backward, ...)
Leaves out: complex numbers.
"""

import sys

from reftorch import _C
from reftorch.autograd.derivatives import derivative

_torch = _C._VariableFunctions

# --- a part: zeros with the gradient in its place ---------------------------------------------------------------------

derivative(
    "select.int",
    self=lambda grad, self_sizes, dim, index: _torch.select_backward(grad, self_sizes, dim, index),
    result="auto_linear",
)
derivative("select_backward", grad_output=lambda grad, dim, index: grad.select(dim, index), result="auto_linear")

derivative(
    "slice.Tensor",
    self=lambda grad, self_sizes, dim, start, end, step: _torch.slice_backward(
        grad, self_sizes, dim, 0 if start is None else start, sys.maxsize if end is None else end, step
    ),
    result="auto_linear",
)
derivative(
    "slice_backward",
    grad_output=lambda grad, dim, start, end, step: _torch.slice(grad, dim, start, end, step),
    result="auto_linear",
)

derivative(
    "diagonal",
    self=lambda grad, self_sizes, offset, dim1, dim2: _torch.diagonal_backward(grad, self_sizes, offset, dim1, dim2),
    result="auto_linear",
)
derivative(
    "diagonal_backward",
    grad_output=lambda grad, offset, dim1, dim2: grad.diagonal(offset, dim1, dim2),
    result="auto_linear",
)

# --- several parts ----------------------------------------------------------------------------------------------------

derivative("unbind.int", self=lambda grads, dim: _torch.stack(grads, dim), result="auto_linear")
derivative("split.Tensor", self=lambda grads, dim: _torch.cat(grads, dim), result="auto_linear")
derivative("split_with_sizes", self=lambda grads, dim: _torch.cat(grads, dim), result="auto_linear")
