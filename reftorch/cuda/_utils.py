"""From what a caller writes for a device to the number of a CUDA device.

Mirrors: torch/cuda/_utils.py
Leaves out: everything that compiles kernels at run time.
"""

from __future__ import annotations

from typing import Any

from reftorch import _C


def _get_device_index(device: Any, optional: bool = False, allow_cpu: bool = False) -> int:
    """Return the number of the device: of the current one for None, where `optional`, and for ``"cuda"``.

    CUDA must have been started where the current device is asked for.

    Raises:
        ValueError: `device` is no CUDA device, or None where a device is needed.
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
