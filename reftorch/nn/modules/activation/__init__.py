"""Modules for nonlinear functions of elements, or along one dimension.

Mirrors: torch/nn/modules/activation.py

The most common ones are in this file; the others are in ``formulas``, ``gates``,
``hard`` and ``attention``.
"""

from __future__ import annotations

from reftorch import _VF, _places
from reftorch._tensor import Tensor
from reftorch.nn import functional as F
from reftorch.nn.modules.activation import attention, formulas, gates, hard
from reftorch.nn.modules.activation.attention import *  # noqa: F403
from reftorch.nn.modules.activation.formulas import *  # noqa: F403
from reftorch.nn.modules.activation.gates import *  # noqa: F403
from reftorch.nn.modules.activation.hard import *  # noqa: F403
from reftorch.nn.modules.module import Module

__all__ = [
    "LogSoftmax",
    "ReLU",
    "Sigmoid",
    "Softmax",
    "Tanh",
    *attention.__all__,
    *formulas.__all__,
    *gates.__all__,
    *hard.__all__,
]


class ReLU(Module):
    r"""Set negative elements to zero: :math:`\max(0, x)`.

    Args:
        inplace: whether to overwrite the input (default False).

    Shape:
        Input and output :math:`(*)`, any.

    Example:
        >>> torch.nn.ReLU()(torch.tensor([-1.0, 2.0]))
        tensor([0., 2.])

    Mirrors torch/nn/modules/activation.py, ``ReLU``.
    """

    inplace: bool

    def __init__(self, inplace: bool = False) -> None:
        super().__init__()
        self.inplace = inplace

    def forward(self, input: Tensor) -> Tensor:
        return F.relu(input, inplace=self.inplace)

    def extra_repr(self) -> str:
        return "inplace=True" if self.inplace else ""


class Sigmoid(Module):
    r"""Logistic function of every element: :math:`1 / (1 + e^{-x})`.

    Shape:
        Input and output :math:`(*)`, any.

    Example:
        >>> torch.nn.Sigmoid()(torch.tensor([0.0, 1.0]))
        tensor([0.5000, 0.7311])

    Mirrors torch/nn/modules/activation.py, ``Sigmoid``.
    """

    def forward(self, input: Tensor) -> Tensor:
        return _VF.sigmoid(input)


class Tanh(Module):
    r"""Hyperbolic tangent of every element.

    Shape:
        Input and output :math:`(*)`, any.

    Example:
        >>> torch.nn.Tanh()(torch.tensor([0.0, 1.0]))
        tensor([0.0000, 0.7616])

    Mirrors torch/nn/modules/activation.py, ``Tanh``.
    """

    def forward(self, input: Tensor) -> Tensor:
        return _VF.tanh(input)


class Softmax(Module):
    r"""Exponentials that sum to one along a dimension: :math:`e^{x_i} / \sum_j e^{x_j}`.

    Args:
        dim: the dimension to sum along; omitting ``dim`` is deprecated.

    Shape:
        Input and output :math:`(*)`, any.

    Example:
        >>> torch.nn.Softmax(dim=0)(torch.tensor([0.0, 0.0]))
        tensor([0.5000, 0.5000])

    Mirrors torch/nn/modules/activation.py, ``Softmax``.
    """

    dim: int | None

    def __init__(self, dim: int | None = None) -> None:
        super().__init__()
        self.dim = dim

    def forward(self, input: Tensor) -> Tensor:
        return F.softmax(input, self.dim, _stacklevel=5)

    def extra_repr(self) -> str:
        return f"dim={self.dim}"


class LogSoftmax(Module):
    r"""Logarithm of the softmax along a dimension: :math:`x_i - \log \sum_j e^{x_j}`.

    Args:
        dim: the dimension to sum along; omitting ``dim`` is deprecated.

    Shape:
        Input and output :math:`(*)`, any.

    Example:
        >>> torch.nn.LogSoftmax(dim=0)(torch.tensor([0.0, 0.0]))
        tensor([-0.6931, -0.6931])

    Mirrors torch/nn/modules/activation.py, ``LogSoftmax``.
    """

    dim: int | None

    def __init__(self, dim: int | None = None) -> None:
        super().__init__()
        self.dim = dim

    def forward(self, input: Tensor) -> Tensor:
        return F.log_softmax(input, self.dim, _stacklevel=5)

    def extra_repr(self) -> str:
        return f"dim={self.dim}"


_places.split(__name__)
