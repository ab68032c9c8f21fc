"""oneDNN: no op uses it.

Mirrors: torch/backends/mkldnn/__init__.py
Leaves out: its switches.
"""


def is_available() -> bool:
    """Return whether ops can use oneDNN: always False.

    Mirrors torch/backends/mkldnn/__init__.py, ``is_available``.
    """
    return False
