"""The device on which factories make tensors if the caller gives none.

Mirrors: torch/utils/_device.py, get_default_device and set_default_device of torch/__init__.py
Leaves out: the parts for torch.compile, and factories of sparse, quantized and nested tensors.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from reftorch import _C
from reftorch._thread_local import ThreadLocal
from reftorch._torch_function import TorchFunctionMode, _get_current_function_mode_stack

_CONSTRUCTORS = """
    empty empty_permuted empty_strided ones arange bartlett_window blackman_window eye full hamming_window hann_window
    kaiser_window linspace logspace rand randn randint randperm tril_indices triu_indices zeros scalar_tensor
"""


@functools.lru_cache(1)
def _device_constructors() -> set[Callable[..., Any]]:
    """Return the C++ factories that take a device; the factories in Python call these."""
    return {_C.tensor, *(getattr(_C._VariableFunctions, name) for name in _CONSTRUCTORS.split())}


class DeviceContext(TorchFunctionMode):
    """The mode behind ``with torch.device(...)``: factories use its device unless the caller gives one.

    The mode is at the bottom of the stack of modes, below all modes that programs enter. It replaces the previous
    DeviceContext there until its block is left.

    Mirrors torch/utils/_device.py, ``DeviceContext``.
    """

    def __init__(self, device: Any) -> None:
        self.device = device if isinstance(device, _C.device) else _C.device(device)
        self.prev_mode: DeviceContext | None = None
        if self.device.type == "cuda":
            _C._VariableFunctions.empty(0, device=self.device)  # raises if there is no such device

    def __enter__(self) -> DeviceContext:
        modes = _pop_all_modes()
        _C._push_on_torch_function_stack(self)
        for mode in modes:
            if isinstance(mode, DeviceContext):
                self.prev_mode = mode
            else:
                _C._push_on_torch_function_stack(mode)
        return self

    def __exit__(self, exc_type: Any, exc_val: Any, exc_tb: Any) -> None:
        modes = _pop_all_modes()
        if self.prev_mode is not None:
            _C._push_on_torch_function_stack(self.prev_mode)
        for mode in modes:
            if not isinstance(mode, DeviceContext):
                _C._push_on_torch_function_stack(mode)

    def __torch_function__(
        self, func: Callable[..., Any], types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        kwargs = kwargs or {}
        if func in _device_constructors() and kwargs.get("device") is None:
            kwargs = {**kwargs, "device": self.device}
        return func(*args, **kwargs)


def _pop_all_modes() -> list[Any]:
    """Remove all modes from the stack; the outermost comes first in the result."""
    return [_C._pop_torch_function_stack() for _ in range(_C._len_torch_function_stack())][::-1]


class _State(ThreadLocal):
    """The state of each thread: the context that ``set_default_device`` entered, and those of ``with`` statements."""

    def __init__(self) -> None:
        self.default: DeviceContext | None = None
        self.entered: list[DeviceContext] = []


_state = _State()


def set_default_device(device: Any) -> None:
    """Set the device on which factories make tensors if the caller gives none, for the calling thread.

    Args:
        device: a device or its name; None restores the initial default, the CPU.

    Raises:
        RuntimeError: there is no such device.

    Example:
        >>> torch.set_default_device("meta")
        >>> torch.ones(2)
        tensor(..., device='meta', size=(2,))
        >>> torch.set_default_device(None)
        >>> torch.ones(2)
        tensor([1., 1.])

    Mirrors torch/__init__.py, ``set_default_device``.
    """
    context = None if device is None else DeviceContext(device)
    if _state.default is not None:
        _state.default.__exit__(None, None, None)
    _state.default = context
    if context is not None:
        context.__enter__()


def get_default_device() -> Any:
    """Return the device on which factories make tensors if the caller gives none.

    Example:
        >>> with torch.device("meta"):
        ...     torch.get_default_device()
        device(type='meta')

    Mirrors torch/__init__.py, ``get_default_device``.
    """
    for mode in _get_current_function_mode_stack():
        if isinstance(mode, DeviceContext):
            return mode.device
    return _C.device("cpu")


def device_or_default(device: Any) -> Any:
    """Return the given device, or else the device of the open context, or None if there is neither."""
    return get_default_device() if device is None and _C._is_torch_function_mode_enabled() else device


# --- the functions that the C++ of torch.device calls for `with device:` ----------------------------------------------


def enter(device: Any) -> Any:
    context = DeviceContext(device)
    context.__enter__()
    _state.entered.append(context)
    return device


def leave(device: Any) -> None:
    _state.entered.pop().__exit__(None, None, None)
