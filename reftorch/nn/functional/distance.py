"""Lengths of vectors, and how far they are from each other.

Mirrors: torch/nn/functional.py (``normalize``, ``cosine_similarity``, ``pairwise_distance``, ``pdist``)
Leaves out: nothing.
"""

from __future__ import annotations

from collections.abc import Sequence

from reftorch import _VF
from reftorch._tensor import Tensor
from reftorch._torch_function import overridable

__all__ = ["cosine_similarity", "normalize", "pairwise_distance", "pdist"]

# The same functions as in torch: their words are those of torch.cosine_similarity and so on.
cosine_similarity, pairwise_distance, pdist = _VF.cosine_similarity, _VF.pairwise_distance, _VF.pdist


@overridable
def normalize(
    input: Tensor, p: float = 2.0, dim: int | Sequence[int] = 1, eps: float = 1e-12, out: Tensor | None = None
) -> Tensor:
    r"""Give vectors the length 1: :math:`v / \max(\|v\|_p, \epsilon)`.

    Args:
        input: tensor of any shape.
        p: :math:`p`, the order of the norm.
        dim: the dimension of the vectors, or several.
        eps: :math:`\epsilon`, so that a vector of zeros stays one.
        out: where to put the result; then no gradient flows.

    Returns:
        A tensor of the same shape.

    Raises:
        IndexError: ``dim`` is out of range.
        RuntimeError: ``input`` is not of floating-point numbers.

    Example:
        >>> import reftorch as torch
        >>> torch.nn.functional.normalize(torch.tensor([[3.0, 4.0], [0.0, 0.0]]))
        tensor([[0.6000, 0.8000],
                [0.0000, 0.0000]])

    Mirrors torch/nn/functional.py, ``normalize``.
    """
    length = input.norm(p, dim, keepdim=True).clamp_min(eps)
    return input / length if out is None else _VF.div(input, length, out=out)
