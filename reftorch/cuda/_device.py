"""CUDA devices: their number, the start of CUDA, the current device, and the properties of a device.

Mirrors: torch/cuda/__init__.py, the part about devices
Leaves out: NVML.
"""

from __future__ import annotations

import os
from typing import Any, NamedTuple

from reftorch import _C
from reftorch.cuda._utils import _get_device_index

__all__ = [
    "can_device_access_peer",
    "current_device",
    "device",
    "device_count",
    "device_of",
    "get_arch_list",
    "get_device_capability",
    "get_device_name",
    "get_device_properties",
    "init",
    "is_available",
    "is_bf16_supported",
    "is_initialized",
    "set_device",
    "synchronize",
]

_initialized = False


def _is_compiled() -> bool:
    """Whether the build has CUDA, or a simulator with at least one device."""
    return hasattr(_C, "_cuda_getDeviceCount") and (not _C._cuda_is_simulated or _C._cuda_getDeviceCount() > 0)


def is_available() -> bool:
    """Return whether there is a CUDA device.

    Example:
        >>> torch.device("cuda" if torch.cuda.is_available() else "cpu")
        device(type='cpu')

    Mirrors torch/cuda/__init__.py, ``is_available``.
    """
    return device_count() > 0


def device_count() -> int:
    """Return the number of CUDA devices.

    Mirrors torch/cuda/__init__.py, ``device_count``.
    """
    return _C._cuda_getDeviceCount() if _is_compiled() else 0


def is_initialized() -> bool:
    """Return whether CUDA has been started in this process.

    Mirrors torch/cuda/__init__.py, ``is_initialized``.
    """
    return _initialized and not _C._cuda_isInBadFork()


def init() -> None:
    """Start CUDA. Functions that need a device call this, so a program does not have to.

    Raises:
        AssertionError: the build has no CUDA, and the simulator has no devices.
        RuntimeError: there is no device, or the process was forked from one that has used CUDA.

    Mirrors torch/cuda/__init__.py, ``init``.
    """
    global _initialized
    if is_initialized():
        return
    if hasattr(_C, "_cuda_isInBadFork") and _C._cuda_isInBadFork():
        raise RuntimeError(
            "Cannot re-initialize CUDA in forked subprocess. To use CUDA with multiprocessing, you must use the "
            "'spawn' start method"
        )
    if not _is_compiled():
        hint = "use device='cpu' where torch.cuda.is_available() is False."
        visible = os.environ.get("CUDA_VISIBLE_DEVICES")
        if visible is not None and os.environ.get("REFTORCH_CUDA_SIM", "0") != "0":
            hint += f" CUDA_VISIBLE_DEVICES={visible!r} hides the simulated devices."
        elif hasattr(_C, "_cuda_getDeviceCount"):
            hint += " With REFTORCH_CUDA_SIM=2 in the environment Python starts with two simulated devices."
        raise AssertionError(f"Torch not compiled with CUDA enabled. Hint: {hint}")
    _C._cuda_init()
    _initialized = True


def _lazy_call(callable: Any, **kwargs: Any) -> None:
    """Start CUDA, and call a function. PyTorch waits with the call until something else starts CUDA.

    Mirrors torch/cuda/__init__.py, ``_lazy_call``.
    """
    init()
    callable()


def _is_in_bad_fork() -> bool:
    """Return whether this process is a child of one that has used CUDA, so that it cannot use CUDA.

    Mirrors torch/csrc/cuda/Module.cpp, ``THCPModule_isInBadFork``.
    """
    return hasattr(_C, "_cuda_isInBadFork") and bool(_C._cuda_isInBadFork())


def _device_index(device: Any) -> int:
    """Return the number of a device; None means the current device. Starts CUDA.

    A caller asks for the number before it names a function of ``_C``: a build without CUDA has none of these functions,
    and the error must say that.
    """
    init()
    return _get_device_index(device, optional=True)


def current_device() -> int:
    """Return the number of the current device, which ``device="cuda"`` means.

    Raises:
        AssertionError: there is no CUDA.

    Mirrors torch/cuda/__init__.py, ``current_device``.
    """
    init()
    return _C._cuda_getDevice()


def set_device(device: Any) -> None:
    """Make a device the current device of this thread. A negative number changes nothing.

    ``with torch.cuda.device(...)`` is preferable, because it restores the former device.

    Mirrors torch/cuda/__init__.py, ``set_device``.
    """
    index = _device_index(device)
    if index >= 0:
        _C._cuda_setDevice(index)


class device:
    """A context that makes a device the current device.

    Args:
        device: a device or its number. None and negative numbers change nothing.

    Mirrors torch/cuda/__init__.py, ``device``.
    """

    def __init__(self, device: Any) -> None:
        self.idx = device if isinstance(device, int) else -1 if device is None else _device_index(device)
        self.prev_idx = -1

    def __enter__(self) -> None:
        init()
        self.prev_idx = _C._cuda_getDevice()
        if self.idx >= 0:
            _C._cuda_setDevice(self.idx)

    def __exit__(self, *exception: Any) -> None:
        _C._cuda_setDevice(self.prev_idx)


class device_of(device):
    """A context that makes the device of a tensor the current device. A tensor on the CPU changes nothing.

    Mirrors torch/cuda/__init__.py, ``device_of``.
    """

    def __init__(self, obj: Any) -> None:
        super().__init__(obj.device.index if obj.is_cuda else -1)


def synchronize(device: Any = None) -> None:
    """Wait until a device has finished the work of all its streams.

    Raises:
        AssertionError: there is no CUDA.

    Mirrors torch/cuda/__init__.py, ``synchronize``.
    """
    index = _device_index(device)
    former = _C._cuda_exchangeDevice(index)
    try:
        _C._cuda_synchronize()
    finally:
        _C._cuda_setDevice(former)


class _CUuuid(NamedTuple):
    """The number of a device that no other device in the world has, as 16 bytes and as a text of hexadecimal digits."""

    bytes: bytes

    def __str__(self) -> str:
        digits = self.bytes.hex()
        return "-".join((digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:]))


class _CudaDeviceProperties(NamedTuple):
    """The properties of a device; 0 where a simulated device has none.

    Mirrors torch/csrc/cuda/Module.cpp, ``_CudaDeviceProperties``.
    """

    name: str
    major: int
    minor: int
    total_memory: int
    multi_processor_count: int
    warp_size: int
    max_threads_per_multi_processor: int
    uuid: _CUuuid
    max_threads_per_block: int
    shared_memory_per_block: int
    shared_memory_per_block_optin: int
    shared_memory_per_multiprocessor: int
    regs_per_multiprocessor: int
    L2_cache_size: int
    is_integrated: bool
    is_multi_gpu_board: bool
    pci_bus_id: int
    pci_device_id: int
    pci_domain_id: int


def get_device_properties(device: Any = None) -> _CudaDeviceProperties:
    """Return the properties of a device.

    Raises:
        AssertionError: there is no CUDA, or no such device.

    Mirrors torch/cuda/__init__.py, ``get_device_properties``.
    """
    index = _device_index(device)
    if index < 0 or index >= device_count():
        raise AssertionError("Invalid device id")
    facts = _C._cuda_getDeviceProperties(index)
    return _CudaDeviceProperties(**(facts | {"uuid": _CUuuid(facts["uuid"])}))


def get_device_name(device: Any = None) -> str:
    """Return the name of a device. For a simulated device, it is ``"CUDA simulator"``.

    Raises:
        AssertionError: there is no CUDA, or no such device.

    Mirrors torch/cuda/__init__.py, ``get_device_name``.
    """
    return get_device_properties(device).name


def get_device_capability(device: Any = None) -> tuple[int, int]:
    """Return the compute capability of a device, as (major, minor). It is (0, 0) for a simulated device.

    Raises:
        AssertionError: there is no CUDA, or no such device.

    Mirrors torch/cuda/__init__.py, ``get_device_capability``.
    """
    properties = get_device_properties(device)
    return properties.major, properties.minor


def can_device_access_peer(device: Any, peer_device: Any) -> bool:
    """Return whether memory can be copied from one device to another one without a copy on the host.

    Raises:
        AssertionError: there is no CUDA, or no such device.

    Mirrors torch/cuda/__init__.py, ``can_device_access_peer``.
    """
    indices = [_device_index(device), _device_index(peer_device)]
    if not all(0 <= i < device_count() for i in indices):
        raise AssertionError("Invalid device id")
    return _C._cuda_canDeviceAccessPeer(*indices)


def is_bf16_supported(including_emulation: bool = True) -> bool:
    """Return whether there is a device that accepts bfloat16. Kernels compute bfloat16 in float32.

    Args:
        including_emulation: if False, the result is False, because no kernel uses bfloat16 hardware.

    Mirrors torch/cuda/__init__.py, ``is_bf16_supported``.
    """
    return is_available() and including_emulation


def get_arch_list() -> list[str]:
    """Return the list of GPU architectures for which the library was built, which is always empty here.

    Mirrors torch/cuda/__init__.py, ``get_arch_list``.
    """
    return []
