"""Linear maps.

Mirrors: torch/nn/modules/linear.py
"""

from __future__ import annotations

import math
from typing import Any

from reftorch import _VF
from reftorch._tensor import Tensor
from reftorch.autograd.grad_mode import no_grad
from reftorch.nn import functional as F
from reftorch.nn import init
from reftorch.nn.modules.lazy import LazyModuleMixin
from reftorch.nn.modules.module import Module
from reftorch.nn.parameter import Parameter, UninitializedParameter

__all__ = ["Bilinear", "Identity", "LazyLinear", "Linear"]


class Identity(Module):
    """Return the input unchanged; this module can take the place of a removed layer.

    Args:
        args, kwargs: anything; they are ignored.

    Shape:
        Input and output :math:`(*)`, any.

    Example:
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


class NonDynamicallyQuantizableLinear(Linear):
    """A :class:`Linear` that PyTorch's dynamic quantization leaves alone; it differs in nothing else.

    Mirrors torch/nn/modules/linear.py, ``NonDynamicallyQuantizableLinear``.
    """


class Bilinear(Module):
    r"""Bilinear map of two inputs: :math:`y = x_1^T A x_2 + b`.

    Weight and bias start from :math:`U(-\sqrt k, \sqrt k)` with :math:`k = 1 / \text{in1\_features}`.

    Args:
        in1_features: size of the last dimension of the first input.
        in2_features: size of the last dimension of the second input.
        out_features: size of the last dimension of the output.
        bias: whether to add a bias (default True).
        device: the device of the parameters.
        dtype: floating point dtype of the parameters.

    Shape:
        Inputs :math:`(*, \text{in1\_features})` and :math:`(*, \text{in2\_features})`, output
        :math:`(*, \text{out\_features})`; ``weight`` :math:`(\text{out\_features}, \text{in1\_features},
        \text{in2\_features})`, ``bias`` :math:`(\text{out\_features})`.

    Raises:
        ValueError: ``in1_features`` is not positive.

    Example:
        >>> layer = torch.nn.Bilinear(20, 30, 40)
        >>> layer(torch.randn(128, 20), torch.randn(128, 30)).shape
        torch.Size([128, 40])

    Mirrors torch/nn/modules/linear.py, ``Bilinear``.
    """

    in1_features: int
    in2_features: int
    out_features: int
    weight: Tensor
    bias: Tensor | None

    def __init__(
        self,
        in1_features: int,
        in2_features: int,
        out_features: int,
        bias: bool = True,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        if in1_features <= 0:
            raise ValueError(f"in1_features must be > 0, but got ({in1_features=})")
        self.in1_features = in1_features
        self.in2_features = in2_features
        self.out_features = out_features
        self.weight = Parameter(_VF.empty((out_features, in1_features, in2_features), device=device, dtype=dtype))
        if bias:
            self.bias = Parameter(_VF.empty(out_features, device=device, dtype=dtype))
        else:
            self.register_parameter("bias", None)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw weight and bias anew."""
        bound = 1 / math.sqrt(self.weight.size(1))
        init.uniform_(self.weight, -bound, bound)
        if self.bias is not None:
            init.uniform_(self.bias, -bound, bound)

    def forward(self, input1: Tensor, input2: Tensor) -> Tensor:
        return F.bilinear(input1, input2, self.weight, self.bias)

    def extra_repr(self) -> str:
        return (
            f"in1_features={self.in1_features}, in2_features={self.in2_features}, "
            f"out_features={self.out_features}, bias={self.bias is not None}"
        )


class LazyLinear(LazyModuleMixin, Linear):
    r"""A :class:`Linear` that takes ``in_features`` from the last dimension of its first input.

    Args:
        out_features: size of the last dimension of the output.
        bias: whether to add a bias (default True).
        device: the device of the parameters.
        dtype: floating point dtype of the parameters.

    Example:
        >>> layer = torch.nn.LazyLinear(3)
        >>> layer(torch.ones(2, 5)).shape, layer
        (torch.Size([2, 3]), Linear(in_features=5, out_features=3, bias=True))

    Mirrors torch/nn/modules/linear.py, ``LazyLinear``.
    """

    cls_to_become = Linear
    weight: Any
    bias: Any

    def __init__(self, out_features: int, bias: bool = True, device: Any = None, dtype: Any = None) -> None:
        super().__init__(0, 0, False)  # the parameters are replaced at once, so there is no bias to draw
        self.weight = UninitializedParameter(device=device, dtype=dtype)
        self.out_features = out_features
        if bias:
            self.bias = UninitializedParameter(device=device, dtype=dtype)

    def reset_parameters(self) -> None:
        """Draw weight and bias anew, if they have shapes."""
        if not self.has_uninitialized_params() and self.in_features != 0:
            super().reset_parameters()

    def initialize_parameters(self, input: Tensor) -> None:
        """Take ``in_features`` from the input, and draw weight and bias."""
        if self.has_uninitialized_params():
            with no_grad():
                self.in_features = input.shape[-1]
                self.weight.materialize((self.out_features, self.in_features))
                if self.bias is not None:
                    self.bias.materialize((self.out_features,))
                self.reset_parameters()
        if self.in_features == 0:  # a state dict has supplied the shapes
            if input.shape[-1] != self.weight.shape[-1]:
                raise AssertionError(
                    f"The in_features inferred from input: {input.shape[-1]} is not equal to in_features from "
                    f"self.weight: {self.weight.shape[-1]}"
                )
            self.in_features = input.shape[-1]
