"""Convolutions, and the windows of images.

Mirrors: torch/nn/functional.py (``conv1d``, ``conv_transpose1d``, ``unfold``, ``fold``, and so on)
"""

from __future__ import annotations

from typing import Any

from reftorch import _C, _VF
from reftorch._tensor import Tensor
from reftorch._torch_function import overridable
from reftorch.nn._tuples import _pair

__all__ = [
    "conv1d",
    "conv2d",
    "conv3d",
    "conv_tbc",
    "conv_transpose1d",
    "conv_transpose2d",
    "conv_transpose3d",
    "fold",
    "unfold",
]

# torch has the same functions, so their docstrings are in torch.
conv1d, conv2d, conv3d = _VF.conv1d, _VF.conv2d, _VF.conv3d
conv_transpose1d, conv_transpose2d = _VF.conv_transpose1d, _VF.conv_transpose2d
conv_transpose3d, conv_tbc = _VF.conv_transpose3d, _VF.conv_tbc


@overridable
def unfold(input: Tensor, kernel_size: Any, dilation: Any = 1, padding: Any = 0, stride: Any = 1) -> Tensor:
    r"""Copy the windows of images into columns: a convolution is then a matrix product.

    Args:
        input: images :math:`(N, C, H, W)`, or one image :math:`(C, H, W)`.
        kernel_size: the height and the width of a window, or one number for both.
        dilation: the distance between elements of a window.
        padding: the number of zeros around the image.
        stride: the steps by which the window moves.

    Returns:
        :math:`(N, C \cdot height \cdot width, L)`, where L is the number of windows.

    Raises:
        RuntimeError: an argument is out of range, or no window fits.

    Example:
        >>> x, w = torch.randn(1, 3, 6, 5), torch.randn(4, 3, 2, 2)
        >>> columns = torch.nn.functional.unfold(x, (2, 2))
        >>> y = (w.reshape(4, -1) @ columns).reshape(1, 4, 5, 4)
        >>> torch.allclose(y, torch.nn.functional.conv2d(x, w), atol=1e-5)
        True

    Mirrors torch/nn/functional.py, ``unfold``.
    """
    return _C._nn.im2col(input, _pair(kernel_size), _pair(dilation), _pair(padding), _pair(stride))


@overridable
def fold(
    input: Tensor, output_size: Any, kernel_size: Any, dilation: Any = 1, padding: Any = 0, stride: Any = 1
) -> Tensor:
    r"""Add columns up to images, at the places from which :func:`unfold` copies them.

    Args:
        input: columns :math:`(N, C \cdot height \cdot width, L)`, or the same without N.
        output_size: the height and the width of the images, or one number for both.
        kernel_size: the height and the width of a window.
        dilation: the distance between elements of a window.
        padding: the number of zeros around the image.
        stride: the steps by which the window moves.

    Returns:
        :math:`(N, C, H, W)`.

    Raises:
        RuntimeError: an argument is out of range, or the number of columns is not the number of windows.

    Example:
        >>> torch.nn.functional.fold(torch.ones(1, 4, 4), (3, 3), (2, 2))
        tensor([[[[1., 2., 1.],
                  [2., 4., 2.],
                  [1., 2., 1.]]]])

    Mirrors torch/nn/functional.py, ``fold``.
    """
    return _C._nn.col2im(input, _pair(output_size), _pair(kernel_size), _pair(dilation), _pair(padding), _pair(stride))
