"""Apple's GPUs, which are not supported.

Mirrors: torch/backends/mps/__init__.py
Leaves out: Metal.
"""


def is_built() -> bool:
    """Return whether the library was built for Metal: always False.

    Mirrors torch/backends/mps/__init__.py, ``is_built``.
    """
    return False


def is_available() -> bool:
    """Return whether an Apple GPU is available: always False.

    Example:
        >>> torch.backends.mps.is_available()
        False

    Mirrors torch/backends/mps/__init__.py, ``is_available``.
    """
    return False
