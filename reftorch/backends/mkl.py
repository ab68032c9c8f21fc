"""Intel's MKL, which is not used: OpenBLAS computes matrix products here.

Mirrors: torch/backends/mkl/__init__.py
Leaves out: its switches.
"""


def is_available() -> bool:
    """Return whether MKL computes products: always False.

    Mirrors torch/backends/mkl/__init__.py, ``is_available``.
    """
    return False
