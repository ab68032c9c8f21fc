"""Dropout.

Mirrors: torch/nn/modules/dropout.py
"""

from __future__ import annotations

from reftorch._tensor import Tensor
from reftorch.nn import functional as F
from reftorch.nn.modules.module import Module

__all__ = ["AlphaDropout", "Dropout", "Dropout1d", "Dropout2d", "Dropout3d", "FeatureAlphaDropout"]


class _DropoutNd(Module):
    p: float
    inplace: bool

    def __init__(self, p: float = 0.5, inplace: bool = False) -> None:
        super().__init__()
        if p < 0 or p > 1:
            raise ValueError(f"dropout probability has to be between 0 and 1, but got {p}")
        self.p = p
        self.inplace = inplace

    def extra_repr(self) -> str:
        return f"p={self.p}, inplace={self.inplace}"


class Dropout(_DropoutNd):
    r"""In training, set elements to zero with probability :math:`p` and scale the others by :math:`1 / (1 - p)`.

    Args:
        p: :math:`p` (default 0.5).
        inplace: whether to overwrite the input (default False).

    Shape:
        Input and output :math:`(*)`, any.

    Raises:
        ValueError: ``p`` is not between 0 and 1.

    Example:
        >>> layer = torch.nn.Dropout(p=0.5).eval()
        >>> layer(torch.ones(2))
        tensor([1., 1.])

    Mirrors torch/nn/modules/dropout.py, ``Dropout``.
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.dropout(input, self.p, self.training, self.inplace)


class Dropout1d(_DropoutNd):
    r"""In training, set whole channels of sequences to zero with probability :math:`p` and scale the others.

    Args:
        p: :math:`p` (default 0.5); the remaining channels are scaled by :math:`1 / (1 - p)`.
        inplace: whether to overwrite the input (default False).

    Shape:
        Input and output :math:`(N, C, L)` or :math:`(C, L)`.

    Raises:
        ValueError: ``p`` is not between 0 and 1.

    Example:
        >>> y = torch.nn.Dropout1d()(torch.ones(4, 3, 5)).flatten(2)
        >>> bool((y == y[:, :, :1]).all())
        True

    Mirrors torch/nn/modules/dropout.py, ``Dropout1d``.
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.dropout1d(input, self.p, self.training, self.inplace)


class Dropout2d(_DropoutNd):
    r"""In training, set whole channels of images to zero with probability :math:`p` and scale the others.

    Args:
        p: :math:`p` (default 0.5); the remaining channels are scaled by :math:`1 / (1 - p)`.
        inplace: whether to overwrite the input (default False).

    Shape:
        Input and output :math:`(N, C, H, W)` or :math:`(N, C, L)`.

    Raises:
        ValueError: ``p`` is not between 0 and 1.

    Example:
        >>> y = torch.nn.Dropout2d()(torch.ones(4, 3, 5, 5)).flatten(2)
        >>> bool((y == y[:, :, :1]).all())
        True

    Mirrors torch/nn/modules/dropout.py, ``Dropout2d``.
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.dropout2d(input, self.p, self.training, self.inplace)


class Dropout3d(_DropoutNd):
    r"""In training, set whole channels of volumes to zero with probability :math:`p` and scale the others.

    Args:
        p: :math:`p` (default 0.5); the remaining channels are scaled by :math:`1 / (1 - p)`.
        inplace: whether to overwrite the input (default False).

    Shape:
        Input and output :math:`(N, C, D, H, W)` or :math:`(C, D, H, W)`.

    Raises:
        ValueError: ``p`` is not between 0 and 1.

    Example:
        >>> y = torch.nn.Dropout3d()(torch.ones(4, 3, 2, 2, 2)).flatten(2)
        >>> bool((y == y[:, :, :1]).all())
        True

    Mirrors torch/nn/modules/dropout.py, ``Dropout3d``.
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.dropout3d(input, self.p, self.training, self.inplace)


class AlphaDropout(_DropoutNd):
    r"""In training, drop elements and keep mean 0 and variance 1: dropout for networks with :class:`SELU`.

    Args:
        p: the probability (default 0.5).
        inplace: has no effect, as in PyTorch.

    Shape:
        Input and output :math:`(*)`, any.

    Raises:
        ValueError: ``p`` is not between 0 and 1.

    Example:
        >>> torch.nn.AlphaDropout()(torch.zeros(9, 9, 3)).unique()
        tensor([-0.7792,  0.7792])

    Mirrors torch/nn/modules/dropout.py, ``AlphaDropout``.
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.alpha_dropout(input, self.p, self.training)


class FeatureAlphaDropout(_DropoutNd):
    r"""In training, drop whole channels as :class:`AlphaDropout` drops elements.

    Args:
        p: the probability (default 0.5).
        inplace: has no effect, as in PyTorch.

    Shape:
        Input and output :math:`(N, C, *)`.

    Raises:
        ValueError: ``p`` is not between 0 and 1.

    Example:
        >>> torch.nn.FeatureAlphaDropout()(torch.zeros(9, 9, 3)).unique()
        tensor([-0.7792,  0.7792])

    Mirrors torch/nn/modules/dropout.py, ``FeatureAlphaDropout``.
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.feature_alpha_dropout(input, self.p, self.training)
