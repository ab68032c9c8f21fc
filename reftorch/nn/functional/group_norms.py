r"""Normalization over groups of channels, over each channel of an example, and over neighbouring channels.

Mirrors: torch/nn/functional.py (``group_norm``, ``instance_norm``, ``local_response_norm``)
Leaves out: nothing.

``instance_norm`` is an op. The other two norms are formulas, and ``group_norm`` computes in float32 for 16-bit input.
"""

from __future__ import annotations

from reftorch import _VF
from reftorch._tensor import Tensor
from reftorch._torch_function import overridable
from reftorch.nn.functional.normalization import _at_least_float32

__all__ = ["group_norm", "instance_norm", "local_response_norm"]


def _affine(x: Tensor, weight: Tensor | None, bias: Tensor | None) -> Tensor:
    """Return w x + b, where w and b hold a number for each channel of x (N, C, *)."""
    per_channel = [1, -1] + [1] * (x.dim() - 2)
    x = x if weight is None else x * weight.reshape(per_channel)
    return x if bias is None else x + bias.reshape(per_channel)


@overridable
def group_norm(
    input: Tensor, num_groups: int, weight: Tensor | None = None, bias: Tensor | None = None, eps: float = 1e-5
) -> Tensor:
    r"""Give each group of channels mean 0 and variance 1: :math:`w (x - \mu) / \sqrt{\sigma^2 + \epsilon} + b`.

    Args:
        input: :math:`(N, C, *)`.
        num_groups: the number of groups of equal size into which the channels are divided.
        weight: :math:`w`, :math:`(C)`; None means ones.
        bias: :math:`b`, :math:`(C)`; None means zeros.
        eps: :math:`\epsilon`.

    Returns:
        A tensor of the shape of ``input``.

    Raises:
        ValueError: a group has only one value.
        RuntimeError: the number of channels is not a multiple of ``num_groups``, or the sizes do not match.

    Example:
        >>> import reftorch as torch
        >>> torch.nn.functional.group_norm(torch.tensor([[1.0, 3.0, 10.0, 30.0]]), 2)
        tensor([[-1.0000,  1.0000, -1.0000,  1.0000]])

    Mirrors torch/nn/functional.py, ``group_norm``.
    """
    if input.dim() < 2:
        raise RuntimeError(f"Expected at least 2 dimensions for input tensor but received {input.dim()}")
    batch, channels, pixels = input.shape[0], input.shape[1], input.shape[2:].numel()
    if batch * channels // num_groups * pixels == 1:
        size = [batch * channels // num_groups, num_groups, *input.shape[2:]]
        raise ValueError(f"Expected more than 1 value per channel when training, got input size {size}")
    if num_groups <= 0:
        raise RuntimeError(f"Expected num groups to be greater than 0, got {num_groups}")
    if channels % num_groups != 0:
        raise RuntimeError(
            "Expected number of channels in input to be divisible by num_groups, but got input of shape "
            f"{list(input.shape)} and num_groups={num_groups}"
        )
    for name, tensor in (("weight", weight), ("bias", bias)):
        if tensor is not None and tuple(tensor.shape) != (channels,):
            raise RuntimeError(
                f"Expected {name} to be a vector of size equal to the number of channels in input, but got {name} of "
                f"shape {list(tensor.shape)} and input of shape {list(input.shape)}"
            )
    groups = _at_least_float32(input).reshape(batch, num_groups, channels // num_groups * pixels)
    centered = groups - groups.mean(-1, keepdim=True)
    normal = centered * (centered.square().mean(-1, keepdim=True) + eps).rsqrt()
    return _affine(normal.reshape(input.shape), weight, bias).to(input.dtype)


@overridable
def instance_norm(
    input: Tensor,
    running_mean: Tensor | None = None,
    running_var: Tensor | None = None,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    use_input_stats: bool = True,
    momentum: float = 0.1,
    eps: float = 1e-5,
) -> Tensor:
    r"""Give each channel of each example mean 0 and variance 1: :math:`w (x - \mu) / \sqrt{\sigma^2 + \epsilon} + b`.

    Args:
        input: :math:`(N, C, d_1, ...)`.
        running_mean, running_var: :math:`(C)`. Without ``use_input_stats`` they are :math:`\mu` and :math:`\sigma^2`.
            With it, they move in place towards the statistics of the examples, averaged over the batch (the variance is
            unbiased).
        weight: :math:`w`, :math:`(C)`; None means ones.
        bias: :math:`b`, :math:`(C)`; None means zeros.
        use_input_stats: whether to use the mean and the variance of the input itself.
        momentum: how far the running statistics move in each step.
        eps: :math:`\epsilon`.

    Returns:
        A tensor of the shape of ``input``.

    Raises:
        ValueError: a channel has only one value.
        RuntimeError: running statistics are needed and missing, or a size is not :math:`C`.

    Example:
        >>> import reftorch as torch
        >>> torch.nn.functional.instance_norm(torch.tensor([[[1.0, 3.0], [10.0, 30.0]]]))
        tensor([[[-1.0000,  1.0000],
                 [-1.0000,  1.0000]]])

    Mirrors torch/nn/functional.py, ``instance_norm``.
    """
    pixels = input.shape[2:].numel()
    if use_input_stats and pixels == 1:
        raise ValueError(f"Expected more than 1 spatial element when training, got input size {input.size()}")
    return _VF.instance_norm(input, weight, bias, running_mean, running_var, use_input_stats, momentum, eps, False)


@overridable
def local_response_norm(input: Tensor, size: int, alpha: float = 1e-4, beta: float = 0.75, k: float = 1.0) -> Tensor:
    r"""Divide each channel by a mean over its neighbours: :math:`x_c / (k + \alpha / n \sum_{c'} x_{c'}^2)^\beta`.

    Args:
        input: :math:`(N, C, d_1, ...)`.
        size: :math:`n`, the number of channels in the sum; half of them lie before c.
        alpha: :math:`\alpha`.
        beta: :math:`\beta`.
        k: :math:`k`.

    Returns:
        A tensor of the shape of ``input``.

    Raises:
        ValueError: ``input`` has fewer than 3 dimensions.
        RuntimeError: ``size`` is not positive.

    Example:
        >>> import reftorch as torch
        >>> torch.nn.functional.local_response_norm(torch.ones(1, 3, 1), 3, alpha=3.0, beta=1.0).flatten()
        tensor([0.3333, 0.2500, 0.3333])

    Mirrors torch/nn/functional.py, ``local_response_norm``.
    """
    if input.dim() < 3:
        raise ValueError(f"Expected 3D or higher dimensionality input (got {input.dim()} dimensions)")
    if input.numel() == 0:
        return input
    if size <= 0:
        raise RuntimeError(f"kernel size should be greater than zero, but got {size}")
    border = [0, 0] * (input.dim() - 2) + [size // 2, (size - 1) // 2]
    squares = _VF.constant_pad_nd(input * input, border).unfold(1, size, 1).mean(-1)
    return input / (squares * alpha + k) ** beta
