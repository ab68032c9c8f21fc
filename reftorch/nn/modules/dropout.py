"""Dropout.

Mirrors: torch/nn/modules/dropout.py
Leaves out: dropout of whole channels, and alpha dropout.
"""

from __future__ import annotations

from reftorch._tensor import Tensor
from reftorch.nn import functional as F
from reftorch.nn.modules.module import Module

__all__ = ["Dropout"]


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
        >>> import reftorch as torch
        >>> layer = torch.nn.Dropout(p=0.5).eval()
        >>> layer(torch.ones(2))
        tensor([1., 1.])

    Mirrors torch/nn/modules/dropout.py, ``Dropout``.
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.dropout(input, self.p, self.training, self.inplace)
