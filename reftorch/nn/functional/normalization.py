r"""Normalization: functions that rescale parts of a tensor by their mean and variance.

Mirrors: torch/nn/functional.py (``layer_norm``, ``batch_norm``, ``rms_norm``)
Leaves out: the norms over groups of channels, which are in ``group_norms``.

``layer_norm`` and ``batch_norm`` are ops with kernels; ``rms_norm`` is an op that is made of others.
"""

from __future__ import annotations

from collections.abc import Sequence

from reftorch import _VF
from reftorch._tensor import Tensor
from reftorch._torch_function import overridable
from reftorch._utils import refuse_integers

__all__ = ["batch_norm", "layer_norm", "rms_norm"]


@overridable
def layer_norm(
    input: Tensor,
    normalized_shape: list[int] | tuple[int, ...],
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    eps: float = 1e-5,
) -> Tensor:
    r"""Give the last dimensions mean 0 and variance 1: :math:`w (x - \mu) / \sqrt{\sigma^2 + \epsilon} + b`.

    Args:
        input: :math:`(*, s_1, ..., s_k)`.
        normalized_shape: :math:`(s_1, ..., s_k)`, the sizes of the dimensions over which mean and variance are taken.
        weight: :math:`w`, of shape ``normalized_shape``; None means ones.
        bias: :math:`b`, of shape ``normalized_shape``; None means zeros.
        eps: :math:`\epsilon`.

    Returns:
        A tensor of the shape of ``input``.

    Raises:
        RuntimeError: shapes or dtypes do not match.
        NotImplementedError: ``input`` holds integers.

    Example:
        >>> torch.nn.functional.layer_norm(torch.tensor([[1.0, 2.0, 3.0]]), (3,))
        tensor([[-1.2247,  0.0000,  1.2247]])

    Mirrors torch/nn/functional.py, ``layer_norm``.
    """
    return _VF.layer_norm(input, normalized_shape, weight, bias, eps)


@overridable
def rms_norm(
    input: Tensor, normalized_shape: Sequence[int], weight: Tensor | None = None, eps: float | None = None
) -> Tensor:
    r"""Divide the last dimensions by their root mean square: :math:`w x / \sqrt{\overline{x^2} + \epsilon}`.

    Args:
        input: :math:`(*, s_1, ..., s_k)`.
        normalized_shape: :math:`(s_1, ..., s_k)`, the dimensions over which the mean is taken.
        weight: :math:`w`, of shape ``normalized_shape``; None means ones.
        eps: :math:`\epsilon`; None means the machine epsilon of the dtype in which the function computes.

    Returns:
        A tensor of the shape of ``input``.

    Raises:
        RuntimeError: shapes or dtypes do not match.
        NotImplementedError: ``input`` holds integers.

    Example:
        >>> torch.nn.functional.rms_norm(torch.tensor([[3.0, 4.0]]), (2,))
        tensor([[0.8485, 1.1314]])

    Mirrors torch/nn/functional.py, ``rms_norm``.
    """
    refuse_integers(input, "rms_norm")
    return _VF.rms_norm(input, list(normalized_shape), weight, eps)


@overridable
def batch_norm(
    input: Tensor,
    running_mean: Tensor | None,
    running_var: Tensor | None,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    training: bool = False,
    momentum: float = 0.1,
    eps: float = 1e-5,
) -> Tensor:
    r"""Give each channel mean 0 and variance 1: :math:`w (x - \mu) / \sqrt{\sigma^2 + \epsilon} + b`.

    Args:
        input: :math:`(N, C)` or :math:`(N, C, d_1, ...)`.
        running_mean, running_var: :math:`(C)`. Without training they are :math:`\mu` and :math:`\sigma^2`. In training,
            these are the batch's own, and the running statistics move towards them in place (the variance is unbiased).
        weight: :math:`w`, :math:`(C)`; None means ones.
        bias: :math:`b`, :math:`(C)`; None means zeros.
        training: whether to use the mean and variance of the batch.
        momentum: how far the running statistics move in each step.
        eps: :math:`\epsilon`.

    Returns:
        A tensor of the shape of ``input``.

    Raises:
        ValueError: in training, a channel has only one value, or ``eps`` is not positive.
        RuntimeError: without training, a running statistic is missing; a size is not :math:`C`; or dtypes differ.
        NotImplementedError: ``input`` holds integers.

    Example:
        >>> torch.nn.functional.batch_norm(torch.tensor([[1.0], [3.0]]), None, None, training=True)
        tensor([[-1.0000],
                [ 1.0000]])

    Mirrors torch/nn/functional.py, ``batch_norm``.
    """
    if training and input.shape[0] * input.shape[2:].numel() == 1:
        raise ValueError(f"Expected more than 1 value per channel when training, got input size {input.size()}")
    if training and eps <= 0.0:
        raise ValueError(f"batch_norm eps must be positive during training, but got {eps}")
    if eps < 0.0:
        raise ValueError(f"batch_norm eps must be non-negative, but got {eps}")
    return _VF.batch_norm(input, weight, bias, running_mean, running_var, training, momentum, eps, False)
