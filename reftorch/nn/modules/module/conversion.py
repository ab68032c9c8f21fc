"""Conversion of a module's parameters and buffers to another dtype or device.

Mirrors: torch/nn/modules/module.py, ``_apply``, ``to`` and related methods of ``Module``
Leaves out: swapping tensors, memory formats, ``cuda`` and similar methods.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from reftorch import _C, _VF
from reftorch._tensor import Tensor
from reftorch.autograd.grad_mode import no_grad

if TYPE_CHECKING:
    from typing_extensions import Self

    from reftorch.nn.modules.module.registry import Registry

__all__ = ["ModuleConversion"]


class ModuleConversion:
    """The part of ``Module`` that converts its parameters, gradients and buffers."""

    _parameters: Registry
    _buffers: Registry
    children: Callable[[], Iterator[Any]]

    def _apply(self, fn: Callable[[Tensor], Tensor], recurse: bool = True) -> Self:
        """Replace the data of every parameter, gradient and buffer by ``fn`` of it."""
        if recurse:
            for module in self.children():
                module._apply(fn)
        for param in self._parameters.values():
            if param is None:
                continue
            with no_grad():
                # The parameter remains the same object, so an optimizer that holds it continues to train it.
                param.data = fn(param)
                if param.grad is not None:
                    param.grad.data = fn(param.grad)
        for name, buffer in self._buffers.items():
            if buffer is not None:
                self._buffers[name] = fn(buffer)
        return self

    def to(self, *args: Any, **kwargs: Any) -> Self:
        """Convert the floating-point parameters and buffers in place. Return the module.

        Args:
            args, kwargs: ``dtype``, ``device``, or both in the order device, dtype; or a ``tensor`` that supplies both.

        Raises:
            TypeError: ``dtype`` is not a floating-point dtype.

        Example:
            >>> import reftorch as torch
            >>> torch.nn.Linear(2, 3).to(torch.float64).weight.dtype
            torch.float64

        Mirrors torch/nn/modules/module.py, ``Module.to``.
        """
        device, dtype = _parse_to(*args, **kwargs)
        if dtype is not None and not dtype.is_floating_point:
            raise TypeError(
                f"nn.Module.to only accepts floating point or complex dtypes, but got desired dtype={dtype}"
            )
        if device is not None:
            self._apply(lambda t: t.to(device))
        if dtype is not None:
            self._apply(lambda t: t.to(dtype) if t.is_floating_point() else t)
        return self

    def to_empty(self, *, device: Any, recurse: bool = True) -> Self:
        """Move parameters and buffers in place to a device, without their values. Return the module.

        Args:
            device: the new device; None keeps the present one.
            recurse: whether to include those of submodules.

        Example:
            >>> import reftorch as torch
            >>> torch.nn.Linear(2, 3).to_empty(device="cpu").weight.shape
            torch.Size([3, 2])

        Mirrors torch/nn/modules/module.py, ``Module.to_empty``.
        """
        return self._apply(lambda t: _VF.empty_like(t, device=device), recurse)

    def type(self, dst_type: Any) -> Self:
        """Convert all parameters and buffers in place to a dtype, integer ones included."""
        return self._apply(lambda t: t.to(dst_type))

    def float(self) -> Self:
        """Convert the floating-point parameters and buffers in place to float32."""
        return self._apply(lambda t: t.float() if t.is_floating_point() else t)

    def double(self) -> Self:
        """Convert the floating-point parameters and buffers in place to float64."""
        return self._apply(lambda t: t.double() if t.is_floating_point() else t)

    def half(self) -> Self:
        """Convert the floating-point parameters and buffers in place to float16."""
        return self._apply(lambda t: t.half() if t.is_floating_point() else t)

    def bfloat16(self) -> Self:
        """Convert the floating-point parameters and buffers in place to bfloat16."""
        return self._apply(lambda t: t.bfloat16() if t.is_floating_point() else t)

    def cpu(self) -> Self:
        """Move parameters and buffers in place to the CPU."""
        return self._apply(lambda t: t.to("cpu"))


def _parse_to(
    *args: Any, device: Any = None, dtype: Any = None, tensor: Any = None, non_blocking: bool = False
) -> tuple:
    """Return the device and the dtype that the arguments of ``Module.to`` name."""
    for arg in args:
        if isinstance(arg, Tensor):
            tensor = arg
        elif isinstance(arg, _C.dtype):
            dtype = arg
        elif arg is not None and not isinstance(arg, bool):
            device = arg
    if tensor is not None:
        return tensor.device, tensor.dtype
    return device, dtype
