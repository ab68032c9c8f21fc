"""Normalization of each example by itself.

Mirrors: torch/nn/modules/normalization.py
"""

from __future__ import annotations

import numbers
from collections.abc import Sequence
from typing import Any

from reftorch import _VF
from reftorch._tensor import Tensor
from reftorch.nn import functional as F
from reftorch.nn import init
from reftorch.nn.modules._functions import CrossMapLRN2d as _cross_map_lrn2d
from reftorch.nn.modules.module import Module
from reftorch.nn.parameter import Parameter

__all__ = ["CrossMapLRN2d", "GroupNorm", "LayerNorm", "LocalResponseNorm", "RMSNorm"]


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

    def forward(self, x: Tensor) -> Tensor:
        return F.rms_norm(x, self.normalized_shape, self.weight, self.eps)

    def extra_repr(self) -> str:
        return f"{self.normalized_shape}, eps={self.eps}, elementwise_affine={self.elementwise_affine}"


class GroupNorm(Module):
    r"""Give each group of channels mean 0 and variance 1: :math:`w (x - \mu) / \sqrt{\sigma^2 + \epsilon} + b`.

    Args:
        num_groups: the number of groups of equal size into which the channels are divided.
        num_channels: the number of channels, :math:`C`.
        eps: :math:`\epsilon` (default 1e-5).
        affine: whether the module has :math:`w`, which starts as ones, and :math:`b` (default True).
        device: the device of the parameters.
        dtype: the floating-point dtype of the parameters.
        bias: whether an affine module has :math:`b`, which starts as zeros (default True).

    Shape:
        Input and output :math:`(N, C, *)`.

    Raises:
        ValueError: the number of channels is not a multiple of ``num_groups``.

    Example:
        >>> torch.nn.GroupNorm(2, 4, affine=False)(torch.tensor([[1.0, 3.0, 10.0, 30.0]]))
        tensor([[-1.0000,  1.0000, -1.0000,  1.0000]])

    Mirrors torch/nn/modules/normalization.py, ``GroupNorm``.
    """

    def __init__(
        self,
        num_groups: int,
        num_channels: int,
        eps: float = 1e-5,
        affine: bool = True,
        device: Any = None,
        dtype: Any = None,
        *,
        bias: bool = True,
    ) -> None:
        super().__init__()
        if num_channels % num_groups != 0:
            raise ValueError(f"num_channels ({num_channels}) must be divisible by num_groups ({num_groups})")
        self.num_groups = num_groups
        self.num_channels = num_channels
        self.eps = eps
        self.affine = affine
        for name, wanted in (("weight", affine), ("bias", affine and bias)):
            empty = Parameter(_VF.empty(num_channels, device=device, dtype=dtype)) if wanted else None
            self.register_parameter(name, empty)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Reset the weight to ones and the bias to zeros."""
        if self.weight is not None:
            init.ones_(self.weight)
        if self.bias is not None:
            init.zeros_(self.bias)

    def forward(self, input: Tensor) -> Tensor:
        return F.group_norm(input, self.num_groups, self.weight, self.bias, self.eps)

    def extra_repr(self) -> str:
        return (
            f"{self.num_groups}, {self.num_channels}, eps={self.eps}, affine={self.affine}, "
            f"bias={self.bias is not None}"
        )


class LocalResponseNorm(Module):
    r"""Divide each channel by a mean over its neighbours: :math:`x_c / (k + \alpha / n \sum_{c'} x_{c'}^2)^\beta`.

    Args:
        size: :math:`n`, the number of channels in the sum.
        alpha: :math:`\alpha` (default 1e-4).
        beta: :math:`\beta` (default 0.75).
        k: :math:`k` (default 1).

    Shape:
        Input and output :math:`(N, C, *)`.

    Example:
        >>> torch.nn.LocalResponseNorm(3, alpha=3.0, beta=1.0)(torch.ones(1, 3, 1)).flatten()
        tensor([0.3333, 0.2500, 0.3333])

    Mirrors torch/nn/modules/normalization.py, ``LocalResponseNorm``.
    """

    def __init__(self, size: int, alpha: float = 1e-4, beta: float = 0.75, k: float = 1.0) -> None:
        super().__init__()
        self.size = size
        self.alpha = alpha
        self.beta = beta
        self.k = k

    def forward(self, input: Tensor) -> Tensor:
        return F.local_response_norm(input, self.size, self.alpha, self.beta, self.k)

    def extra_repr(self) -> str:
        return f"{self.size}, alpha={self.alpha}, beta={self.beta}, k={self.k}"


class CrossMapLRN2d(Module):
    """Local response normalization of images as in Torch 7; :class:`LocalResponseNorm` replaces it.

    The results differ from those of :class:`LocalResponseNorm` at the channels that are further than the window from
    the first one, because the square of the first channel stays in all sums. PyTorch computes it so, in both passes.

    Args:
        size: the number of channels in a window.
        alpha: the factor of the mean of squares.
        beta: the exponent.
        k: the number that is added to the mean.

    Shape:
        Input and output :math:`(N, C, H, W)`.

    Raises:
        ValueError: (from a call) the input has not 4 dimensions.

    Example:
        >>> torch.nn.CrossMapLRN2d(3)(torch.ones(1, 4, 2, 2)).shape
        torch.Size([1, 4, 2, 2])

    Mirrors torch/nn/modules/normalization.py, ``CrossMapLRN2d``.
    """

    def __init__(self, size: int, alpha: float = 1e-4, beta: float = 0.75, k: float = 1) -> None:
        super().__init__()
        self.size = size
        self.alpha = alpha
        self.beta = beta
        self.k = k

    def forward(self, input: Tensor) -> Tensor:
        """Return the normalized images."""
        return _cross_map_lrn2d.apply(input, self.size, self.alpha, self.beta, self.k)

    def extra_repr(self) -> str:
        """Return the arguments, for ``repr``."""
        return f"{self.size}, alpha={self.alpha}, beta={self.beta}, k={self.k}"
