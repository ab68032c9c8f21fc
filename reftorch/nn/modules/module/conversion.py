"""Conversion of a module's parameters and buffers to another dtype or device.

Mirrors: torch/nn/modules/module.py, ``_apply``, ``to`` and related methods of ``Module``
Leaves out: swapping tensors, complex dtypes, and devices that do not exist here (``xpu``, ``ipu``, ``mtia``).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from reftorch import _C, _VF
from reftorch._tensor import Tensor
from reftorch.autograd.grad_mode import no_grad

if TYPE_CHECKING:
    from typing_extensions import Self


__all__ = ["ModuleConversion"]


class ModuleConversion:
    """The part of ``Module`` that converts its parameters, gradients and buffers."""

    _parameters: dict[str, Any]
    _buffers: dict[str, Any]
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
        """Convert the floating-point parameters and buffers in place to a dtype, and move all to a device.

        Integer parameters and buffers keep their dtype.

        Args:
            args, kwargs: ``device`` and ``dtype``, or one of them, or a ``tensor`` that supplies both; then
                ``non_blocking``; and ``memory_format`` by keyword, for tensors with 4 or 5 dimensions.

        Returns:
            The module.

        Raises:
            TypeError: ``dtype`` is not a floating-point dtype, or an argument is none of these.
            NotImplementedError: a tensor of the meta device cannot be moved, because it has no data.

        Example:
            >>> torch.nn.Linear(2, 3).to(torch.float64).weight.dtype
            torch.float64

        Mirrors torch/nn/modules/module.py, ``Module.to``.
        """
        device, dtype, non_blocking, memory_format = _parse_to(*args, **kwargs)
        if dtype is not None and not dtype.is_floating_point:
            raise TypeError(
                f"nn.Module.to only accepts floating point or complex dtypes, but got desired dtype={dtype}"
            )

        def convert(t: Tensor) -> Tensor:
            target = dtype if t.is_floating_point() else None
            order = memory_format if memory_format is not None and t.dim() in (4, 5) else _C.preserve_format
            try:
                return t.to(device, target, non_blocking, memory_format=order)
            except NotImplementedError as error:
                if str(error) != "Cannot copy out of meta tensor; no data!":
                    raise
                raise NotImplementedError(
                    f"{error} Please use torch.nn.Module.to_empty() instead of torch.nn.Module.to() when moving "
                    "module from meta to a different device."
                ) from None

        return self._apply(convert)

    def to_empty(self, *, device: Any, recurse: bool = True) -> Self:
        """Move parameters and buffers in place to a device, without their values. Return the module.

        Args:
            device: the new device; None keeps the present one.
            recurse: whether to include those of submodules.

        Example:
            >>> torch.nn.Linear(2, 3).to_empty(device="cpu").weight.shape
            torch.Size([3, 2])

        Mirrors torch/nn/modules/module.py, ``Module.to_empty``.
        """
        return self._apply(lambda t: _VF.empty_like(t, device=device), recurse)

    def type(self, dst_type: Any) -> Self:
        """Convert all parameters and buffers in place to a dtype or a tensor type, integer ones included."""
        return self._apply(lambda t: t.type(dst_type))

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
        return self._apply(lambda t: t.cpu())

    def cuda(self, device: Any = None) -> Self:
        """Move parameters and buffers in place to a CUDA device.

        Args:
            device: the device or its index; None means the current CUDA device.

        Mirrors torch/nn/modules/module.py, ``Module.cuda``.
        """
        return self._apply(lambda t: t.cuda(device))

    def share_memory(self) -> Self:
        """Move the memory of parameters and buffers into shared memory.

        Processes that are forked later, and processes that the module is sent to, train the same parameters.

        Example:
            >>> torch.nn.Linear(2, 3).share_memory().weight.is_shared()
            True

        Mirrors torch/nn/modules/module.py, ``Module.share_memory``.
        """
        return self._apply(lambda t: t.share_memory_())


def _parse_to(*args: Any, **kwargs: Any) -> tuple:
    """Return device, dtype, non_blocking and memory_format, as the arguments of ``Module.to`` name them."""
    given: dict[str, Any] = {"device": None, "dtype": None, "non_blocking": False, "memory_format": None}
    names = ["device", "dtype", "non_blocking", "copy"]
    if args and isinstance(args[0], Tensor):
        names[:2] = ["tensor"]
    elif args and isinstance(args[0], _C.dtype):
        names.pop(0)
    expected = {**given, "copy": False, "tensor": None}
    unknown = [name for name in kwargs if name not in expected]
    if unknown:
        raise TypeError(f"to() got an unexpected keyword argument '{unknown[0]}'")
    if len(args) > len(names):
        raise TypeError(f"to() takes at most {len(names)} positional arguments, but {len(args)} were given")
    given.update(zip(names, args, strict=False))
    repeated = [name for name in kwargs if name in names[: len(args)]]
    if repeated:
        raise TypeError(f"to() got multiple values for argument '{repeated[0]}'")
    given.update(kwargs)
    tensor = given.pop("tensor", None)
    if tensor is not None:
        given.update(device=tensor.device, dtype=tensor.dtype)
    if given["dtype"] is not None and not isinstance(given["dtype"], _C.dtype):
        raise TypeError(f"to(): argument 'dtype' must be torch.dtype, not {_name_of_type(given['dtype'])}")
    device = given["device"]
    if device is not None and not isinstance(device, _C.device | str | int):
        raise TypeError(f"to(): argument 'device' must be torch.device, not {_name_of_type(device)}")
    device = device if device is None else _C.device(device)
    return device, given["dtype"], given["non_blocking"], given["memory_format"]


def _name_of_type(obj: Any) -> str:
    return type(obj).__name__ + _C._other_library_hint(obj)


setattr(_C._nn, "_parse_to", _parse_to)  # noqa: B010  where PyTorch has it, and libraries with a `to` of their own look
