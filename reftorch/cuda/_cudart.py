"""Functions of CUDA's runtime for Python: what ``torch.cuda.cudart()`` returns.

Each function returns the number of an error, which is 0 for success. :func:`reftorch.cuda.check_error` raises it.

Mirrors: torch/csrc/cuda/shared/cudart.cpp
Leaves out: the profiler's output mode, and the errors of which no function here is a result.
"""

from __future__ import annotations

import enum

from reftorch import _C

__all__ = [
    "cudaError",
    "cudaGetErrorString",
    "cudaHostRegister",
    "cudaHostUnregister",
    "cudaMemGetInfo",
    "cudaProfilerStart",
    "cudaProfilerStop",
    "cudaStreamCreate",
    "cudaStreamDestroy",
]


class cudaError(enum.IntEnum):
    """The numbers of two results."""

    success = 0
    invalidValue = 1


def cudaGetErrorString(error: int) -> str:
    """Return the text of an error."""
    return _C._cuda_getErrorString(error)


def cudaHostRegister(ptr: int, size: int, flags: int) -> int:
    """Make memory of the program pinned, so that a device copies from and to it by itself.

    Args:
        ptr: the address, for example ``x.data_ptr()``.
        size: bytes.
        flags: 0, or flags of CUDA.

    Example:
        >>> if torch.cuda.is_available():
        ...     x = torch.ones(20)
        ...     assert torch.cuda.cudart().cudaHostRegister(x.data_ptr(), x.nbytes, 0) == 0 and x.is_pinned()
        ...     assert torch.cuda.cudart().cudaHostUnregister(x.data_ptr()) == 0 and not x.is_pinned()

    Mirrors torch/csrc/cuda/shared/cudart.cpp, ``cudaHostRegister``.
    """
    return _C._cudart_cudaHostRegister(ptr, size, flags)


def cudaHostUnregister(ptr: int) -> int:
    """End what :func:`cudaHostRegister` began."""
    return _C._cudart_cudaHostUnregister(ptr)


def cudaStreamCreate(ptr: int) -> int:
    """Make a stream on the current device, and write its handle to an address.

    Args:
        ptr: the address of 8 bytes, for example of a ``ctypes.c_void_p``.
    """
    return _C._cudart_cudaStreamCreate(ptr)


def cudaStreamDestroy(ptr: int) -> int:
    """Destroy a stream of :func:`cudaStreamCreate`, by its handle, after its work is done."""
    return _C._cudart_cudaStreamDestroy(ptr)


def cudaMemGetInfo(device: int) -> tuple[int, int]:
    """Return the number of free bytes and of all bytes of a device."""
    return _C._cuda_memGetInfo(device)


def cudaProfilerStart() -> int:
    """Return 0: no profiler of NVIDIA is attached."""
    return 0


def cudaProfilerStop() -> int:
    """Return 0: no profiler of NVIDIA is attached."""
    return 0
