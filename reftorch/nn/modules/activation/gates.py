r"""Modules for activations with weights or random slopes, for gates, and for further softmaxes.

Mirrors: torch/nn/modules/activation.py (``GLU``, ``PReLU``, ``RReLU``, ``Softmax2d``, ``Softmin``)
Leaves out: multi-head attention.
"""

from __future__ import annotations

from typing import Any

from reftorch import _VF
from reftorch._tensor import Tensor
from reftorch.nn import functional as F
from reftorch.nn import init as _init
from reftorch.nn.modules.module import Module
from reftorch.nn.parameter import Parameter

__all__ = ["GLU", "PReLU", "RReLU", "Softmax2d", "Softmin"]


class RReLU(Module):
    r"""Multiply negative elements by a slope that is drawn anew for each element: :math:`\max(0, x) + a \min(0, x)`.

    Args:
        lower: lower bound of :math:`a` (default 1/8).
        upper: upper bound of :math:`a` (default 1/3); in evaluation mode, :math:`a` is the mean of the bounds.
        inplace: whether to overwrite the input (default False).

    Shape:
        Input and output :math:`(*)`, any.

    Example:
        >>> torch.nn.RReLU(0.25, 0.75).eval()(torch.tensor([-8.0, 1.0]))
        tensor([-4.,  1.])

    Mirrors torch/nn/modules/activation.py, ``RReLU``.
    """

    lower: float
    upper: float
    inplace: bool

    def __init__(self, lower: float = 1.0 / 8, upper: float = 1.0 / 3, inplace: bool = False) -> None:
        super().__init__()
        self.lower = lower
        self.upper = upper
        self.inplace = inplace

    def forward(self, input: Tensor) -> Tensor:
        return F.rrelu(input, self.lower, self.upper, self.training, self.inplace)

    def extra_repr(self) -> str:
        return f"lower={self.lower}, upper={self.upper}" + (", inplace=True" if self.inplace else "")


class GLU(Module):
    r"""Multiply one half of the input by the sigmoid of the other half: :math:`a \, \sigma(b)`.

    Args:
        dim: the dimension that is halved (default -1).

    Shape:
        Input :math:`(*, 2n, *)`, output :math:`(*, n, *)`.

    Example:
        >>> torch.nn.GLU()(torch.tensor([1.0, 2.0, 0.0, 0.0]))
        tensor([0.5000, 1.0000])

    Mirrors torch/nn/modules/activation.py, ``GLU``.
    """

    dim: int

    def __init__(self, dim: int = -1) -> None:
        super().__init__()
        self.dim = dim

    def forward(self, input: Tensor) -> Tensor:
        return F.glu(input, self.dim)

    def extra_repr(self) -> str:
        return f"dim={self.dim}"


class PReLU(Module):
    r"""Multiply negative elements by a slope that is learned: :math:`\max(0, x) + a \min(0, x)`.

    Args:
        num_parameters: 1 for one slope, or the number of channels for a slope for each channel (default 1).
        init: the value with which :math:`a` starts (default 0.25).
        device: the device of the slopes.
        dtype: floating point dtype of the slopes.

    Shape:
        Input and output :math:`(N, C, *)` or any; ``weight`` :math:`(\text{num\_parameters})`.

    Example:
        >>> torch.nn.PReLU()(torch.tensor([-1.0, 2.0])).detach()
        tensor([-0.2500,  2.0000])

    Mirrors torch/nn/modules/activation.py, ``PReLU``.
    """

    num_parameters: int
    weight: Tensor

    def __init__(self, num_parameters: int = 1, init: float = 0.25, device: Any = None, dtype: Any = None) -> None:
        super().__init__()
        self.num_parameters = num_parameters
        self.init = init
        self.weight = Parameter(_VF.empty(num_parameters, device=device, dtype=dtype))
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Set the slopes to their first value again."""
        _init.constant_(self.weight, self.init)

    def forward(self, input: Tensor) -> Tensor:
        return F.prelu(input, self.weight)

    def extra_repr(self) -> str:
        return f"num_parameters={self.num_parameters}"


class Softmin(Module):
    r"""Softmax of the negated input along a dimension: :math:`e^{-x_i} / \sum_j e^{-x_j}`.

    Args:
        dim: the dimension to sum along; omitting ``dim`` is deprecated.

    Shape:
        Input and output :math:`(*)`, any.

    Example:
        >>> torch.nn.Softmin(dim=0)(torch.tensor([0.0, 1.0]))
        tensor([0.7311, 0.2689])

    Mirrors torch/nn/modules/activation.py, ``Softmin``.
    """

    dim: int | None

    def __init__(self, dim: int | None = None) -> None:
        super().__init__()
        self.dim = dim

    def forward(self, input: Tensor) -> Tensor:
        return F.softmin(input, self.dim, _stacklevel=5)

    def extra_repr(self) -> str:
        return f"dim={self.dim}"


class Softmax2d(Module):
    r"""Softmax over the channels at each pixel.

    Shape:
        Input and output :math:`(N, C, H, W)` or :math:`(C, H, W)`.

    Raises:
        ValueError: the input has another number of dimensions.

    Example:
        >>> torch.nn.Softmax2d()(torch.zeros(2, 1, 1)).flatten()
        tensor([0.5000, 0.5000])

    Mirrors torch/nn/modules/activation.py, ``Softmax2d``.
    """

    def forward(self, input: Tensor) -> Tensor:
        if input.dim() not in (3, 4):
            raise ValueError(f"Softmax2d: expected input to be 3D or 4D, got {input.dim()}D instead")
        return F.softmax(input, -3, _stacklevel=5)
