"""What a program asks before it uses a GPU; the answer is that there is none.

Programs that choose their device by ``torch.cuda.is_available()``, and seed every device there is, run unchanged. What
needs a GPU raises as torch does where it was built without CUDA.

Mirrors: torch/cuda/__init__.py, torch/cuda/random.py, torch/cuda/memory.py
Leaves out: CUDA.
"""

from __future__ import annotations

from typing import Any

__all__ = [
    "current_device",
    "device_count",
    "empty_cache",
    "get_arch_list",
    "get_device_capability",
    "get_device_name",
    "get_device_properties",
    "init",
    "is_available",
    "is_bf16_supported",
    "is_initialized",
    "manual_seed",
    "manual_seed_all",
    "max_memory_allocated",
    "max_memory_reserved",
    "memory_allocated",
    "memory_reserved",
    "synchronize",
]


def is_available() -> bool:
    """Return whether there is a GPU: no.

    Example:
        >>> import reftorch as torch
        >>> torch.device("cuda" if torch.cuda.is_available() else "cpu")
        device(type='cpu')

    Mirrors torch/cuda/__init__.py, ``is_available``.
    """
    return False


def device_count() -> int:
    """Return how many GPUs there are: 0.

    Mirrors torch/cuda/__init__.py, ``device_count``.
    """
    return 0


def is_initialized() -> bool:
    """Return whether CUDA has been started: no.

    Mirrors torch/cuda/__init__.py, ``is_initialized``.
    """
    return False


def is_bf16_supported(including_emulation: bool = True) -> bool:
    """Return whether the GPU computes in bfloat16: there is none.

    Mirrors torch/cuda/__init__.py, ``is_bf16_supported``.
    """
    return False


def get_arch_list() -> list[str]:
    """Return the GPUs that the library was built for: none.

    Mirrors torch/cuda/__init__.py, ``get_arch_list``.
    """
    return []


def manual_seed(seed: int) -> None:
    """Seed the generator of the current GPU; there is none, so nothing happens.

    Mirrors torch/cuda/random.py, ``manual_seed``.
    """


def manual_seed_all(seed: int) -> None:
    """Seed the generators of all GPUs; there are none, so nothing happens.

    Mirrors torch/cuda/random.py, ``manual_seed_all``.
    """


def empty_cache() -> None:
    """Give unused memory of the GPUs back; there is none, so nothing happens.

    Mirrors torch/cuda/memory.py, ``empty_cache``.
    """


def memory_allocated(device: Any = None) -> int:
    """Return how many bytes tensors take on a GPU: 0.

    Mirrors torch/cuda/memory.py, ``memory_allocated``.
    """
    return 0


def max_memory_allocated(device: Any = None) -> int:
    """Return how many bytes tensors have taken at most on a GPU: 0.

    Mirrors torch/cuda/memory.py, ``max_memory_allocated``.
    """
    return 0


def memory_reserved(device: Any = None) -> int:
    """Return how many bytes of a GPU the allocator holds: 0.

    Mirrors torch/cuda/memory.py, ``memory_reserved``.
    """
    return 0


def max_memory_reserved(device: Any = None) -> int:
    """Return how many bytes of a GPU the allocator has held at most: 0.

    Mirrors torch/cuda/memory.py, ``max_memory_reserved``.
    """
    return 0


def init() -> None:
    """Start CUDA.

    Raises:
        AssertionError: always: there is none.

    Mirrors torch/cuda/__init__.py, ``init``.
    """
    raise AssertionError(
        "Torch not compiled with CUDA enabled. Hint: use device='cpu' where torch.cuda.is_available() is False."
    )


def current_device() -> int:
    """Return the number of the current GPU.

    Raises:
        AssertionError: always: there is none.

    Mirrors torch/cuda/__init__.py, ``current_device``.
    """
    init()
    return 0


def synchronize(device: Any = None) -> None:
    """Wait until a GPU has done what it was told.

    Raises:
        AssertionError: always: there is none.

    Mirrors torch/cuda/__init__.py, ``synchronize``.
    """
    init()


def get_device_properties(device: Any = None) -> Any:
    """Return what a GPU can do.

    Raises:
        AssertionError: always: there is none.

    Mirrors torch/cuda/__init__.py, ``get_device_properties``.
    """
    init()


def get_device_name(device: Any = None) -> Any:
    """Return the name of a GPU.

    Raises:
        AssertionError: always: there is none.

    Mirrors torch/cuda/__init__.py, ``get_device_name``.
    """
    return get_device_properties(device)


def get_device_capability(device: Any = None) -> Any:
    """Return the version of CUDA's machine that a GPU is.

    Raises:
        AssertionError: always: there is none.

    Mirrors torch/cuda/__init__.py, ``get_device_capability``.
    """
    return get_device_properties(device)
