"""Norms of vectors, and distances between vectors.

Mirrors: torch/nn/functional.py (``normalize``, ``cosine_similarity``, ``pairwise_distance``, ``pdist``)
"""

from __future__ import annotations

from collections.abc import Sequence

from reftorch import _VF
from reftorch._tensor import Tensor
from reftorch._torch_function import overridable

__all__ = ["cosine_similarity", "normalize", "pairwise_distance", "pdist"]

# torch has the same functions, so their docstrings are in torch.
cosine_similarity, pairwise_distance, pdist = _VF.cosine_similarity, _VF.pairwise_distance, _VF.pdist


@overridable
def normalize(
    input: Tensor, p: float = 2.0, dim: int | Sequence[int] = 1, eps: float = 1e-12, out: Tensor | None = None
) -> Tensor:
    r"""Give vectors the length 1: :math:`v / \max(\|v\|_p, \epsilon)`.

    Args:
        input: tensor of any shape.
        p: :math:`p`, the order of the norm.
        dim: the dimension of the vectors, or several dimensions.
        eps: :math:`\epsilon`, which avoids a division by zero.
        out: where to put the result; no gradient is recorded then.

    Returns:
        A tensor of the same shape.

    Raises:
        IndexError: ``dim`` is out of range.
        RuntimeError: ``input`` is not floating-point.

    Example:
        >>> torch.nn.functional.normalize(torch.tensor([[3.0, 4.0], [0.0, 0.0]]))
        tensor([[0.6000, 0.8000],
                [0.0000, 0.0000]])

    Mirrors torch/nn/functional.py, ``normalize``.
    """
    length = input.norm(p, dim, keepdim=True).clamp_min(eps)
    return input / length if out is None else _VF.div(input, length, out=out)
