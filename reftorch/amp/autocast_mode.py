"""The mode in which matrix products and convolutions compute in bfloat16 or float16.

The ops of the lists in ``cpp/ATen/autocast_lists.h`` cast their arguments inside the mode: products and convolutions
to the 16-bit dtype, losses and other sums to float32. Every other op computes in the dtype of its arguments.

Mirrors: torch/amp/autocast_mode.py, torch/csrc/autograd/init.cpp (is_autocast_enabled and so on)
Leaves out: every device but the CPU and CUDA devices; TorchScript.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Literal

from reftorch import _C
from reftorch._tensor import Tensor
from reftorch._warnings import warn

__all__ = [
    "autocast",
    "autocast_decorator",
    "custom_bwd",
    "custom_fwd",
    "is_autocast_available",
]

_SUPPORTED = (_C.bfloat16, _C.float16)


# --- the state of the thread, which reftorch/__init__.py shows as torch.is_autocast_enabled and so on -----------------


_ELSEWHERE = ("hpu", "mps", "mtia", "xla", "xpu")  # devices of PyTorch that are not here, of which programs ask


def is_autocast_enabled(device_type: str = "cuda") -> bool:
    """Return whether autocast is enabled in this thread for a type of device.

    Example:
        >>> with torch.autocast("cpu"):
        ...     torch.is_autocast_enabled("cpu")
        True

    Mirrors torch/csrc/autograd/init.cpp, ``is_autocast_enabled``.
    """
    return device_type not in _ELSEWHERE and _C._is_autocast_enabled(device_type)


def set_autocast_enabled(device_type: str | bool, enabled: bool | None = None) -> None:
    """Enable or disable autocast in this thread. Without a device type, the flag is that of CUDA.

    Example:
        >>> torch.set_autocast_enabled("cpu", False)

    Mirrors torch/csrc/autograd/init.cpp, ``set_autocast_enabled``.
    """
    if enabled is None:
        device_type, enabled = "cuda", bool(device_type)
    if not isinstance(device_type, str):
        name = type(device_type).__name__
        raise TypeError(f"set_autocast_enabled(): argument 'device_type' (position 1) must be str, not {name}")
    _C._set_autocast_enabled(device_type, enabled)


def get_autocast_dtype(device_type: str) -> Any:
    """Return the 16-bit dtype of autocast: bfloat16 on the CPU and float16 on CUDA devices, unless it was set.

    Raises:
        RuntimeError: there is no autocast for this type of device.

    Example:
        >>> torch.get_autocast_dtype("cpu")
        torch.bfloat16

    Mirrors torch/csrc/autograd/init.cpp, ``get_autocast_dtype``.
    """
    return _C._get_autocast_dtype(device_type)


def set_autocast_dtype(device_type: str, dtype: Any) -> None:
    """Set the 16-bit dtype of autocast in this thread.

    Example:
        >>> torch.set_autocast_dtype("cpu", torch.bfloat16)

    Mirrors torch/csrc/autograd/init.cpp, ``set_autocast_dtype``.
    """
    _C._set_autocast_dtype(device_type, dtype)


def is_autocast_cache_enabled() -> bool:
    """Return whether autocast keeps the casts of weights until the outermost mode of the thread ends.

    Example:
        >>> torch.is_autocast_cache_enabled()
        True

    Mirrors torch/csrc/autograd/init.cpp, ``is_autocast_cache_enabled``.
    """
    return _C._is_autocast_cache_enabled()


def set_autocast_cache_enabled(enabled: bool) -> None:
    """Set whether autocast keeps the casts of weights.

    Example:
        >>> torch.set_autocast_cache_enabled(True)

    Mirrors torch/csrc/autograd/init.cpp, ``set_autocast_cache_enabled``.
    """
    _C._set_autocast_cache_enabled(enabled)


def clear_autocast_cache() -> None:
    """Forget the casts of weights, for example after the weights were changed inside the mode.

    Example:
        >>> torch.clear_autocast_cache()

    Mirrors torch/csrc/autograd/init.cpp, ``clear_autocast_cache``.
    """
    _C._clear_autocast_cache()


def autocast_increment_nesting() -> int:
    """Count one more mode that the thread is inside of, and return their number.

    Example:
        >>> torch.autocast_increment_nesting(), torch.autocast_decrement_nesting()
        (1, 0)

    Mirrors torch/csrc/autograd/init.cpp, ``autocast_increment_nesting``.
    """
    return _C._autocast_increment_nesting()


def autocast_decrement_nesting() -> int:
    """Count one mode less, and return their number.

    Example:
        >>> torch.autocast_increment_nesting(), torch.autocast_decrement_nesting()
        (1, 0)

    Mirrors torch/csrc/autograd/init.cpp, ``autocast_decrement_nesting``.
    """
    return _C._autocast_decrement_nesting()


def is_autocast_available(device_type: str) -> bool:
    """Return whether :class:`autocast` takes a type of device.

    Example:
        >>> torch.amp.is_autocast_available("cpu"), torch.amp.is_autocast_available("meta")
        (True, False)

    Mirrors torch/amp/autocast_mode.py, ``is_autocast_available``.
    """
    return _C.device(device_type).type in ("cpu", "cuda")


# --- the mode ---------------------------------------------------------------------------------------------------------


def autocast_decorator(autocast_instance: autocast, func: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function that calls ``func`` inside the mode.

    Mirrors torch/amp/autocast_mode.py, ``autocast_decorator``.
    """

    @functools.wraps(func)
    def decorate_autocast(*args: Any, **kwargs: Any) -> Any:
        with autocast_instance:
            return func(*args, **kwargs)

    return decorate_autocast


class autocast:
    """A mode, and a decorator, in which chosen ops compute in a 16-bit dtype.

    Linear layers, matrix products and convolutions cast their arguments to ``dtype``; losses, ``prod`` and others cast
    theirs to float32; ``cat``, ``stack`` and others take the widest dtype of their arguments. The CPU and CUDA devices
    have lists of their own: on CUDA devices ``exp``, ``log``, norms, softmax and sums compute in float32, too, and
    ``binary_cross_entropy`` raises an error. Tensors of float64, and of other devices, are left alone. The mode should
    hold the forward pass and the loss, but not the backward pass: the gradients are computed in the dtypes of the
    forward pass. ``enabled=False`` inside the mode ends it for a while.

    Args:
        device_type: ``"cpu"`` or ``"cuda"``. Without CUDA devices, ``"cuda"`` disables the mode with a warning.
        dtype: bfloat16 or float16; by default :func:`get_autocast_dtype`, which is bfloat16 on the CPU and float16 on
            CUDA devices.
        enabled: whether the mode does anything.
        cache_enabled: whether the casts of weights are kept until the outermost mode ends; by default as set before.

    Raises:
        ValueError: ``device_type`` is not a string.
        RuntimeError: there is no autocast for the type of device.

    Example:
        >>> layer, x = torch.nn.Linear(3, 2), torch.randn(4, 3)
        >>> with torch.autocast("cpu", dtype=torch.bfloat16):
        ...     y = layer(x)
        ...     loss = torch.nn.functional.mse_loss(y, torch.zeros(4, 2))
        >>> y.dtype, loss.dtype
        (torch.bfloat16, torch.float32)
        >>> loss.backward()
        >>> layer.weight.grad.dtype
        torch.float32

    Mirrors torch/amp/autocast_mode.py, ``autocast``.
    """

    def __init__(
        self, device_type: str, dtype: Any = None, enabled: bool = True, cache_enabled: bool | None = None
    ) -> None:
        if not isinstance(device_type, str):
            raise ValueError(f"Expected `device_type` of type `str`, got: `{type(device_type)}`")
        self.fast_dtype = get_autocast_dtype(device_type) if dtype is None else dtype
        self.device = device_type
        if not is_autocast_available(device_type):
            raise RuntimeError(f"User specified an unsupported autocast device_type '{device_type}'")
        self._cache_enabled = is_autocast_cache_enabled() if cache_enabled is None else cache_enabled
        self._enabled = enabled and _is_possible(device_type, self.fast_dtype)

    def __enter__(self) -> autocast:
        self.prev_cache_enabled = is_autocast_cache_enabled()
        self.prev = is_autocast_enabled(self.device)
        self.prev_fastdtype = get_autocast_dtype(self.device)
        set_autocast_enabled(self.device, self._enabled)
        set_autocast_dtype(self.device, self.fast_dtype)
        autocast_increment_nesting()
        set_autocast_cache_enabled(self._cache_enabled)
        return self

    def __exit__(self, exc_type: Any, exc_val: Any, exc_tb: Any) -> Literal[False]:
        if autocast_decrement_nesting() == 0:
            clear_autocast_cache()
        set_autocast_enabled(self.device, self.prev)
        set_autocast_dtype(self.device, self.prev_fastdtype)
        set_autocast_cache_enabled(self.prev_cache_enabled)
        return False

    def __call__(self, func: Callable[..., Any]) -> Callable[..., Any]:
        if not callable(func):
            raise TypeError(
                f"autocast()(func) requires a callable, but got {type(func).__name__}. "
                "Did you mean to use autocast as a context manager? For example:\n"
                "    with torch.autocast(device_type=...):\n"
                "        output = model(input)"
            )
        return autocast_decorator(self, func)


def _has_cuda_devices() -> bool:
    return hasattr(_C, "_cuda_getDeviceCount") and _C._cuda_getDeviceCount() > 0


def _is_possible(device_type: str, dtype: Any) -> bool:
    """Whether the mode can be enabled. If not, PyTorch warns and runs the program without it."""
    if device_type == "cuda" and not _has_cuda_devices():
        warn("CUDA is not available or torch_xla is imported. Disabling autocast.")
        return False
    if dtype not in _SUPPORTED:
        name = device_type.upper()
        warn(
            f"In {name} autocast, but the target dtype is not supported. Disabling autocast.\n"
            f"{name} Autocast only supports dtypes of {', '.join(map(str, _SUPPORTED))} currently."
        )
        return False
    return True


# --- functions with a backward pass of their own ----------------------------------------------------------------------


def _cast(value: Any, device_type: str, dtype: Any) -> Any:
    """Cast the tensors of a device in nested containers, those of float64 excepted."""
    if isinstance(value, Tensor):
        is_eligible = value.is_floating_point() and value.device.type == device_type and value.dtype != _C.float64
        return value.to(dtype) if is_eligible else value
    if isinstance(value, str | bytes) or hasattr(value, "__array__"):
        return value
    if isinstance(value, Mapping):
        return {_cast(k, device_type, dtype): _cast(v, device_type, dtype) for k, v in value.items()}
    if isinstance(value, Iterable):
        iterable = (_cast(v, device_type, dtype) for v in value)
        return type(value)(iterable) if isinstance(value, list | tuple) else iterable
    return value


def _check_device_type(device_type: Any) -> None:
    if not isinstance(device_type, str):
        raise ValueError(f"Expected `device_type` of type `str`, got: `{type(device_type)}`")


def custom_fwd(fwd: Callable[..., Any] | None = None, *, device_type: str, cast_inputs: Any = None) -> Any:
    """Decorate the ``forward`` of an :class:`torch.autograd.Function` that may be called inside :class:`autocast`.

    Args:
        fwd: the method.
        device_type: the type of device whose mode counts.
        cast_inputs: if not None, ``forward`` inside the mode gets its tensors in this dtype and runs with the mode
            disabled. If None, the mode stays as it is.

    Raises:
        ValueError: ``device_type`` is not a string.

    Example:
        >>> class Product(torch.autograd.Function):
        ...     @staticmethod
        ...     @torch.amp.custom_fwd(device_type="cpu", cast_inputs=torch.float32)
        ...     def forward(ctx, a, b):
        ...         ctx.save_for_backward(a, b)
        ...         return a @ b
        ...     @staticmethod
        ...     @torch.amp.custom_bwd(device_type="cpu")
        ...     def backward(ctx, grad):
        ...         a, b = ctx.saved_tensors
        ...         return grad @ b.T, a.T @ grad
        >>> with torch.autocast("cpu"):
        ...     Product.apply(torch.ones(2, 2), torch.ones(2, 2)).dtype
        torch.float32

    Mirrors torch/amp/autocast_mode.py, ``custom_fwd``.
    """
    _check_device_type(device_type)
    if fwd is None:
        return functools.partial(custom_fwd, device_type=device_type, cast_inputs=cast_inputs)

    @functools.wraps(fwd)
    def decorate_fwd(*args: Any, **kwargs: Any) -> Any:
        ctx, is_on = args[0], is_autocast_enabled(device_type)
        ctx._dtype = get_autocast_dtype(device_type)
        ctx._fwd_used_autocast = is_on and cast_inputs is None
        if cast_inputs is None or not is_on:
            return fwd(*args, **kwargs)
        with autocast(device_type=device_type, enabled=False):
            return fwd(*_cast(args, device_type, cast_inputs), **_cast(kwargs, device_type, cast_inputs))

    return decorate_fwd


def custom_bwd(bwd: Callable[..., Any] | None = None, *, device_type: str) -> Any:
    """Decorate the ``backward`` that belongs to a ``forward`` with :func:`custom_fwd`: it runs in the same mode.

    Args:
        bwd: the method.
        device_type: the type of device whose mode counts.

    Raises:
        ValueError: ``device_type`` is not a string.

    Mirrors torch/amp/autocast_mode.py, ``custom_bwd``.
    """
    _check_device_type(device_type)
    if bwd is None:
        return functools.partial(custom_bwd, device_type=device_type)

    @functools.wraps(bwd)
    def decorate_bwd(*args: Any, **kwargs: Any) -> Any:
        ctx = args[0]
        with autocast(device_type=device_type, enabled=ctx._fwd_used_autocast, dtype=ctx._dtype):
            return bwd(*args, **kwargs)

    return decorate_bwd
