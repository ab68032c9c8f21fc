"""Warnings at the line of the user's program that caused them.

Mirrors: nothing in PyTorch, where each call passes a ``stacklevel``, the number of PyTorch's own frames above it.
"""

import os
import sys
import warnings

_PACKAGE = os.path.dirname(__file__) + os.sep


def warn(message: str, category: type[Warning] = UserWarning) -> None:
    """Call ``warnings.warn`` for the innermost frame outside this package. C++ code calls this function too.

    Args:
        message: the text of the warning.
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
