"""Modules for piecewise linear approximations of smooth activations, and for shrinking functions.

Mirrors: torch/nn/modules/activation.py
Leaves out: ``Hardtanh`` and ``ReLU6``, which are in ``formulas``.
"""

from __future__ import annotations

from reftorch._tensor import Tensor
from reftorch.nn import functional as F
from reftorch.nn.modules.module import Module

__all__ = ["Hardshrink", "Hardsigmoid", "Hardswish", "Softshrink"]


class Hardsigmoid(Module):
    r"""Approximate the sigmoid by three straight pieces: :math:`\min(\max(0, x + 3), 6) / 6`.

    Args:
        inplace: whether to overwrite the input (default False).

    Shape:
        Input and output :math:`(*)`, any.

    Example:
        >>> torch.nn.Hardsigmoid()(torch.tensor([-4.0, 0.0, 1.5]))
        tensor([0.0000, 0.5000, 0.7500])

    Mirrors torch/nn/modules/activation.py, ``Hardsigmoid``.
    """

    inplace: bool

    def __init__(self, inplace: bool = False) -> None:
        super().__init__()
        self.inplace = inplace

    def forward(self, input: Tensor) -> Tensor:
        return F.hardsigmoid(input, self.inplace)


class Hardswish(Module):
    r"""Multiply each element by its :class:`Hardsigmoid`: :math:`x \min(\max(0, x + 3), 6) / 6`.

    Args:
        inplace: whether to overwrite the input (default False).

    Shape:
        Input and output :math:`(*)`, any.

    Example:
        >>> torch.nn.Hardswish()(torch.tensor([-1.0, 2.0]))
        tensor([-0.3333,  1.6667])

    Mirrors torch/nn/modules/activation.py, ``Hardswish``.
    """

    inplace: bool

    def __init__(self, inplace: bool = False) -> None:
        super().__init__()
        self.inplace = inplace

    def forward(self, input: Tensor) -> Tensor:
        return F.hardswish(input, self.inplace)


class Hardshrink(Module):
    r"""Set elements between :math:`-\lambda` and :math:`\lambda` to zero.

    Args:
        lambd: :math:`\lambda` (default 0.5).

    Shape:
        Input and output :math:`(*)`, any.

    Example:
        >>> torch.nn.Hardshrink()(torch.tensor([-1.0, 0.25, 2.0]))
        tensor([-1.,  0.,  2.])

    Mirrors torch/nn/modules/activation.py, ``Hardshrink``.
    """

    lambd: float

    def __init__(self, lambd: float = 0.5) -> None:
        super().__init__()
        self.lambd = lambd

    def forward(self, input: Tensor) -> Tensor:
        return F.hardshrink(input, self.lambd)

    def extra_repr(self) -> str:
        return str(self.lambd)


class Softshrink(Module):
    r"""Move each element towards zero by :math:`\lambda`, but not past zero.

    Args:
        lambd: :math:`\lambda`, not negative (default 0.5).

    Shape:
        Input and output :math:`(*)`, any.

    Example:
        >>> torch.nn.Softshrink()(torch.tensor([-1.0, 0.25, 2.0]))
        tensor([-0.5000,  0.0000,  1.5000])

    Mirrors torch/nn/modules/activation.py, ``Softshrink``.
    """

    lambd: float

    def __init__(self, lambd: float = 0.5) -> None:
        super().__init__()
        self.lambd = lambd

    def forward(self, input: Tensor) -> Tensor:
        return F.softshrink(input, self.lambd)

    def extra_repr(self) -> str:
        return str(self.lambd)
