"""Convolutions, and transposed convolutions.

Mirrors: torch/nn/modules/conv.py
Leaves out: ``_ConvTransposeMixin``, which PyTorch keeps for old programs.

All modules have the constructor of ``_ConvNd``; each adds the number of its dimensions. The file is over 500 lines long
because there are twelve modules, each with a docstring.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from reftorch import _VF
from reftorch._tensor import Tensor
from reftorch.autograd.grad_mode import no_grad
from reftorch.nn import functional as F
from reftorch.nn import init
from reftorch.nn._tuples import _pair, _reverse_repeat_tuple, _single, _triple
from reftorch.nn.modules.lazy import LazyModuleMixin
from reftorch.nn.modules.module import Module
from reftorch.nn.parameter import Parameter, UninitializedParameter

__all__ = [
    "Conv1d", "Conv2d", "Conv3d", "ConvTranspose1d", "ConvTranspose2d", "ConvTranspose3d", "LazyConv1d", "LazyConv2d",
    "LazyConv3d", "LazyConvTranspose1d", "LazyConvTranspose2d", "LazyConvTranspose3d",
]  # fmt: skip

_NAMED_PADDINGS = {"same", "valid"}
_MODES = {"zeros", "reflect", "replicate", "circular"}


class _ConvNd(Module):
    """Parameters and options of all convolutions."""

    bias: Tensor | None
    weight: Tensor
    in_channels: int
    out_channels: int
    kernel_size: tuple[int, ...]
    stride: tuple[int, ...]
    padding: str | tuple[int, ...]
    dilation: tuple[int, ...]
    transposed: bool
    output_padding: tuple[int, ...]
    groups: int
    padding_mode: str

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: tuple[int, ...],
        stride: tuple[int, ...],
        padding: str | tuple[int, ...],
        dilation: tuple[int, ...],
        transposed: bool,
        output_padding: tuple[int, ...],
        groups: int,
        bias: bool,
        padding_mode: str,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        if transposed and padding_mode != "zeros":
            raise ValueError(f'Only "zeros" padding mode is supported for {self.__class__.__name__}')
        if groups <= 0:
            raise ValueError("groups must be a positive integer")
        if in_channels % groups != 0:
            raise ValueError("in_channels must be divisible by groups")
        if out_channels % groups != 0:
            raise ValueError("out_channels must be divisible by groups")
        if isinstance(padding, str):
            if padding not in _NAMED_PADDINGS:
                raise ValueError(f"Invalid padding string {padding!r}, should be one of {_NAMED_PADDINGS}")
            if padding == "same" and any(step != 1 for step in stride):
                raise ValueError("padding='same' is not supported for strided convolutions")
        if padding_mode not in _MODES:
            raise ValueError(f"padding_mode must be one of {_MODES}, but got padding_mode='{padding_mode}'")
        self.in_channels = in_channels
        self.out_channels = out_channels
        self.kernel_size = kernel_size
        self.stride = stride
        self.padding = padding
        self.dilation = dilation
        self.transposed = transposed
        self.output_padding = output_padding
        self.groups = groups
        self.padding_mode = padding_mode
        self._reversed_padding_repeated_twice = self._padding_of_both_ends()
        outer, inner = (in_channels, out_channels) if transposed else (out_channels, in_channels)
        shape = (outer, inner // groups, *kernel_size)
        self.weight = Parameter(_VF.empty(shape, device=device, dtype=dtype))
        if bias:
            self.bias = Parameter(_VF.empty(out_channels, device=device, dtype=dtype))
        else:
            self.register_parameter("bias", None)
        self.reset_parameters()

    def _padding_of_both_ends(self) -> list[int]:
        """Return the padding as ``F.pad`` takes it: the last dimension first, and both ends of each dimension."""
        if not isinstance(self.padding, str):
            return list(_reverse_repeat_tuple(self.padding, 2))
        pads: list[int] = []
        for gap, size in zip(reversed(self.dilation), reversed(self.kernel_size), strict=True):
            total = gap * (size - 1) if self.padding == "same" else 0
            pads += [total // 2, total - total // 2]
        return pads

    def reset_parameters(self) -> None:
        """Draw weight and bias anew, from U(-k, k), where k is 1 / sqrt(number of inputs of an output)."""
        # With a = sqrt(5) the bound sqrt(6 / ((1 + a^2) fan_in)) is 1 / sqrt(fan_in), as for the bias.
        init.kaiming_uniform_(self.weight, a=math.sqrt(5))
        if self.bias is not None:
            fan_in, _ = init._calculate_fan_in_and_fan_out(self.weight)
            if fan_in != 0:
                bound = 1 / math.sqrt(fan_in)
                init.uniform_(self.bias, -bound, bound)

    def extra_repr(self) -> str:
        zeros, ones = (0,) * len(self.kernel_size), (1,) * len(self.kernel_size)
        text = f"{self.in_channels}, {self.out_channels}, kernel_size={self.kernel_size}, stride={self.stride}"
        if self.padding != zeros:
            text += f", padding={self.padding}"
        if self.dilation != ones:
            text += f", dilation={self.dilation}"
        if self.output_padding != zeros:
            text += f", output_padding={self.output_padding}"
        if self.groups != 1:
            text += f", groups={self.groups}"
        if self.bias is None:
            text += ", bias=False"
        if self.padding_mode != "zeros":
            text += f", padding_mode={self.padding_mode}"
        return text

    def __setstate__(self, state: Any) -> None:
        super().__setstate__(state)
        if not hasattr(self, "padding_mode"):
            self.padding_mode = "zeros"

    def _convolve(
        self,
        function: Callable[..., Tensor],
        zeros: tuple[int, ...],
        input: Tensor,
        weight: Tensor,
        bias: Tensor | None,
    ) -> Tensor:
        padding = self.padding
        if self.padding_mode != "zeros":
            input = F.pad(input, self._reversed_padding_repeated_twice, mode=self.padding_mode)
            padding = zeros
        return function(input, weight, bias, self.stride, padding, self.dilation, self.groups)


class Conv1d(_ConvNd):
    r"""Slide kernels over signals: :math:`y_m = b_m + \sum_c w_{mc} \star x_c`, with cross-correlation :math:`\star`.

    Weight and bias start from :math:`U(-\sqrt k, \sqrt k)`, where k is groups / (in_channels * kernel_size).

    Args:
        in_channels: the number of channels of the input.
        out_channels: the number of channels of the output.
        kernel_size: the size of the kernel.
        stride: the step by which the kernel moves (default 1).
        padding: the number of elements added at both ends, ``"valid"`` or ``"same"`` (default 0).
        dilation: the distance between elements of the kernel (default 1).
        groups: the number of groups into which the channels are divided (default 1).
        bias: whether the module has a bias (default True).
        padding_mode: ``"zeros"``, ``"reflect"``, ``"replicate"`` or ``"circular"`` (default ``"zeros"``).
        device: the device of the parameters.
        dtype: the floating-point dtype of the parameters.

    Shape:
        Input :math:`(N, C, L)` or :math:`(C, L)`, output :math:`(N, M, L')` or :math:`(M, L')` with
        :math:`L' = \lfloor (L + 2 padding - dilation (kernel\_size - 1) - 1) / stride \rfloor + 1`;
        ``weight`` :math:`(M, C / groups, kernel\_size)`, ``bias`` :math:`(M)`.

    Raises:
        ValueError: the channels are no multiple of ``groups``, or ``padding`` or ``padding_mode`` is unknown.

    Example:
        >>> torch.nn.Conv1d(16, 33, 3, stride=2)(torch.randn(20, 16, 50)).shape
        torch.Size([20, 33, 24])

    Mirrors torch/nn/modules/conv.py, ``Conv1d``.
    """

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: int | tuple[int, ...],
        stride: int | tuple[int, ...] = 1,
        padding: str | int | tuple[int, ...] = 0,
        dilation: int | tuple[int, ...] = 1,
        groups: int = 1,
        bias: bool = True,
        padding_mode: str = "zeros",
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__(
            in_channels, out_channels, _single(kernel_size), _single(stride),
            padding if isinstance(padding, str) else _single(padding), _single(dilation), False, _single(0), groups,
            bias, padding_mode, device, dtype,
        )  # fmt: skip

    def _conv_forward(self, input: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
        return self._convolve(F.conv1d, _single(0), input, weight, bias)

    def forward(self, input: Tensor) -> Tensor:
        return self._conv_forward(input, self.weight, self.bias)


class Conv2d(_ConvNd):
    r"""Slide kernels over images; see :class:`Conv1d` for the arguments, which are numbers or pairs here.

    Shape:
        Input :math:`(N, C, H, W)` or :math:`(C, H, W)`, output :math:`(N, M, H', W')` or :math:`(M, H', W')`;
        ``weight`` :math:`(M, C / groups, *kernel\_size)`, ``bias`` :math:`(M)`.

    Example:
        >>> layer = torch.nn.Conv2d(16, 33, (3, 5), stride=(2, 1), padding=(4, 2))
        >>> layer(torch.randn(20, 16, 50, 100)).shape
        torch.Size([20, 33, 28, 100])

    Mirrors torch/nn/modules/conv.py, ``Conv2d``.
    """

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: int | tuple[int, ...],
        stride: int | tuple[int, ...] = 1,
        padding: str | int | tuple[int, ...] = 0,
        dilation: int | tuple[int, ...] = 1,
        groups: int = 1,
        bias: bool = True,
        padding_mode: str = "zeros",
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__(
            in_channels, out_channels, _pair(kernel_size), _pair(stride),
            padding if isinstance(padding, str) else _pair(padding), _pair(dilation), False, _pair(0), groups,
            bias, padding_mode, device, dtype,
        )  # fmt: skip

    def _conv_forward(self, input: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
        return self._convolve(F.conv2d, _pair(0), input, weight, bias)

    def forward(self, input: Tensor) -> Tensor:
        return self._conv_forward(input, self.weight, self.bias)


class Conv3d(_ConvNd):
    r"""Slide kernels over volumes; see :class:`Conv1d` for the arguments, which are numbers or triples here.

    Shape:
        Input :math:`(N, C, D, H, W)` or :math:`(C, D, H, W)`, output :math:`(N, M, D', H', W')` or
        :math:`(M, D', H', W')`; ``weight`` :math:`(M, C / groups, *kernel\_size)`, ``bias`` :math:`(M)`.

    Example:
        >>> torch.nn.Conv3d(2, 3, 3, stride=2)(torch.randn(1, 2, 7, 7, 9)).shape
        torch.Size([1, 3, 3, 3, 4])

    Mirrors torch/nn/modules/conv.py, ``Conv3d``.
    """

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: int | tuple[int, ...],
        stride: int | tuple[int, ...] = 1,
        padding: str | int | tuple[int, ...] = 0,
        dilation: int | tuple[int, ...] = 1,
        groups: int = 1,
        bias: bool = True,
        padding_mode: str = "zeros",
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__(
            in_channels, out_channels, _triple(kernel_size), _triple(stride),
            padding if isinstance(padding, str) else _triple(padding), _triple(dilation), False, _triple(0), groups,
            bias, padding_mode, device, dtype,
        )  # fmt: skip

    def _conv_forward(self, input: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
        return self._convolve(F.conv3d, _triple(0), input, weight, bias)

    def forward(self, input: Tensor) -> Tensor:
        return self._conv_forward(input, self.weight, self.bias)


# --- transposed -------------------------------------------------------------------------------------------------------


class _ConvTransposeNd(_ConvNd):
    """The transposed convolutions: each element of the input adds a kernel to the output."""

    def _output_padding(
        self,
        input: Tensor,
        output_size: list[int] | None,
        stride: tuple[int, ...],
        padding: tuple[int, ...],
        kernel_size: tuple[int, ...],
        num_spatial_dims: int,
        dilation: tuple[int, ...] | None = None,
    ) -> list[int]:
        """Return the output padding that leads to ``output_size``, or the module's own if no size is given."""
        if output_size is None:
            return list(_single(self.output_padding))
        has_batch = input.dim() == num_spatial_dims + 2
        before = 2 if has_batch else 1
        if len(output_size) == before + num_spatial_dims:
            output_size = output_size[before:]
        if len(output_size) != num_spatial_dims:
            raise ValueError(
                f"ConvTranspose{num_spatial_dims}D: for {input.dim()}D input, output_size must have "
                f"{num_spatial_dims} or {before + num_spatial_dims} elements (got {len(output_size)})"
            )
        least = [
            (input.size(d + before) - 1) * stride[d]
            - 2 * padding[d]
            + (dilation[d] if dilation is not None else 1) * (kernel_size[d] - 1)
            + 1
            for d in range(num_spatial_dims)
        ]
        most = [size + step - 1 for size, step in zip(least, stride, strict=True)]
        for size, low, high in zip(output_size, least, most, strict=True):
            if size < low or size > high:
                raise ValueError(
                    f"requested an output size of {output_size}, but valid sizes range from {least} to {most} "
                    f"(for an input of {input.size()[2:]})"
                )
        return [size - low for size, low in zip(output_size, least, strict=True)]

    def _transposed(self, function: Callable[..., Tensor], input: Tensor, output_size: list[int] | None) -> Tensor:
        assert isinstance(self.padding, tuple)
        output_padding = self._output_padding(
            input, output_size, self.stride, self.padding, self.kernel_size, len(self.kernel_size), self.dilation
        )
        return function(
            input, self.weight, self.bias, self.stride, self.padding, output_padding, self.groups, self.dilation
        )


class ConvTranspose1d(_ConvTransposeNd):
    r"""Add a kernel to the output for each element of the input: the gradient of :class:`Conv1d`, as a layer.

    Args:
        in_channels: the number of channels of the input.
        out_channels: the number of channels of the output.
        kernel_size: the size of the kernel.
        stride: the distance at which the kernels of neighbouring elements are laid (default 1).
        padding: the number of elements that are removed at both ends (default 0).
        output_padding: the number of elements that are added at the end (default 0).
        groups: the number of groups into which the channels are divided (default 1).
        bias: whether the module has a bias (default True).
        dilation: the distance between elements of the kernel (default 1).
        padding_mode: only ``"zeros"``.
        device: the device of the parameters.
        dtype: the floating-point dtype of the parameters.

    Shape:
        Input :math:`(N, C, L)` or :math:`(C, L)`, output :math:`(N, M, L')` or :math:`(M, L')` with
        :math:`L' = (L - 1) stride - 2 padding + dilation (kernel\_size - 1) + output\_padding + 1`;
        ``weight`` :math:`(C, M / groups, kernel\_size)`, ``bias`` :math:`(M)`. A call may name the ``output_size``.

    Raises:
        ValueError: the channels are no multiple of ``groups``, or ``padding_mode`` is not ``"zeros"``; (from a call)
            ``output_size`` is out of range.

    Example:
        >>> layer = torch.nn.ConvTranspose1d(16, 33, 3, stride=2)
        >>> layer(torch.randn(20, 16, 50)).shape, layer(torch.randn(20, 16, 50), output_size=[102]).shape
        (torch.Size([20, 33, 101]), torch.Size([20, 33, 102]))

    Mirrors torch/nn/modules/conv.py, ``ConvTranspose1d``.
    """

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: int | tuple[int, ...],
        stride: int | tuple[int, ...] = 1,
        padding: int | tuple[int, ...] = 0,
        output_padding: int | tuple[int, ...] = 0,
        groups: int = 1,
        bias: bool = True,
        dilation: int | tuple[int, ...] = 1,
        padding_mode: str = "zeros",
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__(
            in_channels, out_channels, _single(kernel_size), _single(stride), _single(padding), _single(dilation), True,
            _single(output_padding), groups, bias, padding_mode, device=device, dtype=dtype,
        )  # fmt: skip

    def forward(self, input: Tensor, output_size: list[int] | None = None) -> Tensor:
        return self._transposed(F.conv_transpose1d, input, output_size)


class ConvTranspose2d(_ConvTransposeNd):
    r"""Add a kernel to the output image for each pixel of the input; see :class:`ConvTranspose1d` for the arguments.

    Shape:
        Input :math:`(N, C, H, W)` or :math:`(C, H, W)`, output :math:`(N, M, H', W')` or :math:`(M, H', W')`;
        ``weight`` :math:`(C, M / groups, *kernel\_size)`, ``bias`` :math:`(M)`.

    Example:
        >>> torch.nn.ConvTranspose2d(16, 33, (3, 5), stride=(2, 1), padding=(4, 2))(torch.randn(20, 16, 50, 100)).shape
        torch.Size([20, 33, 93, 100])

    Mirrors torch/nn/modules/conv.py, ``ConvTranspose2d``.
    """

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: int | tuple[int, ...],
        stride: int | tuple[int, ...] = 1,
        padding: int | tuple[int, ...] = 0,
        output_padding: int | tuple[int, ...] = 0,
        groups: int = 1,
        bias: bool = True,
        dilation: int | tuple[int, ...] = 1,
        padding_mode: str = "zeros",
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__(
            in_channels, out_channels, _pair(kernel_size), _pair(stride), _pair(padding), _pair(dilation), True,
            _pair(output_padding), groups, bias, padding_mode, device=device, dtype=dtype,
        )  # fmt: skip

    def forward(self, input: Tensor, output_size: list[int] | None = None) -> Tensor:
        return self._transposed(F.conv_transpose2d, input, output_size)


class ConvTranspose3d(_ConvTransposeNd):
    r"""Add a kernel to the output volume for each element of the input; see :class:`ConvTranspose1d` for the arguments.

    Shape:
        Input :math:`(N, C, D, H, W)` or :math:`(C, D, H, W)`, output :math:`(N, M, D', H', W')` or
        :math:`(M, D', H', W')`; ``weight`` :math:`(C, M / groups, *kernel\_size)`, ``bias`` :math:`(M)`.

    Example:
        >>> torch.nn.ConvTranspose3d(2, 3, 3, stride=2)(torch.randn(1, 2, 3, 3, 4)).shape
        torch.Size([1, 3, 7, 7, 9])

    Mirrors torch/nn/modules/conv.py, ``ConvTranspose3d``.
    """

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: int | tuple[int, ...],
        stride: int | tuple[int, ...] = 1,
        padding: int | tuple[int, ...] = 0,
        output_padding: int | tuple[int, ...] = 0,
        groups: int = 1,
        bias: bool = True,
        dilation: int | tuple[int, ...] = 1,
        padding_mode: str = "zeros",
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__(
            in_channels, out_channels, _triple(kernel_size), _triple(stride), _triple(padding), _triple(dilation), True,
            _triple(output_padding), groups, bias, padding_mode, device=device, dtype=dtype,
        )  # fmt: skip

    def forward(self, input: Tensor, output_size: list[int] | None = None) -> Tensor:
        return self._transposed(F.conv_transpose3d, input, output_size)


# --- lazy -------------------------------------------------------------------------------------------------------------


class _LazyConvXdMixin(LazyModuleMixin):
    """A convolution that takes ``in_channels`` from its first input."""

    def _make_lazy(self: Any, out_channels: int, bias: bool, device: Any, dtype: Any) -> None:
        self.weight = UninitializedParameter(device=device, dtype=dtype)
        self.out_channels = out_channels
        if bias:
            self.bias = UninitializedParameter(device=device, dtype=dtype)

    def reset_parameters(self: Any) -> None:
        """Draw weight and bias anew, if they have shapes."""
        if not self.has_uninitialized_params() and self.in_channels != 0:
            super().reset_parameters()  # type: ignore[misc]

    def initialize_parameters(self: Any, input: Tensor, *args: Any, **kwargs: Any) -> None:
        """Take ``in_channels`` from the input, and draw weight and bias."""
        if not self.has_uninitialized_params():
            return
        self.in_channels = self._get_in_channels(input)
        if self.in_channels % self.groups != 0:
            raise ValueError("in_channels must be divisible by groups")
        outer, inner = (self.out_channels, self.in_channels)
        if self.transposed:
            outer, inner = inner, outer
        with no_grad():
            self.weight.materialize((outer, inner // self.groups, *self.kernel_size))
            if self.bias is not None:
                self.bias.materialize((self.out_channels,))
            self.reset_parameters()

    def _get_in_channels(self: Any, input: Tensor) -> int:
        dims = self._get_num_spatial_dims()
        if input.dim() not in (dims + 1, dims + 2):
            raise RuntimeError(
                f"Expected {dims + 1}D (unbatched) or {dims + 2}D (batched) input to {self.__class__.__name__}, but "
                f"got input of size: {input.shape}"
            )
        return input.shape[1] if input.dim() == dims + 2 else input.shape[0]

    def _get_num_spatial_dims(self: Any) -> int:
        return len(self.kernel_size)


class LazyConv1d(_LazyConvXdMixin, Conv1d):
    r"""A :class:`Conv1d` that takes ``in_channels`` from its first input.

    Args:
        out_channels: the number of channels of the output. The other arguments are those of :class:`Conv1d`.

    Example:
        >>> layer = torch.nn.LazyConv1d(4, 3)
        >>> layer(torch.randn(2, 3, 5)).shape, layer.in_channels
        (torch.Size([2, 4, 3]), 3)

    Mirrors torch/nn/modules/conv.py, ``LazyConv1d``.
    """

    cls_to_become = Conv1d

    def __init__(
        self,
        out_channels: int,
        kernel_size: int | tuple[int, ...],
        stride: int | tuple[int, ...] = 1,
        padding: int | tuple[int, ...] = 0,
        dilation: int | tuple[int, ...] = 1,
        groups: int = 1,
        bias: bool = True,
        padding_mode: str = "zeros",
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__(0, 0, kernel_size, stride, padding, dilation, groups, False, padding_mode)
        self._make_lazy(out_channels, bias, device, dtype)


class LazyConv2d(_LazyConvXdMixin, Conv2d):
    r"""A :class:`Conv2d` that takes ``in_channels`` from its first input.

    Args:
        out_channels: the number of channels of the output. The other arguments are those of :class:`Conv2d`.

    Example:
        >>> layer = torch.nn.LazyConv2d(4, 3)
        >>> layer(torch.randn(2, 3, 5, 5)).shape, layer.in_channels
        (torch.Size([2, 4, 3, 3]), 3)

    Mirrors torch/nn/modules/conv.py, ``LazyConv2d``.
    """

    cls_to_become = Conv2d

    def __init__(
        self,
        out_channels: int,
        kernel_size: int | tuple[int, ...],
        stride: int | tuple[int, ...] = 1,
        padding: int | tuple[int, ...] = 0,
        dilation: int | tuple[int, ...] = 1,
        groups: int = 1,
        bias: bool = True,
        padding_mode: str = "zeros",
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__(0, 0, kernel_size, stride, padding, dilation, groups, False, padding_mode)
        self._make_lazy(out_channels, bias, device, dtype)


class LazyConv3d(_LazyConvXdMixin, Conv3d):
    r"""A :class:`Conv3d` that takes ``in_channels`` from its first input.

    Args:
        out_channels: the number of channels of the output. The other arguments are those of :class:`Conv3d`.

    Example:
        >>> layer = torch.nn.LazyConv3d(4, 3)
        >>> layer(torch.randn(2, 3, 5, 5, 5)).shape, layer.in_channels
        (torch.Size([2, 4, 3, 3, 3]), 3)

    Mirrors torch/nn/modules/conv.py, ``LazyConv3d``.
    """

    cls_to_become = Conv3d

    def __init__(
        self,
        out_channels: int,
        kernel_size: int | tuple[int, ...],
        stride: int | tuple[int, ...] = 1,
        padding: int | tuple[int, ...] = 0,
        dilation: int | tuple[int, ...] = 1,
        groups: int = 1,
        bias: bool = True,
        padding_mode: str = "zeros",
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__(0, 0, kernel_size, stride, padding, dilation, groups, False, padding_mode)
        self._make_lazy(out_channels, bias, device, dtype)


class LazyConvTranspose1d(_LazyConvXdMixin, ConvTranspose1d):
    r"""A :class:`ConvTranspose1d` that takes ``in_channels`` from its first input.

    Args:
        out_channels: the number of channels of the output. The other arguments are those of :class:`ConvTranspose1d`.

    Example:
        >>> layer = torch.nn.LazyConvTranspose1d(4, 3)
        >>> layer(torch.randn(2, 3, 5)).shape, layer.in_channels
        (torch.Size([2, 4, 7]), 3)

    Mirrors torch/nn/modules/conv.py, ``LazyConvTranspose1d``.
    """

    cls_to_become = ConvTranspose1d

    def __init__(
        self,
        out_channels: int,
        kernel_size: int | tuple[int, ...],
        stride: int | tuple[int, ...] = 1,
        padding: int | tuple[int, ...] = 0,
        output_padding: int | tuple[int, ...] = 0,
        groups: int = 1,
        bias: bool = True,
        dilation: int | tuple[int, ...] = 1,
        padding_mode: str = "zeros",
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__(0, 0, kernel_size, stride, padding, output_padding, groups, False, dilation, padding_mode)
        self._make_lazy(out_channels, bias, device, dtype)


class LazyConvTranspose2d(_LazyConvXdMixin, ConvTranspose2d):
    r"""A :class:`ConvTranspose2d` that takes ``in_channels`` from its first input.

    Args:
        out_channels: the number of channels of the output. The other arguments are those of :class:`ConvTranspose2d`.

    Example:
        >>> layer = torch.nn.LazyConvTranspose2d(4, 3)
        >>> layer(torch.randn(2, 3, 5, 5)).shape, layer.in_channels
        (torch.Size([2, 4, 7, 7]), 3)

    Mirrors torch/nn/modules/conv.py, ``LazyConvTranspose2d``.
    """

    cls_to_become = ConvTranspose2d

    def __init__(
        self,
        out_channels: int,
        kernel_size: int | tuple[int, ...],
        stride: int | tuple[int, ...] = 1,
        padding: int | tuple[int, ...] = 0,
        output_padding: int | tuple[int, ...] = 0,
        groups: int = 1,
        bias: bool = True,
        dilation: int | tuple[int, ...] = 1,
        padding_mode: str = "zeros",
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__(0, 0, kernel_size, stride, padding, output_padding, groups, False, dilation, padding_mode)
        self._make_lazy(out_channels, bias, device, dtype)


class LazyConvTranspose3d(_LazyConvXdMixin, ConvTranspose3d):
    r"""A :class:`ConvTranspose3d` that takes ``in_channels`` from its first input.

    Args:
        out_channels: the number of channels of the output. The other arguments are those of :class:`ConvTranspose3d`.

    Example:
        >>> layer = torch.nn.LazyConvTranspose3d(4, 3)
        >>> layer(torch.randn(2, 3, 5, 5, 5)).shape, layer.in_channels
        (torch.Size([2, 4, 7, 7, 7]), 3)

    Mirrors torch/nn/modules/conv.py, ``LazyConvTranspose3d``.
    """

    cls_to_become = ConvTranspose3d

    def __init__(
        self,
        out_channels: int,
        kernel_size: int | tuple[int, ...],
        stride: int | tuple[int, ...] = 1,
        padding: int | tuple[int, ...] = 0,
        output_padding: int | tuple[int, ...] = 0,
        groups: int = 1,
        bias: bool = True,
        dilation: int | tuple[int, ...] = 1,
        padding_mode: str = "zeros",
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__(0, 0, kernel_size, stride, padding, output_padding, groups, False, dilation, padding_mode)
        self._make_lazy(out_channels, bias, device, dtype)
