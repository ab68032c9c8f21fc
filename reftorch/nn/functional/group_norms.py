r"""Normalization over groups of channels, over each channel of an example, and over neighbouring channels.

Mirrors: torch/nn/functional.py (``group_norm``, ``instance_norm``, ``local_response_norm``)

``group_norm`` and ``instance_norm`` are ops; ``local_response_norm`` is a formula.
"""

from __future__ import annotations

from reftorch import _VF
from reftorch._tensor import Tensor
from reftorch._torch_function import overridable
from reftorch.nn.functional.pooling import avg_pool2d, avg_pool3d

__all__ = ["group_norm", "instance_norm", "local_response_norm"]


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
        >>> torch.nn.functional.group_norm(torch.tensor([[1.0, 3.0, 10.0, 30.0]]), 2)
        tensor([[-1.0000,  1.0000, -1.0000,  1.0000]])

    Mirrors torch/nn/functional.py, ``group_norm``.
    """
    if input.dim() < 2:
        raise RuntimeError(f"Expected at least 2 dimensions for input tensor but received {input.dim()}")
    per_group, pixels = input.size(0) * input.size(1) // num_groups, input.shape[2:]
    if per_group * pixels.numel() == 1:
        size = [per_group, num_groups, *pixels]
        raise ValueError(f"Expected more than 1 value per channel when training, got input size {size}")
    return _VF.group_norm(input, num_groups, weight, bias, eps)


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
    # The mean of n neighbouring channels is a pooling whose window has n channels and one pixel.
    squares, around = input * input, [size // 2, (size - 1) // 2]
    if input.dim() == 3:
        squares = _VF.constant_pad_nd(squares.unsqueeze(1), [0, 0, *around])
        mean = avg_pool2d(squares, (size, 1), stride=1).squeeze(1)
    else:
        squares = squares.reshape(input.size(0), 1, input.size(1), input.size(2), -1)
        squares = _VF.constant_pad_nd(squares, [0, 0, 0, 0, *around])
        mean = avg_pool3d(squares, (size, 1, 1), stride=1).squeeze(1).reshape(input.shape)
    return input / (mean * alpha + k) ** beta
