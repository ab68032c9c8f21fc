"""Warnings, at the line of the user's program that led to them.

Mirrors: nothing in PyTorch: there each call counts, by ``stacklevel``, how many of PyTorch's own frames stand above it.
"""

import os
import sys
import warnings

_PACKAGE = os.path.dirname(__file__) + os.sep


def warn(message: str, category: type[Warning] = UserWarning) -> None:
    """``warnings.warn``, placed at the innermost frame that is not of this package. C++ warns through it too.

    Args:
        message: the text.
        category: the class of the warning.

    Example:
        >>> from reftorch._warnings import warn
        >>> with warnings.catch_warnings(record=True) as caught:
        ...     warnings.simplefilter("always")
        ...     warn("it is late", FutureWarning)
        >>> caught[0].category
        <class 'FutureWarning'>
    """
    frame, stacklevel = sys._getframe(1), 2
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_PACKAGE):
        frame, stacklevel = frame.f_back, stacklevel + 1
    warnings.warn(message, category, stacklevel=stacklevel)
