r"""Nonlinearities that are made of other ops.

Mirrors: torch/nn/functional.py (its activations)
Leaves out: ``prelu``, ``rrelu``, ``glu``, ``hardsigmoid``, ``hardswish`` and the functions that shrink.

PyTorch has a kernel for each of these. Here each is its formula; where a branch that is not taken would be infinite,
its argument is clamped first, or its gradient, :math:`0 \cdot \infty`, would be NaN. In place, the formula is that of a
copy, which the graph may keep.
"""

from __future__ import annotations

import math

from reftorch import _C, _VF
from reftorch._tensor import Tensor
from reftorch._torch_function import overridable
from reftorch._utils import not_implemented

__all__ = [
    "celu", "elu", "gelu", "hardtanh", "leaky_relu", "logsigmoid", "mish", "relu6", "selu", "silu", "softplus",
    "softsign", "tanhshrink", "threshold",
]  # fmt: skip

SELU_ALPHA, SELU_SCALE = 1.6732632423543772848170429916717, 1.0507009873554804934193349852946


def refuse_integers(input: Tensor, kernel: str) -> None:
    """The formulas would promote integers; PyTorch's kernels, whose names its errors say, take none."""
    if not input.is_floating_point():
        raise not_implemented(kernel, input)


@overridable
def leaky_relu(input: Tensor, negative_slope: float = 0.01, inplace: bool = False) -> Tensor:
    r"""Scale negative elements down: :math:`\max(0, x) + a \min(0, x)`.

    Args:
        input: tensor of any shape.
        negative_slope: :math:`a`.
        inplace: whether to overwrite ``input``.

    Returns:
        A tensor of the same shape.

    Example:
        >>> import reftorch as torch
        >>> torch.nn.functional.leaky_relu(torch.tensor([-1.0, 2.0]), 0.1)
        tensor([-0.1000,  2.0000])

    Mirrors torch/nn/functional.py, ``leaky_relu``.
    """
    if inplace:
        return input.copy_(leaky_relu(input.clone(), negative_slope))
    refuse_integers(input, "leaky_relu_cpu")
    return _VF.where(input > 0, input, input * negative_slope)


@overridable
def elu(input: Tensor, alpha: float = 1.0, inplace: bool = False) -> Tensor:
    r"""Let negative elements fall off to :math:`-\alpha`: :math:`x` if :math:`x > 0`, else :math:`\alpha (e^x - 1)`.

    Args:
        input: tensor of any shape.
        alpha: :math:`\alpha`.
        inplace: whether to overwrite ``input``.

    Returns:
        A tensor of the same shape.

    Example:
        >>> import reftorch as torch
        >>> torch.nn.functional.elu(torch.tensor([-1.0, 2.0]))
        tensor([-0.6321,  2.0000])

    Mirrors torch/nn/functional.py, ``elu``.
    """
    if inplace:
        return input.copy_(elu(input.clone(), alpha))
    refuse_integers(input, "elu_cpu")
    return _VF.where(input > 0, input, input.clamp(max=0).expm1() * alpha)


@overridable
def celu(input: Tensor, alpha: float = 1.0, inplace: bool = False) -> Tensor:
    r"""An :func:`elu` whose slope is continuous: :math:`x` if :math:`x > 0`, else :math:`\alpha (e^{x / \alpha} - 1)`.

    Args:
        input: tensor of any shape.
        alpha: :math:`\alpha`, not 0.
        inplace: whether to overwrite ``input``.

    Returns:
        A tensor of the same shape.

    Raises:
        RuntimeError: ``alpha`` is 0.

    Example:
        >>> import reftorch as torch
        >>> torch.nn.functional.celu(torch.tensor([-1.0, 2.0]), alpha=2.0)
        tensor([-0.7869,  2.0000])

    Mirrors torch/nn/functional.py, ``celu``.
    """
    if inplace:
        return input.copy_(celu(input.clone(), alpha))
    if alpha == 0:
        raise RuntimeError("ZeroDivisionError: alpha cannot be 0 for CELU")
    refuse_integers(input, "elu_cpu")
    return _VF.where(input > 0, input, (input.clamp(max=0) / alpha).expm1() * alpha)


@overridable
def selu(input: Tensor, inplace: bool = False) -> Tensor:
    r"""An :func:`elu` that keeps mean 0 and variance 1: :math:`s \, \mathrm{elu}(x, \alpha)` with two constants.

    Args:
        input: tensor of any shape.
        inplace: whether to overwrite ``input``.

    Returns:
        A tensor of the same shape.

    Example:
        >>> import reftorch as torch
        >>> torch.nn.functional.selu(torch.tensor([-1.0, 2.0]))
        tensor([-1.1113,  2.1014])

    Mirrors torch/nn/functional.py, ``selu``.
    """
    if inplace:
        return input.copy_(selu(input.clone()))
    return elu(input, SELU_ALPHA) * SELU_SCALE


@overridable
def gelu(input: Tensor, approximate: str = "none") -> Tensor:
    r"""Weigh each element by the normal distribution: :math:`x \Phi(x)`.

    Args:
        input: tensor of any shape.
        approximate: ``"none"``, or ``"tanh"`` for
            :math:`x / 2 \cdot (1 + \tanh(\sqrt{2 / \pi} (x + 0.044715 x^3)))`.

    Returns:
        A tensor of the same shape.

    Raises:
        RuntimeError: another word for ``approximate``.

    Example:
        >>> import reftorch as torch
        >>> torch.nn.functional.gelu(torch.tensor([-1.0, 2.0]))
        tensor([-0.1587,  1.9545])

    Mirrors torch/nn/functional.py, ``gelu``.
    """
    refuse_integers(input, "GeluKernelImpl")
    if approximate == "none":
        return input * 0.5 * ((input * math.sqrt(0.5)).erf() + 1)
    if approximate == "tanh":
        return input * 0.5 * (((input + input**3 * 0.044715) * math.sqrt(2 / math.pi)).tanh() + 1)
    raise RuntimeError("approximate argument must be either none or tanh.")


@overridable
def silu(input: Tensor, inplace: bool = False) -> Tensor:
    r"""Weigh each element by its sigmoid: :math:`x \sigma(x)`; also known as swish.

    Args:
        input: tensor of any shape.
        inplace: whether to overwrite ``input``.

    Returns:
        A tensor of the same shape.

    Example:
        >>> import reftorch as torch
        >>> torch.nn.functional.silu(torch.tensor([-1.0, 2.0]))
        tensor([-0.2689,  1.7616])

    Mirrors torch/nn/functional.py, ``silu``.
    """
    if inplace:
        return input.copy_(silu(input.clone()))
    refuse_integers(input, "silu_cpu")
    return input * input.sigmoid()


@overridable
def softplus(input: Tensor, beta: float = 1.0, threshold: float = 20.0) -> Tensor:
    r"""A smooth relu: :math:`\log(1 + e^{\beta x}) / \beta`.

    Args:
        input: tensor of any shape.
        beta: :math:`\beta`.
        threshold: where :math:`\beta x` is larger the result is :math:`x`.

    Returns:
        A tensor of the same shape.

    Example:
        >>> import reftorch as torch
        >>> torch.nn.functional.softplus(torch.tensor([-1.0, 2.0]))
        tensor([0.3133, 2.1269])

    Mirrors torch/nn/functional.py, ``softplus``.
    """
    refuse_integers(input, "softplus_cpu")
    scaled = input * beta
    return _VF.where(scaled > threshold, input, scaled.clamp(max=threshold).exp().log1p() / beta)


@overridable
def logsigmoid(input: Tensor) -> Tensor:
    r"""Logarithm of the sigmoid: :math:`\min(0, x) - \log(1 + e^{-|x|})`.

    Args:
        input: tensor of any shape.

    Returns:
        A tensor of the same shape.

    Example:
        >>> import reftorch as torch
        >>> torch.nn.functional.logsigmoid(torch.tensor([-1.0, 2.0]))
        tensor([-1.3133, -0.1269])

    Mirrors torch/nn/functional.py, ``logsigmoid``.
    """
    refuse_integers(input, "log_sigmoid_cpu")
    # By where, not by abs and min: at 0 their gradients are halves that do not add up.
    magnitude = _VF.where(input >= 0, input, -input)
    return _VF.where(input >= 0, _VF.zeros_like(input), input) - (-magnitude).exp().log1p()


@overridable
def mish(input: Tensor, inplace: bool = False) -> Tensor:
    r"""Weigh each element by a bounded function of it: :math:`x \tanh(\mathrm{softplus}(x))`.

    Args:
        input: tensor of any shape.
        inplace: whether to overwrite ``input``.

    Returns:
        A tensor of the same shape.

    Example:
        >>> import reftorch as torch
        >>> torch.nn.functional.mish(torch.tensor([-1.0, 2.0]))
        tensor([-0.3034,  1.9440])

    Mirrors torch/nn/functional.py, ``mish``.
    """
    if inplace:
        return input.copy_(mish(input.clone()))
    refuse_integers(input, "mish_cpu")
    return input * softplus(input).tanh()


@overridable
def hardtanh(input: Tensor, min_val: float = -1.0, max_val: float = 1.0, inplace: bool = False) -> Tensor:
    r"""Clamp every element between two bounds; at and beyond them the gradient is 0.

    Args:
        input: tensor of any shape.
        min_val: lower bound.
        max_val: upper bound.
        inplace: whether to overwrite ``input``.

    Returns:
        A tensor of the same shape; of integers, integers.

    Raises:
        ValueError: ``min_val > max_val``.
        RuntimeError: ``input`` holds truth values, or unsigned integers where a bound is negative.

    Example:
        >>> import reftorch as torch
        >>> torch.nn.functional.hardtanh(torch.tensor([-3.0, 0.5]))
        tensor([-1.0000,  0.5000])

    Mirrors torch/nn/functional.py, ``hardtanh``.
    """
    if inplace:
        return input.copy_(hardtanh(input.clone(), min_val, max_val))
    if min_val > max_val:
        raise ValueError("min_val cannot be greater than max_val")
    if input.dtype is _C.bool:
        raise RuntimeError("Bool inputs not supported for hardtanh")
    if not input.is_floating_point():
        if input.dtype is _C.uint8 and (min_val < 0 or max_val < 0):
            raise RuntimeError("cannot do hardtanh on an unsigned type with negative limits")
        return input.clamp(int(min_val), int(max_val))
    inside = (input > min_val) & (input < max_val)
    return _VF.where(inside, input, input.detach().clamp(min_val, max_val))


@overridable
def relu6(input: Tensor, inplace: bool = False) -> Tensor:
    r"""A relu that is bounded: :math:`\min(\max(0, x), 6)`.

    Args:
        input: tensor of any shape.
        inplace: whether to overwrite ``input``.

    Returns:
        A tensor of the same shape.

    Example:
        >>> import reftorch as torch
        >>> torch.nn.functional.relu6(torch.tensor([-1.0, 2.0, 8.0]))
        tensor([0., 2., 6.])

    Mirrors torch/nn/functional.py, ``relu6``.
    """
    return hardtanh(input, 0.0, 6.0, inplace)


@overridable
def threshold(input: Tensor, threshold: float, value: float, inplace: bool = False) -> Tensor:
    """Replace each element that is not above a threshold by a value.

    Args:
        input: tensor of any shape.
        threshold: the threshold.
        value: the value.
        inplace: whether to overwrite ``input``.

    Returns:
        A tensor of the same shape.

    Example:
        >>> import reftorch as torch
        >>> torch.nn.functional.threshold(torch.tensor([0.1, 2.0]), 0.5, 9.0)
        tensor([9., 2.])

    Mirrors torch/nn/functional.py, ``threshold``.
    """
    return _VF.threshold_(input, threshold, value) if inplace else _VF.threshold(input, threshold, value)


@overridable
def softsign(input: Tensor) -> Tensor:
    r"""Divide each element by its distance to 0 and one more: :math:`x / (1 + |x|)`.

    Args:
        input: tensor of any shape.

    Returns:
        A tensor of the same shape.

    Example:
        >>> import reftorch as torch
        >>> torch.nn.functional.softsign(torch.tensor([-1.0, 3.0]))
        tensor([-0.5000,  0.7500])

    Mirrors torch/nn/functional.py, ``softsign``.
    """
    return input / (input.abs() + 1)


@overridable
def tanhshrink(input: Tensor) -> Tensor:
    r"""What the hyperbolic tangent takes away: :math:`x - \tanh(x)`.

    Args:
        input: tensor of any shape.

    Returns:
        A tensor of the same shape.

    Example:
        >>> import reftorch as torch
        >>> torch.nn.functional.tanhshrink(torch.tensor([0.0, 1.0]))
        tensor([0.0000, 0.2384])

    Mirrors torch/nn/functional.py, ``tanhshrink``.
    """
    return input - input.tanh()
