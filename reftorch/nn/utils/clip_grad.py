"""Limits for the size of gradients.

Mirrors: torch/nn/utils/clip_grad.py
Leaves out: the ``foreach`` kernels.
"""

from __future__ import annotations

import math
import types
from collections.abc import Iterable
from typing import Any

from reftorch import _C, _VF
from reftorch._tensor import Tensor
from reftorch._warnings import warn
from reftorch.autograd.grad_mode import no_grad

__all__ = ["clip_grad_norm_", "clip_grad_value_"]


def _gradients(parameters: Tensor | Iterable[Tensor]) -> list[Tensor]:
    parameters = [parameters] if isinstance(parameters, Tensor) else parameters
    return [p.grad for p in parameters if p.grad is not None]


def _vector_norm(tensor: Tensor, norm_type: float) -> Tensor:
    magnitudes = tensor.abs()
    if norm_type == math.inf:
        return magnitudes.max()
    if norm_type == 0:
        return (magnitudes != 0).sum().to(tensor.dtype)
    return (magnitudes**norm_type).sum() ** (1.0 / norm_type)


@no_grad()
def clip_grad_norm_(
    parameters: Tensor | Iterable[Tensor], max_norm: float, norm_type: float = 2.0, error_if_nonfinite: bool = False
) -> Tensor:
    r"""Scale all gradients in place by one factor, so that their common norm is at most ``max_norm``.

    With the norm :math:`\|g\|` of all gradients together, :math:`g \leftarrow g \min(1, m / (\|g\| + 10^{-6}))`.

    Args:
        parameters: a parameter or an iterable of them; those without a gradient are skipped.
        max_norm: the largest norm allowed, :math:`m`.
        norm_type: order of the norm; may be ``math.inf``.
        error_if_nonfinite: whether to raise an error if the norm is infinite or NaN.

    Returns:
        The norm before scaling, a 0-dim tensor.

    Raises:
        RuntimeError: the norm is not finite and ``error_if_nonfinite`` is set.

    Example:
        >>> import reftorch as torch
        >>> p = torch.nn.Parameter(torch.zeros(2))
        >>> p.grad = torch.tensor([3.0, 4.0])
        >>> torch.nn.utils.clip_grad_norm_([p], max_norm=1.0), p.grad
        (tensor(5.), tensor([0.6000, 0.8000]))

    Mirrors torch/nn/utils/clip_grad.py, ``clip_grad_norm_``.
    """
    if isinstance(parameters, types.GeneratorType):
        parameters = list(parameters)
        if not parameters:
            warn("`parameters` is an empty generator, no gradient clipping will occur.")
    grads = _gradients(parameters)
    if not grads:
        return _C.tensor(0.0)
    norm_type = float(norm_type)
    total_norm = _vector_norm(_VF.stack([_vector_norm(grad, norm_type) for grad in grads]), norm_type)
    if error_if_nonfinite and not math.isfinite(total_norm.item()):
        raise RuntimeError(
            f"The total norm of order {norm_type} for gradients from `parameters` is non-finite, so it cannot be "
            "clipped. To disable this error and scale the gradients by the non-finite norm anyway, set "
            "`error_if_nonfinite=False`"
        )
    # Multiplying by a factor of one costs little, and so the program need not read the factor's value.
    factor: Any = float(max_norm) / (total_norm + 1e-6)
    factor = factor.clamp(max=1.0)
    for grad in grads:
        grad.mul_(factor)
    return total_norm


@no_grad()
def clip_grad_value_(parameters: Tensor | Iterable[Tensor], clip_value: float) -> None:
    r"""Clamp every element of every gradient in place to :math:`[-c, c]`.

    Args:
        parameters: a parameter or an iterable of them; those without a gradient are skipped.
        clip_value: the largest magnitude allowed, :math:`c`.

    Example:
        >>> import reftorch as torch
        >>> p = torch.nn.Parameter(torch.zeros(2))
        >>> p.grad = torch.tensor([-3.0, 0.5])
        >>> torch.nn.utils.clip_grad_value_(p, 1.0)
        >>> p.grad
        tensor([-1.0000,  0.5000])

    Mirrors torch/nn/utils/clip_grad.py, ``clip_grad_value_``.
    """
    for grad in _gradients(parameters):
        grad.clamp_(min=-float(clip_value), max=float(clip_value))
