"""Converts a device, as a caller gives it, to the number of a CUDA device.

Mirrors: torch/cuda/_utils.py
Leaves out: kernels compiled at run time, which are in _kernel_compiler.py and _kernels.py.
"""

from __future__ import annotations

from typing import Any

from reftorch import _C


def _get_device_index(device: Any, optional: bool = False, allow_cpu: bool = False) -> int:
    """Return the number of a device. ``"cuda"``, and None if `optional`, mean the current device.

    CUDA must have been started if the current device is needed.

    Raises:
        ValueError: `device` is not a CUDA device, or is None although `optional` is False.
    """
    if isinstance(device, int):
        return device
    if isinstance(device, str):
        device = _C.device(device)
    if isinstance(device, _C.device):
        if device.type == "cpu" and allow_cpu:
            return -1
        if device.type != "cuda":
            raise ValueError(f"Expected a cuda device, but got: {device}")
        index = device.index
    else:
        index = None
    if index is None:
        if not optional and not isinstance(device, _C.device):
            raise ValueError(
                f"Expected a torch.device with a specified index or an integer, but got:{device}. "
                "Hint: torch.device('cuda', 0) names the first one."
            )
        return _C._cuda_getDevice()
    return index
