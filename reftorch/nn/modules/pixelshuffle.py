r"""Exchange of channels for pixels.

Mirrors: torch/nn/modules/pixelshuffle.py
"""

from __future__ import annotations

from reftorch._tensor import Tensor
from reftorch.nn import functional as F
from reftorch.nn.modules.module import Module

__all__ = ["PixelShuffle", "PixelUnshuffle"]


class PixelShuffle(Module):
    r"""Spread groups of :math:`r^2` channels over the pixels of an image that is :math:`r` times as high and as wide.

    Args:
        upscale_factor: :math:`r`.

    Shape:
        Input :math:`(*, C r^2, H, W)`, output :math:`(*, C, H r, W r)`.

    Example:
        >>> torch.nn.PixelShuffle(3)(torch.zeros(1, 9, 4, 4)).shape
        torch.Size([1, 1, 12, 12])

    Mirrors torch/nn/modules/pixelshuffle.py, ``PixelShuffle``.
    """

    upscale_factor: int

    def __init__(self, upscale_factor: int) -> None:
        super().__init__()
        self.upscale_factor = upscale_factor

    def forward(self, input: Tensor) -> Tensor:
        return F.pixel_shuffle(input, self.upscale_factor)

    def extra_repr(self) -> str:
        return f"upscale_factor={self.upscale_factor}"


class PixelUnshuffle(Module):
    r"""Collect squares of :math:`r^2` pixels into channels: the inverse of :class:`PixelShuffle`.

    Args:
        downscale_factor: :math:`r`.

    Shape:
        Input :math:`(*, C, H r, W r)`, output :math:`(*, C r^2, H, W)`.

    Example:
        >>> torch.nn.PixelUnshuffle(3)(torch.zeros(1, 1, 12, 12)).shape
        torch.Size([1, 9, 4, 4])

    Mirrors torch/nn/modules/pixelshuffle.py, ``PixelUnshuffle``.
    """

    downscale_factor: int

    def __init__(self, downscale_factor: int) -> None:
        super().__init__()
        self.downscale_factor = downscale_factor

    def forward(self, input: Tensor) -> Tensor:
        return F.pixel_unshuffle(input, self.downscale_factor)

    def extra_repr(self) -> str:
        return f"downscale_factor={self.downscale_factor}"
