"""A question about the devices that the older names of autocast need.

Mirrors: torch/cuda/amp/common.py
"""

from __future__ import annotations

from reftorch.cuda._device import is_available

__all__ = ["amp_definitely_not_available"]


def amp_definitely_not_available() -> bool:
    """Return whether there is no CUDA device.

    Mirrors torch/cuda/amp/common.py, ``amp_definitely_not_available``.
    """
    return not is_available()
