r"""Nonlinear functions of every element.

Mirrors: torch/nn/functional.py (its activations)
Leaves out: ``rrelu`` and ``glu``, which are in ``gates``; ``prelu``, which ``gates`` takes from ``torch``.

Each function calls one kernel, except ``softsign`` and ``tanhshrink``, which combine other ops. The file is over 500
lines long because there are many activations; each takes a few lines and a docstring.
"""

from __future__ import annotations

from reftorch import _C, _VF
from reftorch._tensor import Tensor
from reftorch._torch_function import handle_torch_function, has_torch_function_unary, overridable, overridable_as_called

__all__ = [
    "celu",
    "celu_",
    "elu",
    "elu_",
    "gelu",
    "hardshrink",
    "hardsigmoid",
    "hardswish",
    "hardtanh",
    "hardtanh_",
    "leaky_relu",
    "leaky_relu_",
    "logsigmoid",
    "mish",
    "relu",
    "relu6",
    "relu_",
    "selu",
    "selu_",
    "sigmoid",
    "silu",
    "softplus",
    "softshrink",
    "softsign",
    "tanh",
    "tanhshrink",
    "threshold",
    "threshold_",
]  # fmt: skip

_nn = _C._nn

# These are the ops themselves, as in PyTorch, with the ops' docstrings.
hardshrink, logsigmoid = _VF.hardshrink, _nn.log_sigmoid

# These write into their input. The docstrings are those of the ops.
celu_, selu_, threshold_ = _VF.celu_, _VF.selu_, _VF.threshold_
elu_, hardtanh_, leaky_relu_ = _nn.elu_, _nn.hardtanh_, _nn.leaky_relu_


@overridable
def leaky_relu(input: Tensor, negative_slope: float = 0.01, inplace: bool = False) -> Tensor:
    r"""Multiply negative elements by a slope: :math:`\max(0, x) + a \min(0, x)`.

    Args:
        input: tensor of any shape.
        negative_slope: :math:`a`.
        inplace: whether to overwrite ``input``.

    Returns:
        A tensor of the same shape.

    Example:
        >>> torch.nn.functional.leaky_relu(torch.tensor([-1.0, 2.0]), 0.1)
        tensor([-0.1000,  2.0000])

    Mirrors torch/nn/functional.py, ``leaky_relu``.
    """
    if inplace:
        return _nn.leaky_relu_(input, negative_slope)
    return _nn.leaky_relu(input, negative_slope)


@overridable
def elu(input: Tensor, alpha: float = 1.0, inplace: bool = False) -> Tensor:
    r"""Bend negative elements towards :math:`-\alpha`: :math:`x` if :math:`x > 0`, else :math:`\alpha (e^x - 1)`.

    Args:
        input: tensor of any shape.
        alpha: :math:`\alpha`.
        inplace: whether to overwrite ``input``.

    Returns:
        A tensor of the same shape.

    Example:
        >>> torch.nn.functional.elu(torch.tensor([-1.0, 2.0]))
        tensor([-0.6321,  2.0000])

    Mirrors torch/nn/functional.py, ``elu``.
    """
    return _nn.elu_(input, alpha) if inplace else _nn.elu(input, alpha)


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
        >>> torch.nn.functional.celu(torch.tensor([-1.0, 2.0]), alpha=2.0)
        tensor([-0.7869,  2.0000])

    Mirrors torch/nn/functional.py, ``celu``.
    """
    return _VF.celu_(input, alpha) if inplace else _VF.celu(input, alpha)


@overridable
def selu(input: Tensor, inplace: bool = False) -> Tensor:
    r"""An :func:`elu` that preserves mean 0 and variance 1: :math:`s \, \mathrm{elu}(x, \alpha)` with two constants.

    Args:
        input: tensor of any shape.
        inplace: whether to overwrite ``input``.

    Returns:
        A tensor of the same shape.

    Example:
        >>> torch.nn.functional.selu(torch.tensor([-1.0, 2.0]))
        tensor([-1.1113,  2.1014])

    Mirrors torch/nn/functional.py, ``selu``.
    """
    return _VF.selu_(input) if inplace else _VF.selu(input)


@overridable_as_called
def gelu(input: Tensor, approximate: str = "none") -> Tensor:
    r"""Multiply each element by the distribution function of the normal distribution: :math:`x \Phi(x)`.

    Args:
        input: tensor of any shape.
        approximate: ``"none"``, or ``"tanh"`` for
            :math:`x / 2 \cdot (1 + \tanh(\sqrt{2 / \pi} (x + 0.044715 x^3)))`.

    Returns:
        A tensor of the same shape.

    Raises:
        RuntimeError: ``approximate`` is another string.

    Example:
        >>> torch.nn.functional.gelu(torch.tensor([-1.0, 2.0]))
        tensor([-0.1587,  1.9545])

    Mirrors torch/nn/functional.py, ``gelu``.
    """
    return _nn.gelu(input, approximate=approximate)


@overridable
def silu(input: Tensor, inplace: bool = False) -> Tensor:
    r"""Multiply each element by its sigmoid: :math:`x \sigma(x)`; also known as swish.

    Args:
        input: tensor of any shape.
        inplace: whether to overwrite ``input``.

    Returns:
        A tensor of the same shape.

    Example:
        >>> torch.nn.functional.silu(torch.tensor([-1.0, 2.0]))
        tensor([-0.2689,  1.7616])

    Mirrors torch/nn/functional.py, ``silu``.
    """
    return _nn.silu_(input) if inplace else _nn.silu(input)


@overridable_as_called
def softplus(input: Tensor, beta: float = 1.0, threshold: float = 20.0) -> Tensor:
    r"""A smooth relu: :math:`\log(1 + e^{\beta x}) / \beta`.

    Args:
        input: tensor of any shape.
        beta: :math:`\beta`.
        threshold: if :math:`\beta x` is larger, the result is :math:`x`.

    Returns:
        A tensor of the same shape.

    Example:
        >>> torch.nn.functional.softplus(torch.tensor([-1.0, 2.0]))
        tensor([0.3133, 2.1269])

    Mirrors torch/nn/functional.py, ``softplus``.
    """
    return _nn.softplus(input, beta, threshold)


@overridable
def mish(input: Tensor, inplace: bool = False) -> Tensor:
    r"""Multiply each element by a bounded function of that element: :math:`x \tanh(\mathrm{softplus}(x))`.

    Args:
        input: tensor of any shape.
        inplace: whether to overwrite ``input``.

    Returns:
        A tensor of the same shape.

    Example:
        >>> torch.nn.functional.mish(torch.tensor([-1.0, 2.0]))
        tensor([-0.3034,  1.9440])

    Mirrors torch/nn/functional.py, ``mish``.
    """
    return _nn.mish_(input) if inplace else _nn.mish(input)


@overridable
def hardtanh(input: Tensor, min_val: float = -1.0, max_val: float = 1.0, inplace: bool = False) -> Tensor:
    r"""Clamp every element between two bounds. The gradient is 0 at the bounds and beyond them.

    Args:
        input: tensor of any shape.
        min_val: lower bound.
        max_val: upper bound.
        inplace: whether to overwrite ``input``.

    Returns:
        A tensor of the same shape; integer input gives integers.

    Raises:
        ValueError: ``min_val > max_val``.
        RuntimeError: ``input`` is boolean, or is unsigned while a bound is negative.

    Example:
        >>> torch.nn.functional.hardtanh(torch.tensor([-3.0, 0.5]))
        tensor([-1.0000,  0.5000])

    Mirrors torch/nn/functional.py, ``hardtanh``.
    """
    if min_val > max_val:
        raise ValueError("min_val cannot be greater than max_val")
    if inplace:
        return _nn.hardtanh_(input, min_val, max_val)
    return _nn.hardtanh(input, min_val, max_val)


@overridable
def relu6(input: Tensor, inplace: bool = False) -> Tensor:
    r"""A bounded relu: :math:`\min(\max(0, x), 6)`.

    Args:
        input: tensor of any shape.
        inplace: whether to overwrite ``input``.

    Returns:
        A tensor of the same shape.

    Example:
        >>> torch.nn.functional.relu6(torch.tensor([-1.0, 2.0, 8.0]))
        tensor([0., 2., 6.])

    Mirrors torch/nn/functional.py, ``relu6``.
    """
    return _nn.relu6_(input) if inplace else _nn.relu6(input)


@overridable
def hardsigmoid(input: Tensor, inplace: bool = False) -> Tensor:
    r"""Approximate the sigmoid by three straight pieces: :math:`\min(\max(0, x + 3), 6) / 6`.

    Args:
        input: tensor of any shape.
        inplace: whether to overwrite ``input``.

    Returns:
        A tensor of the same shape.

    Example:
        >>> torch.nn.functional.hardsigmoid(torch.tensor([-4.0, 0.0, 1.5]))
        tensor([0.0000, 0.5000, 0.7500])

    Mirrors torch/nn/functional.py, ``hardsigmoid``.
    """
    return _nn.hardsigmoid_(input) if inplace else _nn.hardsigmoid(input)


@overridable
def hardswish(input: Tensor, inplace: bool = False) -> Tensor:
    r"""Multiply each element by its :func:`hardsigmoid`: :math:`x \min(\max(0, x + 3), 6) / 6`.

    Args:
        input: tensor of any shape.
        inplace: whether to overwrite ``input``.

    Returns:
        A tensor of the same shape.

    Example:
        >>> torch.nn.functional.hardswish(torch.tensor([-1.0, 2.0]))
        tensor([-0.3333,  1.6667])

    Mirrors torch/nn/functional.py, ``hardswish``.
    """
    return _nn.hardswish_(input) if inplace else _nn.hardswish(input)


@overridable_as_called
def softshrink(input: Tensor, lambd: float = 0.5) -> Tensor:
    r"""Move each element towards zero by :math:`\lambda`, but not past zero.

    Args:
        input: tensor of any shape.
        lambd: :math:`\lambda`, not negative.

    Returns:
        A tensor of the same shape.

    Raises:
        RuntimeError: ``lambd`` is negative.

    Example:
        >>> torch.nn.functional.softshrink(torch.tensor([-1.0, 0.25, 2.0]))
        tensor([-0.5000,  0.0000,  1.5000])

    Mirrors torch/nn/functional.py, ``softshrink``.
    """
    return _nn.softshrink(input, lambd)


@overridable
def threshold(input: Tensor, threshold: float, value: float, inplace: bool = False) -> Tensor:
    """Replace each element that is at or below a threshold by a value.

    Args:
        input: tensor of any shape.
        threshold: the threshold.
        value: the value.
        inplace: whether to overwrite ``input``.

    Returns:
        A tensor of the same shape.

    Example:
        >>> torch.nn.functional.threshold(torch.tensor([0.1, 2.0]), 0.5, 9.0)
        tensor([9., 2.])

    Mirrors torch/nn/functional.py, ``threshold``.
    """
    if inplace:
        return _VF.threshold_(input, threshold, value)
    return _VF.threshold(input, threshold, value)


@overridable
def softsign(input: Tensor) -> Tensor:
    r"""Divide each element by one more than its absolute value: :math:`x / (1 + |x|)`.

    Args:
        input: tensor of any shape.

    Returns:
        A tensor of the same shape.

    Example:
        >>> torch.nn.functional.softsign(torch.tensor([-1.0, 3.0]))
        tensor([-0.5000,  0.7500])

    Mirrors torch/nn/functional.py, ``softsign``.
    """
    return input / (input.abs() + 1)


@overridable
def tanhshrink(input: Tensor) -> Tensor:
    r"""Subtract the hyperbolic tangent from each element: :math:`x - \tanh(x)`.

    Args:
        input: tensor of any shape.

    Returns:
        A tensor of the same shape.

    Example:
        >>> torch.nn.functional.tanhshrink(torch.tensor([0.0, 1.0]))
        tensor([0.0000, 0.2384])

    Mirrors torch/nn/functional.py, ``tanhshrink``.
    """
    return input - input.tanh()


def relu(input: Tensor, inplace: bool = False) -> Tensor:
    r"""Set negative elements to zero: :math:`\max(0, x)`.

    Args:
        input: tensor of any shape.
        inplace: whether to overwrite ``input``.

    Returns:
        A tensor of the same shape.

    Example:
        >>> torch.nn.functional.relu(torch.tensor([-1.0, 0.0, 2.0]))
        tensor([0., 0., 2.])

    Mirrors torch/nn/functional.py, ``relu``.
    """
    if has_torch_function_unary(input):
        return handle_torch_function(relu, (input,), input, inplace=inplace)
    return input.relu_() if inplace else input.relu()


def relu_(input: Tensor) -> Tensor:
    """Set negative elements to zero, in place; see :func:`relu`."""
    return input.relu_()


def tanh(input: Tensor) -> Tensor:
    r"""Hyperbolic tangent of every element: :math:`(e^x - e^{-x}) / (e^x + e^{-x})`.

    Args:
        input: tensor of any shape.

    Returns:
        A tensor of the same shape.

    Example:
        >>> torch.nn.functional.tanh(torch.tensor([0.0, 1.0]))
        tensor([0.0000, 0.7616])

    Mirrors torch/nn/functional.py, ``tanh``.
    """
    return input.tanh()


def sigmoid(input: Tensor) -> Tensor:
    r"""Logistic function of every element: :math:`1 / (1 + e^{-x})`.

    Args:
        input: tensor of any shape.

    Returns:
        A tensor of the same shape.

    Example:
        >>> torch.nn.functional.sigmoid(torch.tensor([0.0, 1.0]))
        tensor([0.5000, 0.7311])

    Mirrors torch/nn/functional.py, ``sigmoid``.
    """
    return input.sigmoid()
