"""Derivatives of triangles and diagonals of matrices.

Mirrors: tools/autograd/derivatives.yaml (diag_embed, trace, tril, triu)
Leaves out: complex numbers.
"""

from reftorch import _C
from reftorch.autograd.derivatives import derivative

_torch = _C._VariableFunctions
derivative("diag_embed", self=lambda grad, offset, dim1, dim2: grad.diagonal(offset, dim1, dim2), result="auto_linear")

derivative(
    "trace",
    self=lambda grad, self_sizes: _torch.diagonal_backward(grad.expand(min(self_sizes)), self_sizes, 0, 0, 1),
    result="auto_linear",
)
derivative("tril", self=lambda grad, diagonal: grad.tril(diagonal), result="auto_linear")
derivative("triu", self=lambda grad, diagonal: grad.triu(diagonal), result="auto_linear")
