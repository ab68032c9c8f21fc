"""The windows of images as columns of a matrix, and back.

Mirrors: torch/nn/modules/fold.py
"""

from __future__ import annotations

from typing import Any

from reftorch._tensor import Tensor
from reftorch.nn import functional as F
from reftorch.nn.modules.module import Module

__all__ = ["Fold", "Unfold"]


class Fold(Module):
    r"""Add columns up to images, at the places from which :class:`Unfold` copies them.

    Args:
        output_size: the height and the width of the images.
        kernel_size: the height and the width of a window.
        dilation: the distance between elements of a window (default 1).
        padding: the number of zeros around the image (default 0).
        stride: the steps by which the window moves (default 1).

    Shape:
        Input :math:`(N, C \cdot height \cdot width, L)`, output :math:`(N, C, H, W)`; both may be without N.

    Example:
        >>> torch.nn.Fold((4, 5), (2, 2))(torch.randn(1, 3 * 2 * 2, 12)).shape
        torch.Size([1, 3, 4, 5])

    Mirrors torch/nn/modules/fold.py, ``Fold``.
    """

    def __init__(
        self, output_size: Any, kernel_size: Any, dilation: Any = 1, padding: Any = 0, stride: Any = 1
    ) -> None:
        super().__init__()
        self.output_size = output_size
        self.kernel_size = kernel_size
        self.dilation = dilation
        self.padding = padding
        self.stride = stride

    def forward(self, input: Tensor) -> Tensor:
        return F.fold(input, self.output_size, self.kernel_size, self.dilation, self.padding, self.stride)

    def extra_repr(self) -> str:
        return (
            f"output_size={self.output_size}, kernel_size={self.kernel_size}, dilation={self.dilation}, "
            f"padding={self.padding}, stride={self.stride}"
        )


class Unfold(Module):
    r"""Copy the windows of images into columns: a convolution is then a matrix product.

    Args:
        kernel_size: the height and the width of a window.
        dilation: the distance between elements of a window (default 1).
        padding: the number of zeros around the image (default 0).
        stride: the steps by which the window moves (default 1).

    Shape:
        Input :math:`(N, C, H, W)`, output :math:`(N, C \cdot height \cdot width, L)`; both may be without N.

    Example:
        >>> torch.nn.Unfold((2, 3))(torch.randn(2, 5, 3, 4)).shape
        torch.Size([2, 30, 4])

    Mirrors torch/nn/modules/fold.py, ``Unfold``.
    """

    def __init__(self, kernel_size: Any, dilation: Any = 1, padding: Any = 0, stride: Any = 1) -> None:
        super().__init__()
        self.kernel_size = kernel_size
        self.dilation = dilation
        self.padding = padding
        self.stride = stride

    def forward(self, input: Tensor) -> Tensor:
        return F.unfold(input, self.kernel_size, self.dilation, self.padding, self.stride)

    def extra_repr(self) -> str:
        return f"kernel_size={self.kernel_size}, dilation={self.dilation}, padding={self.padding}, stride={self.stride}"
