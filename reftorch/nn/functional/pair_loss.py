r"""Losses of pairs and triples of vectors.

Mirrors: torch/nn/functional.py (``cosine_embedding_loss``, ``hinge_embedding_loss``, ``margin_ranking_loss``,
``triplet_margin_loss``)

The functions of the same names in ``torch`` are ops, whose reductions are numbers.
"""

from __future__ import annotations

from collections.abc import Callable

from reftorch import _VF
from reftorch._tensor import Tensor
from reftorch._torch_function import overridable
from reftorch.nn import _reduction
from reftorch.nn.functional.loss import _legacy, _reduced

__all__ = [
    "cosine_embedding_loss", "hinge_embedding_loss", "margin_ranking_loss", "triplet_margin_loss",
    "triplet_margin_with_distance_loss",
]  # fmt: skip


@overridable
def hinge_embedding_loss(
    input: Tensor,
    target: Tensor,
    margin: float = 1.0,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    r"""The distance :math:`x` where the target is 1, and :math:`\max(0, m - x)` where the target is -1.

    Args:
        input: distances, of any shape.
        target: 1 for similar pairs, -1 for dissimilar pairs; of the same shape.
        margin: :math:`m`.
        size_average, reduce: deprecated, see ``reduction``.
        reduction: ``"none"``, ``"mean"`` or ``"sum"``.

    Returns:
        A 0-dim tensor; with reduction ``"none"``, a tensor of the shape of ``input``.

    Raises:
        ValueError: ``reduction`` is unknown.

    Example:
        >>> distances, alike = torch.tensor([0.5, 0.2, 3.0]), torch.tensor([1, -1, -1])
        >>> torch.nn.functional.hinge_embedding_loss(distances, alike, reduction="none")
        tensor([0.5000, 0.8000, 0.0000])

    Mirrors torch/nn/functional.py, ``hinge_embedding_loss``.
    """
    code = _reduction.get_enum(_legacy(size_average, reduce, reduction))
    return _VF.hinge_embedding_loss(input, target, margin, code)


@overridable
def cosine_embedding_loss(
    input1: Tensor,
    input2: Tensor,
    target: Tensor,
    margin: float = 0,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    r"""Loss of the angle between two vectors.

    The loss is :math:`1 - \cos(x_1, x_2)` if the target is 1, and :math:`\max(0, \cos(x_1, x_2) - m)` if it is -1.

    Args:
        input1, input2: :math:`(N, D)` or :math:`(D)`.
        target: 1 for similar pairs, -1 for dissimilar pairs; :math:`(N)` or :math:`()`.
        margin: :math:`m`.
        size_average, reduce: deprecated, see ``reduction``.
        reduction: ``"none"``, ``"mean"`` or ``"sum"``.

    Returns:
        A 0-dim tensor; with reduction ``"none"``, a tensor of the shape of ``target``.

    Raises:
        ValueError: ``reduction`` is unknown.
        RuntimeError: the shapes do not match.

    Example:
        >>> x, y = torch.tensor([[1.0, 0.0]]), torch.tensor([[1.0, 1.0]])
        >>> torch.nn.functional.cosine_embedding_loss(x, y, torch.tensor([1]))
        tensor(0.2929)

    Mirrors torch/nn/functional.py, ``cosine_embedding_loss``.
    """
    code = _reduction.get_enum(_legacy(size_average, reduce, reduction))
    return _VF.cosine_embedding_loss(input1, input2, target, margin, code)


@overridable
def margin_ranking_loss(
    input1: Tensor,
    input2: Tensor,
    target: Tensor,
    margin: float = 0,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    r"""Loss of a wrong order of two scores: :math:`\max(0, -y (x_1 - x_2) + m)`.

    Args:
        input1, input2: scores, of any shape.
        target: :math:`y`, 1 if the first score should be larger, -1 if the second should be.
        margin: :math:`m`, the difference that the scores should have.
        size_average, reduce: deprecated, see ``reduction``.
        reduction: ``"none"``, ``"mean"`` or ``"sum"``.

    Returns:
        A 0-dim tensor; with reduction ``"none"``, a tensor of the shape of the scores.

    Raises:
        ValueError: ``reduction`` is unknown.
        RuntimeError: the numbers of dimensions differ.

    Example:
        >>> torch.nn.functional.margin_ranking_loss(torch.tensor([1.0]), torch.tensor([3.0]), torch.tensor([1]))
        tensor(2.)

    Mirrors torch/nn/functional.py, ``margin_ranking_loss``.
    """
    code = _reduction.get_enum(_legacy(size_average, reduce, reduction))
    if input1.dim() != input2.dim() or input1.dim() != target.dim():
        raise RuntimeError(
            "margin_ranking_loss : All input tensors should have same dimension but got sizes: "
            f"input1: {input1.size()}, input2: {input2.size()}, target: {target.size()} "
        )
    return _VF.margin_ranking_loss(input1, input2, target, margin, code)


def _triplet(near: Tensor, far: Tensor, far_from_near: Tensor | None, margin: float, reduction: str) -> Tensor:
    far = far if far_from_near is None else _VF.minimum(far, far_from_near)
    return _reduced((margin + near - far).clamp_min(0), reduction)


def _check_triplet(anchor: Tensor, positive: Tensor, negative: Tensor, margin: float) -> None:
    if margin <= 0:
        raise ValueError(f"margin must be greater than 0, got {margin}")
    if not anchor.dim() == positive.dim() == negative.dim():
        raise RuntimeError(
            "The anchor, positive, and negative tensors are expected to have the same number of dimensions, but got: "
            f"anchor {anchor.dim()}D, positive {positive.dim()}D, and negative {negative.dim()}D inputs"
        )


@overridable
def triplet_margin_loss(
    anchor: Tensor,
    positive: Tensor,
    negative: Tensor,
    margin: float = 1.0,
    p: float = 2,
    eps: float = 1e-6,
    swap: bool = False,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    r"""Loss of vectors that should be nearer to one vector than to another: :math:`\max(0, m + d(a, p) - d(a, n))`.

    Args:
        anchor: :math:`a`, :math:`(N, D)` or :math:`(D)`.
        positive: :math:`p`, the vectors that should be near, of the same shape.
        negative: :math:`n`, the vectors that should be far, of the same shape.
        margin: :math:`m`, above 0.
        p: the order of the norm of the distances.
        eps: a number that is added to differences, so that no distance is 0.
        swap: whether to use :math:`d(p, n)` instead of :math:`d(a, n)` where it is smaller.
        size_average, reduce: deprecated, see ``reduction``.
        reduction: ``"none"``, ``"mean"`` or ``"sum"``.

    Returns:
        A 0-dim tensor; with reduction ``"none"``, a tensor of shape :math:`(N)`.

    Raises:
        ValueError: ``reduction`` is unknown, or ``margin`` is not positive.
        RuntimeError: the numbers of dimensions differ.

    Example:
        >>> a, p, n = torch.tensor([[0.0]]), torch.tensor([[1.0]]), torch.tensor([[1.5]])
        >>> torch.nn.functional.triplet_margin_loss(a, p, n)
        tensor(0.5000)

    Mirrors torch/nn/functional.py, ``triplet_margin_loss``.
    """
    code = _reduction.get_enum(_legacy(size_average, reduce, reduction))
    if margin <= 0:
        raise ValueError(f"margin must be greater than 0, got {margin}")
    return _VF.triplet_margin_loss(anchor, positive, negative, margin, p, eps, swap, code)


@overridable
def triplet_margin_with_distance_loss(
    anchor: Tensor,
    positive: Tensor,
    negative: Tensor,
    *,
    distance_function: Callable[[Tensor, Tensor], Tensor] | None = None,
    margin: float = 1.0,
    swap: bool = False,
    reduction: str = "mean",
) -> Tensor:
    """The :func:`triplet_margin_loss` with any function as the distance.

    Args:
        anchor, positive, negative: arguments of the distance function, with equal numbers of dimensions.
        distance_function: takes two tensors and returns their distance; ``pairwise_distance`` by default.
        margin, swap, reduction: see :func:`triplet_margin_loss`.

    Returns:
        A 0-dim tensor; with reduction ``"none"``, a tensor of the shape of the distances.

    Raises:
        ValueError: ``reduction`` is unknown, or ``margin`` is not positive.
        RuntimeError: the numbers of dimensions differ.

    Example:
        >>> a, p, n = torch.tensor([0.0]), torch.tensor([1.0]), torch.tensor([1.5])
        >>> torch.nn.functional.triplet_margin_with_distance_loss(
        ...     a, p, n, distance_function=lambda x, y: (x - y).abs()
        ... )
        tensor(0.5000)

    Mirrors torch/nn/functional.py, ``triplet_margin_with_distance_loss``.
    """
    _reduction.get_enum(reduction)
    _check_triplet(anchor, positive, negative, margin)
    distance = _VF.pairwise_distance if distance_function is None else distance_function
    between = distance(positive, negative) if swap else None
    return _triplet(distance(anchor, positive), distance(anchor, negative), between, margin, reduction)
