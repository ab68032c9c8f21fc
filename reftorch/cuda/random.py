"""Seeds of the CUDA devices' generators.

Mirrors: torch/cuda/random.py
Leaves out: states of the generators.
"""

from __future__ import annotations

from typing import Any

from reftorch import _C
from reftorch.cuda._device import current_device, device_count, init, is_available

__all__ = ["default_generators", "initial_seed", "manual_seed", "manual_seed_all"]


def default_generators() -> tuple[Any, ...]:
    """Return the default generators of all devices, in the order of the devices."""
    init()
    return tuple(_C._cuda_getDefaultGenerator(i) for i in range(device_count()))


def manual_seed(seed: int) -> None:
    """Set the seed of the current device's generator. Does nothing if there is no device.

    Mirrors torch/cuda/random.py, ``manual_seed``.
    """
    if is_available():
        default_generators()[current_device()].manual_seed(int(seed))


def manual_seed_all(seed: int) -> None:
    """Set the seed of every device's generator. Does nothing if there is no device.

    Mirrors torch/cuda/random.py, ``manual_seed_all``.
    """
    if is_available():
        for generator in default_generators():
            generator.manual_seed(int(seed))


def initial_seed() -> int:
    """Return the current seed of the current device's generator.

    Mirrors torch/cuda/random.py, ``initial_seed``.
    """
    return default_generators()[current_device()].initial_seed()
