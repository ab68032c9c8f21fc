r"""The ops of ``torch`` that add noise to networks: they draw slopes.

Mirrors: aten/src/ATen/native/Activation.cpp (rrelu)
Leaves out: nothing.

``torch.nn.functional`` has functions of these names whose flag ``inplace`` selects the op that works in place.
"""

from __future__ import annotations

from reftorch import _C, _VF
from reftorch._tensor import Tensor
from reftorch._torch_function import overridable_as_called
from reftorch._utils import not_implemented

__all__ = ["rrelu", "rrelu_"]

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
