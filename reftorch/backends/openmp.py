"""OpenMP, which provides the threads of large kernels.

Mirrors: torch/backends/openmp/__init__.py
"""

from reftorch import _C


def is_available() -> bool:
    """Return whether the library was built with OpenMP.

    Example:
        >>> isinstance(torch.backends.openmp.is_available(), bool)
        True

    Mirrors torch/backends/openmp/__init__.py, ``is_available``.
    """
    return "OpenMP: off" not in _C._show_config()
