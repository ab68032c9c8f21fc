"""The derivative of the grid of an affine map.

Mirrors: tools/autograd/derivatives.yaml (affine_grid_generator)
"""

from reftorch import _C
from reftorch.autograd.derivatives import derivative

_nn = _C._nn

derivative(
    "affine_grid_generator",
    theta=lambda grad, size, align_corners: _nn.affine_grid_generator_backward(grad, size, align_corners),
    result="auto_linear",
)
