"""Losses: modules that measure how far an output is from its target.

Mirrors: torch/nn/modules/loss.py

The file is more than 500 lines long, because there are many losses; each takes a few lines and a
docstring.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from reftorch._tensor import Tensor
from reftorch._warnings import warn
from reftorch.nn import _reduction
from reftorch.nn import functional as F
from reftorch.nn.modules.distance import PairwiseDistance
from reftorch.nn.modules.linear import Linear
from reftorch.nn.modules.linear_cross_entropy_options import LinearCrossEntropyOptions
from reftorch.nn.modules.module import Module

__all__ = [
    "BCELoss",
    "BCEWithLogitsLoss",
    "CTCLoss",
    "CosineEmbeddingLoss",
    "CrossEntropyLoss",
    "GaussianNLLLoss",
    "HingeEmbeddingLoss",
    "HuberLoss",
    "KLDivLoss",
    "L1Loss",
    "LinearCrossEntropyLoss",
    "MSELoss",
    "MarginRankingLoss",
    "MultiLabelMarginLoss",
    "MultiLabelSoftMarginLoss",
    "MultiMarginLoss",
    "NLLLoss",
    "NLLLoss2d",
    "PoissonNLLLoss",
    "SmoothL1Loss",
    "SoftMarginLoss",
    "TripletMarginLoss",
    "TripletMarginWithDistanceLoss",
]


class _Loss(Module):
    reduction: str

    def __init__(self, size_average: bool | None = None, reduce: bool | None = None, reduction: str = "mean") -> None:
        super().__init__()
        if size_average is not None or reduce is not None:
            reduction = _reduction.legacy_get_string(size_average, reduce)
        self.reduction = reduction


class _WeightedLoss(_Loss):
    weight: Tensor | None

    def __init__(
        self,
        weight: Tensor | None = None,
        size_average: bool | None = None,
        reduce: bool | None = None,
        reduction: str = "mean",
    ) -> None:
        super().__init__(size_average, reduce, reduction)
        self.register_buffer("weight", weight)


class NLLLoss(_WeightedLoss):
    r"""Negative log likelihood of the target classes: :math:`\ell_n = -w_{y_n} x_{n, y_n}`.

    Args:
        weight: weight of each class, :math:`(C)`; None means ones.
        size_average, reduce: deprecated, see ``reduction``.
        ignore_index: a target that adds neither to the sum nor to the weights (default -100).
        reduction: ``"none"``, ``"mean"`` (divided by the weights of the targets; the default) or ``"sum"``.

    Shape:
        Input :math:`(C)`, :math:`(N, C)` or :math:`(N, C, d_1, ...)`, log-probabilities; target :math:`()`,
        :math:`(N)` or :math:`(N, d_1, ...)`, int64; output :math:`()`, or the shape of the target with reduction
        ``"none"``.

    Example:
        >>> log_probabilities = torch.tensor([[-0.5, -1.0], [-2.0, -0.1]])
        >>> torch.nn.NLLLoss()(log_probabilities, torch.tensor([0, 0]))
        tensor(1.2500)

    Mirrors torch/nn/modules/loss.py, ``NLLLoss``.
    """

    ignore_index: int

    def __init__(
        self,
        weight: Tensor | None = None,
        size_average: bool | None = None,
        ignore_index: int = -100,
        reduce: bool | None = None,
        reduction: str = "mean",
    ) -> None:
        super().__init__(weight, size_average, reduce, reduction)
        self.ignore_index = ignore_index

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.nll_loss(input, target, weight=self.weight, ignore_index=self.ignore_index, reduction=self.reduction)


class MSELoss(_Loss):
    r"""Mean squared error: :math:`(x - y)^2` of every element.

    Args:
        size_average, reduce: deprecated, see ``reduction``.
        reduction: ``"none"``, ``"mean"`` (the default) or ``"sum"``.

    Shape:
        Input and target :math:`(*)`, the same; output :math:`()`, or :math:`(*)` with reduction ``"none"``.

    Example:
        >>> torch.nn.MSELoss()(torch.tensor([1.0, 2.0]), torch.tensor([1.0, 4.0]))
        tensor(2.)

    Mirrors torch/nn/modules/loss.py, ``MSELoss``.
    """

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.mse_loss(input, target, reduction=self.reduction)


class CrossEntropyLoss(_WeightedLoss):
    r"""Cross entropy between scores and classes: :class:`NLLLoss` of the log-softmax of the scores.

    Args:
        weight: weight of each class, :math:`(C)`; None means ones.
        size_average, reduce: deprecated, see ``reduction``.
        ignore_index: a class that adds neither to the sum nor to the weights (default -100).
        reduction: ``"none"``, ``"mean"`` (divided by the weights of the targets; the default) or ``"sum"``.
        label_smoothing: the part of the target, from 0.0 to 1.0, that is spread evenly over the classes (default 0.0).

    Shape:
        Input :math:`(C)`, :math:`(N, C)` or :math:`(N, C, d_1, ...)`, scores; target :math:`()`, :math:`(N)` or
        :math:`(N, d_1, ...)`, int64, or probabilities of the shape of the input; output :math:`()`, or the shape of
        the classes with reduction ``"none"``.

    Example:
        >>> scores = torch.tensor([[2.0, 0.0], [0.0, 0.0]])
        >>> torch.nn.CrossEntropyLoss()(scores, torch.tensor([0, 1]))
        tensor(0.4100)

    Mirrors torch/nn/modules/loss.py, ``CrossEntropyLoss``.
    """

    ignore_index: int
    label_smoothing: float

    def __init__(
        self,
        weight: Tensor | None = None,
        size_average: bool | None = None,
        ignore_index: int = -100,
        reduce: bool | None = None,
        reduction: str = "mean",
        label_smoothing: float = 0.0,
    ) -> None:
        super().__init__(weight, size_average, reduce, reduction)
        self.ignore_index = ignore_index
        self.label_smoothing = label_smoothing

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.cross_entropy(
            input,
            target,
            weight=self.weight,
            ignore_index=self.ignore_index,
            reduction=self.reduction,
            label_smoothing=self.label_smoothing,
        )


class L1Loss(_Loss):
    r"""Mean absolute error: :math:`|x - y|` of every element.

    Args:
        size_average, reduce: deprecated, see ``reduction``.
        reduction: ``"none"``, ``"mean"`` (the default) or ``"sum"``.

    Shape:
        Input and target :math:`(*)`, the same; output :math:`()`, or :math:`(*)` with reduction ``"none"``.

    Example:
        >>> torch.nn.L1Loss()(torch.tensor([1.0, 2.0]), torch.tensor([1.0, 4.0]))
        tensor(1.)

    Mirrors torch/nn/modules/loss.py, ``L1Loss``.
    """

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.l1_loss(input, target, reduction=self.reduction)


class SmoothL1Loss(_Loss):
    r"""Squared error near the target, absolute error far from it; see :func:`reftorch.nn.functional.smooth_l1_loss`.

    Args:
        size_average, reduce: deprecated, see ``reduction``.
        reduction: ``"none"``, ``"mean"`` (the default) or ``"sum"``.
        beta: the error at which the squared error ends (default 1.0).

    Shape:
        Input and target :math:`(*)`, the same; output :math:`()`, or :math:`(*)` with reduction ``"none"``.

    Example:
        >>> torch.nn.SmoothL1Loss(reduction="none")(torch.tensor([0.5, 3.0]), torch.zeros(2))
        tensor([0.1250, 2.5000])

    Mirrors torch/nn/modules/loss.py, ``SmoothL1Loss``.
    """

    beta: float

    def __init__(
        self,
        size_average: bool | None = None,
        reduce: bool | None = None,
        reduction: str = "mean",
        beta: float = 1.0,
    ) -> None:
        super().__init__(size_average, reduce, reduction)
        self.beta = beta

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.smooth_l1_loss(input, target, reduction=self.reduction, beta=self.beta)


class HuberLoss(_Loss):
    r"""Squared error near the target, absolute error far from it; see :func:`reftorch.nn.functional.huber_loss`.

    Args:
        reduction: ``"none"``, ``"mean"`` (the default) or ``"sum"``.
        delta: the error at which the squared error ends (default 1.0).

    Shape:
        Input and target :math:`(*)`, the same; output :math:`()`, or :math:`(*)` with reduction ``"none"``.

    Example:
        >>> torch.nn.HuberLoss("none", delta=2.0)(torch.tensor([0.5, 3.0]), torch.zeros(2))
        tensor([0.1250, 4.0000])

    Mirrors torch/nn/modules/loss.py, ``HuberLoss``.
    """

    delta: float

    def __init__(self, reduction: str = "mean", delta: float = 1.0) -> None:
        super().__init__(reduction=reduction)
        self.delta = delta

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.huber_loss(input, target, reduction=self.reduction, delta=self.delta)


class BCELoss(_WeightedLoss):
    r"""Cross entropy of probabilities: :math:`-w (y \log x + (1 - y) \log(1 - x))`.

    Args:
        weight: weight of each element, of a shape that broadcasts; None means ones.
        size_average, reduce: deprecated, see ``reduction``.
        reduction: ``"none"``, ``"mean"`` (the default) or ``"sum"``.

    Shape:
        Input and target :math:`(*)`, the same; output :math:`()`, or :math:`(*)` with reduction ``"none"``.

    Example:
        >>> torch.nn.BCELoss()(torch.tensor([0.5, 0.0]), torch.tensor([1.0, 0.0]))
        tensor(0.3466)

    Mirrors torch/nn/modules/loss.py, ``BCELoss``.
    """

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.binary_cross_entropy(input, target, weight=self.weight, reduction=self.reduction)


class BCEWithLogitsLoss(_Loss):
    r"""Cross entropy of scores: :class:`BCELoss` of their sigmoid, computed without overflow.

    Args:
        weight: weight of each element, of a shape that broadcasts; None means ones.
        size_average, reduce: deprecated, see ``reduction``.
        reduction: ``"none"``, ``"mean"`` (the default) or ``"sum"``.
        pos_weight: weight of the positive examples, of a shape that broadcasts; None means ones.

    Shape:
        Input and target :math:`(*)`, the same; output :math:`()`, or :math:`(*)` with reduction ``"none"``.

    Example:
        >>> torch.nn.BCEWithLogitsLoss()(torch.tensor([0.0, 2.0]), torch.tensor([1.0, 1.0]))
        tensor(0.4100)

    Mirrors torch/nn/modules/loss.py, ``BCEWithLogitsLoss``.
    """

    def __init__(
        self,
        weight: Tensor | None = None,
        size_average: bool | None = None,
        reduce: bool | None = None,
        reduction: str = "mean",
        pos_weight: Tensor | None = None,
    ) -> None:
        super().__init__(size_average, reduce, reduction)
        self.register_buffer("weight", weight)
        self.register_buffer("pos_weight", pos_weight)

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.binary_cross_entropy_with_logits(
            input, target, self.weight, pos_weight=self.pos_weight, reduction=self.reduction
        )


class KLDivLoss(_Loss):
    r"""The divergence of a distribution from its target: :math:`y (\log y - x)`, where :math:`x` is a logarithm.

    Args:
        size_average, reduce: deprecated, see ``reduction``.
        reduction: ``"none"``, ``"mean"`` (the default, with a warning), ``"batchmean"`` or ``"sum"``.
        log_target: whether the target holds logarithms (default False).

    Shape:
        Input and target :math:`(*)`, the same; output :math:`()`, or :math:`(*)` with reduction ``"none"``.

    Example:
        >>> uniform = torch.tensor([[0.5, 0.5]])
        >>> torch.nn.KLDivLoss(reduction="batchmean")(uniform.log(), torch.tensor([[0.25, 0.75]]))
        tensor(0.1308)

    Mirrors torch/nn/modules/loss.py, ``KLDivLoss``.
    """

    log_target: bool

    def __init__(
        self,
        size_average: bool | None = None,
        reduce: bool | None = None,
        reduction: str = "mean",
        log_target: bool = False,
    ) -> None:
        super().__init__(size_average, reduce, reduction)
        self.log_target = log_target

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.kl_div(input, target, reduction=self.reduction, log_target=self.log_target)


class PoissonNLLLoss(_Loss):
    r"""Negative log likelihood of counts from a Poisson distribution: :math:`e^x - y x`.

    Args:
        log_input: whether the input :math:`x` is the logarithm of the mean; otherwise the loss is
            :math:`x - y \log(x + \epsilon)` (default True).
        full: whether to add Stirling's approximation of :math:`\log y!` (default False).
        size_average, reduce: deprecated, see ``reduction``.
        eps: :math:`\epsilon`, which avoids the logarithm of zero (default 1e-8).
        reduction: ``"none"``, ``"mean"`` (the default) or ``"sum"``.

    Shape:
        Input and target :math:`(*)`, the same; output :math:`()`, or :math:`(*)` with reduction ``"none"``.

    Example:
        >>> torch.nn.PoissonNLLLoss()(torch.tensor([0.0]), torch.tensor([2.0]))
        tensor(1.)

    Mirrors torch/nn/modules/loss.py, ``PoissonNLLLoss``.
    """

    log_input: bool
    full: bool
    eps: float

    def __init__(
        self,
        log_input: bool = True,
        full: bool = False,
        size_average: bool | None = None,
        eps: float = 1e-8,
        reduce: bool | None = None,
        reduction: str = "mean",
    ) -> None:
        super().__init__(size_average, reduce, reduction)
        self.log_input = log_input
        self.full = full
        self.eps = eps

    def forward(self, log_input: Tensor, target: Tensor) -> Tensor:
        return F.poisson_nll_loss(
            log_input, target, log_input=self.log_input, full=self.full, eps=self.eps, reduction=self.reduction
        )


class GaussianNLLLoss(_Loss):
    r"""Negative log likelihood of a normal distribution: :math:`\frac12 (\log v + (x - y)^2 / v)`.

    Args:
        full: whether to add the constant :math:`\frac12 \log 2 \pi` (default False).
        eps: lower bound of the variance :math:`v` (default 1e-6).
        reduction: ``"none"``, ``"mean"`` (the default) or ``"sum"``.

    Shape:
        Input :math:`(N, *)`, the means; target of the same shape; var of the same shape, with size 1 or without the
        last dimension, or a number; output :math:`()`, or :math:`(N, *)` with reduction ``"none"``.

    Example:
        >>> torch.nn.GaussianNLLLoss()(torch.zeros(1), torch.tensor([2.0]), torch.ones(1))
        tensor(2.)

    Mirrors torch/nn/modules/loss.py, ``GaussianNLLLoss``.
    """

    full: bool
    eps: float

    def __init__(self, *, full: bool = False, eps: float = 1e-6, reduction: str = "mean") -> None:
        super().__init__(None, None, reduction)
        self.full = full
        self.eps = eps

    def forward(self, input: Tensor, target: Tensor, var: Tensor | float) -> Tensor:
        return F.gaussian_nll_loss(input, target, var, full=self.full, eps=self.eps, reduction=self.reduction)


class HingeEmbeddingLoss(_Loss):
    r"""Loss of distances between pairs: :math:`x` if :math:`y = 1`, and :math:`\max(0, m - x)` if :math:`y = -1`.

    Args:
        margin: :math:`m` (default 1.0).
        size_average, reduce: deprecated, see ``reduction``.
        reduction: ``"none"``, ``"mean"`` (the default) or ``"sum"``.

    Shape:
        Input :math:`(*)`, distances; target :math:`(*)` of 1 and -1; output :math:`()`, or :math:`(*)` with reduction
        ``"none"``.

    Example:
        >>> torch.nn.HingeEmbeddingLoss()(torch.tensor([0.5, 0.25]), torch.tensor([1, -1]))
        tensor(0.6250)

    Mirrors torch/nn/modules/loss.py, ``HingeEmbeddingLoss``.
    """

    margin: float

    def __init__(
        self, margin: float = 1.0, size_average: bool | None = None, reduce: bool | None = None, reduction: str = "mean"
    ) -> None:
        super().__init__(size_average, reduce, reduction)
        self.margin = margin

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.hinge_embedding_loss(input, target, margin=self.margin, reduction=self.reduction)


class MultiLabelMarginLoss(_Loss):
    r"""Hinge loss of examples with several classes: :math:`\sum_{ij} \max(0, 1 - (x_{y_j} - x_i)) / C`.

    Args:
        size_average, reduce: deprecated, see ``reduction``.
        reduction: ``"none"``, ``"mean"`` (the default) or ``"sum"``.

    Shape:
        Input :math:`(N, C)` or :math:`(C)`, scores; target of the same shape: the classes, then -1; output :math:`()`,
        or :math:`(N)` with reduction ``"none"``.

    Example:
        >>> torch.nn.MultiLabelMarginLoss()(torch.tensor([[0.1, 0.2, 0.4, 0.8]]), torch.tensor([[3, 0, -1, 1]]))
        tensor(0.8500)

    Mirrors torch/nn/modules/loss.py, ``MultiLabelMarginLoss``.
    """

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.multilabel_margin_loss(input, target, reduction=self.reduction)


class SoftMarginLoss(_Loss):
    r"""Logistic loss of two classes: :math:`\log(1 + e^{-y x})`.

    Args:
        size_average, reduce: deprecated, see ``reduction``.
        reduction: ``"none"``, ``"mean"`` (the default) or ``"sum"``.

    Shape:
        Input :math:`(*)`; target :math:`(*)` of 1 and -1; output :math:`()`, or :math:`(*)` with reduction ``"none"``.

    Example:
        >>> torch.nn.SoftMarginLoss()(torch.tensor([0.0, 1.0]), torch.tensor([1.0, 1.0]))
        tensor(0.5032)

    Mirrors torch/nn/modules/loss.py, ``SoftMarginLoss``.
    """

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.soft_margin_loss(input, target, reduction=self.reduction)


class MultiLabelSoftMarginLoss(_WeightedLoss):
    r"""Mean over the classes of the binary cross entropy of each class, from scores.

    Args:
        weight: weight of each class, :math:`(C)`; None means ones.
        size_average, reduce: deprecated, see ``reduction``.
        reduction: ``"none"``, ``"mean"`` (the default) or ``"sum"``.

    Shape:
        Input :math:`(N, C)`, scores; target :math:`(N, C)` of 0 and 1; output :math:`()`, or :math:`(N)` with reduction
        ``"none"``.

    Example:
        >>> torch.nn.MultiLabelSoftMarginLoss()(torch.zeros(1, 2), torch.tensor([[0.0, 1.0]]))
        tensor(0.6931)

    Mirrors torch/nn/modules/loss.py, ``MultiLabelSoftMarginLoss``.
    """

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.multilabel_soft_margin_loss(input, target, weight=self.weight, reduction=self.reduction)


class CosineEmbeddingLoss(_Loss):
    r"""Loss of the angle between two vectors: :math:`1 - c` if :math:`y = 1`, else :math:`\max(0, c - m)`.

    Here, :math:`c` is the cosine of the angle.

    Args:
        margin: :math:`m`, from -1 to 1 (default 0.0).
        size_average, reduce: deprecated, see ``reduction``.
        reduction: ``"none"``, ``"mean"`` (the default) or ``"sum"``.

    Shape:
        Inputs :math:`(N, D)` or :math:`(D)`; target :math:`(N)` or :math:`()` of 1 and -1; output :math:`()`, or
        :math:`(N)` with reduction ``"none"``.

    Example:
        >>> torch.nn.CosineEmbeddingLoss()(torch.tensor([[1.0, 0.0]]), torch.tensor([[1.0, 1.0]]), torch.tensor([1]))
        tensor(0.2929)

    Mirrors torch/nn/modules/loss.py, ``CosineEmbeddingLoss``.
    """

    margin: float

    def __init__(
        self, margin: float = 0.0, size_average: bool | None = None, reduce: bool | None = None, reduction: str = "mean"
    ) -> None:
        super().__init__(size_average, reduce, reduction)
        self.margin = margin

    def forward(self, input1: Tensor, input2: Tensor, target: Tensor) -> Tensor:
        return F.cosine_embedding_loss(input1, input2, target, margin=self.margin, reduction=self.reduction)


class MarginRankingLoss(_Loss):
    r"""Loss of a wrong order of two scores: :math:`\max(0, -y (x_1 - x_2) + m)`.

    Args:
        margin: :math:`m` (default 0.0).
        size_average, reduce: deprecated, see ``reduction``.
        reduction: ``"none"``, ``"mean"`` (the default) or ``"sum"``.

    Shape:
        Inputs :math:`(N)` or :math:`()`; target of the same shape: 1 if the first score should be the higher one, else
        -1; output :math:`()`, or :math:`(N)` with reduction ``"none"``.

    Example:
        >>> torch.nn.MarginRankingLoss()(torch.tensor([1.0]), torch.tensor([3.0]), torch.tensor([1]))
        tensor(2.)

    Mirrors torch/nn/modules/loss.py, ``MarginRankingLoss``.
    """

    margin: float

    def __init__(
        self, margin: float = 0.0, size_average: bool | None = None, reduce: bool | None = None, reduction: str = "mean"
    ) -> None:
        super().__init__(size_average, reduce, reduction)
        self.margin = margin

    def forward(self, input1: Tensor, input2: Tensor, target: Tensor) -> Tensor:
        return F.margin_ranking_loss(input1, input2, target, margin=self.margin, reduction=self.reduction)


class MultiMarginLoss(_WeightedLoss):
    r"""Hinge loss of scores of classes: :math:`\sum_{i \ne y} w_y \max(0, m - x_y + x_i)^p / C`.

    Args:
        p: :math:`p`, 1 or 2 (default 1).
        margin: :math:`m` (default 1.0).
        weight: weight of each class, :math:`(C)`; None means ones.
        size_average, reduce: deprecated, see ``reduction``.
        reduction: ``"none"``, ``"mean"`` (the default) or ``"sum"``.

    Shape:
        Input :math:`(N, C)` or :math:`(C)`, scores; target :math:`(N)` or :math:`()`, int64; output :math:`()`, or
        :math:`(N)` with reduction ``"none"``.

    Raises:
        ValueError: ``p`` is neither 1 nor 2, or ``weight`` has not one dimension.

    Example:
        >>> torch.nn.MultiMarginLoss()(torch.tensor([[0.1, 0.2, 0.4, 0.8]]), torch.tensor([3]))
        tensor(0.3250)

    Mirrors torch/nn/modules/loss.py, ``MultiMarginLoss``.
    """

    p: int
    margin: float

    def __init__(
        self,
        p: int = 1,
        margin: float = 1.0,
        weight: Tensor | None = None,
        size_average: bool | None = None,
        reduce: bool | None = None,
        reduction: str = "mean",
    ) -> None:
        super().__init__(weight, size_average, reduce, reduction)
        if p not in (1, 2):
            raise ValueError("only p == 1 and p == 2 supported")
        if weight is not None and weight.dim() != 1:
            raise ValueError(f"MultiMarginLoss: expected weight to be None or 1D tensor, got {weight.dim()}D instead")
        self.p = p
        self.margin = margin

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.multi_margin_loss(
            input, target, p=self.p, margin=self.margin, weight=self.weight, reduction=self.reduction
        )


class TripletMarginLoss(_Loss):
    r"""Loss of vectors that should be nearer to one vector than to another: :math:`\max(0, d(a, p) - d(a, n) + m)`.

    Args:
        margin: :math:`m` (default 1.0).
        p: order of the norm :math:`d` (default 2.0).
        eps: a small number that is added to the differences (default 1e-6).
        swap: whether to use :math:`d(p, n)` instead of :math:`d(a, n)` where it is smaller (default False).
        size_average, reduce: deprecated, see ``reduction``.
        reduction: ``"none"``, ``"mean"`` (the default) or ``"sum"``.

    Shape:
        Inputs :math:`(N, D)` or :math:`(D)`; output :math:`()`, or :math:`(N)` with reduction ``"none"``.

    Raises:
        ValueError: ``margin`` is not positive.

    Example:
        >>> torch.nn.TripletMarginLoss()(torch.tensor([[0.0]]), torch.tensor([[1.0]]), torch.tensor([[1.5]]))
        tensor(0.5000)

    Mirrors torch/nn/modules/loss.py, ``TripletMarginLoss``.
    """

    margin: float
    p: float
    eps: float
    swap: bool

    def __init__(
        self,
        margin: float = 1.0,
        p: float = 2.0,
        eps: float = 1e-6,
        swap: bool = False,
        size_average: bool | None = None,
        reduce: bool | None = None,
        reduction: str = "mean",
    ) -> None:
        super().__init__(size_average, reduce, reduction)
        if margin <= 0:
            raise ValueError(f"TripletMarginLoss: expected margin to be greater than 0, got {margin} instead")
        self.margin = margin
        self.p = p
        self.eps = eps
        self.swap = swap

    def forward(self, anchor: Tensor, positive: Tensor, negative: Tensor) -> Tensor:
        return F.triplet_margin_loss(
            anchor,
            positive,
            negative,
            margin=self.margin,
            p=self.p,
            eps=self.eps,
            swap=self.swap,
            reduction=self.reduction,
        )


class TripletMarginWithDistanceLoss(_Loss):
    r"""A :class:`TripletMarginLoss` with any distance.

    Args:
        distance_function: a function of two tensors; None means :class:`PairwiseDistance`.
        margin: :math:`m` (default 1.0).
        swap: whether to use :math:`d(p, n)` instead of :math:`d(a, n)` where it is smaller (default False).
        reduction: ``"none"``, ``"mean"`` (the default) or ``"sum"``.

    Shape:
        Inputs :math:`(N, *)`, as the distance takes them; output :math:`()`, or :math:`(N)` with reduction ``"none"``.

    Raises:
        ValueError: ``margin`` is not positive.

    Example:
        >>> loss = torch.nn.TripletMarginWithDistanceLoss(distance_function=lambda x, y: (x - y).abs().sum(-1))
        >>> loss(torch.tensor([[0.0]]), torch.tensor([[1.0]]), torch.tensor([[1.5]]))
        tensor(0.5000)

    Mirrors torch/nn/modules/loss.py, ``TripletMarginWithDistanceLoss``.
    """

    distance_function: Callable[[Tensor, Tensor], Tensor]
    margin: float
    swap: bool

    def __init__(
        self,
        *,
        distance_function: Callable[[Tensor, Tensor], Tensor] | None = None,
        margin: float = 1.0,
        swap: bool = False,
        reduction: str = "mean",
    ) -> None:
        super().__init__(size_average=None, reduce=None, reduction=reduction)
        if margin <= 0:
            raise ValueError(
                f"TripletMarginWithDistanceLoss: expected margin to be greater than 0, got {margin} instead"
            )
        self.distance_function = PairwiseDistance() if distance_function is None else distance_function
        self.margin = margin
        self.swap = swap

    def forward(self, anchor: Tensor, positive: Tensor, negative: Tensor) -> Tensor:
        return F.triplet_margin_with_distance_loss(
            anchor,
            positive,
            negative,
            distance_function=self.distance_function,
            margin=self.margin,
            swap=self.swap,
            reduction=self.reduction,
        )


class NLLLoss2d(NLLLoss):
    """The old name of :class:`NLLLoss` for images; making one gives a FutureWarning.

    Mirrors torch/nn/modules/loss.py, ``NLLLoss2d``.
    """

    def __init__(
        self,
        weight: Tensor | None = None,
        size_average: bool | None = None,
        ignore_index: int = -100,
        reduce: bool | None = None,
        reduction: str = "mean",
    ) -> None:
        warn(
            "`NLLLoss2d` has been deprecated. Please use `NLLLoss` instead as a drop-in replacement and see "
            "https://pytorch.org/docs/main/nn.html#torch.nn.NLLLoss for more details.",
            FutureWarning,
        )
        super().__init__(weight, size_average, ignore_index, reduce, reduction)


class CTCLoss(_Loss):
    """Connectionist temporal classification: minus the log-probability that the steps spell the target.

    Args:
        blank: the label of the blank (default 0).
        reduction: ``"none"``, ``"mean"`` (each loss is divided by the length of its target first; the default) or
            ``"sum"``.
        zero_infinity: whether an infinite loss, of a target that is too long for its steps, counts as zero.

    Shape:
        Log-probabilities :math:`(T, N, C)` or :math:`(T, C)`; targets :math:`(N, S)`, or one after the other; the
        lengths of inputs and targets, tensors or tuples of N ints; output :math:`()`, or :math:`(N)` with reduction
        ``"none"``.

    Example:
        >>> log_probs = torch.zeros(3, 1, 2).log_softmax(-1)
        >>> torch.nn.CTCLoss()(log_probs, torch.tensor([[1]]), (3,), (1,)).exp()
        tensor(1.3333)

    Mirrors torch/nn/modules/loss.py, ``CTCLoss``.
    """

    def __init__(self, blank: int = 0, reduction: str = "mean", zero_infinity: bool = False) -> None:
        super().__init__(reduction=reduction)
        self.blank = blank
        self.zero_infinity = zero_infinity

    def forward(self, log_probs: Tensor, targets: Tensor, input_lengths: Tensor, target_lengths: Tensor) -> Tensor:
        return F.ctc_loss(
            log_probs, targets, input_lengths, target_lengths, self.blank, self.reduction, self.zero_infinity
        )


class LinearCrossEntropyLoss(_WeightedLoss):
    """A linear layer to the scores of the classes, and the cross entropy of the scores.

    Args:
        in_features: the number of features of the input, :math:`I`.
        num_classes: the number of classes, :math:`C`.
        out_features: further dimensions of the scores, for a loss with several targets for each example.
        bias: whether the layer has a bias.
        device: the device of the parameters.
        dtype: the floating-point dtype of the parameters.
        reduction: ``"none"``, ``"mean"`` (the default) or ``"sum"``.
        weight: weight of each class, :math:`(C)`; None means ones.
        ignore_index: a target that adds nothing; None means -100.
        label_smoothing: how much of the target is spread over all classes, from 0 to 1.
        options: a :class:`torch.nn.LinearCrossEntropyOptions`, which divides the batch into chunks.

    Shape:
        Input :math:`(N, I)` or :math:`(I)`; target :math:`(N, *)` or :math:`()`, int64, or probabilities
        :math:`(N, C, *)`; output :math:`()`, or the shape of the target with reduction ``"none"``.

    Raises:
        RuntimeError: ``weight`` or ``label_smoothing`` do not fit, or (from a call) the sizes do not.

    Example:
        >>> loss = torch.nn.LinearCrossEntropyLoss(3, 5)
        >>> loss(torch.ones(2, 3), torch.tensor([0, 4])).shape
        torch.Size([])

    Mirrors torch/nn/modules/loss.py, ``LinearCrossEntropyLoss``.
    """

    def __init__(
        self,
        in_features: int,
        num_classes: int,
        *,
        out_features: tuple[int, ...] = (),
        bias: bool = False,
        device: Any = None,
        dtype: Any = None,
        reduction: str = "mean",
        weight: Tensor | None = None,
        ignore_index: int | None = None,
        label_smoothing: float = 0.0,
        options: LinearCrossEntropyOptions | None = None,
    ) -> None:
        if weight is not None and tuple(weight.shape) != (num_classes,):
            raise RuntimeError(f"expected weight shape to be {(num_classes,)}, got {tuple(weight.shape)}")
        if not 0 <= label_smoothing <= 1:
            raise RuntimeError(f"expected label_smoothing to be in range [0, 1], got {label_smoothing}")
        super().__init__(weight=weight, reduction=reduction)
        self.num_classes = num_classes
        self.out_features = out_features
        self.ignore_index = ignore_index
        self.label_smoothing = label_smoothing
        # The weight of a Linear has two dimensions; forward gives it those of the classes and of out_features.
        rows = math.prod(out_features, start=num_classes)
        self.linear = Linear(in_features, rows, bias=bias, device=device, dtype=dtype)
        self.options = options

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        shape = (self.num_classes, *self.out_features)
        bias = self.linear.bias
        return F.linear_cross_entropy(
            input,
            self.linear.weight.reshape((*shape, self.linear.in_features)),
            target,
            linear_bias=None if bias is None else bias.reshape(shape),
            weight=self.weight,
            reduction=self.reduction,
            ignore_index=self.ignore_index,
            label_smoothing=self.label_smoothing,
            options=self.options,
        )

    def extra_repr(self) -> str:
        values = {
            "in_features": self.linear.in_features,
            "num_classes": self.num_classes,
            "out_features": self.out_features,
            "bias": self.linear.bias is not None,
            "reduction": self.reduction,
            "ignore_index": self.ignore_index,
            "label_smoothing": self.label_smoothing,
            "options": self.options,
        }
        return ", ".join(f"{name}={value}" for name, value in values.items())
