"""Linear maps.

Mirrors: torch/nn/modules/linear.py
Leaves out: ``Bilinear`` and the lazy linear map that learns its input size from the first call.
"""

from __future__ import annotations

import math
from typing import Any

from reftorch import _VF
from reftorch._tensor import Tensor
from reftorch.nn import functional as F
from reftorch.nn import init
from reftorch.nn.modules.module import Module
from reftorch.nn.parameter import Parameter

__all__ = ["Identity", "Linear"]


class Identity(Module):
    """Return the input unchanged; this module can take the place of a removed layer.

    Args:
        args, kwargs: anything; they are ignored.

    Shape:
        Input and output :math:`(*)`, any.

    Example:
        >>> import reftorch as torch
        >>> torch.nn.Identity(54)(torch.ones(2))
        tensor([1., 1.])

    Mirrors torch/nn/modules/linear.py, ``Identity``.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__()

    def forward(self, input: Tensor) -> Tensor:
        return input


class Linear(Module):
    r"""Linear map :math:`y = x A^T + b`.

    Weight and bias start from :math:`U(-\sqrt k, \sqrt k)` with :math:`k = 1 / \text{in\_features}`.

    Args:
        in_features: size of the last dimension of the input.
        out_features: size of the last dimension of the output.
        bias: whether to add a bias (default True).
        device: the device of the parameters.
        dtype: floating point dtype of the parameters.

    Shape:
        Input :math:`(*, \text{in\_features})`, output :math:`(*, \text{out\_features})`;
        ``weight`` :math:`(\text{out\_features}, \text{in\_features})`, ``bias`` :math:`(\text{out\_features})`.

    Example:
        >>> import reftorch as torch
        >>> layer = torch.nn.Linear(20, 30)
        >>> layer(torch.randn(128, 20)).shape
        torch.Size([128, 30])

    Mirrors torch/nn/modules/linear.py, ``Linear``.
    """

    in_features: int
    out_features: int
    weight: Tensor
    bias: Tensor | None

    def __init__(
        self, in_features: int, out_features: int, bias: bool = True, device: Any = None, dtype: Any = None
    ) -> None:
        super().__init__()
        self.in_features = in_features
        self.out_features = out_features
        self.weight = Parameter(_VF.empty((out_features, in_features), device=device, dtype=dtype))
        if bias:
            self.bias = Parameter(_VF.empty(out_features, device=device, dtype=dtype))
        else:
            self.register_parameter("bias", None)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw weight and bias anew."""
        # With a = sqrt(5) the bound sqrt(6 / ((1 + a^2) fan_in)) is 1 / sqrt(fan_in), as for the bias.
        init.kaiming_uniform_(self.weight, a=math.sqrt(5))
        if self.bias is not None:
            bound = 1 / math.sqrt(self.in_features) if self.in_features > 0 else 0
            init.uniform_(self.bias, -bound, bound)

    def forward(self, input: Tensor) -> Tensor:
        return F.linear(input, self.weight, self.bias)

    def extra_repr(self) -> str:
        return f"in_features={self.in_features}, out_features={self.out_features}, bias={self.bias is not None}"
