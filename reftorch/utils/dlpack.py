"""Sharing tensors with other array libraries by DLPack.

Mirrors: torch/utils/dlpack.py
Leaves out: streams of other libraries: an export waits for the work on the tensor instead.
"""

from __future__ import annotations

import enum
from typing import Any

from reftorch import _C
from reftorch._C import _to_dlpack as to_dlpack

__all__ = ["DLDeviceType", "from_dlpack", "to_dlpack"]


class DLDeviceType(enum.IntEnum):
    """The kinds of devices that DLPack defines.

    Mirrors torch/utils/dlpack.py, ``DLDeviceType``.
    """

    kDLCPU = 1
    kDLCUDA = 2
    kDLCUDAHost = 3
    kDLOpenCL = 4
    kDLVulkan = 7
    kDLMetal = 8
    kDLVPI = 9
    kDLROCM = 10
    kDLROCMHost = 11
    kDLExtDev = 12
    kDLCUDAManaged = 13
    kDLOneAPI = 14
    kDLWebGPU = 15
    kDLHexagon = 16
    kDLMAIA = 17


def from_dlpack(ext_tensor: Any, *, device: Any = None, copy: bool | None = None) -> Any:
    """Return a tensor that shares the memory of another library's array, so that each sees changes of the other.

    Args:
        ext_tensor: an array with the method ``__dlpack__``, or a capsule that such a method returned.
        device: the device of the result; it must be the CPU.
        copy: True always copies, False never copies.

    Raises:
        BufferError: the other library refuses, or its array cannot become a tensor.
        RuntimeError: ``ext_tensor`` is neither of these, or is a capsule that was used before.

    Example:
        >>> import numpy
        >>> array = numpy.arange(3)
        >>> torch.from_dlpack(array)[0] = 7
        >>> array
        array([7, 1, 2])

    Mirrors torch/utils/dlpack.py, ``from_dlpack``.
    """
    if not hasattr(ext_tensor, "__dlpack__"):
        if device is not None or copy is not None:
            raise AssertionError("device and copy kwargs not supported when ext_tensor is already a DLPack capsule.")
        return _C._from_dlpack(ext_tensor)
    kwargs: dict[str, Any] = {"max_version": (1, 0)}
    source = ext_tensor.__dlpack_device__()
    if copy is not None:
        kwargs["copy"] = copy
    if device is not None:
        wanted = _C.device(device)
        if wanted.type == "meta" or (wanted.type == "cuda" and _C._accelerator_deviceCount() == 0):
            raise AssertionError(f"Torch not compiled with CUDA enabled: from_dlpack cannot bring {source} to {wanted}")
        if wanted.type == "cuda":
            index = _C._accelerator_getDeviceIndex() if wanted.index is None else wanted.index
            kwargs["dl_device"] = (DLDeviceType.kDLCUDA, index)
        else:
            kwargs["dl_device"] = (DLDeviceType.kDLCPU, 0)
    if source[0] == DLDeviceType.kDLCUDA:
        current = _C._accelerator_getStream(source[1])
        kwargs["stream"] = _C._cuda_getStreamHandle(current.stream_id, source[1]) or 1  # 1 is the default stream
    # Libraries with an older DLPack accept fewer arguments; those that they refuse are left out, one after another.
    for unknown in ("max_version", "copy", "dl_device", None):
        try:
            capsule = ext_tensor.__dlpack__(**kwargs)
            break
        except TypeError:
            if unknown is None:
                raise
            kwargs.pop(unknown, None)
    tensor = _C._from_dlpack(capsule)
    return tensor.clone() if copy and "copy" not in kwargs else tensor
