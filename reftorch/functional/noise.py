r"""The ops of ``torch`` that add noise to networks: they set elements or channels to zero, or draw slopes.

Mirrors: aten/src/ATen/native/Dropout.cpp, aten/src/ATen/native/Activation.cpp (rrelu)
Leaves out: ``native_dropout``.

``torch.nn.functional`` has functions of these names whose flag ``inplace`` selects the op that works in place.
"""

from __future__ import annotations

import math

from reftorch import _C, _VF
from reftorch._tensor import Tensor
from reftorch._torch_function import overridable_as_called
from reftorch._utils import not_implemented

__all__ = [
    "alpha_dropout", "alpha_dropout_", "dropout", "dropout_", "feature_alpha_dropout", "feature_alpha_dropout_",
    "feature_dropout", "feature_dropout_", "rrelu", "rrelu_",
]  # fmt: skip

_SATURATION = 1.7580993408473766  # the limit of -selu(x) as x falls


def _kept(input: Tensor, p: float, of_channels: bool) -> Tensor:
    """Return ones, and zeros with probability p: one number for each element, or for each channel (N, C)."""
    if not of_channels:
        shape = list(input.shape)
    elif input.dim() < 2:
        raise RuntimeError("Feature dropout requires at least 2 dimensions in the input")
    else:
        shape = [*input.shape[:2], *[1] * (input.dim() - 2)]
    if _C._functorch.maybe_current_level() is not None:  # vmap decides whether examples share the noise
        return _VF.bernoulli(_VF.empty(shape, dtype=input.dtype), 1 - p)
    empty = _VF.empty(shape, dtype=input.dtype) if of_channels else _VF.empty_like(input.detach())
    return empty.bernoulli_(1 - p)


def _dropped(
    input: Tensor, p: float, train: bool, in_place: bool, of_channels: bool = False, alpha: bool = False
) -> Tensor:
    if not 0 <= p <= 1:
        raise RuntimeError(f"dropout probability has to be between 0 and 1, but got {p:g}")
    if p == 0 or not train or input.numel() == 0:
        return input
    if p == 1:
        zeros = _VF.zeros_like(input.detach())
        return input.mul_(zeros) if in_place else input * zeros
    noise = _kept(input, p, of_channels)
    if not alpha:
        noise.div_(1 - p)
        return input.mul_(noise) if in_place else input * noise
    # A dropped element becomes -_SATURATION; an affine map then restores mean 0 and variance 1.
    scale = 1 / math.sqrt((_SATURATION**2 * p + 1) * (1 - p))
    shift = (noise - 1).mul_(_SATURATION * scale).add_(_SATURATION * scale * p)
    noise.mul_(scale)
    return (input.mul_(noise) if in_place else input * noise).add_(shift)


@overridable_as_called
def dropout(input: Tensor, p: float, train: bool) -> Tensor:
    r"""In training, set elements to zero with probability :math:`p` and scale the others by :math:`1 / (1 - p)`.

    Args:
        input: tensor of any shape.
        p: :math:`p`, from 0 to 1.
        train: without training, the function returns its input.

    Returns:
        A tensor of the same shape.

    Raises:
        RuntimeError: ``p`` is not between 0 and 1.

    Example:
        >>> import reftorch as torch
        >>> sorted(set(torch.dropout(torch.ones(100), 0.75, True).tolist()))
        [0.0, 4.0]

    Mirrors aten/src/ATen/native/Dropout.cpp, ``dropout``.
    """
    return _dropped(input, p, train, False)


@overridable_as_called
def dropout_(input: Tensor, p: float, train: bool) -> Tensor:
    """:func:`dropout`, in place."""
    return _dropped(input, p, train, True)


@overridable_as_called
def feature_dropout(input: Tensor, p: float, train: bool) -> Tensor:
    r"""In training, set whole channels to zero with probability :math:`p` and scale the others by :math:`1 / (1 - p)`.

    Args:
        input: :math:`(N, C, *)`.
        p: :math:`p`, from 0 to 1.
        train: without training, the function returns its input.

    Returns:
        A tensor of the same shape.

    Raises:
        RuntimeError: ``p`` is not between 0 and 1, or ``input`` has fewer than two dimensions.

    Example:
        >>> import reftorch as torch
        >>> x = torch.feature_dropout(torch.ones(3, 2, 5), 0.5, True)
        >>> (x == x[..., :1]).all().item()
        True

    Mirrors aten/src/ATen/native/Dropout.cpp, ``feature_dropout``.
    """
    return _dropped(input, p, train, False, of_channels=True)


@overridable_as_called
def feature_dropout_(input: Tensor, p: float, train: bool) -> Tensor:
    """:func:`feature_dropout`, in place."""
    return _dropped(input, p, train, True, of_channels=True)


@overridable_as_called
def alpha_dropout(input: Tensor, p: float, train: bool) -> Tensor:
    r"""In training, drop elements and keep mean 0 and variance 1: the dropout for networks with ``selu``.

    With probability :math:`p` an element becomes :math:`-\alpha', \alpha' \approx 1.758`; then every element is mapped
    to :math:`a x + a \alpha' p` with :math:`a = ((1 - p)(1 + p \alpha'^2))^{-1/2}`.

    Args:
        input: tensor of any shape.
        p: :math:`p`, from 0 to 1.
        train: without training, the function returns its input.

    Returns:
        A tensor of the same shape.

    Raises:
        RuntimeError: ``p`` is not between 0 and 1.

    Example:
        >>> import reftorch as torch
        >>> torch.alpha_dropout(torch.zeros(100), 0.5, True).unique()
        tensor([-0.7792,  0.7792])

    Mirrors aten/src/ATen/native/Dropout.cpp, ``alpha_dropout``.
    """
    return _dropped(input, p, train, False, alpha=True)


@overridable_as_called
def alpha_dropout_(input: Tensor, p: float, train: bool) -> Tensor:
    """:func:`alpha_dropout`, in place."""
    return _dropped(input, p, train, True, alpha=True)


@overridable_as_called
def feature_alpha_dropout(input: Tensor, p: float, train: bool) -> Tensor:
    """In training, drop whole channels as :func:`alpha_dropout` drops elements.

    Args:
        input: :math:`(N, C, *)`.
        p: the probability, from 0 to 1.
        train: without training, the function returns its input.

    Returns:
        A tensor of the same shape.

    Raises:
        RuntimeError: ``p`` is not between 0 and 1, or ``input`` has fewer than two dimensions.

    Example:
        >>> import reftorch as torch
        >>> x = torch.feature_alpha_dropout(torch.zeros(3, 2, 5), 0.5, True)
        >>> (x == x[..., :1]).all().item()
        True

    Mirrors aten/src/ATen/native/Dropout.cpp, ``feature_alpha_dropout``.
    """
    return _dropped(input, p, train, False, of_channels=True, alpha=True)


@overridable_as_called
def feature_alpha_dropout_(input: Tensor, p: float, train: bool) -> Tensor:
    """:func:`feature_alpha_dropout`, in place."""
    return _dropped(input, p, train, True, of_channels=True, alpha=True)


def _slopes(input: Tensor, lower: float, upper: float, training: bool, generator: _C.Generator | None) -> Tensor:
    """Return the factors of rrelu. For 16-bit input the factors are float32, so that rounding happens only once."""
    if lower > upper:
        raise RuntimeError("Lower bound should be less than or equal to the upper bound")
    if not input.is_floating_point():
        raise not_implemented("rrelu_with_noise_out_cpu" if training else "leaky_relu_cpu", input)
    like = input.detach() if input.dtype == _C.float64 else input.detach().float()
    if not training:
        return _VF.where(like > 0, _VF.ones_like(like), _VF.full_like(like, (lower + upper) / 2))
    negative = like <= 0
    drawn = _VF.empty(int(negative.sum()), dtype=_C.float64).uniform_(lower, upper, generator=generator)
    return _VF.ones_like(like).masked_scatter_(negative, drawn.to(like.dtype))


@overridable_as_called
def rrelu(
    input: Tensor,
    lower: float = 1.0 / 8,
    upper: float = 1.0 / 3,
    training: bool = False,
    generator: _C.Generator | None = None,
) -> Tensor:
    r"""Multiply negative elements by a random slope: :math:`\max(0, x) + a \min(0, x)`.

    Args:
        input: tensor of any shape.
        lower, upper: the bounds of :math:`a`, drawn for each element; without training, :math:`a` is their mean.
        training: whether to draw the slopes.
        generator: the random number generator; None means the default one.

    Returns:
        A tensor of the same shape.

    Raises:
        RuntimeError: ``lower > upper``.

    Example:
        >>> import reftorch as torch
        >>> torch.rrelu(torch.tensor([-8.0, 1.0]), 0.25, 0.75)
        tensor([-4.,  1.])

    Mirrors aten/src/ATen/native/Activation.cpp, ``rrelu``.
    """
    return (input * _slopes(input, lower, upper, training, generator)).to(input.dtype)


@overridable_as_called
def rrelu_(
    input: Tensor,
    lower: float = 1.0 / 8,
    upper: float = 1.0 / 3,
    training: bool = False,
    generator: _C.Generator | None = None,
) -> Tensor:
    """:func:`rrelu`, in place."""
    return input.mul_(_slopes(input, lower, upper, training, generator))
