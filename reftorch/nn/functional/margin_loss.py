r"""Margin losses of classes, and losses that are negative log likelihoods of numbers.

Mirrors: torch/nn/functional.py (``multi_margin_loss``, ``multilabel_margin_loss``, ``soft_margin_loss``,
``poisson_nll_loss``, ``gaussian_nll_loss``, ...)
"""

from __future__ import annotations

import math

from reftorch import _C, _VF
from reftorch._tensor import Tensor
from reftorch._torch_function import overridable
from reftorch.nn import _reduction
from reftorch.nn.functional.activation import logsigmoid
from reftorch.nn.functional.loss import _legacy, _reduced

__all__ = [
    "gaussian_nll_loss", "multi_margin_loss", "multilabel_margin_loss", "multilabel_soft_margin_loss",
    "poisson_nll_loss", "soft_margin_loss",
]  # fmt: skip


@overridable
def soft_margin_loss(
    input: Tensor,
    target: Tensor,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    r"""Loss of a choice between two classes: :math:`\log(1 + e^{-y x})`.

    Args:
        input: scores, of any shape.
        target: :math:`y`, 1 or -1, of the same shape.
        size_average, reduce: deprecated, see ``reduction``.
        reduction: ``"none"``, ``"mean"`` or ``"sum"``.

    Returns:
        A 0-dim tensor; with reduction ``"none"``, a tensor of the shape of ``input``.

    Raises:
        ValueError: ``reduction`` is unknown.

    Example:
        >>> torch.nn.functional.soft_margin_loss(torch.tensor([0.0]), torch.tensor([1.0]))
        tensor(0.6931)

    Mirrors torch/nn/functional.py, ``soft_margin_loss``.
    """
    return _C._nn.soft_margin_loss(input, target, _reduction.get_enum(_legacy(size_average, reduce, reduction)))


@overridable
def multi_margin_loss(
    input: Tensor,
    target: Tensor,
    p: int = 1,
    margin: float = 1.0,
    weight: Tensor | None = None,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    r"""Loss of scores that are too close to the score of the right class.

    The loss is :math:`\sum_{i \ne y} \max(0, m - x_y + x_i)^p / C`.

    Args:
        input: scores, :math:`(N, C)` or :math:`(C)`.
        target: :math:`y`, classes from 0 to C - 1, int64, :math:`(N)`; a number for one example.
        p: 1 or 2.
        margin: :math:`m`.
        weight: weight of each class, :math:`(C)`; None means ones.
        size_average, reduce: deprecated, see ``reduction``.
        reduction: ``"none"``, ``"mean"`` or ``"sum"``.

    Returns:
        A 0-dim tensor; with reduction ``"none"``, a tensor of the shape of ``target``.

    Raises:
        ValueError: ``reduction`` is unknown, or ``p`` is neither 1 nor 2.
        RuntimeError: a target is not a class, or shapes do not match.

    Example:
        >>> torch.nn.functional.multi_margin_loss(torch.tensor([[0.1, 0.9]]), torch.tensor([1]))
        tensor(0.1000)

    Mirrors torch/nn/functional.py, ``multi_margin_loss``.
    """
    code = _reduction.get_enum(_legacy(size_average, reduce, reduction))
    if p not in (1, 2):
        raise ValueError("only p == 1 and p == 2 supported")
    if weight is not None and weight.dim() != 1:
        raise ValueError("weight must be one-dimensional")
    return _C._nn.multi_margin_loss(input, target, p, margin, weight, code)


@overridable
def multilabel_margin_loss(
    input: Tensor,
    target: Tensor,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    r"""Loss of wrong classes whose scores are too close to the scores of the right classes.

    The loss is :math:`\sum_{j \in Y} \sum_{i \notin Y} \max(0, 1 - x_j + x_i) / C`; :math:`Y` are the right classes.

    Args:
        input: scores, :math:`(N, C)` or :math:`(C)`.
        target: the right classes of each example, int64, of the same shape; -1 ends the list.
        size_average, reduce: deprecated, see ``reduction``.
        reduction: ``"none"``, ``"mean"`` or ``"sum"``.

    Returns:
        A 0-dim tensor; with reduction ``"none"``, a tensor of shape :math:`(N)` or :math:`()`.

    Raises:
        ValueError: ``reduction`` is unknown.
        RuntimeError: a target is not a class, or shapes do not match.

    Example:
        >>> scores, right = torch.tensor([0.1, 0.2, 0.4, 0.8]), torch.tensor([3, 0, -1, 1])
        >>> torch.nn.functional.multilabel_margin_loss(scores, right)
        tensor(0.8500)

    Mirrors torch/nn/functional.py, ``multilabel_margin_loss``.
    """
    return _C._nn.multilabel_margin_loss(input, target, _reduction.get_enum(_legacy(size_average, reduce, reduction)))


@overridable
def multilabel_soft_margin_loss(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    r"""Mean over the classes of each one's cross entropy, :math:`-y_c \log \sigma(x_c) - (1 - y_c) \log \sigma(-x_c)`.

    Args:
        input: scores, :math:`(*, C)`.
        target: :math:`y`, 0 or 1, of the same shape.
        weight: weight of each class, :math:`(C)`; None means ones.
        size_average, reduce: deprecated, see ``reduction``.
        reduction: ``"none"``, ``"mean"`` or ``"sum"``.

    Returns:
        A 0-dim tensor; with reduction ``"none"``, a tensor of shape :math:`(*)`.

    Raises:
        ValueError: ``reduction`` is unknown.

    Example:
        >>> torch.nn.functional.multilabel_soft_margin_loss(torch.zeros(1, 2), torch.tensor([[1.0, 0.0]]))
        tensor(0.6931)

    Mirrors torch/nn/functional.py, ``multilabel_soft_margin_loss``.
    """
    reduction = _legacy(size_average, reduce, reduction)
    if reduction not in ("none", "mean", "sum"):
        raise ValueError(f"{reduction} is not valid")
    loss = -(target * logsigmoid(input) + (1 - target) * logsigmoid(-input))
    loss = loss if weight is None else loss * weight
    return _reduced(loss.sum(-1) / input.shape[-1], reduction)


@overridable
def poisson_nll_loss(
    input: Tensor,
    target: Tensor,
    log_input: bool = True,
    full: bool = False,
    size_average: bool | None = None,
    eps: float = 1e-8,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    r"""Negative log likelihood of counts under Poisson distributions: :math:`\lambda - y \log \lambda`.

    Args:
        input: :math:`\log \lambda`, or :math:`\lambda`, of any shape.
        target: counts :math:`y`, of the same shape.
        log_input: whether ``input`` is the logarithm.
        full: whether to add Stirling's approximation of :math:`\log y!` where :math:`y > 1`.
        size_average, reduce: deprecated, see ``reduction``.
        eps: added to :math:`\lambda` before its logarithm is taken.
        reduction: ``"none"``, ``"mean"`` or ``"sum"``.

    Returns:
        A 0-dim tensor; with reduction ``"none"``, a tensor of the shape of ``input``.

    Raises:
        ValueError: ``reduction`` is unknown.

    Example:
        >>> torch.nn.functional.poisson_nll_loss(torch.tensor([0.0, 1.0]), torch.tensor([2.0, 1.0]), reduction="none")
        tensor([1.0000, 1.7183])

    Mirrors torch/nn/functional.py, ``poisson_nll_loss``.
    """
    reduction = _legacy(size_average, reduce, reduction)
    return _VF.poisson_nll_loss(input, target, log_input, full, eps, _reduction.get_enum(reduction))


@overridable
def gaussian_nll_loss(
    input: Tensor,
    target: Tensor,
    var: Tensor | float,
    full: bool = False,
    eps: float = 1e-6,
    reduction: str = "mean",
) -> Tensor:
    r"""Negative log likelihood of numbers under normal distributions: :math:`(\log v + (x - y)^2 / v) / 2`.

    Args:
        input: means :math:`x`, of any shape.
        target: numbers :math:`y`, of a shape that broadcasts to the shape of ``input``.
        var: variances :math:`v`: a number, or a tensor of the shape of ``input``. Its last dimension may be missing, or
            one of its dimensions may have size 1.
        full: whether to add the constant :math:`\log(2 \pi) / 2`.
        eps: smaller variances are replaced by ``eps``; the gradient ignores this replacement.
        reduction: ``"none"``, ``"mean"`` or ``"sum"``.

    Returns:
        A 0-dim tensor; with reduction ``"none"``, a tensor of the shape of ``input``.

    Raises:
        ValueError: ``reduction`` is unknown, a variance is negative, or the shape of ``var`` does not match.

    Example:
        >>> torch.nn.functional.gaussian_nll_loss(torch.tensor([0.0]), torch.tensor([2.0]), torch.tensor([4.0]))
        tensor(1.1931)

    Mirrors torch/nn/functional.py, ``gaussian_nll_loss``.
    """
    variance = _VF.full_like(input.detach(), var) if isinstance(var, float) else var
    if bool((variance < 0).any()):
        raise ValueError("var has negative entry/entries")
    if variance.shape != input.shape:
        if variance.shape == input.shape[:-1]:
            variance = variance.unsqueeze(-1)
        elif (
            variance.dim() != input.dim()
            or sum(v for v, n in zip(variance.shape, input.shape, strict=True) if v != n) != 1
        ):
            raise ValueError("var is of incorrect size")
    if reduction not in ("none", "mean", "sum"):
        raise ValueError(f"{reduction} is not valid")
    # clamp would stop the gradient of variances below eps.
    variance = variance + (variance.detach().clamp_min(eps) - variance.detach())
    loss = 0.5 * (variance.log() + (input - target) ** 2 / variance)
    return _reduced(loss + 0.5 * math.log(2 * math.pi) if full else loss, reduction)
