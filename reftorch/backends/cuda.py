"""Switches of matrix products on CUDA; they have no effect, but programs set them.

Mirrors: torch/backends/cuda/__init__.py
Leaves out: the other switches.
"""

from types import SimpleNamespace

matmul = SimpleNamespace(allow_tf32=False)


def is_built() -> bool:
    """Return whether the library was built for CUDA: always False.

    Example:
        >>> import reftorch as torch
        >>> torch.backends.cuda.is_built()
        False

    Mirrors torch/backends/cuda/__init__.py, ``is_built``.
    """
    return False
