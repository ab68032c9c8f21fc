"""GPUs of Intel, which do not exist here.

Mirrors: torch/xpu/__init__.py
Leaves out: everything but the questions.
"""

__all__ = ["device_count", "is_available"]


def is_available() -> bool:
    """Return False.

    Mirrors torch/xpu/__init__.py, ``is_available``.
    """
    return False


def device_count() -> int:
    """Return 0.

    Mirrors torch/xpu/__init__.py, ``device_count``.
    """
    return 0
