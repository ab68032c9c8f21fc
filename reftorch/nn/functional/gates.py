r"""Activations that look at more than one element, have weights, or are drawn.

Mirrors: torch/nn/functional.py (``glu``, ``gumbel_softmax``, ``prelu``, ``rrelu``)
Leaves out: nothing.
"""

from __future__ import annotations

from reftorch import _C, _VF
from reftorch._tensor import Tensor
from reftorch._torch_function import overridable
from reftorch._utils import not_implemented
from reftorch._warnings import warn
from reftorch.functional import noise

__all__ = ["glu", "gumbel_softmax", "prelu", "rrelu", "rrelu_"]

prelu, rrelu_ = _VF.prelu, noise.rrelu_  # the same functions as in torch: their words are those of torch.prelu


@overridable
def glu(input: Tensor, dim: int = -1) -> Tensor:
    r"""Let one half of a tensor be the gate of the other: :math:`a \, \sigma(b)`.

    Args:
        input: :math:`(*, 2n, *)`, of which :math:`a` and :math:`b` are the halves.
        dim: the dimension that is halved.

    Returns:
        :math:`(*, n, *)`.

    Raises:
        RuntimeError: the size along ``dim`` is odd, or ``input`` has no dimension.

    Example:
        >>> import reftorch as torch
        >>> torch.nn.functional.glu(torch.tensor([1.0, 2.0, 0.0, 0.0]))
        tensor([0.5000, 1.0000])

    Mirrors torch/nn/functional.py, ``glu``.
    """
    if input.dim() == 0:
        raise RuntimeError("glu does not support scalars because halving size must be even")
    size = input.size(dim)
    if size % 2 != 0:
        raise RuntimeError(f"Halving dimension must be even, but dimension {dim % input.dim()} is size {size}")
    if not input.is_floating_point():
        raise not_implemented("glu_cpu", input)
    return input.narrow(dim, 0, size // 2) * input.narrow(dim, size // 2, size // 2).sigmoid()


@overridable
def rrelu(
    input: Tensor,
    lower: float = 1.0 / 8,
    upper: float = 1.0 / 3,
    training: bool = False,
    inplace: bool = False,
) -> Tensor:
    r"""Scale negative elements by slopes that are drawn in training: :math:`\max(0, x) + a \min(0, x)`.

    Args:
        input: tensor of any shape.
        lower, upper: between these :math:`a` is drawn, for each element; not training, it is the number in the middle.
        training: whether to draw.
        inplace: whether to overwrite ``input``.

    Returns:
        A tensor of the same shape.

    Raises:
        RuntimeError: ``lower > upper``.

    Example:
        >>> import reftorch as torch
        >>> torch.nn.functional.rrelu(torch.tensor([-8.0, 1.0]), 0.25, 0.75)
        tensor([-4.,  1.])

    Mirrors torch/nn/functional.py, ``rrelu``.
    """
    return (noise.rrelu_ if inplace else noise.rrelu)(input, lower, upper, training)


@overridable
def gumbel_softmax(logits: Tensor, tau: float = 1, hard: bool = False, eps: float = 1e-10, dim: int = -1) -> Tensor:
    r"""Draw a class from each row of scores, in a way that a gradient can follow.

    :math:`\mathrm{softmax}((x + g) / \tau)` with :math:`g` drawn from Gumbel's distribution, :math:`-\log(-\log U)`:
    the largest is class :math:`i` with probability :math:`\mathrm{softmax}(x)_i`.

    Args:
        logits: scores of the classes, :math:`(*, C)`.
        tau: :math:`\tau`, the temperature: the smaller, the closer the result is to zeros and a one.
        hard: whether to return zeros and a one, with the gradient of the soft result.
        eps: deprecated, without effect.
        dim: the dimension of the classes.

    Returns:
        A tensor of the same shape, whose sum along ``dim`` is 1.

    Example:
        >>> import reftorch as torch
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
    return one - soft.detach() + soft  # its value is that of one, its gradient that of soft
