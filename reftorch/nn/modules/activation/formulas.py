"""Modules for smooth activations, thresholds and clamps.

Mirrors: torch/nn/modules/activation.py
Leaves out: the modules with parameters, and those that draw random numbers.
"""

from __future__ import annotations

from reftorch._tensor import Tensor
from reftorch._warnings import warn
from reftorch.nn import functional as F
from reftorch.nn.modules.module import Module

__all__ = [
    "CELU",
    "ELU",
    "GELU",
    "SELU",
    "Hardtanh",
    "LeakyReLU",
    "LogSigmoid",
    "Mish",
    "ReLU6",
    "SiLU",
    "Softplus",
    "Softsign",
    "Tanhshrink",
    "Threshold",
]


class _Activation(Module):
    """The base class of functions of every element; ``repr`` shows their options."""

    def extra_repr(self) -> str:
        options = {name: getattr(self, name) for name in type(self).__annotations__}
        if not options.get("inplace", True):
            del options["inplace"]
        return ", ".join(f"{name}={value!r}" for name, value in options.items())


class LeakyReLU(_Activation):
    r"""Multiply negative elements by a slope: :math:`\max(0, x) + a \min(0, x)`.

    Args:
        negative_slope: :math:`a` (default 0.01).
        inplace: whether to overwrite the input (default False).

    Shape:
        Input and output :math:`(*)`, any.

    Example:
        >>> torch.nn.LeakyReLU(0.1)(torch.tensor([-1.0, 2.0]))
        tensor([-0.1000,  2.0000])

    Mirrors torch/nn/modules/activation.py, ``LeakyReLU``.
    """

    negative_slope: float
    inplace: bool

    def __init__(self, negative_slope: float = 0.01, inplace: bool = False) -> None:
        super().__init__()
        self.negative_slope = negative_slope
        self.inplace = inplace

    def forward(self, input: Tensor) -> Tensor:
        return F.leaky_relu(input, self.negative_slope, self.inplace)


class ELU(_Activation):
    r"""Bend negative elements towards :math:`-\alpha`: :math:`x` if :math:`x > 0`, else :math:`\alpha (e^x - 1)`.

    Args:
        alpha: :math:`\alpha` (default 1.0).
        inplace: whether to overwrite the input (default False).

    Shape:
        Input and output :math:`(*)`, any.

    Example:
        >>> torch.nn.ELU()(torch.tensor([-1.0, 2.0]))
        tensor([-0.6321,  2.0000])

    Mirrors torch/nn/modules/activation.py, ``ELU``.
    """

    alpha: float
    inplace: bool

    def __init__(self, alpha: float = 1.0, inplace: bool = False) -> None:
        super().__init__()
        self.alpha = alpha
        self.inplace = inplace

    def forward(self, input: Tensor) -> Tensor:
        return F.elu(input, self.alpha, self.inplace)


class CELU(_Activation):
    r"""An :class:`ELU` whose slope is continuous: negative elements become :math:`\alpha (e^{x / \alpha} - 1)`.

    Args:
        alpha: :math:`\alpha`, not 0 (default 1.0).
        inplace: whether to overwrite the input (default False).

    Shape:
        Input and output :math:`(*)`, any.

    Example:
        >>> torch.nn.CELU(2.0)(torch.tensor([-1.0, 2.0]))
        tensor([-0.7869,  2.0000])

    Mirrors torch/nn/modules/activation.py, ``CELU``.
    """

    alpha: float
    inplace: bool

    def __init__(self, alpha: float = 1.0, inplace: bool = False) -> None:
        super().__init__()
        self.alpha = alpha
        self.inplace = inplace

    def forward(self, input: Tensor) -> Tensor:
        return F.celu(input, self.alpha, self.inplace)


class SELU(_Activation):
    r"""An :class:`ELU` times a constant, which preserves mean 0 and variance 1.

    Args:
        inplace: whether to overwrite the input (default False).

    Shape:
        Input and output :math:`(*)`, any.

    Example:
        >>> torch.nn.SELU()(torch.tensor([-1.0, 2.0]))
        tensor([-1.1113,  2.1014])

    Mirrors torch/nn/modules/activation.py, ``SELU``.
    """

    inplace: bool

    def __init__(self, inplace: bool = False) -> None:
        super().__init__()
        self.inplace = inplace

    def forward(self, input: Tensor) -> Tensor:
        return F.selu(input, self.inplace)


class GELU(_Activation):
    r"""Multiply each element by the distribution function of the normal distribution: :math:`x \Phi(x)`.

    Args:
        approximate: ``"none"`` or ``"tanh"`` (default "none").

    Shape:
        Input and output :math:`(*)`, any.

    Example:
        >>> torch.nn.GELU()(torch.tensor([-1.0, 2.0]))
        tensor([-0.1587,  1.9545])

    Mirrors torch/nn/modules/activation.py, ``GELU``.
    """

    approximate: str

    def __init__(self, approximate: str = "none") -> None:
        super().__init__()
        self.approximate = approximate

    def forward(self, input: Tensor) -> Tensor:
        return F.gelu(input, approximate=self.approximate)


class SiLU(_Activation):
    r"""Multiply each element by its sigmoid: :math:`x \sigma(x)`.

    Args:
        inplace: whether to overwrite the input (default False).

    Shape:
        Input and output :math:`(*)`, any.

    Example:
        >>> torch.nn.SiLU()(torch.tensor([-1.0, 2.0]))
        tensor([-0.2689,  1.7616])

    Mirrors torch/nn/modules/activation.py, ``SiLU``.
    """

    inplace: bool

    def __init__(self, inplace: bool = False) -> None:
        super().__init__()
        self.inplace = inplace

    def forward(self, input: Tensor) -> Tensor:
        return F.silu(input, self.inplace)


class Mish(_Activation):
    r"""Multiply each element by a bounded function of that element: :math:`x \tanh(\mathrm{softplus}(x))`.

    Args:
        inplace: whether to overwrite the input (default False).

    Shape:
        Input and output :math:`(*)`, any.

    Example:
        >>> torch.nn.Mish()(torch.tensor([-1.0, 2.0]))
        tensor([-0.3034,  1.9440])

    Mirrors torch/nn/modules/activation.py, ``Mish``.
    """

    inplace: bool

    def __init__(self, inplace: bool = False) -> None:
        super().__init__()
        self.inplace = inplace

    def forward(self, input: Tensor) -> Tensor:
        return F.mish(input, self.inplace)


class Softplus(_Activation):
    r"""A smooth relu: :math:`\log(1 + e^{\beta x}) / \beta`.

    Args:
        beta: :math:`\beta` (default 1.0).
        threshold: if :math:`\beta x` is larger, the result is :math:`x` (default 20.0).

    Shape:
        Input and output :math:`(*)`, any.

    Example:
        >>> torch.nn.Softplus()(torch.tensor([-1.0, 2.0]))
        tensor([0.3133, 2.1269])

    Mirrors torch/nn/modules/activation.py, ``Softplus``.
    """

    beta: float
    threshold: float

    def __init__(self, beta: float = 1.0, threshold: float = 20.0) -> None:
        super().__init__()
        self.beta = beta
        self.threshold = threshold

    def forward(self, input: Tensor) -> Tensor:
        return F.softplus(input, self.beta, self.threshold)


class LogSigmoid(Module):
    r"""Logarithm of the sigmoid.

    Shape:
        Input and output :math:`(*)`, any.

    Example:
        >>> torch.nn.LogSigmoid()(torch.tensor([-1.0, 2.0]))
        tensor([-1.3133, -0.1269])

    Mirrors torch/nn/modules/activation.py, ``LogSigmoid``.
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.logsigmoid(input)


class Hardtanh(_Activation):
    r"""Clamp every element between two bounds.

    Args:
        min_val: lower bound (default -1.0).
        max_val: upper bound (default 1.0).
        inplace: whether to overwrite the input (default False).
        min_value, max_value: the old names of ``min_val`` and ``max_val``; each gives a FutureWarning.

    Raises:
        AssertionError: ``max_val`` is not greater than ``min_val``.

    Shape:
        Input and output :math:`(*)`, any.

    Example:
        >>> torch.nn.Hardtanh()(torch.tensor([-3.0, 0.5]))
        tensor([-1.0000,  0.5000])

    Mirrors torch/nn/modules/activation.py, ``Hardtanh``.
    """

    min_val: float
    max_val: float
    inplace: bool

    def __init__(
        self,
        min_val: float = -1.0,
        max_val: float = 1.0,
        inplace: bool = False,
        min_value: float | None = None,
        max_value: float | None = None,
    ) -> None:
        super().__init__()
        if min_value is not None:
            warn("keyword argument `min_value` is deprecated and renamed to `min_val`", FutureWarning)
            min_val = min_value
        if max_value is not None:
            warn("keyword argument `max_value` is deprecated and renamed to `max_val`", FutureWarning)
            max_val = max_value
        self.min_val = min_val
        self.max_val = max_val
        self.inplace = inplace
        if self.max_val <= self.min_val:
            raise AssertionError(f"max_val ({self.max_val}) must be greater than min_val ({self.min_val})")

    def forward(self, input: Tensor) -> Tensor:
        return F.hardtanh(input, self.min_val, self.max_val, self.inplace)


class Threshold(_Activation):
    r"""Replace each element that is at or below a threshold by a value.

    Args:
        threshold: the threshold.
        value: the value.
        inplace: whether to overwrite the input (default False).

    Shape:
        Input and output :math:`(*)`, any.

    Example:
        >>> torch.nn.Threshold(0.5, 9.0)(torch.tensor([0.1, 2.0]))
        tensor([9., 2.])

    Mirrors torch/nn/modules/activation.py, ``Threshold``.
    """

    threshold: float
    value: float
    inplace: bool

    def __init__(self, threshold: float, value: float, inplace: bool = False) -> None:
        super().__init__()
        self.threshold = threshold
        self.value = value
        self.inplace = inplace

    def forward(self, input: Tensor) -> Tensor:
        return F.threshold(input, self.threshold, self.value, self.inplace)


class Softsign(Module):
    r"""Divide each element by one more than its absolute value: :math:`x / (1 + |x|)`.

    Shape:
        Input and output :math:`(*)`, any.

    Example:
        >>> torch.nn.Softsign()(torch.tensor([-1.0, 3.0]))
        tensor([-0.5000,  0.7500])

    Mirrors torch/nn/modules/activation.py, ``Softsign``.
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.softsign(input)


class Tanhshrink(Module):
    r"""Subtract the hyperbolic tangent from each element: :math:`x - \tanh(x)`.

    Shape:
        Input and output :math:`(*)`, any.

    Example:
        >>> torch.nn.Tanhshrink()(torch.tensor([0.0, 1.0]))
        tensor([0.0000, 0.2384])

    Mirrors torch/nn/modules/activation.py, ``Tanhshrink``.
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.tanhshrink(input)


class ReLU6(Hardtanh):
    r"""A bounded relu: :math:`\min(\max(0, x), 6)`.

    Args:
        inplace: whether to overwrite the input (default False).

    Shape:
        Input and output :math:`(*)`, any.

    Example:
        >>> torch.nn.ReLU6()(torch.tensor([-1.0, 2.0, 8.0]))
        tensor([0., 2., 6.])

    Mirrors torch/nn/modules/activation.py, ``ReLU6``.
    """

    def __init__(self, inplace: bool = False) -> None:
        super().__init__(0.0, 6.0, inplace)

    def extra_repr(self) -> str:
        return "inplace=True" if self.inplace else ""
