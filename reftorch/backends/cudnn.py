"""Switches of cuDNN; they have no effect, but programs set them.

Mirrors: torch/backends/cudnn/__init__.py
Leaves out: ``flags``, and the library itself.
"""

enabled = True
deterministic = False
benchmark = False
allow_tf32 = True


def is_available() -> bool:
    """Return whether cuDNN is available: always False.

    Example:
        >>> import reftorch as torch
        >>> torch.backends.cudnn.benchmark = True  # changes nothing
        >>> torch.backends.cudnn.is_available()
        False
        >>> torch.backends.cudnn.benchmark = False

    Mirrors torch/backends/cudnn/__init__.py, ``is_available``.
    """
    return False


def version() -> None:
    """Return the version of cuDNN: always None.

    Mirrors torch/backends/cudnn/__init__.py, ``version``.
    """
    return None
