"""Derivatives of the windows of images: each of the two ops is the derivative of the other.

Mirrors: tools/autograd/derivatives.yaml (im2col, col2im)
Leaves out: complex numbers.
"""

from reftorch import _C
from reftorch.autograd.derivatives import derivative

_nn = _C._nn

derivative(
    "im2col",
    self=lambda grad, self_sizes, kernel_size, dilation, padding, stride: _nn.col2im(
        grad, self_sizes[-2:], kernel_size, dilation, padding, stride
    ),
)
derivative(
    "col2im",
    self=lambda grad, kernel_size, dilation, padding, stride: _nn.im2col(grad, kernel_size, dilation, padding, stride),
)
