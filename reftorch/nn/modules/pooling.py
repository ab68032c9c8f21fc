"""Pooling: one number for each window of a signal, an image or a volume.

Mirrors: torch/nn/modules/pooling.py

The file is over 500 lines long because there are eight kinds of pooling, most of them for one to three dimensions; each
takes a few lines and a docstring.
"""

from __future__ import annotations

from typing import Any

from reftorch._tensor import Tensor
from reftorch.nn import functional as F
from reftorch.nn._tuples import _pair, _single, _triple
from reftorch.nn.modules.module import Module

__all__ = [
    "AdaptiveAvgPool1d", "AdaptiveAvgPool2d", "AdaptiveAvgPool3d", "AdaptiveMaxPool1d", "AdaptiveMaxPool2d",
    "AdaptiveMaxPool3d", "AvgPool1d", "AvgPool2d", "AvgPool3d", "FractionalMaxPool2d", "FractionalMaxPool3d",
    "LPPool1d", "LPPool2d", "LPPool3d", "MaxPool1d", "MaxPool2d", "MaxPool3d", "MaxUnpool1d", "MaxUnpool2d",
    "MaxUnpool3d",
]  # fmt: skip


class _MaxPoolNd(Module):
    return_indices: bool
    ceil_mode: bool

    def __init__(
        self,
        kernel_size: Any,
        stride: Any = None,
        padding: Any = 0,
        dilation: Any = 1,
        return_indices: bool = False,
        ceil_mode: bool = False,
    ) -> None:
        super().__init__()
        self.kernel_size = kernel_size
        self.stride = stride if stride is not None else kernel_size
        self.padding = padding
        self.dilation = dilation
        self.return_indices = return_indices
        self.ceil_mode = ceil_mode

    def extra_repr(self) -> str:
        return (
            f"kernel_size={self.kernel_size}, stride={self.stride}, padding={self.padding}, dilation={self.dilation}, "
            f"ceil_mode={self.ceil_mode}"
        )


class MaxPool1d(_MaxPoolNd):
    r"""Return the largest element of each window.

    Args:
        kernel_size: the size of a window: a number, or one number for each dimension.
        stride: the steps by which the window moves (default: the size of the window).
        padding: the number of places before and after each dimension that windows may cover (default 0).
        dilation: the distance between elements of a window (default 1).
        return_indices: whether to return the places of the elements too, for :class:`MaxUnpool1d` (default False).
        ceil_mode: whether a last window may hang over the end (default False).

    Shape:
        Input :math:`(N, C, L)`, output :math:`(N, C, L')`; both may be without N.

    Raises:
        RuntimeError: (from a call) an argument is out of range, or no window fits.

    Example:
        >>> torch.nn.MaxPool1d(3, stride=2)(torch.randn(20, 16, 50)).shape
        torch.Size([20, 16, 24])

    Mirrors torch/nn/modules/pooling.py, ``MaxPool1d``.
    """

    def forward(self, input: Tensor) -> Any:
        return F.max_pool1d(
            input, self.kernel_size, self.stride, self.padding, self.dilation, self.ceil_mode, self.return_indices
        )


class MaxPool2d(_MaxPoolNd):
    r"""Return the largest element of each window; see :class:`MaxPool1d` for the arguments.

    Shape:
        Input :math:`(N, C, H, W)`, output :math:`(N, C, H', W')`; both may be without N.

    Raises:
        RuntimeError: (from a call) an argument is out of range, or no window fits.

    Example:
        >>> torch.nn.MaxPool2d(3, stride=2)(torch.randn(20, 16, 50, 32)).shape
        torch.Size([20, 16, 24, 15])

    Mirrors torch/nn/modules/pooling.py, ``MaxPool2d``.
    """

    def forward(self, input: Tensor) -> Any:
        return F.max_pool2d(
            input, self.kernel_size, self.stride, self.padding, self.dilation, self.ceil_mode, self.return_indices
        )


class MaxPool3d(_MaxPoolNd):
    r"""Return the largest element of each window; see :class:`MaxPool1d` for the arguments.

    Shape:
        Input :math:`(N, C, D, H, W)`, output :math:`(N, C, D', H', W')`; both may be without N.

    Raises:
        RuntimeError: (from a call) an argument is out of range, or no window fits.

    Example:
        >>> torch.nn.MaxPool3d(3, stride=2)(torch.randn(2, 3, 11, 9, 7)).shape
        torch.Size([2, 3, 5, 4, 3])

    Mirrors torch/nn/modules/pooling.py, ``MaxPool3d``.
    """

    def forward(self, input: Tensor) -> Any:
        return F.max_pool3d(
            input, self.kernel_size, self.stride, self.padding, self.dilation, self.ceil_mode, self.return_indices
        )


class _MaxUnpoolNd(Module):
    def extra_repr(self) -> str:
        return f"kernel_size={self.kernel_size}, stride={self.stride}, padding={self.padding}"


class MaxUnpool1d(_MaxUnpoolNd):
    r"""Write elements to the places from which :class:`MaxPool1d` took them; all other elements are 0.

    Args:
        kernel_size: the size of a window of the pooling.
        stride: the steps of the window (default: the size of the window).
        padding: the padding of the pooling (default 0).

    Shape:
        Input and indices :math:`(N, C, L')`, output :math:`(N, C, L)`; both may be
        without N. A call may name the ``output_size``.

    Raises:
        ValueError: (from a call) ``output_size`` does not fit the windows.
        RuntimeError: (from a call) an index is out of range.

    Example:
        >>> pool, unpool = torch.nn.MaxPool1d(2, return_indices=True), torch.nn.MaxUnpool1d(2)
        >>> unpool(*pool(torch.randn(1, 1, 4))).shape
        torch.Size([1, 1, 4])

    Mirrors torch/nn/modules/pooling.py, ``MaxUnpool1d``.
    """

    def __init__(self, kernel_size: Any, stride: Any = None, padding: Any = 0) -> None:
        super().__init__()
        self.kernel_size = _single(kernel_size)
        self.stride = _single(stride if stride is not None else kernel_size)
        self.padding = _single(padding)

    def forward(self, input: Tensor, indices: Tensor, output_size: list[int] | None = None) -> Tensor:
        return F.max_unpool1d(input, indices, self.kernel_size, self.stride, self.padding, output_size)


class MaxUnpool2d(_MaxUnpoolNd):
    r"""Write elements to the places from which :class:`MaxPool2d` took them; all other elements are 0.

    Args:
        kernel_size: the size of a window of the pooling.
        stride: the steps of the window (default: the size of the window).
        padding: the padding of the pooling (default 0).

    Shape:
        Input and indices :math:`(N, C, H', W')`, output :math:`(N, C, H, W)`; both may be
        without N. A call may name the ``output_size``.

    Raises:
        ValueError: (from a call) ``output_size`` does not fit the windows.
        RuntimeError: (from a call) an index is out of range.

    Example:
        >>> pool, unpool = torch.nn.MaxPool2d(2, return_indices=True), torch.nn.MaxUnpool2d(2)
        >>> unpool(*pool(torch.randn(1, 1, 4, 4))).shape
        torch.Size([1, 1, 4, 4])

    Mirrors torch/nn/modules/pooling.py, ``MaxUnpool2d``.
    """

    def __init__(self, kernel_size: Any, stride: Any = None, padding: Any = 0) -> None:
        super().__init__()
        self.kernel_size = _pair(kernel_size)
        self.stride = _pair(stride if stride is not None else kernel_size)
        self.padding = _pair(padding)

    def forward(self, input: Tensor, indices: Tensor, output_size: list[int] | None = None) -> Tensor:
        return F.max_unpool2d(input, indices, self.kernel_size, self.stride, self.padding, output_size)


class MaxUnpool3d(_MaxUnpoolNd):
    r"""Write elements to the places from which :class:`MaxPool3d` took them; all other elements are 0.

    Args:
        kernel_size: the size of a window of the pooling.
        stride: the steps of the window (default: the size of the window).
        padding: the padding of the pooling (default 0).

    Shape:
        Input and indices :math:`(N, C, D', H', W')`, output :math:`(N, C, D, H, W)`; both may be
        without N. A call may name the ``output_size``.

    Raises:
        ValueError: (from a call) ``output_size`` does not fit the windows.
        RuntimeError: (from a call) an index is out of range.

    Example:
        >>> pool, unpool = torch.nn.MaxPool3d(2, return_indices=True), torch.nn.MaxUnpool3d(2)
        >>> unpool(*pool(torch.randn(1, 1, 4, 4, 4))).shape
        torch.Size([1, 1, 4, 4, 4])

    Mirrors torch/nn/modules/pooling.py, ``MaxUnpool3d``.
    """

    def __init__(self, kernel_size: Any, stride: Any = None, padding: Any = 0) -> None:
        super().__init__()
        self.kernel_size = _triple(kernel_size)
        self.stride = _triple(stride if stride is not None else kernel_size)
        self.padding = _triple(padding)

    def forward(self, input: Tensor, indices: Tensor, output_size: list[int] | None = None) -> Tensor:
        return F.max_unpool3d(input, indices, self.kernel_size, self.stride, self.padding, output_size)


class _AvgPoolNd(Module):
    def extra_repr(self) -> str:
        return f"kernel_size={self.kernel_size}, stride={self.stride}, padding={self.padding}"


class AvgPool1d(_AvgPoolNd):
    r"""Return the mean of each window.

    Args:
        kernel_size: the size of a window: a number, or one number for each dimension.
        stride: the steps by which the window moves (default: the size of the window).
        padding: the number of zeros before and after each dimension (default 0).
        ceil_mode: whether a last window may hang over the end (default False).
        count_include_pad: whether the zeros of the padding count as elements of a window (default True).

    Shape:
        Input :math:`(N, C, L)`, output :math:`(N, C, L')`; both may be without N.

    Raises:
        RuntimeError: (from a call) an argument is out of range, or no window fits.

    Example:
        >>> torch.nn.AvgPool1d(3, stride=2)(torch.randn(20, 16, 50)).shape
        torch.Size([20, 16, 24])

    Mirrors torch/nn/modules/pooling.py, ``AvgPool1d``.
    """

    def __init__(
        self, kernel_size: Any, stride: Any = None, padding: Any = 0, ceil_mode: bool = False,
        count_include_pad: bool = True,
    ) -> None:  # fmt: skip
        super().__init__()
        self.kernel_size = _single(kernel_size)
        self.stride = _single(stride if stride is not None else kernel_size)
        self.padding = _single(padding)
        self.ceil_mode = ceil_mode
        self.count_include_pad = count_include_pad

    def forward(self, input: Tensor) -> Tensor:
        return F.avg_pool1d(input, self.kernel_size, self.stride, self.padding, self.ceil_mode, self.count_include_pad)


class AvgPool2d(_AvgPoolNd):
    r"""Return the mean of each window.

    Args:
        kernel_size: the size of a window: a number, or one number for each dimension.
        stride: the steps by which the window moves (default: the size of the window).
        padding: the number of zeros before and after each dimension (default 0).
        ceil_mode: whether a last window may hang over the end (default False).
        count_include_pad: whether the zeros of the padding count as elements of a window (default True).
        divisor_override: the number by which the sum of a window is divided, instead of the number of its elements.

    Shape:
        Input :math:`(N, C, H, W)`, output :math:`(N, C, H', W')`; both may be without N.

    Raises:
        RuntimeError: (from a call) an argument is out of range, or no window fits.

    Example:
        >>> torch.nn.AvgPool2d(3, stride=2)(torch.randn(20, 16, 50, 32)).shape
        torch.Size([20, 16, 24, 15])

    Mirrors torch/nn/modules/pooling.py, ``AvgPool2d``.
    """

    def __init__(
        self, kernel_size: Any, stride: Any = None, padding: Any = 0, ceil_mode: bool = False,
        count_include_pad: bool = True, divisor_override: int | None = None,
    ) -> None:  # fmt: skip
        super().__init__()
        self.kernel_size = kernel_size
        self.stride = stride if stride is not None else kernel_size
        self.padding = padding
        self.ceil_mode = ceil_mode
        self.count_include_pad = count_include_pad
        self.divisor_override = divisor_override

    def forward(self, input: Tensor) -> Tensor:
        return F.avg_pool2d(
            input, self.kernel_size, self.stride, self.padding, self.ceil_mode, self.count_include_pad,
            self.divisor_override,
        )  # fmt: skip


class AvgPool3d(_AvgPoolNd):
    r"""Return the mean of each window.

    Args:
        kernel_size: the size of a window: a number, or one number for each dimension.
        stride: the steps by which the window moves (default: the size of the window).
        padding: the number of zeros before and after each dimension (default 0).
        ceil_mode: whether a last window may hang over the end (default False).
        count_include_pad: whether the zeros of the padding count as elements of a window (default True).
        divisor_override: the number by which the sum of a window is divided, instead of the number of its elements.

    Shape:
        Input :math:`(N, C, D, H, W)`, output :math:`(N, C, D', H', W')`; both may be without N.

    Raises:
        RuntimeError: (from a call) an argument is out of range, or no window fits.

    Example:
        >>> torch.nn.AvgPool3d(3, stride=2)(torch.randn(2, 3, 11, 9, 7)).shape
        torch.Size([2, 3, 5, 4, 3])

    Mirrors torch/nn/modules/pooling.py, ``AvgPool3d``.
    """

    def __init__(
        self, kernel_size: Any, stride: Any = None, padding: Any = 0, ceil_mode: bool = False,
        count_include_pad: bool = True, divisor_override: int | None = None,
    ) -> None:  # fmt: skip
        super().__init__()
        self.kernel_size = kernel_size
        self.stride = stride if stride is not None else kernel_size
        self.padding = padding
        self.ceil_mode = ceil_mode
        self.count_include_pad = count_include_pad
        self.divisor_override = divisor_override

    def forward(self, input: Tensor) -> Tensor:
        return F.avg_pool3d(
            input, self.kernel_size, self.stride, self.padding, self.ceil_mode, self.count_include_pad,
            self.divisor_override,
        )  # fmt: skip


class FractionalMaxPool2d(Module):
    r"""Return the largest element of each window, where the windows lie at random distances.

    Args:
        kernel_size: the size of a window.
        output_size: the number of windows along each dimension.
        output_ratio: the number of windows as a part of the number of pixels, in (0, 1), instead of ``output_size``.
        return_indices: whether to return the places of the elements too (default False).
        _random_samples: the numbers that choose the places of the windows, for tests.

    Shape:
        Input :math:`(N, C, H, W)`, output :math:`(N, C, H', W')`; both may be without N.

    Raises:
        ValueError: neither or both of ``output_size`` and ``output_ratio`` are given, or the ratio is out of range.

    Example:
        >>> torch.nn.FractionalMaxPool2d(2, output_size=3)(torch.randn(1, 2, 7, 7)).shape
        torch.Size([1, 2, 3, 3])

    Mirrors torch/nn/modules/pooling.py, ``FractionalMaxPool2d``.
    """

    def __init__(
        self, kernel_size: Any, output_size: Any = None, output_ratio: Any = None, return_indices: bool = False,
        _random_samples: Tensor | None = None,
    ) -> None:  # fmt: skip
        super().__init__()
        self.kernel_size = _pair(kernel_size)
        self.return_indices = return_indices
        self.register_buffer("_random_samples", _random_samples)
        self.output_size = _pair(output_size) if output_size is not None else None
        self.output_ratio = _pair(output_ratio) if output_ratio is not None else None
        if output_size is None and output_ratio is None:
            raise ValueError("FractionalMaxPool2d requires specifying either an output size, or a pooling ratio")
        if output_size is not None and output_ratio is not None:
            raise ValueError("only one of output_size and output_ratio may be specified")
        if self.output_ratio is not None and not all(0 < ratio < 1 for ratio in self.output_ratio):
            raise ValueError(f"output_ratio must be between 0 and 1 (got {output_ratio})")

    def forward(self, input: Tensor) -> Any:
        return F.fractional_max_pool2d(
            input, self.kernel_size, self.output_size, self.output_ratio, self.return_indices,
            _random_samples=self._random_samples,
        )  # fmt: skip


class FractionalMaxPool3d(Module):
    r"""Return the largest element of each window, where the windows lie at random distances.

    Args:
        kernel_size: the size of a window.
        output_size: the number of windows along each dimension.
        output_ratio: the number of windows as a part of the number of pixels, in (0, 1), instead of ``output_size``.
        return_indices: whether to return the places of the elements too (default False).
        _random_samples: the numbers that choose the places of the windows, for tests.

    Shape:
        Input :math:`(N, C, D, H, W)`, output :math:`(N, C, D', H', W')`; both may be without N.

    Raises:
        ValueError: neither or both of ``output_size`` and ``output_ratio`` are given, or the ratio is out of range.

    Example:
        >>> torch.nn.FractionalMaxPool3d(2, output_size=3)(torch.randn(1, 2, 7, 7, 7)).shape
        torch.Size([1, 2, 3, 3, 3])

    Mirrors torch/nn/modules/pooling.py, ``FractionalMaxPool3d``.
    """

    def __init__(
        self, kernel_size: Any, output_size: Any = None, output_ratio: Any = None, return_indices: bool = False,
        _random_samples: Tensor | None = None,
    ) -> None:  # fmt: skip
        super().__init__()
        self.kernel_size = _triple(kernel_size)
        self.return_indices = return_indices
        self.register_buffer("_random_samples", _random_samples)
        self.output_size = _triple(output_size) if output_size is not None else None
        self.output_ratio = _triple(output_ratio) if output_ratio is not None else None
        if output_size is None and output_ratio is None:
            raise ValueError("FractionalMaxPool3d requires specifying either an output size, or a pooling ratio")
        if output_size is not None and output_ratio is not None:
            raise ValueError("only one of output_size and output_ratio may be specified")
        if self.output_ratio is not None and not all(0 < ratio < 1 for ratio in self.output_ratio):
            raise ValueError(f"output_ratio must be between 0 and 1 (got {output_ratio})")

    def forward(self, input: Tensor) -> Any:
        return F.fractional_max_pool3d(
            input, self.kernel_size, self.output_size, self.output_ratio, self.return_indices,
            _random_samples=self._random_samples,
        )  # fmt: skip


class _LPPoolNd(Module):
    def __init__(self, norm_type: float, kernel_size: Any, stride: Any = None, ceil_mode: bool = False) -> None:
        super().__init__()
        self.norm_type = norm_type
        self.kernel_size = kernel_size
        self.stride = stride
        self.ceil_mode = ceil_mode

    def extra_repr(self) -> str:
        return (
            f"norm_type={self.norm_type}, kernel_size={self.kernel_size}, stride={self.stride}, "
            f"ceil_mode={self.ceil_mode}"
        )


class LPPool1d(_LPPoolNd):
    r"""Return the norm of each window: :math:`\sqrt[p]{\sum x^p}`.

    Args:
        norm_type: :math:`p`.
        kernel_size: the size of a window: a number, or one number for each dimension.
        stride: the steps by which the window moves (default: the size of the window).
        ceil_mode: whether a last window may hang over the end (default False).

    Shape:
        Input :math:`(N, C, L)`, output :math:`(N, C, L')`; both may be without N.

    Example:
        >>> torch.nn.LPPool1d(2, 3, stride=2)(torch.randn(20, 16, 50)).shape
        torch.Size([20, 16, 24])

    Mirrors torch/nn/modules/pooling.py, ``LPPool1d``.
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.lp_pool1d(input, float(self.norm_type), self.kernel_size, self.stride, self.ceil_mode)


class LPPool2d(_LPPoolNd):
    r"""Return the norm of each window: :math:`\sqrt[p]{\sum x^p}`.

    Args:
        norm_type: :math:`p`.
        kernel_size: the size of a window: a number, or one number for each dimension.
        stride: the steps by which the window moves (default: the size of the window).
        ceil_mode: whether a last window may hang over the end (default False).

    Shape:
        Input :math:`(N, C, H, W)`, output :math:`(N, C, H', W')`; both may be without N.

    Example:
        >>> torch.nn.LPPool2d(2, 3, stride=2)(torch.randn(20, 16, 50, 32)).shape
        torch.Size([20, 16, 24, 15])

    Mirrors torch/nn/modules/pooling.py, ``LPPool2d``.
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.lp_pool2d(input, float(self.norm_type), self.kernel_size, self.stride, self.ceil_mode)


class LPPool3d(_LPPoolNd):
    r"""Return the norm of each window: :math:`\sqrt[p]{\sum x^p}`.

    Args:
        norm_type: :math:`p`.
        kernel_size: the size of a window: a number, or one number for each dimension.
        stride: the steps by which the window moves (default: the size of the window).
        ceil_mode: whether a last window may hang over the end (default False).

    Shape:
        Input :math:`(N, C, D, H, W)`, output :math:`(N, C, D', H', W')`; both may be without N.

    Example:
        >>> torch.nn.LPPool3d(2, 3, stride=2)(torch.randn(2, 3, 11, 9, 7)).shape
        torch.Size([2, 3, 5, 4, 3])

    Mirrors torch/nn/modules/pooling.py, ``LPPool3d``.
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.lp_pool3d(input, float(self.norm_type), self.kernel_size, self.stride, self.ceil_mode)


class _AdaptiveMaxPoolNd(Module):
    def __init__(self, output_size: Any, return_indices: bool = False) -> None:
        super().__init__()
        self.output_size = output_size
        self.return_indices = return_indices

    def extra_repr(self) -> str:
        return f"output_size={self.output_size}"


class _AdaptiveAvgPoolNd(Module):
    def __init__(self, output_size: Any) -> None:
        super().__init__()
        self.output_size = output_size

    def extra_repr(self) -> str:
        return f"output_size={self.output_size}"


class AdaptiveMaxPool1d(_AdaptiveMaxPoolNd):
    r"""Divide the pixels into as many parts as asked for, and return the largest element of each part.

    Args:
        output_size: the number of parts along each dimension, or one number for all.
        return_indices: whether to return the places of the elements too (default False).

    Shape:
        Input :math:`(N, C, L)`, output :math:`(N, C, L')`; both may be without N.

    Example:
        >>> torch.nn.AdaptiveMaxPool1d(5)(torch.randn(1, 2, 8)).shape
        torch.Size([1, 2, 5])

    Mirrors torch/nn/modules/pooling.py, ``AdaptiveMaxPool1d``.
    """

    def forward(self, input: Tensor) -> Any:
        return F.adaptive_max_pool1d(input, self.output_size, self.return_indices)


class AdaptiveMaxPool2d(_AdaptiveMaxPoolNd):
    r"""Divide the pixels into as many parts as asked for, and return the largest element of each part.

    Args:
        output_size: the number of parts along each dimension, or one number for all; None keeps a dimension.
        return_indices: whether to return the places of the elements too (default False).

    Shape:
        Input :math:`(N, C, H, W)`, output :math:`(N, C, H', W')`; both may be without N.

    Example:
        >>> torch.nn.AdaptiveMaxPool2d(5)(torch.randn(1, 2, 8, 8)).shape
        torch.Size([1, 2, 5, 5])

    Mirrors torch/nn/modules/pooling.py, ``AdaptiveMaxPool2d``.
    """

    def forward(self, input: Tensor) -> Any:
        return F.adaptive_max_pool2d(input, self.output_size, self.return_indices)


class AdaptiveMaxPool3d(_AdaptiveMaxPoolNd):
    r"""Divide the pixels into as many parts as asked for, and return the largest element of each part.

    Args:
        output_size: the number of parts along each dimension, or one number for all; None keeps a dimension.
        return_indices: whether to return the places of the elements too (default False).

    Shape:
        Input :math:`(N, C, D, H, W)`, output :math:`(N, C, D', H', W')`; both may be without N.

    Example:
        >>> torch.nn.AdaptiveMaxPool3d(5)(torch.randn(1, 2, 8, 8, 8)).shape
        torch.Size([1, 2, 5, 5, 5])

    Mirrors torch/nn/modules/pooling.py, ``AdaptiveMaxPool3d``.
    """

    def forward(self, input: Tensor) -> Any:
        return F.adaptive_max_pool3d(input, self.output_size, self.return_indices)


class AdaptiveAvgPool1d(_AdaptiveAvgPoolNd):
    r"""Divide the pixels into as many parts as asked for, and return the mean of each part.

    Args:
        output_size: the number of parts along each dimension, or one number for all.

    Shape:
        Input :math:`(N, C, L)`, output :math:`(N, C, L')`; both may be without N.

    Example:
        >>> torch.nn.AdaptiveAvgPool1d(5)(torch.randn(1, 2, 8)).shape
        torch.Size([1, 2, 5])

    Mirrors torch/nn/modules/pooling.py, ``AdaptiveAvgPool1d``.
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.adaptive_avg_pool1d(input, self.output_size)


class AdaptiveAvgPool2d(_AdaptiveAvgPoolNd):
    r"""Divide the pixels into as many parts as asked for, and return the mean of each part.

    Args:
        output_size: the number of parts along each dimension, or one number for all; None keeps a dimension.

    Shape:
        Input :math:`(N, C, H, W)`, output :math:`(N, C, H', W')`; both may be without N.

    Example:
        >>> torch.nn.AdaptiveAvgPool2d(5)(torch.randn(1, 2, 8, 8)).shape
        torch.Size([1, 2, 5, 5])

    Mirrors torch/nn/modules/pooling.py, ``AdaptiveAvgPool2d``.
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.adaptive_avg_pool2d(input, self.output_size)


class AdaptiveAvgPool3d(_AdaptiveAvgPoolNd):
    r"""Divide the pixels into as many parts as asked for, and return the mean of each part.

    Args:
        output_size: the number of parts along each dimension, or one number for all; None keeps a dimension.

    Shape:
        Input :math:`(N, C, D, H, W)`, output :math:`(N, C, D', H', W')`; both may be without N.

    Example:
        >>> torch.nn.AdaptiveAvgPool3d(5)(torch.randn(1, 2, 8, 8, 8)).shape
        torch.Size([1, 2, 5, 5, 5])

    Mirrors torch/nn/modules/pooling.py, ``AdaptiveAvgPool3d``.
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.adaptive_avg_pool3d(input, self.output_size)
