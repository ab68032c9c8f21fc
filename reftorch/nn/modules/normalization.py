"""Normalization of each example by itself.

Mirrors: torch/nn/modules/normalization.py
Leaves out: ``GroupNorm``, ``LocalResponseNorm`` and ``CrossMapLRN2d``.
"""

from __future__ import annotations

import numbers
from collections.abc import Sequence
from typing import Any

from reftorch import _VF
from reftorch._tensor import Tensor
from reftorch.nn import functional as F
from reftorch.nn import init
from reftorch.nn.modules.module import Module
from reftorch.nn.parameter import Parameter

__all__ = ["LayerNorm", "RMSNorm"]


def _as_shape(normalized_shape: Any) -> tuple[int, ...]:
    return (int(normalized_shape),) if isinstance(normalized_shape, numbers.Integral) else tuple(normalized_shape)


class LayerNorm(Module):
    r"""Give the last dimensions mean 0 and variance 1: :math:`w (x - \mu) / \sqrt{\sigma^2 + \epsilon} + b`.

    Args:
        normalized_shape: the sizes of the last dimensions, or the size of the last one.
        eps: :math:`\epsilon` (default 1e-5).
        elementwise_affine: whether the module has :math:`w`, which starts as ones, and :math:`b` (default True).
        bias: whether the module has :math:`b`, which starts as zeros (default True).
        device: the device of the parameters.
        dtype: the floating-point dtype of the parameters.

    Shape:
        Input and output :math:`(*, \text{normalized\_shape})`.

    Example:
        >>> import reftorch as torch
        >>> torch.nn.LayerNorm(3, elementwise_affine=False)(torch.tensor([[1.0, 2.0, 3.0]]))
        tensor([[-1.2247,  0.0000,  1.2247]])

    Mirrors torch/nn/modules/normalization.py, ``LayerNorm``.
    """

    def __init__(
        self,
        normalized_shape: int | Sequence[int],
        eps: float = 1e-5,
        elementwise_affine: bool = True,
        bias: bool = True,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        self.normalized_shape = _as_shape(normalized_shape)
        self.eps = eps
        self.elementwise_affine = elementwise_affine
        for name, wanted in (("weight", elementwise_affine), ("bias", elementwise_affine and bias)):
            empty = Parameter(_VF.empty(self.normalized_shape, device=device, dtype=dtype)) if wanted else None
            self.register_parameter(name, empty)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Reset the weight to ones and the bias to zeros."""
        if self.weight is not None:
            init.ones_(self.weight)
        if self.bias is not None:
            init.zeros_(self.bias)

    def forward(self, input: Tensor) -> Tensor:
        return F.layer_norm(input, self.normalized_shape, self.weight, self.bias, self.eps)

    def extra_repr(self) -> str:
        return (
            f"{self.normalized_shape}, eps={self.eps}, elementwise_affine={self.elementwise_affine}, "
            f"bias={self.bias is not None}"
        )


class RMSNorm(Module):
    r"""Divide the last dimensions by their root mean square: :math:`w x / \sqrt{\overline{x^2} + \epsilon}`.

    Args:
        normalized_shape: the sizes of the last dimensions, or the size of the last one.
        eps: :math:`\epsilon`; None (the default) means the machine epsilon of the dtype.
        elementwise_affine: whether the module has :math:`w`, which starts as ones (default True).
        device: the device of the parameter.
        dtype: the floating-point dtype of the parameter.

    Shape:
        Input and output :math:`(*, \text{normalized\_shape})`.

    Example:
        >>> import reftorch as torch
        >>> torch.nn.RMSNorm(2, elementwise_affine=False)(torch.tensor([[3.0, 4.0]]))
        tensor([[0.8485, 1.1314]])

    Mirrors torch/nn/modules/normalization.py, ``RMSNorm``.
    """

    def __init__(
        self,
        normalized_shape: int | Sequence[int],
        eps: float | None = None,
        elementwise_affine: bool = True,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        self.normalized_shape = _as_shape(normalized_shape)
        self.eps = eps
        self.elementwise_affine = elementwise_affine
        empty = _VF.empty(self.normalized_shape, device=device, dtype=dtype)
        self.register_parameter("weight", Parameter(empty) if elementwise_affine else None)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Reset the weight to ones."""
        if self.weight is not None:
            init.ones_(self.weight)

    def forward(self, input: Tensor) -> Tensor:
        return F.rms_norm(input, self.normalized_shape, self.weight, self.eps)

    def extra_repr(self) -> str:
        return f"{self.normalized_shape}, eps={self.eps}, elementwise_affine={self.elementwise_affine}"
