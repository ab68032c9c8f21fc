"""What names a device of the accelerator.

Mirrors: torch/accelerator/_utils.py
"""

from __future__ import annotations

from typing import Any

from reftorch import _C


def _index_of(device: Any, *, optional: bool = False) -> int:
    """Return the index that ``device`` names; -1 means the current device."""
    if isinstance(device, int):
        return device
    if isinstance(device, str):
        device = _C.device(device)
    if device is not None:
        here = _C._accelerator_getAccelerator()
        if here is None:
            raise RuntimeError("Accelerator expected")
        if device.type != here.type:
            raise ValueError(f"{device} doesn't match the current accelerator {here}.")
        if device.index is not None:
            return int(device.index)
    if not optional:
        raise ValueError(f"Expected a torch.device with a specified index or an integer, but got:{device}")
    return -1
