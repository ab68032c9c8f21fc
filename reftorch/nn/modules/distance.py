r"""Distances and angles between vectors.

Mirrors: torch/nn/modules/distance.py
"""

from __future__ import annotations

from reftorch._tensor import Tensor
from reftorch.nn import functional as F
from reftorch.nn.modules.module import Module

__all__ = ["CosineSimilarity", "PairwiseDistance"]


class PairwiseDistance(Module):
    r"""Distance between the vectors at the same places of two tensors: :math:`\|x_1 - x_2 + \epsilon\|_p`.

    Args:
        p: :math:`p`, the order of the norm (default 2.0).
        eps: :math:`\epsilon`, which keeps the gradient finite at distance zero (default 1e-6).
        keepdim: whether to keep the last dimension with size 1 (default False).

    Shape:
        Inputs :math:`(N, D)` or :math:`(D)`; output :math:`(N)` or :math:`()`, with ``keepdim`` :math:`(N, 1)` or
        :math:`(1)`.

    Example:
        >>> torch.nn.PairwiseDistance()(torch.zeros(1, 2), torch.tensor([[3.0, 4.0]]))
        tensor([5.0000])

    Mirrors torch/nn/modules/distance.py, ``PairwiseDistance``.
    """

    norm: float
    eps: float
    keepdim: bool

    def __init__(self, p: float = 2.0, eps: float = 1e-6, keepdim: bool = False) -> None:
        super().__init__()
        self.norm = p
        self.eps = eps
        self.keepdim = keepdim

    def forward(self, x1: Tensor, x2: Tensor) -> Tensor:
        return F.pairwise_distance(x1, x2, self.norm, self.eps, self.keepdim)


class CosineSimilarity(Module):
    r"""Cosine of the angle between vectors: :math:`x_1 \cdot x_2 / \max(\|x_1\| \|x_2\|, \epsilon)`.

    Args:
        dim: the dimension of the vectors (default 1).
        eps: :math:`\epsilon`, which avoids a division by zero (default 1e-8).

    Shape:
        Inputs :math:`(*_1, D, *_2)`, with ``D`` at ``dim``; output :math:`(*_1, *_2)`.

    Example:
        >>> torch.nn.CosineSimilarity()(torch.tensor([[1.0, 0.0]]), torch.tensor([[3.0, 4.0]]))
        tensor([0.6000])

    Mirrors torch/nn/modules/distance.py, ``CosineSimilarity``.
    """

    dim: int
    eps: float

    def __init__(self, dim: int = 1, eps: float = 1e-8) -> None:
        super().__init__()
        self.dim = dim
        self.eps = eps

    def forward(self, x1: Tensor, x2: Tensor) -> Tensor:
        return F.cosine_similarity(x1, x2, self.dim, self.eps)
