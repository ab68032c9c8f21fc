r"""Exchange of channels between groups.

Mirrors: torch/nn/modules/channelshuffle.py
"""

from __future__ import annotations

from reftorch._tensor import Tensor
from reftorch.nn import functional as F
from reftorch.nn.modules.module import Module

__all__ = ["ChannelShuffle"]


class ChannelShuffle(Module):
    r"""Deal out the channels: after it, neighbouring channels come from different groups.

    Args:
        groups: :math:`g`, the number of groups; the number of channels must be a multiple.

    Shape:
        Input and output :math:`(*, C, H, W)`.

    Example:
        >>> x = torch.arange(4.0).reshape(1, 4, 1, 1)
        >>> torch.nn.ChannelShuffle(2)(x).flatten()
        tensor([0., 2., 1., 3.])

    Mirrors torch/nn/modules/channelshuffle.py, ``ChannelShuffle``.
    """

    groups: int

    def __init__(self, groups: int) -> None:
        super().__init__()
        self.groups = groups

    def forward(self, input: Tensor) -> Tensor:
        return F.channel_shuffle(input, self.groups)

    def extra_repr(self) -> str:
        return f"groups={self.groups}"
