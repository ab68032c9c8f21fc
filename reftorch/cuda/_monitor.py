"""What ``torch.cuda`` tells about the driver, the hardware and the settings.

Mirrors: torch/cuda/__init__.py (the questions to NVML, the sync debug mode, the errors of the runtime)
Leaves out: the answers of NVML, which needs NVIDIA's driver: the functions raise as PyTorch does without nvidia-ml-py.
"""

from __future__ import annotations

from types import ModuleType
from typing import Any, NoReturn

from reftorch import _C
from reftorch.cuda._device import _device_index, get_arch_list, init

__all__ = [
    "CudaError",
    "DeferredCudaCallError",
    "check_error",
    "clock_rate",
    "cudaStatus",
    "cudart",
    "current_blas_handle",
    "current_solver_handle",
    "device_memory_used",
    "get_gencode_flags",
    "get_sync_debug_mode",
    "has_half",
    "has_magma",
    "ipc_collect",
    "is_tf32_supported",
    "memory_usage",
    "power_draw",
    "set_sync_debug_mode",
    "temperature",
    "utilization",
]

_HAS_PYNVML: bool = False  # NVIDIA's driver is not asked
has_half: bool = True
has_magma: bool = False


class cudaStatus:
    """The numbers of two errors of the CUDA runtime."""

    SUCCESS: int = 0
    ERROR_NOT_READY: int = 34


class DeferredCudaCallError(Exception):
    """An error in a call that waited for CUDA to start. Nothing waits here, so nothing raises it."""


class CudaError(RuntimeError):
    """An error of the CUDA runtime, by its number."""

    def __init__(self, code: int) -> None:
        super().__init__(f"{_C._cuda_getErrorString(code)} ({code})")


def check_error(res: int) -> None:
    """Raise :class:`CudaError` unless a function of the CUDA runtime returned 0.

    Example:
        >>> torch.cuda.check_error(0)

    Mirrors torch/cuda/__init__.py, ``check_error``.
    """
    if res != cudaStatus.SUCCESS:
        raise CudaError(res)


def cudart() -> ModuleType:
    """Return the module with functions of CUDA's runtime, such as ``cudaHostRegister`` and ``cudaStreamCreate``.

    Raises:
        AssertionError: there is no CUDA.

    Example:
        >>> if torch.cuda.is_available():
        ...     assert torch.cuda.cudart().cudaProfilerStop() == 0

    Mirrors torch/cuda/__init__.py, ``cudart``.
    """
    init()
    from reftorch.cuda import _cudart

    return _cudart


def current_blas_handle() -> int:
    """Return the address of the handle of cuBLAS with which the current device computes products.

    Mirrors torch/cuda/__init__.py, ``current_blas_handle``.
    """
    init()
    return _C._cuda_getCurrentBlasHandle()


def current_solver_handle() -> int:
    """Raise RuntimeError: no handle of cuSOLVER exists, because the host factorizes matrices.

    Mirrors torch/cuda/__init__.py, ``current_solver_handle``.
    """
    init()
    raise RuntimeError("current_solver_handle: there is no handle of cuSOLVER; matrices are factorized on the host")


def set_sync_debug_mode(debug_mode: int | str) -> None:
    """Choose what happens when the program waits for a device: in ``item()``, ``nonzero()``, a copy to the host.

    Args:
        debug_mode: ``"default"`` or 0 for nothing, ``"warn"`` or 1 for a warning, ``"error"`` or 2 for a RuntimeError.

    Raises:
        RuntimeError: ``debug_mode`` is none of these.

    Example:
        >>> if torch.cuda.is_available():
        ...     torch.cuda.set_sync_debug_mode("default")

    Mirrors torch/cuda/__init__.py, ``set_sync_debug_mode``.
    """
    init()
    modes = {"default": 0, "warn": 1, "error": 2}
    if isinstance(debug_mode, str) and debug_mode not in modes:
        raise RuntimeError("invalid value of debug_mode, expected one of `default`, `warn`, `error`")
    mode = modes[debug_mode] if isinstance(debug_mode, str) else debug_mode
    if mode not in modes.values():
        raise RuntimeError("invalid value of debug_mode, expected one of 0,1,2")
    _C._cuda_set_sync_debug_mode(mode)


def get_sync_debug_mode() -> int:
    """Return the number of the mode that :func:`set_sync_debug_mode` has set.

    Mirrors torch/cuda/__init__.py, ``get_sync_debug_mode``.
    """
    init()
    return _C._cuda_get_sync_debug_mode()


def _sleep(cycles: int) -> None:
    """Let the current stream do nothing for a number of cycles; on a simulated device a cycle takes a nanosecond.

    Mirrors torch/cuda/__init__.py, ``_sleep``.
    """
    init()
    _C._cuda_sleep(cycles)


def get_gencode_flags() -> str:
    """Return the flags of nvcc with which the library was compiled; empty in a build without nvcc.

    Mirrors torch/cuda/__init__.py, ``get_gencode_flags``.
    """
    flags = []
    for arch in get_arch_list():
        kind, _, number = arch.partition("_")
        flags.append(f"-gencode compute=compute_{number},code={kind}_{number}")
    return " ".join(flags)


def is_tf32_supported() -> bool:
    """Return False: products are computed with all digits of float32.

    Mirrors torch/cuda/__init__.py, ``is_tf32_supported``.
    """
    return False


def ipc_collect() -> None:
    """Free the memory of tensors that were sent to other processes, if those have dropped them.

    The memory of a tensor that was sent stays when the tensor is deleted, until the receiver has dropped it, too. The
    sender looks for such memory when a tensor that was sent is deleted, and when the allocator needs memory. This
    function lets it look now.

    Example:
        >>> torch.cuda.ipc_collect() if torch.cuda.is_available() else None

    Mirrors torch/cuda/__init__.py, ``ipc_collect``.
    """
    init()
    _C._cuda_ipc_collect()


def _no_nvml() -> NoReturn:
    raise ModuleNotFoundError(
        "nvidia-ml-py does not seem to be installed or it can't be imported. Hint: reftorch does not ask NVML; "
        "nvidia-smi shows what a GPU does"
    )


def memory_usage(device: Any = None) -> int:
    """Raise ModuleNotFoundError: only NVIDIA's driver knows the share of time in which memory was used.

    Mirrors torch/cuda/__init__.py, ``memory_usage``.
    """
    _no_nvml()


def device_memory_used(device: Any = None) -> int:
    """Return the bytes of a device that are in use, by all programs.

    Mirrors torch/cuda/__init__.py, ``device_memory_used``.
    """
    free, total = _C._cuda_memGetInfo(_device_index(device))
    return total - free


def utilization(device: Any = None) -> int:
    """Raise ModuleNotFoundError: only NVIDIA's driver knows the share of time in which kernels ran.

    Mirrors torch/cuda/__init__.py, ``utilization``.
    """
    _no_nvml()


def temperature(device: Any = None) -> int:
    """Raise ModuleNotFoundError: only NVIDIA's driver knows the temperature.

    Mirrors torch/cuda/__init__.py, ``temperature``.
    """
    _no_nvml()


def power_draw(device: Any = None) -> int:
    """Raise ModuleNotFoundError: only NVIDIA's driver knows the power.

    Mirrors torch/cuda/__init__.py, ``power_draw``.
    """
    _no_nvml()


def clock_rate(device: Any = None) -> int:
    """Raise ModuleNotFoundError: only NVIDIA's driver knows the clock.

    Mirrors torch/cuda/__init__.py, ``clock_rate``.
    """
    _no_nvml()
