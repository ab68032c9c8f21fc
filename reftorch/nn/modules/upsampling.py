"""Changes of the size of images, as modules.

Mirrors: torch/nn/modules/upsampling.py
"""

from __future__ import annotations

from typing import Any

from reftorch._tensor import Tensor
from reftorch.nn import functional as F
from reftorch.nn.modules.module import Module

__all__ = ["Upsample", "UpsamplingBilinear2d", "UpsamplingNearest2d"]


class Upsample(Module):
    """Change the size of images: ``torch.nn.functional.interpolate`` with fixed options.

    Args:
        size: the sizes of the output, or one for all dimensions.
        scale_factor: the numbers by which the sizes are multiplied, or one for all.
        mode: ``"nearest"`` (default), ``"linear"``, ``"bilinear"``, ``"bicubic"`` or ``"trilinear"``.
        align_corners: whether the middles of the outer pixels stay in place; not for nearest.
        recompute_scale_factor: whether the scale follows from the rounded sizes.

    Shape:
        Input :math:`(N, C, W)`, :math:`(N, C, H, W)` or :math:`(N, C, D, H, W)`; the output has other sizes instead of
        the last ones.

    Raises:
        ValueError: (from a call) options contradict each other.
        NotImplementedError: (from a call) the mode has no op for the number of dimensions.

    Example:
        >>> torch.nn.Upsample(scale_factor=2)(torch.tensor([[[1.0, 2.0]]]))
        tensor([[[1., 1., 2., 2.]]])

    Mirrors torch/nn/modules/upsampling.py, ``Upsample``.
    """

    def __init__(
        self,
        size: Any = None,
        scale_factor: Any = None,
        mode: str = "nearest",
        align_corners: bool | None = None,
        recompute_scale_factor: bool | None = None,
    ) -> None:
        super().__init__()
        self.name = type(self).__name__
        self.size = size
        if isinstance(scale_factor, tuple):
            self.scale_factor: Any = tuple(float(factor) for factor in scale_factor)
        else:
            self.scale_factor = float(scale_factor) if scale_factor else None
        self.mode = mode
        self.align_corners = align_corners
        self.recompute_scale_factor = recompute_scale_factor

    def forward(self, input: Tensor) -> Tensor:
        return F.interpolate(
            input, self.size, self.scale_factor, self.mode, self.align_corners, self.recompute_scale_factor
        )

    def extra_repr(self) -> str:
        name = "size" if self.scale_factor is None else "scale_factor"
        return f"{name}={getattr(self, name)!r}, mode={self.mode!r}"


class UpsamplingNearest2d(Upsample):
    """:class:`Upsample` with mode ``"nearest"`` for images.

    Args:
        size: the sizes of the output, or one for both.
        scale_factor: the numbers by which the sizes are multiplied, or one for both.

    Shape:
        Input :math:`(N, C, H, W)`; output :math:`(N, C, h, w)`.

    Example:
        >>> torch.nn.UpsamplingNearest2d(scale_factor=2)(torch.ones(1, 1, 2, 3)).shape
        torch.Size([1, 1, 4, 6])

    Mirrors torch/nn/modules/upsampling.py, ``UpsamplingNearest2d``.
    """

    def __init__(self, size: Any = None, scale_factor: Any = None) -> None:
        super().__init__(size, scale_factor, mode="nearest")


class UpsamplingBilinear2d(Upsample):
    """:class:`Upsample` with mode ``"bilinear"`` and aligned corners, for images.

    Args:
        size: the sizes of the output, or one for both.
        scale_factor: the numbers by which the sizes are multiplied, or one for both.

    Shape:
        Input :math:`(N, C, H, W)`; output :math:`(N, C, h, w)`.

    Example:
        >>> torch.nn.UpsamplingBilinear2d(size=(1, 3))(torch.tensor([[[[0.0, 1.0]]]]))
        tensor([[[[0.0000, 0.5000, 1.0000]]]])

    Mirrors torch/nn/modules/upsampling.py, ``UpsamplingBilinear2d``.
    """

    def __init__(self, size: Any = None, scale_factor: Any = None) -> None:
        super().__init__(size, scale_factor, mode="bilinear", align_corners=True)
