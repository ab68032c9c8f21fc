"""What the loaded extension was built with.

Mirrors: torch/__config__.py
Left out: the list of third-party libraries' own build settings.
"""

from reftorch import _C


def show() -> str:
    """Return which build is loaded, its compiler, flags, BLAS, OpenMP and CUDA, a line each.

    Example::

        >>> import reftorch as torch
        >>> "build type" in torch.__config__.show()
        True

    Mirrors torch/__config__.py, ``show``.
    """
    return _C._show_config()
