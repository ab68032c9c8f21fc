"""Intel's MKL: matrix products are OpenBLAS's here.

Mirrors: torch/backends/mkl/__init__.py
Leaves out: its switches.
"""


def is_available() -> bool:
    """Return whether products are MKL's: no.

    Mirrors torch/backends/mkl/__init__.py, ``is_available``.
    """
    return False
