"""Seeds and states of the CUDA devices' generators.

Mirrors: torch/cuda/random.py
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from reftorch import _C
from reftorch.cuda._device import _device_index, current_device, device_count, init, is_available

__all__ = [
    "default_generators",
    "get_rng_state",
    "get_rng_state_all",
    "initial_seed",
    "manual_seed",
    "manual_seed_all",
    "seed",
    "seed_all",
    "set_rng_state",
    "set_rng_state_all",
]


class _DefaultGenerators(Sequence[Any]):
    """The default generators of all devices, in the order of the devices; none before there is a device."""

    def __len__(self) -> int:
        return device_count() if is_available() else 0

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return tuple(self)[index]
        if not -len(self) <= index < len(self):
            raise IndexError(f"expected the number of one of {len(self)} CUDA devices, but got {index}")
        init()
        return _C._cuda_getDefaultGenerator(index % len(self))

    def __repr__(self) -> str:
        return repr(tuple(self))


default_generators = _DefaultGenerators()


def _generator_of(device: Any) -> Any:
    index = _device_index(device)
    if index < 0:
        raise IndexError(f"expected the number of one of {len(default_generators)} CUDA devices, but got {index}")
    return default_generators[index]


def get_rng_state(device: Any = "cuda") -> Any:
    """Return the state of a device's generator as a ByteTensor on the CPU. The default is the current device.

    Mirrors torch/cuda/random.py, ``get_rng_state``.
    """
    return _generator_of(device).get_state()


def get_rng_state_all() -> list[Any]:
    """Return the states of the generators of all devices, in the order of the devices.

    Mirrors torch/cuda/random.py, ``get_rng_state_all``.
    """
    return [generator.get_state() for generator in default_generators]


def set_rng_state(new_state: Any, device: Any = "cuda") -> None:
    """Set a device's generator to a state that ``get_rng_state`` returned. The default is the current device.

    Mirrors torch/cuda/random.py, ``set_rng_state``.
    """
    _generator_of(device).set_state(new_state)


def set_rng_state_all(new_states: Iterable[Any]) -> None:
    """Set the generators of all devices to states that ``get_rng_state_all`` returned.

    Mirrors torch/cuda/random.py, ``set_rng_state_all``.
    """
    for index, state in enumerate(new_states):
        set_rng_state(state, index)


def _get_rng_state_offset(device: Any = "cuda") -> int:
    """Return the position of a device's generator in the sequence of its numbers. The default is the current device.

    Mirrors torch/cuda/random.py, ``_get_rng_state_offset``.
    """
    return _generator_of(device).get_offset()


def _set_rng_state_offset(offset: int, device: Any = "cuda") -> None:
    """Set the position of a device's generator, a multiple of 4. The default is the current device.

    Raises:
        RuntimeError: ``offset`` is not a multiple of 4.

    Mirrors torch/cuda/random.py, ``_set_rng_state_offset``.
    """
    _generator_of(device).set_offset(offset)


def manual_seed(seed: int) -> None:
    """Set the seed of the current device's generator. Does nothing if there is no device.

    Mirrors torch/cuda/random.py, ``manual_seed``.
    """
    if is_available():
        default_generators[current_device()].manual_seed(int(seed))


def manual_seed_all(seed: int) -> None:
    """Set the seed of every device's generator. Does nothing if there is no device.

    Mirrors torch/cuda/random.py, ``manual_seed_all``.
    """
    if is_available():
        for generator in default_generators:
            generator.manual_seed(int(seed))


def seed() -> None:
    """Give the current device's generator a seed of the operating system. Does nothing if there is no device.

    Mirrors torch/cuda/random.py, ``seed``.
    """
    if is_available():
        default_generators[current_device()].seed()


def seed_all() -> None:
    """Give the generators of all devices one seed of the operating system. Does nothing if there is no device.

    Mirrors torch/cuda/random.py, ``seed_all``.
    """
    if is_available():
        first, *others = default_generators
        chosen = first.seed()
        for generator in others:
            generator.manual_seed(chosen)


def initial_seed() -> int:
    """Return the current seed of the current device's generator.

    Mirrors torch/cuda/random.py, ``initial_seed``.
    """
    return default_generators[current_device()].initial_seed()
