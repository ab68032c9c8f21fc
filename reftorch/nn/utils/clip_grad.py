"""Limits for the size of gradients.

Mirrors: torch/nn/utils/clip_grad.py

The functions of lists take tensors of several dtypes and devices, so nothing is grouped.
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

__all__ = ["clip_grad_norm", "clip_grad_norm_", "clip_grad_value_"]


def _gradients(parameters: Tensor | Iterable[Tensor]) -> list[Any]:
    parameters = [parameters] if isinstance(parameters, Tensor) else parameters
    return [p.grad for p in parameters if p.grad is not None]


def _use_foreach(foreach: bool | None) -> bool:
    """Return whether to use the functions of lists, which compute the same in fewer calls."""
    return foreach is None or foreach


@no_grad()
def _get_total_norm(
    tensors: Tensor | Iterable[Tensor],
    norm_type: float = 2.0,
    error_if_nonfinite: bool = False,
    foreach: bool | None = None,
) -> Tensor:
    r"""Return the norm of all tensors together: the norm of the vector of their norms.

    Args:
        tensors: a tensor or an iterable of them.
        norm_type: order of the norm; may be ``math.inf``.
        error_if_nonfinite: whether to raise an error if the norm is infinite or NaN.
        foreach: whether to use the functions of lists; None means yes.

    Returns:
        The norm, a 0-dim tensor.

    Raises:
        RuntimeError: the norm is not finite and ``error_if_nonfinite`` is set.

    Example:
        >>> torch.nn.utils.get_total_norm([torch.tensor([3.0]), torch.tensor([4.0])])
        tensor(5.)

    Mirrors torch/nn/utils/clip_grad.py, ``_get_total_norm``, in ``torch.nn.utils`` without the underscore.
    """
    tensors = [tensors] if isinstance(tensors, Tensor) else list(tensors)
    norm_type = float(norm_type)
    if not tensors:
        return _C.tensor(0.0)
    if _use_foreach(foreach):
        norms = list(_VF._foreach_norm(tensors, norm_type))
    else:
        norms = [_C._linalg.linalg_vector_norm(t, norm_type) for t in tensors]
    device = tensors[0].device
    total_norm = _C._linalg.linalg_vector_norm(_VF.stack([norm.to(device) for norm in norms]), norm_type)
    if error_if_nonfinite and not math.isfinite(total_norm.item()):
        raise RuntimeError(
            f"The total norm of order {norm_type} for gradients from `parameters` is non-finite, so it cannot be "
            "clipped. To disable this error and scale the gradients by the non-finite norm anyway, set "
            "`error_if_nonfinite=False`"
        )
    return total_norm


@no_grad()
def _clip_grads_with_norm_(
    parameters: Tensor | Iterable[Tensor], max_norm: float, total_norm: Tensor, foreach: bool | None = None
) -> None:
    r"""Scale all gradients in place by :math:`\min(1, m / (n + 10^{-6}))`, with a norm :math:`n` that is given.

    Args:
        parameters: a parameter or an iterable of them; those without a gradient are skipped.
        max_norm: the largest norm allowed, :math:`m`.
        total_norm: :math:`n`, as :func:`_get_total_norm` returns it.
        foreach: whether to use the functions of lists; None means yes.

    Example:
        >>> p = torch.nn.Parameter(torch.zeros(2))
        >>> p.grad = torch.tensor([3.0, 4.0])
        >>> torch.nn.utils.clip_grads_with_norm_(p, 1.0, torch.tensor(10.0))
        >>> p.grad
        tensor([0.3000, 0.4000])

    Mirrors torch/nn/utils/clip_grad.py, ``_clip_grads_with_norm_``, in ``torch.nn.utils`` without the underscore.
    """
    grads = _gradients(parameters)
    if not grads:
        return
    # Multiplying by a factor of one costs little, and so the program need not read the factor's value.
    factor: Any = float(max_norm) / (total_norm + 1e-6)
    factor = factor.clamp(max=1.0)
    if _use_foreach(foreach) and len({g.device for g in grads}) == 1:
        _VF._foreach_mul_(grads, factor.to(grads[0].device))
    else:
        for grad in grads:
            grad.mul_(factor.to(grad.device))


@no_grad()
def clip_grad_norm_(
    parameters: Tensor | Iterable[Tensor],
    max_norm: float,
    norm_type: float = 2.0,
    error_if_nonfinite: bool = False,
    foreach: bool | None = None,
) -> Tensor:
    r"""Scale all gradients in place by one factor, so that their common norm is at most ``max_norm``.

    With the norm :math:`\|g\|` of all gradients together, :math:`g \leftarrow g \min(1, m / (\|g\| + 10^{-6}))`.

    Args:
        parameters: a parameter or an iterable of them; those without a gradient are skipped.
        max_norm: the largest norm allowed, :math:`m`.
        norm_type: order of the norm; may be ``math.inf``.
        error_if_nonfinite: whether to raise an error if the norm is infinite or NaN.
        foreach: whether to use the functions of lists; None means yes.

    Returns:
        The norm before scaling, a 0-dim tensor.

    Raises:
        RuntimeError: the norm is not finite and ``error_if_nonfinite`` is set.

    Example:
        >>> p = torch.nn.Parameter(torch.zeros(2))
        >>> p.grad = torch.tensor([3.0, 4.0])
        >>> torch.nn.utils.clip_grad_norm_([p], max_norm=1.0), p.grad
        (tensor(5.), tensor([0.6000, 0.8000]))

    Mirrors torch/nn/utils/clip_grad.py, ``clip_grad_norm_``.
    """
    if not isinstance(parameters, Tensor):
        is_generator = isinstance(parameters, types.GeneratorType)
        parameters = list(parameters)
        if is_generator and not parameters:
            warn("`parameters` is an empty generator, no gradient clipping will occur.")
    total_norm = _get_total_norm(_gradients(parameters), norm_type, error_if_nonfinite, foreach)
    _clip_grads_with_norm_(parameters, max_norm, total_norm, foreach)
    return total_norm


def clip_grad_norm(
    parameters: Tensor | Iterable[Tensor],
    max_norm: float,
    norm_type: float = 2.0,
    error_if_nonfinite: bool = False,
    foreach: bool | None = None,
) -> Tensor:
    """The old name of :func:`clip_grad_norm_`; a call gives a FutureWarning.

    Args:
        parameters, max_norm, norm_type, error_if_nonfinite, foreach: see the new function.

    Mirrors torch/nn/utils/clip_grad.py, ``clip_grad_norm``.
    """
    warn(
        "`torch.nn.utils.clip_grad_norm` is now deprecated in favor of `torch.nn.utils.clip_grad_norm_`.",
        FutureWarning,
    )
    return clip_grad_norm_(parameters, max_norm, norm_type, error_if_nonfinite, foreach)


@no_grad()
def clip_grad_value_(parameters: Tensor | Iterable[Tensor], clip_value: float, foreach: bool | None = None) -> None:
    r"""Clamp every element of every gradient in place to :math:`[-c, c]`.

    Args:
        parameters: a parameter or an iterable of them; those without a gradient are skipped.
        clip_value: the largest magnitude allowed, :math:`c`.
        foreach: whether to use the functions of lists; None means yes.

    Example:
        >>> p = torch.nn.Parameter(torch.zeros(2))
        >>> p.grad = torch.tensor([-3.0, 0.5])
        >>> torch.nn.utils.clip_grad_value_(p, 1.0)
        >>> p.grad
        tensor([-1.0000,  0.5000])

    Mirrors torch/nn/utils/clip_grad.py, ``clip_grad_value_``.
    """
    clip_value = float(clip_value)
    grads = _gradients(parameters)
    if grads and _use_foreach(foreach):
        _VF._foreach_clamp_min_(grads, -clip_value)
        _VF._foreach_clamp_max_(grads, clip_value)
    else:
        for grad in grads:
            grad.clamp_(min=-clip_value, max=clip_value)
