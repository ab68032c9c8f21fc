r"""Pooling: one number for each window of a signal, an image or a volume.

Mirrors: torch/nn/functional.py (``max_pool1d``, ``avg_pool1d``, ``lp_pool1d``, and so on)

The file is over 500 lines long because there are eight kinds of pooling, most of them for one to three dimensions; each
takes a few lines and a docstring.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from reftorch import _C, _VF
from reftorch._tensor import Tensor
from reftorch._torch_function import overridable
from reftorch.nn._tuples import _list_with_default, _ntuple, _pair, _single, _triple

__all__ = [
    "adaptive_avg_pool1d", "adaptive_avg_pool2d", "adaptive_avg_pool3d", "adaptive_max_pool1d",
    "adaptive_max_pool1d_with_indices", "adaptive_max_pool2d", "adaptive_max_pool2d_with_indices",
    "adaptive_max_pool3d", "adaptive_max_pool3d_with_indices", "avg_pool1d", "avg_pool2d", "avg_pool3d",
    "fractional_max_pool2d", "fractional_max_pool2d_with_indices", "fractional_max_pool3d",
    "fractional_max_pool3d_with_indices", "lp_pool1d", "lp_pool2d", "lp_pool3d", "max_pool1d",
    "max_pool1d_with_indices", "max_pool2d", "max_pool2d_with_indices", "max_pool3d", "max_pool3d_with_indices",
    "max_unpool1d", "max_unpool2d", "max_unpool3d",
]  # fmt: skip

_nn = _C._nn
# These functions have no more arguments than the ops.
avg_pool1d, avg_pool2d, avg_pool3d = _VF.avg_pool1d, _nn.avg_pool2d, _nn.avg_pool3d
adaptive_avg_pool1d = _VF.adaptive_avg_pool1d

# --- the largest element ----------------------------------------------------------------------------------------------


@overridable
def max_pool1d_with_indices(
    input: Tensor,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    dilation: Any = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
) -> tuple[Tensor, Tensor]:
    r"""Return the largest element of each window, and its place in the plane of all pixels of its channel.

    Args:
        input: :math:`(N, C, L)`, or without N.
        kernel_size: the size of a window: a number, or one number for each dimension.
        stride: the steps by which the window moves; the size of the window by default.
        padding: the number of places before and after each dimension that windows may cover.
        dilation: the distance between elements of a window.
        ceil_mode: whether a last window may hang over the end.
        return_indices: has no effect.

    Returns:
        Two tensors with fewer pixels.

    Raises:
        RuntimeError: an argument is out of range, or no window fits.

    Example:
        >>> torch.nn.functional.max_pool1d_with_indices(torch.tensor([[[1.0, 5.0, 2.0, 4.0]]]), 2)[1]
        tensor([[[1, 3]]])

    Mirrors torch/nn/functional.py, ``max_pool1d_with_indices``.
    """
    stride = [] if stride is None else stride
    return _VF.max_pool1d_with_indices(input, kernel_size, stride, padding, dilation, ceil_mode)


@overridable
def max_pool1d(
    input: Tensor,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    dilation: Any = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
) -> Tensor | tuple[Tensor, Tensor]:
    r"""Return the largest element of each window; the arguments are those of :func:`max_pool1d_with_indices`.

    Args:
        input: :math:`(N, C, L)`, or without N.
        kernel_size, stride, padding, dilation, ceil_mode: the windows.
        return_indices: whether to return the places of the elements, too.

    Returns:
        A tensor with fewer pixels, or a pair of this tensor and the places.

    Raises:
        RuntimeError: an argument is out of range, or no window fits.

    Example:
        >>> torch.nn.functional.max_pool1d(torch.tensor([[[1.0, 5.0, 2.0, 4.0]]]), 2)
        tensor([[[5., 4.]]])

    Mirrors torch/nn/functional.py, ``max_pool1d``.
    """
    stride = [] if stride is None else stride
    if return_indices:
        return _VF.max_pool1d_with_indices(input, kernel_size, stride, padding, dilation, ceil_mode)
    return _VF.max_pool1d(input, kernel_size, stride, padding, dilation, ceil_mode)


@overridable
def max_pool2d_with_indices(
    input: Tensor,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    dilation: Any = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
) -> tuple[Tensor, Tensor]:
    r"""Return the largest element of each window, and its place in the plane of all pixels of its channel.

    Args:
        input: :math:`(N, C, H, W)`, or without N.
        kernel_size: the size of a window: a number, or one number for each dimension.
        stride: the steps by which the window moves; the size of the window by default.
        padding: the number of places before and after each dimension that windows may cover.
        dilation: the distance between elements of a window.
        ceil_mode: whether a last window may hang over the end.
        return_indices: has no effect.

    Returns:
        Two tensors with fewer pixels.

    Raises:
        RuntimeError: an argument is out of range, or no window fits.

    Example:
        >>> torch.nn.functional.max_pool2d_with_indices(torch.arange(16.0).reshape(1, 1, 4, 4), 2)[1]
        tensor([[[[ 5,  7],
                  [13, 15]]]])

    Mirrors torch/nn/functional.py, ``max_pool2d_with_indices``.
    """
    stride = [] if stride is None else stride
    return _nn.max_pool2d_with_indices(input, kernel_size, stride, padding, dilation, ceil_mode)


@overridable
def max_pool2d(
    input: Tensor,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    dilation: Any = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
) -> Tensor | tuple[Tensor, Tensor]:
    r"""Return the largest element of each window; the arguments are those of :func:`max_pool2d_with_indices`.

    Args:
        input: :math:`(N, C, H, W)`, or without N.
        kernel_size, stride, padding, dilation, ceil_mode: the windows.
        return_indices: whether to return the places of the elements, too.

    Returns:
        A tensor with fewer pixels, or a pair of this tensor and the places.

    Raises:
        RuntimeError: an argument is out of range, or no window fits.

    Example:
        >>> torch.nn.functional.max_pool2d(torch.arange(16.0).reshape(1, 1, 4, 4), 2)
        tensor([[[[ 5.,  7.],
                  [13., 15.]]]])

    Mirrors torch/nn/functional.py, ``max_pool2d``.
    """
    stride = [] if stride is None else stride
    if return_indices:
        return _nn.max_pool2d_with_indices(input, kernel_size, stride, padding, dilation, ceil_mode)
    return _VF.max_pool2d(input, kernel_size, stride, padding, dilation, ceil_mode)


@overridable
def max_pool3d_with_indices(
    input: Tensor,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    dilation: Any = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
) -> tuple[Tensor, Tensor]:
    r"""Return the largest element of each window, and its place in the plane of all pixels of its channel.

    Args:
        input: :math:`(N, C, D, H, W)`, or without N.
        kernel_size: the size of a window: a number, or one number for each dimension.
        stride: the steps by which the window moves; the size of the window by default.
        padding: the number of places before and after each dimension that windows may cover.
        dilation: the distance between elements of a window.
        ceil_mode: whether a last window may hang over the end.
        return_indices: has no effect.

    Returns:
        Two tensors with fewer pixels.

    Raises:
        RuntimeError: an argument is out of range, or no window fits.

    Example:
        >>> torch.nn.functional.max_pool3d_with_indices(torch.arange(8.0).reshape(1, 1, 2, 2, 2), 2)[1]
        tensor([[[[[7]]]]])

    Mirrors torch/nn/functional.py, ``max_pool3d_with_indices``.
    """
    stride = [] if stride is None else stride
    return _nn.max_pool3d_with_indices(input, kernel_size, stride, padding, dilation, ceil_mode)


@overridable
def max_pool3d(
    input: Tensor,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    dilation: Any = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
) -> Tensor | tuple[Tensor, Tensor]:
    r"""Return the largest element of each window; the arguments are those of :func:`max_pool3d_with_indices`.

    Args:
        input: :math:`(N, C, D, H, W)`, or without N.
        kernel_size, stride, padding, dilation, ceil_mode: the windows.
        return_indices: whether to return the places of the elements, too.

    Returns:
        A tensor with fewer pixels, or a pair of this tensor and the places.

    Raises:
        RuntimeError: an argument is out of range, or no window fits.

    Example:
        >>> torch.nn.functional.max_pool3d(torch.arange(8.0).reshape(1, 1, 2, 2, 2), 2)
        tensor([[[[[7.]]]]])

    Mirrors torch/nn/functional.py, ``max_pool3d``.
    """
    stride = [] if stride is None else stride
    if return_indices:
        return _nn.max_pool3d_with_indices(input, kernel_size, stride, padding, dilation, ceil_mode)
    return _VF.max_pool3d(input, kernel_size, stride, padding, dilation, ceil_mode)


# --- back to the places -----------------------------------------------------------------------------------------------


def _unpool_output_size(
    input: Tensor, kernel_size: Sequence[int], stride: Sequence[int], padding: Sequence[int], output_size: Any
) -> list[int]:
    """Return the size to which unpooling leads; a given size may differ by less than a stride."""
    pixels = input.shape[-len(kernel_size) :]
    default = [
        (size - 1) * step + kernel - 2 * pad
        for size, step, kernel, pad in zip(pixels, stride, kernel_size, padding, strict=True)
    ]
    if output_size is None:
        return default
    if len(output_size) == len(kernel_size) + 2:
        output_size = output_size[2:]
    if len(output_size) != len(kernel_size):
        raise ValueError(
            f"output_size should be a sequence containing {len(kernel_size)} or {len(kernel_size) + 2} elements, but "
            f"it has a length of '{len(output_size)}'"
        )
    for d in range(len(kernel_size)):
        low, high = default[d] - stride[d], default[d] + stride[d]
        if not low < output_size[d] < high:
            raise ValueError(f'invalid output_size "{output_size}" (dim {d} must be between {low} and {high})')
    return list(output_size)


@overridable
def max_unpool1d(
    input: Tensor, indices: Tensor, kernel_size: Any, stride: Any = None, padding: Any = 0, output_size: Any = None
) -> Tensor:
    r"""Write elements to the places from which :func:`max_pool1d` took them; all other elements are 0.

    Args:
        input: :math:`(N, C, L)`, or without N.
        indices: the places, of the same shape.
        kernel_size, stride, padding: the windows of the pooling.
        output_size: the size of the result; by default the smallest that the windows can come from.

    Returns:
        A tensor with more pixels.

    Raises:
        ValueError: ``output_size`` does not fit the windows.
        RuntimeError: the shapes differ, or an index is out of range.

    Example:
        >>> F, x = torch.nn.functional, torch.tensor([[[1.0, 5.0, 2.0, 4.0]]])
        >>> pooled, places = F.max_pool1d(x, 2, return_indices=True)
        >>> F.max_unpool1d(pooled, places, 2).flatten()[-4:]
        tensor([0., 5., 0., 4.])

    Mirrors torch/nn/functional.py, ``max_unpool1d``.
    """
    kernel, pad = _single(kernel_size), _single(padding)
    step = kernel if stride is None else _single(stride)
    size = _unpool_output_size(input, kernel, step, pad, output_size)
    return _nn.max_unpool2d(input.unsqueeze(-1), indices.unsqueeze(-1), [*size, 1]).squeeze(-1)


@overridable
def max_unpool2d(
    input: Tensor, indices: Tensor, kernel_size: Any, stride: Any = None, padding: Any = 0, output_size: Any = None
) -> Tensor:
    r"""Write elements to the places from which :func:`max_pool2d` took them; all other elements are 0.

    Args:
        input: :math:`(N, C, H, W)`, or without N.
        indices: the places, of the same shape.
        kernel_size, stride, padding: the windows of the pooling.
        output_size: the size of the result; by default the smallest that the windows can come from.

    Returns:
        A tensor with more pixels.

    Raises:
        ValueError: ``output_size`` does not fit the windows.
        RuntimeError: the shapes differ, or an index is out of range.

    Example:
        >>> F, x = torch.nn.functional, torch.arange(16.0).reshape(1, 1, 4, 4)
        >>> pooled, places = F.max_pool2d(x, 2, return_indices=True)
        >>> F.max_unpool2d(pooled, places, 2).flatten()[-4:]
        tensor([ 0., 13.,  0., 15.])

    Mirrors torch/nn/functional.py, ``max_unpool2d``.
    """
    kernel, pad = _pair(kernel_size), _pair(padding)
    step = kernel if stride is None else _pair(stride)
    return _nn.max_unpool2d(input, indices, _unpool_output_size(input, kernel, step, pad, output_size))


@overridable
def max_unpool3d(
    input: Tensor, indices: Tensor, kernel_size: Any, stride: Any = None, padding: Any = 0, output_size: Any = None
) -> Tensor:
    r"""Write elements to the places from which :func:`max_pool3d` took them; all other elements are 0.

    Args:
        input: :math:`(N, C, D, H, W)`, or without N.
        indices: the places, of the same shape.
        kernel_size, stride, padding: the windows of the pooling.
        output_size: the size of the result; by default the smallest that the windows can come from.

    Returns:
        A tensor with more pixels.

    Raises:
        ValueError: ``output_size`` does not fit the windows.
        RuntimeError: the shapes differ, or an index is out of range.

    Example:
        >>> F, x = torch.nn.functional, torch.arange(8.0).reshape(1, 1, 2, 2, 2)
        >>> pooled, places = F.max_pool3d(x, 2, return_indices=True)
        >>> F.max_unpool3d(pooled, places, 2).flatten()[-4:]
        tensor([0., 0., 0., 7.])

    Mirrors torch/nn/functional.py, ``max_unpool3d``.
    """
    kernel, pad = _triple(kernel_size), _triple(padding)
    step = kernel if stride is None else _triple(stride)
    size = _unpool_output_size(input, kernel, step, pad, output_size)
    return _nn.max_unpool3d(input, indices, size, step, pad)


# --- windows that divide the pixels into equal parts ------------------------------------------------------------------


@overridable
def adaptive_avg_pool2d(input: Tensor, output_size: Any) -> Tensor:
    r"""Divide the pixels into as many parts as asked for, and return the mean of each part.

    Args:
        input: :math:`(N, C, H, W)`, or without N.
        output_size: the number of parts along each dimension, or one number for all; None keeps a dimension.

    Returns:
        A tensor with as many pixels as there are parts.

    Raises:
        RuntimeError: ``input`` has another number of dimensions, or no elements.

    Example:
        >>> torch.nn.functional.adaptive_avg_pool2d(torch.ones(1, 2, 6, 6), (None, 2)).shape
        torch.Size([1, 2, 6, 2])

    Mirrors torch/nn/functional.py, ``adaptive_avg_pool2d``.
    """
    return _nn.adaptive_avg_pool2d(input, _list_with_default(output_size, input.shape))


@overridable
def adaptive_avg_pool3d(input: Tensor, output_size: Any) -> Tensor:
    r"""Divide the pixels into as many parts as asked for, and return the mean of each part.

    Args:
        input: :math:`(N, C, D, H, W)`, or without N.
        output_size: the number of parts along each dimension, or one number for all; None keeps a dimension.

    Returns:
        A tensor with as many pixels as there are parts.

    Raises:
        RuntimeError: ``input`` has another number of dimensions, or no elements.

    Example:
        >>> torch.nn.functional.adaptive_avg_pool3d(torch.ones(1, 2, 6, 6, 6), (None, 2, 2)).shape
        torch.Size([1, 2, 6, 2, 2])

    Mirrors torch/nn/functional.py, ``adaptive_avg_pool3d``.
    """
    return _nn.adaptive_avg_pool3d(input, _list_with_default(output_size, input.shape))


@overridable
def adaptive_max_pool1d_with_indices(
    input: Tensor, output_size: Any, return_indices: bool = False
) -> tuple[Tensor, Tensor]:
    r"""Divide the pixels into as many parts as asked for, and return the largest element of each part and its place.

    Args:
        input: :math:`(N, C, L)`, or without N.
        output_size: the number of parts along each dimension, or one number for all.
        return_indices: has no effect.

    Returns:
        Two tensors with as many pixels as there are parts.

    Raises:
        RuntimeError: ``input`` has another number of dimensions, or no elements.

    Example:
        >>> torch.nn.functional.adaptive_max_pool1d_with_indices(torch.tensor([[[1.0, 5.0, 2.0, 4.0]]]), 2)[1].max()
        tensor(3)

    Mirrors torch/nn/functional.py, ``adaptive_max_pool1d_with_indices``.
    """
    return _VF.adaptive_max_pool1d(input, output_size)


@overridable
def adaptive_max_pool1d(
    input: Tensor, output_size: Any, return_indices: bool = False
) -> Tensor | tuple[Tensor, Tensor]:
    r"""Divide the pixels into as many parts as asked for, and return the largest element of each part.

    Args:
        input: :math:`(N, C, L)`, or without N.
        output_size: the number of parts along each dimension, or one number for all.
        return_indices: whether to return the places of the elements, too.

    Returns:
        A tensor with as many pixels as there are parts, or a pair of this tensor and the places.

    Raises:
        RuntimeError: ``input`` has another number of dimensions, or no elements.

    Example:
        >>> torch.nn.functional.adaptive_max_pool1d(torch.tensor([[[1.0, 5.0, 2.0, 4.0]]]), 2)
        tensor([[[5., 4.]]])

    Mirrors torch/nn/functional.py, ``adaptive_max_pool1d``.
    """
    result = _VF.adaptive_max_pool1d(input, output_size)
    return result if return_indices else result[0]


@overridable
def adaptive_max_pool2d_with_indices(
    input: Tensor, output_size: Any, return_indices: bool = False
) -> tuple[Tensor, Tensor]:
    r"""Divide the pixels into as many parts as asked for, and return the largest element of each part and its place.

    Args:
        input: :math:`(N, C, H, W)`, or without N.
        output_size: the number of parts along each dimension, or one number for all; None keeps a dimension.
        return_indices: has no effect.

    Returns:
        Two tensors with as many pixels as there are parts.

    Raises:
        RuntimeError: ``input`` has another number of dimensions, or no elements.

    Example:
        >>> torch.nn.functional.adaptive_max_pool2d_with_indices(torch.arange(16.0).reshape(1, 1, 4, 4), 2)[1].max()
        tensor(15)

    Mirrors torch/nn/functional.py, ``adaptive_max_pool2d_with_indices``.
    """
    return _nn.adaptive_max_pool2d(input, _list_with_default(output_size, input.shape))


@overridable
def adaptive_max_pool2d(
    input: Tensor, output_size: Any, return_indices: bool = False
) -> Tensor | tuple[Tensor, Tensor]:
    r"""Divide the pixels into as many parts as asked for, and return the largest element of each part.

    Args:
        input: :math:`(N, C, H, W)`, or without N.
        output_size: the number of parts along each dimension, or one number for all.
        return_indices: whether to return the places of the elements, too.

    Returns:
        A tensor with as many pixels as there are parts, or a pair of this tensor and the places.

    Raises:
        RuntimeError: ``input`` has another number of dimensions, or no elements.

    Example:
        >>> torch.nn.functional.adaptive_max_pool2d(torch.arange(16.0).reshape(1, 1, 4, 4), 2)
        tensor([[[[ 5.,  7.],
                  [13., 15.]]]])

    Mirrors torch/nn/functional.py, ``adaptive_max_pool2d``.
    """
    result = _nn.adaptive_max_pool2d(input, _list_with_default(output_size, input.shape))
    return result if return_indices else result[0]


@overridable
def adaptive_max_pool3d_with_indices(
    input: Tensor, output_size: Any, return_indices: bool = False
) -> tuple[Tensor, Tensor]:
    r"""Divide the pixels into as many parts as asked for, and return the largest element of each part and its place.

    Args:
        input: :math:`(N, C, D, H, W)`, or without N.
        output_size: the number of parts along each dimension, or one number for all; None keeps a dimension.
        return_indices: has no effect.

    Returns:
        Two tensors with as many pixels as there are parts.

    Raises:
        RuntimeError: ``input`` has another number of dimensions, or no elements.

    Example:
        >>> torch.nn.functional.adaptive_max_pool3d_with_indices(torch.arange(8.0).reshape(1, 1, 2, 2, 2), 1)[1].max()
        tensor(7)

    Mirrors torch/nn/functional.py, ``adaptive_max_pool3d_with_indices``.
    """
    return _nn.adaptive_max_pool3d(input, _list_with_default(output_size, input.shape))


@overridable
def adaptive_max_pool3d(
    input: Tensor, output_size: Any, return_indices: bool = False
) -> Tensor | tuple[Tensor, Tensor]:
    r"""Divide the pixels into as many parts as asked for, and return the largest element of each part.

    Args:
        input: :math:`(N, C, D, H, W)`, or without N.
        output_size: the number of parts along each dimension, or one number for all.
        return_indices: whether to return the places of the elements, too.

    Returns:
        A tensor with as many pixels as there are parts, or a pair of this tensor and the places.

    Raises:
        RuntimeError: ``input`` has another number of dimensions, or no elements.

    Example:
        >>> torch.nn.functional.adaptive_max_pool3d(torch.arange(8.0).reshape(1, 1, 2, 2, 2), 1)
        tensor([[[[[7.]]]]])

    Mirrors torch/nn/functional.py, ``adaptive_max_pool3d``.
    """
    result = _nn.adaptive_max_pool3d(input, _list_with_default(output_size, input.shape))
    return result if return_indices else result[0]


# --- windows at random places -----------------------------------------------------------------------------------------


def _fractional_max_pool(
    dims: int, input: Tensor, kernel_size: Any, output_size: Any, output_ratio: Any, random_samples: Tensor | None
) -> tuple[Tensor, Tensor]:
    name = f"fractional_max_pool{dims}d"
    if output_size is None and output_ratio is None:
        raise ValueError(f"{name} requires specifying either an output_size or an output_ratio")
    each = _ntuple(dims, "_each")
    if output_size is None:
        if len(each(output_ratio)) > dims:
            raise ValueError(f"{name} requires output_ratio to either be a single Int or tuple of Ints.")
        pixels = input.shape[-dims:]
        output_size = [int(size * ratio) for size, ratio in zip(pixels, each(output_ratio), strict=True)]
    if random_samples is None:
        batch = 1 if input.dim() == dims + 1 else input.size(0)
        random_samples = _VF.rand(batch, input.size(-dims - 1), dims, dtype=input.dtype, device=input.device)
    return getattr(_nn, name)(input, each(kernel_size), each(output_size), random_samples)


@overridable
def fractional_max_pool2d_with_indices(
    input: Tensor,
    kernel_size: Any,
    output_size: Any = None,
    output_ratio: Any = None,
    return_indices: bool = False,
    _random_samples: Tensor | None = None,
) -> tuple[Tensor, Tensor]:
    r"""Return the largest element of each window, and its place, where the windows lie at random distances.

    Args:
        input: :math:`(N, C, H, W)`, or without N.
        kernel_size: the size of a window.
        output_size: the number of windows along each dimension.
        output_ratio: the number of windows as a part of the number of pixels, instead of ``output_size``.
        return_indices: has no effect.

    Returns:
        Two tensors with fewer pixels.

    Raises:
        ValueError: neither ``output_size`` nor ``output_ratio`` is given.
        RuntimeError: the windows do not fit.

    Example:
        >>> torch.nn.functional.fractional_max_pool2d_with_indices(torch.ones(1, 1, 6, 6), 2, 3)[1].shape
        torch.Size([1, 1, 3, 3])

    Mirrors torch/nn/functional.py, ``fractional_max_pool2d_with_indices``.
    """
    return _fractional_max_pool(2, input, kernel_size, output_size, output_ratio, _random_samples)


@overridable
def fractional_max_pool2d(
    input: Tensor,
    kernel_size: Any,
    output_size: Any = None,
    output_ratio: Any = None,
    return_indices: bool = False,
    _random_samples: Tensor | None = None,
) -> Tensor | tuple[Tensor, Tensor]:
    r"""Return the largest element of each window, where the windows lie at random distances.

    Args:
        input: :math:`(N, C, H, W)`, or without N.
        kernel_size: the size of a window.
        output_size: the number of windows along each dimension.
        output_ratio: the number of windows as a part of the number of pixels, instead of ``output_size``.
        return_indices: whether to return the places of the elements, too.

    Returns:
        A tensor with fewer pixels, or a pair of this tensor and the places.

    Raises:
        ValueError: neither ``output_size`` nor ``output_ratio`` is given.
        RuntimeError: the windows do not fit.

    Example:
        >>> torch.nn.functional.fractional_max_pool2d(torch.ones(1, 1, 6, 6), 2, output_ratio=(0.5, 0.5)).shape
        torch.Size([1, 1, 3, 3])

    Mirrors torch/nn/functional.py, ``fractional_max_pool2d``.
    """
    result = _fractional_max_pool(2, input, kernel_size, output_size, output_ratio, _random_samples)
    return result if return_indices else result[0]


@overridable
def fractional_max_pool3d_with_indices(
    input: Tensor,
    kernel_size: Any,
    output_size: Any = None,
    output_ratio: Any = None,
    return_indices: bool = False,
    _random_samples: Tensor | None = None,
) -> tuple[Tensor, Tensor]:
    r"""Return the largest element of each window, and its place, where the windows lie at random distances.

    Args:
        input: :math:`(N, C, D, H, W)`, or without N.
        kernel_size: the size of a window.
        output_size: the number of windows along each dimension.
        output_ratio: the number of windows as a part of the number of pixels, instead of ``output_size``.
        return_indices: has no effect.

    Returns:
        Two tensors with fewer pixels.

    Raises:
        ValueError: neither ``output_size`` nor ``output_ratio`` is given.
        RuntimeError: the windows do not fit.

    Example:
        >>> torch.nn.functional.fractional_max_pool3d_with_indices(torch.ones(1, 1, 6, 6, 6), 2, 3)[1].shape
        torch.Size([1, 1, 3, 3, 3])

    Mirrors torch/nn/functional.py, ``fractional_max_pool3d_with_indices``.
    """
    return _fractional_max_pool(3, input, kernel_size, output_size, output_ratio, _random_samples)


@overridable
def fractional_max_pool3d(
    input: Tensor,
    kernel_size: Any,
    output_size: Any = None,
    output_ratio: Any = None,
    return_indices: bool = False,
    _random_samples: Tensor | None = None,
) -> Tensor | tuple[Tensor, Tensor]:
    r"""Return the largest element of each window, where the windows lie at random distances.

    Args:
        input: :math:`(N, C, D, H, W)`, or without N.
        kernel_size: the size of a window.
        output_size: the number of windows along each dimension.
        output_ratio: the number of windows as a part of the number of pixels, instead of ``output_size``.
        return_indices: whether to return the places of the elements, too.

    Returns:
        A tensor with fewer pixels, or a pair of this tensor and the places.

    Raises:
        ValueError: neither ``output_size`` nor ``output_ratio`` is given.
        RuntimeError: the windows do not fit.

    Example:
        >>> torch.nn.functional.fractional_max_pool3d(torch.ones(1, 1, 6, 6, 6), 2, output_ratio=(0.5, 0.5, 0.5)).shape
        torch.Size([1, 1, 3, 3, 3])

    Mirrors torch/nn/functional.py, ``fractional_max_pool3d``.
    """
    result = _fractional_max_pool(3, input, kernel_size, output_size, output_ratio, _random_samples)
    return result if return_indices else result[0]


# --- power means ------------------------------------------------------------------------------------------------------


def _roots(means: Tensor, norm_type: float, elements: int) -> Tensor:
    """Return the roots of sums of powers, which may be negative, from the means of the windows."""
    positive = means.sign() * means.abs().relu()
    return positive.mul(elements).pow(1.0 / norm_type)


@overridable
def lp_pool1d(input: Tensor, norm_type: float, kernel_size: Any, stride: Any = None, ceil_mode: bool = False) -> Tensor:
    r"""Return the norm of each window: :math:`\sqrt[p]{\sum x^p}`.

    Args:
        input: :math:`(N, C, L)`, or without N.
        norm_type: :math:`p`.
        kernel_size: the size of a window: a number, or one number for each dimension.
        stride: the steps by which the window moves; the size of the window by default.
        ceil_mode: whether a last window may hang over the end.

    Returns:
        A tensor with fewer pixels.

    Raises:
        RuntimeError: an argument is out of range, or no window fits.

    Example:
        >>> torch.nn.functional.lp_pool1d(torch.ones(1, 1, 2), 1.0, 2).item()
        2.0

    Mirrors torch/nn/functional.py, ``lp_pool1d``.
    """
    means = avg_pool1d(input.pow(norm_type), kernel_size, [] if stride is None else stride, 0, ceil_mode)
    return _roots(means, norm_type, _single(kernel_size)[0])


@overridable
def lp_pool2d(input: Tensor, norm_type: float, kernel_size: Any, stride: Any = None, ceil_mode: bool = False) -> Tensor:
    r"""Return the norm of each window: :math:`\sqrt[p]{\sum x^p}`.

    Args:
        input: :math:`(N, C, H, W)`, or without N.
        norm_type: :math:`p`.
        kernel_size: the size of a window: a number, or one number for each dimension.
        stride: the steps by which the window moves; the size of the window by default.
        ceil_mode: whether a last window may hang over the end.

    Returns:
        A tensor with fewer pixels.

    Raises:
        RuntimeError: an argument is out of range, or no window fits.

    Example:
        >>> torch.nn.functional.lp_pool2d(torch.ones(1, 1, 2, 2), 1.0, 2).item()
        4.0

    Mirrors torch/nn/functional.py, ``lp_pool2d``.
    """
    sizes = _pair(kernel_size)
    means = avg_pool2d(input.pow(norm_type), kernel_size, [] if stride is None else stride, 0, ceil_mode)
    return _roots(means, norm_type, sizes[0] * sizes[1])


@overridable
def lp_pool3d(input: Tensor, norm_type: float, kernel_size: Any, stride: Any = None, ceil_mode: bool = False) -> Tensor:
    r"""Return the norm of each window: :math:`\sqrt[p]{\sum x^p}`.

    Args:
        input: :math:`(N, C, D, H, W)`, or without N.
        norm_type: :math:`p`.
        kernel_size: the size of a window: a number, or one number for each dimension.
        stride: the steps by which the window moves; the size of the window by default.
        ceil_mode: whether a last window may hang over the end.

    Returns:
        A tensor with fewer pixels.

    Raises:
        RuntimeError: an argument is out of range, or no window fits.

    Example:
        >>> torch.nn.functional.lp_pool3d(torch.ones(1, 1, 2, 2, 2), 1.0, 2).item()
        8.0

    Mirrors torch/nn/functional.py, ``lp_pool3d``.
    """
    sizes = _triple(kernel_size)
    means = avg_pool3d(input.pow(norm_type), kernel_size, [] if stride is None else stride, 0, ceil_mode)
    return _roots(means, norm_type, sizes[0] * sizes[1] * sizes[2])
