"""Merging dimensions, and splitting one.

Mirrors: torch/nn/modules/flatten.py
Leaves out: sizes given by dimension names.
"""

from __future__ import annotations

from reftorch._tensor import Tensor
from reftorch.nn.modules.module import Module

__all__ = ["Flatten", "Unflatten"]


class Flatten(Module):
    """Merge a range of neighbouring dimensions into one.

    Args:
        start_dim: first dimension to merge (default 1, which keeps the batch).
        end_dim: last dimension to merge (default -1).

    Shape:
        Input :math:`(*, S_i, ..., S_j, *)`, output :math:`(*, S_i \\cdots S_j, *)`.

    Example:
        >>> torch.nn.Flatten()(torch.zeros(32, 1, 5, 5)).shape
        torch.Size([32, 25])

    Mirrors torch/nn/modules/flatten.py, ``Flatten``.
    """

    start_dim: int
    end_dim: int

    def __init__(self, start_dim: int = 1, end_dim: int = -1) -> None:
        super().__init__()
        self.start_dim = start_dim
        self.end_dim = end_dim

    def forward(self, input: Tensor) -> Tensor:
        return input.flatten(self.start_dim, self.end_dim)

    def extra_repr(self) -> str:
        return f"start_dim={self.start_dim}, end_dim={self.end_dim}"


class Unflatten(Module):
    """Split one dimension into several.

    Args:
        dim: the dimension to split.
        unflattened_size: the sizes to split it into; at most one may be -1.

    Shape:
        Input :math:`(*, S, *)`, output :math:`(*, U_1, ..., U_n, *)` with :math:`U_1 \\cdots U_n = S`.

    Raises:
        TypeError: ``unflattened_size`` is not a tuple or list of ints.

    Example:
        >>> torch.nn.Unflatten(1, (5, 5))(torch.zeros(32, 25)).shape
        torch.Size([32, 5, 5])

    Mirrors torch/nn/modules/flatten.py, ``Unflatten``.
    """

    dim: int
    unflattened_size: tuple[int, ...] | list[int]

    def __init__(self, dim: int, unflattened_size: tuple[int, ...] | list[int]) -> None:
        super().__init__()
        if not isinstance(unflattened_size, (tuple, list)):
            raise TypeError(
                f"unflattened_size must be a tuple of ints, but found type {type(unflattened_size).__name__}"
            )
        for pos, size in enumerate(unflattened_size):
            if not isinstance(size, int):
                raise TypeError(
                    "unflattened_size must be tuple of ints, "
                    f"but found element of type {type(size).__name__} at pos {pos}"
                )
        self.dim = dim
        self.unflattened_size = unflattened_size

    def forward(self, input: Tensor) -> Tensor:
        return input.unflatten(self.dim, self.unflattened_size)

    def extra_repr(self) -> str:
        return f"dim={self.dim}, unflattened_size={self.unflattened_size}"
