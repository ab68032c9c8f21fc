"""Losses: how far an output is from its target.

Mirrors: torch/nn/modules/loss.py
Leaves out: all but the three below.
"""

from __future__ import annotations

from reftorch._tensor import Tensor
from reftorch.nn import _reduction
from reftorch.nn import functional as F
from reftorch.nn.modules.module import Module

__all__ = ["CrossEntropyLoss", "MSELoss", "NLLLoss"]


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
        ignore_index: a target that counts neither in the sum nor in the weights (default -100).
        reduction: ``"none"``, ``"mean"`` (divided by the weights of the targets; the default) or ``"sum"``.

    Shape:
        Input :math:`(C)`, :math:`(N, C)` or :math:`(N, C, d_1, ...)`, log-probabilities; target :math:`()`,
        :math:`(N)` or :math:`(N, d_1, ...)`, int64; output :math:`()`, or the shape of the target where not reduced.

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
        Input and target :math:`(*)`, the same; output :math:`()`, or :math:`(*)` where not reduced.

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
        ignore_index: a class that counts neither in the sum nor in the weights (default -100).
        reduction: ``"none"``, ``"mean"`` (divided by the weights of the targets; the default) or ``"sum"``.
        label_smoothing: share of the target, 0.0 to 1.0, that is spread evenly over the classes (default 0.0).

    Shape:
        Input :math:`(C)`, :math:`(N, C)` or :math:`(N, C, d_1, ...)`, scores; target :math:`()`, :math:`(N)` or
        :math:`(N, d_1, ...)`, int64, or probabilities of the shape of the input; output :math:`()`, or the shape of
        the classes where not reduced.

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
