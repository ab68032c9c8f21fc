"""The build options of the loaded extension.

Mirrors: torch/__config__.py
Left out: the build settings of third-party libraries.
"""

from reftorch import _C


def show() -> str:
    """Return a line for each of: the loaded build, its compiler, flags, BLAS, OpenMP and CUDA.

    Example::

        >>> "build type" in torch.__config__.show()
        True

    Mirrors torch/__config__.py, ``show``.
    """
    return _C._show_config()
