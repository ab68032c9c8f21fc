"""Losses: modules that measure how far an output is from its target.

Mirrors: torch/nn/modules/loss.py
Leaves out: losses of pairs, triples and rankings, ``CTCLoss``, ``PoissonNLLLoss`` and ``GaussianNLLLoss``.
"""

from __future__ import annotations

from reftorch._tensor import Tensor
from reftorch.nn import _reduction
from reftorch.nn import functional as F
from reftorch.nn.modules.module import Module

__all__ = [
    "BCELoss",
    "BCEWithLogitsLoss",
    "CrossEntropyLoss",
    "HuberLoss",
    "KLDivLoss",
    "L1Loss",
    "MSELoss",
    "NLLLoss",
    "SmoothL1Loss",
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
        >>> import reftorch as torch
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
        >>> import reftorch as torch
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
        >>> import reftorch as torch
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
        >>> import reftorch as torch
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
        >>> import reftorch as torch
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
        >>> import reftorch as torch
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
        >>> import reftorch as torch
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
        >>> import reftorch as torch
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
        >>> import reftorch as torch
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
