r"""Normalization: functions that rescale parts of a tensor by their mean and variance.

Mirrors: torch/nn/functional.py (``layer_norm``, ``batch_norm``, ``rms_norm``)
Leaves out: the norms over groups of channels, which are in ``group_norms``.

PyTorch has a kernel for each of the norms. Here ``layer_norm`` has a kernel; the others are formulas, computed in
float32 for 16-bit input.
"""

from __future__ import annotations

from collections.abc import Sequence

from reftorch import _C, _VF
from reftorch._tensor import Tensor
from reftorch._torch_function import overridable
from reftorch._utils import refuse_integers, scalar_type_name
from reftorch.autograd.grad_mode import no_grad

__all__ = ["batch_norm", "layer_norm", "rms_norm"]


def _at_least_float32(input: Tensor) -> Tensor:
    return input.float() if input.dtype in (_C.float16, _C.bfloat16) else input


def _check_dtypes(input: Tensor, *parameters: Tensor | None) -> None:
    """Check that parameters have the dtype of the input; for 16-bit input they may all be float32 instead."""
    given = [t for t in parameters if t is not None]
    if given and given[0].dtype != input.dtype:
        if any(t.dtype != _C.float32 for t in given):
            raise RuntimeError("mixed dtype (CPU): expect parameter to have scalar type of Float")
        if input.dtype not in (_C.float16, _C.bfloat16):
            raise RuntimeError("mixed dtype (CPU): all inputs must share same datatype.")
    for t in given:
        if t.dtype != given[0].dtype:
            raise RuntimeError(
                f"expected scalar type {scalar_type_name(given[0].dtype)} but found {scalar_type_name(t.dtype)}"
            )


def _check_normalized_shape(input: Tensor, shape: tuple[int, ...], weight: Tensor | None) -> None:
    if not shape:
        raise RuntimeError(
            "Expected normalized_shape to be at least 1-dimensional, i.e., containing at least one element, but got "
            "normalized_shape = []"
        )
    if weight is not None and tuple(weight.shape) != shape:
        raise RuntimeError(
            f"Expected weight to be of same shape as normalized_shape, but got weight of shape {list(weight.shape)} "
            f"and normalized_shape = {list(shape)}"
        )
    if tuple(input.shape[-len(shape) :]) != shape:
        wanted = "".join(f", {size}" for size in shape)
        raise RuntimeError(
            f"Given normalized_shape={list(shape)}, expected input with shape [*{wanted}], but got input of "
            f"size{list(input.shape)}"
        )


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
        >>> import reftorch as torch
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
        >>> import reftorch as torch
        >>> torch.nn.functional.rms_norm(torch.tensor([[3.0, 4.0]]), (2,))
        tensor([[0.8485, 1.1314]])

    Mirrors torch/nn/functional.py, ``rms_norm``.
    """
    shape = tuple(normalized_shape)
    _check_normalized_shape(input, shape, weight)
    refuse_integers(input, "rms_norm")
    dims = list(range(-len(shape), 0))
    x = _at_least_float32(input)
    if eps is None:
        eps = 2.0**-52 if x.dtype == _C.float64 else 2.0**-23
    result = x * (x.square().mean(dims, keepdim=True) + eps).rsqrt()
    return (result if weight is None else result * weight).to(input.dtype)


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
        >>> import reftorch as torch
        >>> torch.nn.functional.batch_norm(torch.tensor([[1.0], [3.0]]), None, None, training=True)
        tensor([[-1.0000],
                [ 1.0000]])

    Mirrors torch/nn/functional.py, ``batch_norm``.
    """
    if training and input.numel() == input.shape[1]:
        raise ValueError(f"Expected more than 1 value per channel when training, got input size {input.size()}")
    if training and eps <= 0.0:
        raise ValueError(f"batch_norm eps must be positive during training, but got {eps}")
    if eps < 0.0:
        raise ValueError(f"batch_norm eps must be non-negative, but got {eps}")
    channels = input.shape[1]
    for name, tensor in (
        ("running_mean", running_mean),
        ("running_var", running_var),
        ("weight", weight),
        ("bias", bias),
    ):
        if tensor is not None and tensor.numel() != channels:
            raise RuntimeError(f"{name} should contain {channels} elements not {tensor.numel()}")
    if not training and (running_mean is None or running_var is None):
        missing = "running_mean" if running_mean is None else "running_var"
        raise RuntimeError(f"{missing} must be defined in evaluation mode")
    if input.numel() == 0:
        return _batch_norm_of_nothing(input, weight, bias)
    refuse_integers(input, "batch_norm")
    _check_dtypes(input, weight, bias, running_mean, running_var)

    x = _at_least_float32(input)
    per_channel = [1, channels] + [1] * (input.dim() - 2)
    if training:
        dims = [0, *range(2, input.dim())]
        mean = x.mean(dims)
        centered = x - mean.reshape(per_channel)
        var = centered.square().mean(dims)
        count = input.numel() // channels
        with no_grad():
            if running_mean is not None:
                running_mean.lerp_(mean.to(running_mean.dtype), momentum)
            if running_var is not None:
                running_var.lerp_((var * (count / (count - 1))).to(running_var.dtype), momentum)
    else:
        assert running_mean is not None and running_var is not None
        centered, var = x - running_mean.reshape(per_channel), running_var
    result = centered * (var + eps).rsqrt().reshape(per_channel)
    result = result if weight is None else result * weight.reshape(per_channel)
    result = result if bias is None else result + bias.reshape(per_channel)
    return result.to(input.dtype)


def _batch_norm_of_nothing(input: Tensor, weight: Tensor | None, bias: Tensor | None) -> Tensor:
    """Normalize an empty batch: its result must still be connected to the parameters in the graph."""
    result = input.clone()
    result = result if weight is None else result * weight[0]
    return result if bias is None else result + bias[0]
