"""The gradients of convolutions as functions: of the input or of the weight, from the gradient of the output.

Each calls ``aten::convolution_backward``, the op of the backward pass, and asks for one gradient only.

Mirrors: torch/nn/grad.py
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from reftorch import _C
from reftorch._ops import ops
from reftorch._tensor import Tensor
from reftorch.nn.modules.utils import _ntuple

__all__ = ["conv1d_input", "conv1d_weight", "conv2d_input", "conv2d_weight", "conv3d_input", "conv3d_weight"]


def _gradient(
    dims: int,
    which: int,
    grad_output: Any,
    input: Any,
    weight: Any,
    stride: Any,
    padding: Any,
    dilation: Any,
    groups: int,
) -> Any:
    """Return the gradient of the input (``which=0``) or of the weight (1), for which the caller gives a size.

    The tensor itself has no part in its gradient, so that a tensor of one element, expanded to the size, stands for it.
    """

    def of_size(value: Any) -> Any:
        return value if isinstance(value, _C.TensorBase) else grad_output.new_empty(1).expand(value)

    each = _ntuple(dims)
    return ops.aten.convolution_backward.default(
        grad_output,
        of_size(input),
        of_size(weight),
        None,
        each(stride),
        each(padding),
        each(dilation),
        False,
        [0] * dims,
        groups,
        (which == 0, which == 1, False),
    )[which]


def conv1d_input(
    input_size: Sequence[int],
    weight: Tensor,
    grad_output: Tensor,
    stride: int | Sequence[int] = 1,
    padding: int | Sequence[int] = 0,
    dilation: int | Sequence[int] = 1,
    groups: int = 1,
) -> Tensor:
    """Return the gradient of the input of a convolution in 1 dimension.

    Args:
        input_size: the size of the input: (N, C_in, L).
        weight: (C_out, C_in / groups, k).
        grad_output: the gradient of the output: (N, C_out, L_out).
        stride: the step of the filter.
        padding: the zeros around the input.
        dilation: the distance of neighbors in the filter.
        groups: the number of groups of channels.

    Shape: that of the input.

    Raises:
        RuntimeError: the shapes do not fit together.

    Example:
        >>> from reftorch.nn import grad
        >>> x, w = torch.ones(1, 1, 3), torch.ones(1, 1, 2)
        >>> grad.conv1d_input(x.shape, w, torch.ones(1, 1, 2)).flatten().tolist()
        [1.0, 2.0, 1.0]

    Mirrors torch/nn/grad.py, ``conv1d_input``.
    """
    return _gradient(1, 0, grad_output, input_size, weight, stride, padding, dilation, groups)


def conv1d_weight(
    input: Tensor,
    weight_size: Sequence[int],
    grad_output: Tensor,
    stride: int | Sequence[int] = 1,
    padding: int | Sequence[int] = 0,
    dilation: int | Sequence[int] = 1,
    groups: int = 1,
) -> Tensor:
    """Return the gradient of the weight of a convolution in 1 dimension.

    Args:
        input: (N, C_in, L).
        weight_size: the size of the weight: (C_out, C_in / groups, k).
        grad_output: the gradient of the output: (N, C_out, L_out).
        stride: the step of the filter.
        padding: the zeros around the input.
        dilation: the distance of neighbors in the filter.
        groups: the number of groups of channels.

    Shape: that of the weight.

    Raises:
        RuntimeError: the shapes do not fit together.

    Example:
        >>> from reftorch.nn import grad
        >>> x, w = torch.ones(1, 1, 3), torch.ones(1, 1, 2)
        >>> grad.conv1d_weight(x, w.shape, torch.ones(1, 1, 2)).flatten().tolist()
        [2.0, 2.0]

    Mirrors torch/nn/grad.py, ``conv1d_weight``.
    """
    return _gradient(1, 1, grad_output, input, weight_size, stride, padding, dilation, groups)


def conv2d_input(
    input_size: Sequence[int],
    weight: Tensor,
    grad_output: Tensor,
    stride: int | Sequence[int] = 1,
    padding: int | Sequence[int] = 0,
    dilation: int | Sequence[int] = 1,
    groups: int = 1,
) -> Tensor:
    """Return the gradient of the input of a convolution in 2 dimensions.

    Args:
        input_size: the size of the input: (N, C_in, H, W).
        weight: (C_out, C_in / groups, kH, kW).
        grad_output: the gradient of the output: (N, C_out, H_out, W_out).
        stride: the step of the filter.
        padding: the zeros around the input.
        dilation: the distance of neighbors in the filter.
        groups: the number of groups of channels.

    Shape: that of the input.

    Raises:
        RuntimeError: the shapes do not fit together.

    Example:
        >>> from reftorch.nn import grad
        >>> x, w = torch.ones(1, 1, 3, 3), torch.ones(1, 1, 2, 2)
        >>> grad.conv2d_input(x.shape, w, torch.ones(1, 1, 2, 2)).flatten()[:3].tolist()
        [1.0, 2.0, 1.0]

    Mirrors torch/nn/grad.py, ``conv2d_input``.
    """
    return _gradient(2, 0, grad_output, input_size, weight, stride, padding, dilation, groups)


def conv2d_weight(
    input: Tensor,
    weight_size: Sequence[int],
    grad_output: Tensor,
    stride: int | Sequence[int] = 1,
    padding: int | Sequence[int] = 0,
    dilation: int | Sequence[int] = 1,
    groups: int = 1,
) -> Tensor:
    """Return the gradient of the weight of a convolution in 2 dimensions.

    Args:
        input: (N, C_in, H, W).
        weight_size: the size of the weight: (C_out, C_in / groups, kH, kW).
        grad_output: the gradient of the output: (N, C_out, H_out, W_out).
        stride: the step of the filter.
        padding: the zeros around the input.
        dilation: the distance of neighbors in the filter.
        groups: the number of groups of channels.

    Shape: that of the weight.

    Raises:
        RuntimeError: the shapes do not fit together.

    Example:
        >>> from reftorch.nn import grad
        >>> x, w = torch.ones(1, 1, 3, 3), torch.ones(1, 1, 2, 2)
        >>> grad.conv2d_weight(x, w.shape, torch.ones(1, 1, 2, 2)).flatten()[:2].tolist()
        [4.0, 4.0]

    Mirrors torch/nn/grad.py, ``conv2d_weight``.
    """
    return _gradient(2, 1, grad_output, input, weight_size, stride, padding, dilation, groups)


def conv3d_input(
    input_size: Sequence[int],
    weight: Tensor,
    grad_output: Tensor,
    stride: int | Sequence[int] = 1,
    padding: int | Sequence[int] = 0,
    dilation: int | Sequence[int] = 1,
    groups: int = 1,
) -> Tensor:
    """Return the gradient of the input of a convolution in 3 dimensions.

    Args:
        input_size: the size of the input: (N, C_in, D, H, W).
        weight: (C_out, C_in / groups, kD, kH, kW).
        grad_output: the gradient of the output: (N, C_out, D_out, H_out, W_out).
        stride: the step of the filter.
        padding: the zeros around the input.
        dilation: the distance of neighbors in the filter.
        groups: the number of groups of channels.

    Shape: that of the input.

    Raises:
        RuntimeError: the shapes do not fit together.

    Example:
        >>> from reftorch.nn import grad
        >>> x, w = torch.ones(1, 1, 3, 3, 3), torch.ones(1, 1, 2, 2, 2)
        >>> grad.conv3d_input(x.shape, w, torch.ones(1, 1, 2, 2, 2)).flatten()[:3].tolist()
        [1.0, 2.0, 1.0]

    Mirrors torch/nn/grad.py, ``conv3d_input``.
    """
    return _gradient(3, 0, grad_output, input_size, weight, stride, padding, dilation, groups)


def conv3d_weight(
    input: Tensor,
    weight_size: Sequence[int],
    grad_output: Tensor,
    stride: int | Sequence[int] = 1,
    padding: int | Sequence[int] = 0,
    dilation: int | Sequence[int] = 1,
    groups: int = 1,
) -> Tensor:
    """Return the gradient of the weight of a convolution in 3 dimensions.

    Args:
        input: (N, C_in, D, H, W).
        weight_size: the size of the weight: (C_out, C_in / groups, kD, kH, kW).
        grad_output: the gradient of the output: (N, C_out, D_out, H_out, W_out).
        stride: the step of the filter.
        padding: the zeros around the input.
        dilation: the distance of neighbors in the filter.
        groups: the number of groups of channels.

    Shape: that of the weight.

    Raises:
        RuntimeError: the shapes do not fit together.

    Example:
        >>> from reftorch.nn import grad
        >>> x, w = torch.ones(1, 1, 3, 3, 3), torch.ones(1, 1, 2, 2, 2)
        >>> grad.conv3d_weight(x, w.shape, torch.ones(1, 1, 2, 2, 2)).flatten()[:2].tolist()
        [8.0, 8.0]

    Mirrors torch/nn/grad.py, ``conv3d_weight``.
    """
    return _gradient(3, 1, grad_output, input, weight_size, stride, padding, dilation, groups)
