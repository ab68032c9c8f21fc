"""Seeds of all default generators, and the state of the CPU's default generator.

Mirrors: torch/random.py
Leaves out: the states of the generators of other devices.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

from reftorch import cuda
from reftorch._C import Generator, default_generator, device
from reftorch._tensor import Tensor

__all__ = ["fork_rng", "get_rng_state", "initial_seed", "manual_seed", "seed", "set_rng_state"]


def manual_seed(seed: int) -> Generator:
    """Set the seed of the default generators of all devices.

    On the CPU, equal seeds give equal numbers here and in PyTorch.

    Args:
        seed: any 64-bit integer; a negative one is taken modulo 2**64.

    Example:
        >>> _ = torch.manual_seed(0)
        >>> torch.rand(2)
        tensor([0.4963, 0.7682])

    Mirrors torch/random.py, ``manual_seed``.
    """
    seed = int(seed)
    cuda.manual_seed_all(seed)
    return default_generator.manual_seed(seed)


def seed() -> int:
    """Seed the default generator of the CPU with a number from the operating system, and return that seed.

    Mirrors torch/random.py, ``seed``.
    """
    return default_generator.seed()


def initial_seed() -> int:
    """Return the last seed of the default generator of the CPU.

    Example:
        >>> _ = torch.manual_seed(7)
        >>> torch.initial_seed()
        7

    Mirrors torch/random.py, ``initial_seed``.
    """
    return default_generator.initial_seed()


def get_rng_state() -> Tensor:
    """Return the state of the default generator of the CPU as a ByteTensor.

    Example:
        >>> state = torch.get_rng_state()
        >>> first = torch.rand(2)
        >>> torch.set_rng_state(state)
        >>> torch.equal(torch.rand(2), first)
        True

    Mirrors torch/random.py, ``get_rng_state``.
    """
    return default_generator.get_state()


def set_rng_state(new_state: Tensor) -> None:
    """Set the default generator of the CPU to a state that ``get_rng_state`` returned.

    Example:
        >>> state = torch.get_rng_state()
        >>> a = torch.rand(3)
        >>> torch.set_rng_state(state)
        >>> torch.equal(a, torch.rand(3))
        True

    Mirrors torch/random.py, ``set_rng_state``.
    """
    default_generator.set_state(new_state)


@contextlib.contextmanager
def fork_rng(
    devices: Any = None,
    enabled: bool = True,
    _caller: str = "fork_rng",
    _devices_kw: str = "devices",
    device_type: str | None = None,
) -> Iterator[None]:
    """Restore the state of the default generator of the CPU at the end of the block.

    Args:
        devices: has no effect, because only the generator of the CPU is restored; PyTorch has this argument.
        enabled: False makes the block do nothing.
        device_type: the name of a device type; it is checked, and otherwise has no effect.

    Raises:
        RuntimeError: there is no such ``device_type``.

    Example:
        >>> _ = torch.manual_seed(0)
        >>> with torch.random.fork_rng():
        ...     _ = torch.rand(5)
        >>> torch.rand(1)
        tensor([0.4963])

    Mirrors torch/random.py, ``fork_rng``.
    """
    if device_type is not None:
        device(device_type)  # raises if there is no such type
    if not enabled:
        yield
        return
    state = get_rng_state()
    try:
        yield
    finally:
        set_rng_state(state)
