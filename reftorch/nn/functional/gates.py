r"""Activations that combine several elements, have weights, or draw random numbers.

Mirrors: torch/nn/functional.py (``glu``, ``gumbel_softmax``, ``prelu``, ``rrelu``)
"""

from __future__ import annotations

from reftorch import _C, _VF
from reftorch._tensor import Tensor
from reftorch._torch_function import overridable
from reftorch._warnings import warn

__all__ = ["glu", "gumbel_softmax", "prelu", "rrelu", "rrelu_"]

prelu, rrelu_ = _VF.prelu, _VF.rrelu_  # torch has the same functions, with their docstrings


@overridable
def glu(input: Tensor, dim: int = -1) -> Tensor:
    r"""Multiply one half of a tensor by the sigmoid of the other half: :math:`a \, \sigma(b)`.

    Args:
        input: :math:`(*, 2n, *)`; its halves are :math:`a` and :math:`b`.
        dim: the dimension that is halved.

    Returns:
        :math:`(*, n, *)`.

    Raises:
        RuntimeError: the size along ``dim`` is odd, or ``input`` has no dimension.

    Example:
        >>> torch.nn.functional.glu(torch.tensor([1.0, 2.0, 0.0, 0.0]))
        tensor([0.5000, 1.0000])

    Mirrors torch/nn/functional.py, ``glu``.
    """
    if input.dim() == 0:
        raise RuntimeError("glu does not support scalars because halving size must be even")
    return _C._nn.glu(input, dim)


@overridable
def rrelu(
    input: Tensor,
    lower: float = 1.0 / 8,
    upper: float = 1.0 / 3,
    training: bool = False,
    inplace: bool = False,
) -> Tensor:
    r"""Multiply negative elements by a random slope: :math:`\max(0, x) + a \min(0, x)`.

    Args:
        input: tensor of any shape.
        lower, upper: the bounds of :math:`a`, drawn for each element; without training, :math:`a` is their mean.
        training: whether to draw the slopes.
        inplace: whether to overwrite ``input``.

    Returns:
        A tensor of the same shape.

    Raises:
        RuntimeError: ``lower > upper``.

    Example:
        >>> torch.nn.functional.rrelu(torch.tensor([-8.0, 1.0]), 0.25, 0.75)
        tensor([-4.,  1.])

    Mirrors torch/nn/functional.py, ``rrelu``.
    """
    return (_VF.rrelu_ if inplace else _VF.rrelu)(input, lower, upper, training)


@overridable
def gumbel_softmax(logits: Tensor, tau: float = 1, hard: bool = False, eps: float = 1e-10, dim: int = -1) -> Tensor:
    r"""Draw a class from each row of scores, in a differentiable way.

    The result is :math:`\mathrm{softmax}((x + g) / \tau)`, where :math:`g = -\log(-\log U)` is drawn from Gumbel's
    distribution: its largest element is class :math:`i` with probability :math:`\mathrm{softmax}(x)_i`.

    Args:
        logits: scores of the classes, :math:`(*, C)`.
        tau: :math:`\tau`, the temperature: the smaller it is, the closer the result is to a one-hot vector.
        hard: whether to return one-hot vectors, with the gradient of the soft result.
        eps: deprecated; it has no effect.
        dim: the dimension of the classes.

    Returns:
        A tensor of the same shape, whose sum along ``dim`` is 1.

    Example:
        >>> torch.nn.functional.gumbel_softmax(torch.zeros(4, 3), hard=True).sum(-1)
        tensor([1., 1., 1., 1.])

    Mirrors torch/nn/functional.py, ``gumbel_softmax``.
    """
    if eps != 1e-10:
        warn("`eps` parameter is deprecated and has no effect.")
    gumbels = -_VF.empty_like(logits.detach(), memory_format=_C.contiguous_format).exponential_().log()
    soft = ((logits + gumbels) / tau).softmax(dim)
    if not hard:
        return soft
    one = _VF.zeros_like(logits.detach()).scatter_(dim, soft.argmax(dim, keepdim=True), 1.0)
    return one - soft.detach() + soft  # the value of one, with the gradient of soft
