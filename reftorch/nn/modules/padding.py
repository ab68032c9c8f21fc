"""Padding: modules that put a border around the last one, two or three dimensions.

Mirrors: torch/nn/modules/padding.py

The file is more than 500 lines long, because it has fifteen classes, each with its docstring.
"""

from __future__ import annotations

from collections.abc import Sequence

from reftorch._tensor import Tensor
from reftorch.nn import functional as F
from reftorch.nn.common_types import _size_2_t, _size_4_t, _size_6_t
from reftorch.nn.modules.module import Module
from reftorch.nn.modules.utils import _ntuple, _pair, _quadruple

__all__ = [
    "CircularPad1d",
    "CircularPad2d",
    "CircularPad3d",
    "ConstantPad1d",
    "ConstantPad2d",
    "ConstantPad3d",
    "ReflectionPad1d",
    "ReflectionPad2d",
    "ReflectionPad3d",
    "ReplicationPad1d",
    "ReplicationPad2d",
    "ReplicationPad3d",
    "ZeroPad1d",
    "ZeroPad2d",
    "ZeroPad3d",
]


class _CircularPadNd(Module):
    padding: Sequence[int]

    def _check_input_dim(self, input: Tensor) -> None:
        raise NotImplementedError

    def forward(self, input: Tensor) -> Tensor:
        self._check_input_dim(input)
        return F.pad(input, self.padding, "circular")

    def extra_repr(self) -> str:
        return f"{self.padding}"


class _ConstantPadNd(Module):
    value: float
    padding: Sequence[int]

    def __init__(self, value: float) -> None:
        super().__init__()
        self.value = value

    def forward(self, input: Tensor) -> Tensor:
        return F.pad(input, self.padding, "constant", self.value)

    def extra_repr(self) -> str:
        return f"padding={self.padding}, value={self.value}"


class _ReflectionPadNd(Module):
    padding: Sequence[int]

    def forward(self, input: Tensor) -> Tensor:
        return F.pad(input, self.padding, "reflect")

    def extra_repr(self) -> str:
        return f"{self.padding}"


class _ReplicationPadNd(Module):
    padding: Sequence[int]

    def forward(self, input: Tensor) -> Tensor:
        return F.pad(input, self.padding, "replicate")

    def extra_repr(self) -> str:
        return f"{self.padding}"


class CircularPad1d(_CircularPadNd):
    r"""Put a border around sequences; the border repeats the elements of the other end.

    Args:
        padding: the widths of the border, left, right,
            or one width for all sides. A negative width removes elements.

    Shape:
        Input :math:`(N, C, W)` or :math:`(C, W)`; in the output, each padded dimension is longer by the two
        widths of the border.

    Raises:
        ValueError: the input has another number of dimensions.

    Example:
        >>> torch.nn.CircularPad1d((2, 1))(torch.tensor([[1.0, 2.0, 3.0]]))
        tensor([[2., 3., 1., 2., 3., 1.]])

    Mirrors torch/nn/modules/padding.py, ``CircularPad1d``.
    """

    padding: tuple[int, int]

    def __init__(self, padding: _size_2_t) -> None:
        super().__init__()
        self.padding = _pair(padding)

    def _check_input_dim(self, input: Tensor) -> None:
        if input.dim() not in (2, 3):
            raise ValueError(f"expected 2D or 3D input (got {input.dim()}D input)")


class CircularPad2d(_CircularPadNd):
    r"""Put a border around images; the border repeats the elements of the other end.

    Args:
        padding: the widths of the border, left, right, top, bottom,
            or one width for all sides. A negative width removes elements.

    Shape:
        Input :math:`(N, C, H, W)` or :math:`(C, H, W)`; in the output, each padded dimension is longer by the two
        widths of the border.

    Raises:
        ValueError: the input has another number of dimensions.

    Example:
        >>> torch.nn.CircularPad2d(1)(torch.zeros(1, 3, 3)).shape
        torch.Size([1, 5, 5])

    Mirrors torch/nn/modules/padding.py, ``CircularPad2d``.
    """

    padding: tuple[int, int, int, int]

    def __init__(self, padding: _size_4_t) -> None:
        super().__init__()
        self.padding = _quadruple(padding)

    def _check_input_dim(self, input: Tensor) -> None:
        if input.dim() not in (3, 4):
            raise ValueError(f"expected 3D or 4D input (got {input.dim()}D input)")


class CircularPad3d(_CircularPadNd):
    r"""Put a border around volumes; the border repeats the elements of the other end.

    Args:
        padding: the widths of the border, left, right, top, bottom, front, back,
            or one width for all sides. A negative width removes elements.

    Shape:
        Input :math:`(N, C, D, H, W)` or :math:`(C, D, H, W)`; in the output, each padded dimension is longer by the two
        widths of the border.

    Raises:
        ValueError: the input has another number of dimensions.

    Example:
        >>> torch.nn.CircularPad3d(1)(torch.zeros(1, 3, 3, 3)).shape
        torch.Size([1, 5, 5, 5])

    Mirrors torch/nn/modules/padding.py, ``CircularPad3d``.
    """

    padding: tuple[int, int, int, int, int, int]

    def __init__(self, padding: _size_6_t) -> None:
        super().__init__()
        self.padding = _ntuple(6)(padding)

    def _check_input_dim(self, input: Tensor) -> None:
        if input.dim() not in (4, 5):
            raise ValueError(f"expected 4D or 5D input (got {input.dim()}D input)")


class ConstantPad1d(_ConstantPadNd):
    r"""Put a border around sequences; the border consists of one value.

    Args:
        padding: the widths of the border, left, right,
            or one width for all sides. A negative width removes elements.
        value: the value of the border.

    Shape:
        Input :math:`(N, C, W)` or :math:`(C, W)`; in the output, each padded dimension is longer by the two
        widths of the border.

    Example:
        >>> torch.nn.ConstantPad1d((2, 1), 9.0)(torch.tensor([[1.0, 2.0, 3.0]]))
        tensor([[9., 9., 1., 2., 3., 9.]])

    Mirrors torch/nn/modules/padding.py, ``ConstantPad1d``.
    """

    padding: tuple[int, int]

    def __init__(self, padding: _size_2_t, value: float) -> None:
        super().__init__(value)
        self.padding = _pair(padding)


class ConstantPad2d(_ConstantPadNd):
    r"""Put a border around images; the border consists of one value.

    Args:
        padding: the widths of the border, left, right, top, bottom,
            or one width for all sides. A negative width removes elements.
        value: the value of the border.

    Shape:
        Input :math:`(N, C, H, W)` or :math:`(C, H, W)`; in the output, each padded dimension is longer by the two
        widths of the border.

    Example:
        >>> torch.nn.ConstantPad2d(1, 0.5)(torch.zeros(1, 3, 3)).shape
        torch.Size([1, 5, 5])

    Mirrors torch/nn/modules/padding.py, ``ConstantPad2d``.
    """

    padding: tuple[int, int, int, int]

    def __init__(self, padding: _size_4_t, value: float) -> None:
        super().__init__(value)
        self.padding = _quadruple(padding)


class ConstantPad3d(_ConstantPadNd):
    r"""Put a border around volumes; the border consists of one value.

    Args:
        padding: the widths of the border, left, right, top, bottom, front, back,
            or one width for all sides. A negative width removes elements.
        value: the value of the border.

    Shape:
        Input :math:`(N, C, D, H, W)` or :math:`(C, D, H, W)`; in the output, each padded dimension is longer by the two
        widths of the border.

    Example:
        >>> torch.nn.ConstantPad3d(1, 0.5)(torch.zeros(1, 3, 3, 3)).shape
        torch.Size([1, 5, 5, 5])

    Mirrors torch/nn/modules/padding.py, ``ConstantPad3d``.
    """

    padding: tuple[int, int, int, int, int, int]

    def __init__(self, padding: _size_6_t, value: float) -> None:
        super().__init__(value)
        self.padding = _ntuple(6)(padding)


class ReflectionPad1d(_ReflectionPadNd):
    r"""Put a border around sequences; the border repeats the elements mirrored at the outermost one.

    Args:
        padding: the widths of the border, left, right,
            or one width for all sides. A negative width removes elements.

    Shape:
        Input :math:`(N, C, W)` or :math:`(C, W)`; in the output, each padded dimension is longer by the two
        widths of the border.

    Example:
        >>> torch.nn.ReflectionPad1d((2, 1))(torch.tensor([[1.0, 2.0, 3.0]]))
        tensor([[3., 2., 1., 2., 3., 2.]])

    Mirrors torch/nn/modules/padding.py, ``ReflectionPad1d``.
    """

    padding: tuple[int, int]

    def __init__(self, padding: _size_2_t) -> None:
        super().__init__()
        self.padding = _pair(padding)


class ReflectionPad2d(_ReflectionPadNd):
    r"""Put a border around images; the border repeats the elements mirrored at the outermost one.

    Args:
        padding: the widths of the border, left, right, top, bottom,
            or one width for all sides. A negative width removes elements.

    Shape:
        Input :math:`(N, C, H, W)` or :math:`(C, H, W)`; in the output, each padded dimension is longer by the two
        widths of the border.

    Example:
        >>> torch.nn.ReflectionPad2d(1)(torch.zeros(1, 3, 3)).shape
        torch.Size([1, 5, 5])

    Mirrors torch/nn/modules/padding.py, ``ReflectionPad2d``.
    """

    padding: tuple[int, int, int, int]

    def __init__(self, padding: _size_4_t) -> None:
        super().__init__()
        self.padding = _quadruple(padding)


class ReflectionPad3d(_ReflectionPadNd):
    r"""Put a border around volumes; the border repeats the elements mirrored at the outermost one.

    Args:
        padding: the widths of the border, left, right, top, bottom, front, back,
            or one width for all sides. A negative width removes elements.

    Shape:
        Input :math:`(N, C, D, H, W)` or :math:`(C, D, H, W)`; in the output, each padded dimension is longer by the two
        widths of the border.

    Example:
        >>> torch.nn.ReflectionPad3d(1)(torch.zeros(1, 3, 3, 3)).shape
        torch.Size([1, 5, 5, 5])

    Mirrors torch/nn/modules/padding.py, ``ReflectionPad3d``.
    """

    padding: tuple[int, int, int, int, int, int]

    def __init__(self, padding: _size_6_t) -> None:
        super().__init__()
        self.padding = _ntuple(6)(padding)


class ReplicationPad1d(_ReplicationPadNd):
    r"""Put a border around sequences; the border repeats the outermost element.

    Args:
        padding: the widths of the border, left, right,
            or one width for all sides. A negative width removes elements.

    Shape:
        Input :math:`(N, C, W)` or :math:`(C, W)`; in the output, each padded dimension is longer by the two
        widths of the border.

    Example:
        >>> torch.nn.ReplicationPad1d((2, 1))(torch.tensor([[1.0, 2.0, 3.0]]))
        tensor([[1., 1., 1., 2., 3., 3.]])

    Mirrors torch/nn/modules/padding.py, ``ReplicationPad1d``.
    """

    padding: tuple[int, int]

    def __init__(self, padding: _size_2_t) -> None:
        super().__init__()
        self.padding = _pair(padding)


class ReplicationPad2d(_ReplicationPadNd):
    r"""Put a border around images; the border repeats the outermost element.

    Args:
        padding: the widths of the border, left, right, top, bottom,
            or one width for all sides. A negative width removes elements.

    Shape:
        Input :math:`(N, C, H, W)` or :math:`(C, H, W)`; in the output, each padded dimension is longer by the two
        widths of the border.

    Example:
        >>> torch.nn.ReplicationPad2d(1)(torch.zeros(1, 3, 3)).shape
        torch.Size([1, 5, 5])

    Mirrors torch/nn/modules/padding.py, ``ReplicationPad2d``.
    """

    padding: tuple[int, int, int, int]

    def __init__(self, padding: _size_4_t) -> None:
        super().__init__()
        self.padding = _quadruple(padding)


class ReplicationPad3d(_ReplicationPadNd):
    r"""Put a border around volumes; the border repeats the outermost element.

    Args:
        padding: the widths of the border, left, right, top, bottom, front, back,
            or one width for all sides. A negative width removes elements.

    Shape:
        Input :math:`(N, C, D, H, W)` or :math:`(C, D, H, W)`; in the output, each padded dimension is longer by the two
        widths of the border.

    Example:
        >>> torch.nn.ReplicationPad3d(1)(torch.zeros(1, 3, 3, 3)).shape
        torch.Size([1, 5, 5, 5])

    Mirrors torch/nn/modules/padding.py, ``ReplicationPad3d``.
    """

    padding: tuple[int, int, int, int, int, int]

    def __init__(self, padding: _size_6_t) -> None:
        super().__init__()
        self.padding = _ntuple(6)(padding)


class ZeroPad1d(ConstantPad1d):
    r"""Put a border around sequences; the border consists of zeros.

    Args:
        padding: the widths of the border, left, right,
            or one width for all sides. A negative width removes elements.

    Shape:
        Input :math:`(N, C, W)` or :math:`(C, W)`; in the output, each padded dimension is longer by the two
        widths of the border.

    Example:
        >>> torch.nn.ZeroPad1d((2, 1))(torch.tensor([[1.0, 2.0, 3.0]]))
        tensor([[0., 0., 1., 2., 3., 0.]])

    Mirrors torch/nn/modules/padding.py, ``ZeroPad1d``.
    """

    padding: tuple[int, int]

    def __init__(self, padding: _size_2_t) -> None:
        super().__init__(padding, 0.0)

    def extra_repr(self) -> str:
        return f"{self.padding}"


class ZeroPad2d(ConstantPad2d):
    r"""Put a border around images; the border consists of zeros.

    Args:
        padding: the widths of the border, left, right, top, bottom,
            or one width for all sides. A negative width removes elements.

    Shape:
        Input :math:`(N, C, H, W)` or :math:`(C, H, W)`; in the output, each padded dimension is longer by the two
        widths of the border.

    Example:
        >>> torch.nn.ZeroPad2d(1)(torch.zeros(1, 3, 3)).shape
        torch.Size([1, 5, 5])

    Mirrors torch/nn/modules/padding.py, ``ZeroPad2d``.
    """

    padding: tuple[int, int, int, int]

    def __init__(self, padding: _size_4_t) -> None:
        super().__init__(padding, 0.0)

    def extra_repr(self) -> str:
        return f"{self.padding}"


class ZeroPad3d(ConstantPad3d):
    r"""Put a border around volumes; the border consists of zeros.

    Args:
        padding: the widths of the border, left, right, top, bottom, front, back,
            or one width for all sides. A negative width removes elements.

    Shape:
        Input :math:`(N, C, D, H, W)` or :math:`(C, D, H, W)`; in the output, each padded dimension is longer by the two
        widths of the border.

    Example:
        >>> torch.nn.ZeroPad3d(1)(torch.zeros(1, 3, 3, 3)).shape
        torch.Size([1, 5, 5, 5])

    Mirrors torch/nn/modules/padding.py, ``ZeroPad3d``.
    """

    padding: tuple[int, int, int, int, int, int]

    def __init__(self, padding: _size_6_t) -> None:
        super().__init__(padding, 0.0)

    def extra_repr(self) -> str:
        return f"{self.padding}"
