"""The last layer of a classifier together with its loss.

Mirrors: torch/nn/modules/linear_cross_entropy.py
Leaves out: ``LinearCrossEntropyOptions``, which divides the batch into chunks to save memory.
"""

from __future__ import annotations

import math
from typing import Any

from reftorch._tensor import Tensor
from reftorch.nn import functional as F
from reftorch.nn.modules.linear import Linear
from reftorch.nn.modules.loss import _WeightedLoss

__all__ = ["LinearCrossEntropyLoss"]


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
        options: must be None.

    Shape:
        Input :math:`(N, I)` or :math:`(I)`; target :math:`(N, *)` or :math:`()`, int64, or probabilities
        :math:`(N, C, *)`; output :math:`()`, or the shape of the target with reduction ``"none"``.

    Raises:
        RuntimeError: ``weight`` or ``label_smoothing`` do not fit, or (from a call) the sizes do not.
        NotImplementedError: (from a call) ``options`` is not None.

    Example:
        >>> import reftorch as torch
        >>> loss = torch.nn.LinearCrossEntropyLoss(3, 5)
        >>> loss(torch.ones(2, 3), torch.tensor([0, 4])).shape
        torch.Size([])

    Mirrors torch/nn/modules/linear_cross_entropy.py, ``LinearCrossEntropyLoss``.
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
        options: Any = None,
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
