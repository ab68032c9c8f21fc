"""Initializations with structure: identities, orthogonal and sparse matrices, truncated normal numbers.

Mirrors: torch/nn/init.py (eye_, dirac_, orthogonal_, sparse_, trunc_normal_)

All functions work in place, record nothing in the graph and return their tensor. They use the generator exactly as
PyTorch does, so that equal seeds give equal networks.
"""

from __future__ import annotations

import math
from typing import Any

from reftorch import _C, _VF
from reftorch._tensor import Tensor
from reftorch._warnings import warn
from reftorch.autograd.grad_mode import no_grad

__all__ = ["dirac_", "eye_", "orthogonal_", "sparse_", "trunc_normal_"]


def _check_matrix(tensor: Tensor) -> None:
    if tensor.dim() != 2:
        raise ValueError("Only tensors with 2 dimensions are supported")


@no_grad()
def eye_(tensor: Tensor) -> Tensor:
    """Fill with the identity matrix.

    Args:
        tensor: :math:`(m, n)`.

    Raises:
        ValueError: the tensor is not a matrix.

    Example:
        >>> torch.nn.init.eye_(torch.empty(2, 3))
        tensor([[1., 0., 0.],
                [0., 1., 0.]])

    Mirrors torch/nn/init.py, ``eye_``.
    """
    _check_matrix(tensor)
    tensor.zero_().diagonal().fill_(1)
    return tensor


@no_grad()
def dirac_(tensor: Tensor, groups: int = 1) -> Tensor:
    """Fill the weight of a convolution so that it copies as many channels as possible.

    Args:
        tensor: :math:`(C_{out}, C_{in}, *)` with a kernel of one to three dimensions, whose middle becomes 1.
        groups: the number of groups of output channels; each group copies the first input channels.

    Raises:
        ValueError: the number of dimensions is not 3 to 5, or the outputs are not a multiple of ``groups``.

    Example:
        >>> torch.nn.init.dirac_(torch.empty(2, 2, 3))
        tensor([[[0., 1., 0.],
                 [0., 0., 0.]],
        <BLANKLINE>
                [[0., 0., 0.],
                 [0., 1., 0.]]])

    Mirrors torch/nn/init.py, ``dirac_``.
    """
    if tensor.dim() not in (3, 4, 5):
        raise ValueError("Only tensors with 3, 4, or 5 dimensions are supported")
    if tensor.shape[0] % groups != 0:
        raise ValueError("dim 0 must be divisible by groups")
    outputs = tensor.shape[0] // groups
    middle = tuple(size // 2 for size in tensor.shape[2:])
    tensor.zero_()
    for group in range(groups):
        for channel in range(min(outputs, tensor.shape[1])):
            place = (group * outputs + channel, channel, *middle)
            tensor[place] = 1
    return tensor


@no_grad()
def orthogonal_(tensor: Tensor, gain: float = 1, generator: Any = None) -> Tensor:
    r"""Fill with a matrix whose rows (or columns, if there are fewer of them) are orthogonal and have length ``gain``.

    The matrix is the factor Q of a matrix of normal numbers; its signs are chosen so that the distribution is uniform.

    Args:
        tensor: :math:`(m, *)`; the dimensions after the first count as one.
        gain: the length of the rows or columns.
        generator: the random number generator; None means the default one.

    Raises:
        ValueError: the tensor has fewer than 2 dimensions.

    Example:
        >>> w = torch.nn.init.orthogonal_(torch.empty(2, 4))
        >>> torch.allclose(w @ w.T, torch.eye(2), atol=1e-6)
        True

    Mirrors torch/nn/init.py, ``orthogonal_``.
    """
    if tensor.dim() < 2:
        raise ValueError("Only tensors with 2 or more dimensions are supported")
    if tensor.numel() == 0:
        return tensor
    rows, cols = tensor.shape[0], tensor.numel() // tensor.shape[0]
    drawn = tensor.new_empty((rows, cols)).normal_(0, 1, generator=generator)
    Q, R = _C._linalg.linalg_qr(drawn.t() if rows < cols else drawn)
    Q = Q * R.diagonal().sign()
    return tensor.copy_((Q.t() if rows < cols else Q).reshape(tensor.shape)).mul_(gain)


@no_grad()
def sparse_(tensor: Tensor, sparsity: float, std: float = 0.01, generator: Any = None) -> Tensor:
    r"""Fill with draws from :math:`N(0, \text{std}^2)`, and a part of each column with zeros.

    Args:
        tensor: :math:`(m, n)`.
        sparsity: the part of each column that is zero.
        std: standard deviation.
        generator: the generator of the numbers; None means the default one, which always chooses the zeros.

    Raises:
        ValueError: the tensor is not a matrix.

    Example:
        >>> (torch.nn.init.sparse_(torch.empty(4, 3), 0.5) == 0).sum(0)
        tensor([2, 2, 2])

    Mirrors torch/nn/init.py, ``sparse_``.
    """
    _check_matrix(tensor)
    rows, cols = tensor.shape
    tensor.normal_(0, std, generator=generator)
    for column in range(cols):
        tensor[_VF.randperm(rows)[: math.ceil(sparsity * rows)], column] = 0
    return tensor


def _normal_cdf(x: float) -> float:
    return (1.0 + math.erf(x / math.sqrt(2.0))) / 2.0


def _redraw_outside(tensor: Tensor, mean: float, std: float, a: float, b: float, generator: Any) -> None:
    """Draw normal numbers, and draw those outside the bounds again until all are inside."""
    low, high = tensor.new_tensor(a).item(), tensor.new_tensor(b).item()
    tensor.normal_(mean, std, generator=generator)
    while bool((outside := (tensor < low) | (tensor > high)).any()):
        again = _VF.empty_like(tensor).normal_(mean, std, generator=generator)
        tensor.copy_(_VF.where(outside, again, tensor))


def _accept_by_density(tensor: Tensor, mean: float, std: float, a: float, b: float, generator: Any) -> None:
    """Draw uniform numbers and keep each with a probability proportional to the density; repeat for the others.

    This is for bounds between which few normal numbers would fall.
    """
    log_peak = -0.5 * ((max(a, min(mean, b)) - mean) / std) ** 2
    pending = _VF.ones_like(tensor, dtype=_C.bool)
    while bool(pending.any()):
        candidates = _VF.empty_like(tensor).uniform_(a, b, generator=generator)
        tensor.copy_(_VF.where(pending, candidates, tensor))
        log_density = ((candidates - mean) / std).pow_(2).mul_(-0.5).sub_(log_peak)
        refused = _VF.empty_like(tensor).uniform_(generator=generator).log_() > log_density
        pending = pending & refused


@no_grad()
def trunc_normal_(
    tensor: Tensor, mean: float = 0.0, std: float = 1.0, a: float = -2.0, b: float = 2.0, generator: Any = None
) -> Tensor:
    r"""Fill with draws from :math:`N(\text{mean}, \text{std}^2)` that lie between two bounds.

    Args:
        tensor: tensor of any shape.
        mean, std: mean and standard deviation of the whole distribution.
        a, b: the bounds, which do not scale with ``std``.
        generator: the random number generator; None means the default one.

    Example:
        >>> float(torch.nn.init.trunc_normal_(torch.empty(1000), a=-1.0, b=1.0).abs().max()) <= 1.0
        True

    Mirrors torch/nn/init.py, ``trunc_normal_``.
    """
    if mean < a - 2 * std or mean > b + 2 * std:
        warn(
            "mean is more than 2 std from [a, b] in nn.init.trunc_normal_. The distribution of values may be incorrect."
        )
    inside = _normal_cdf((b - mean) / std) - _normal_cdf((a - mean) / std)
    draw = _redraw_outside if inside > 0.3 else _accept_by_density
    draw(tensor, mean, std, a, b, generator)
    return tensor
