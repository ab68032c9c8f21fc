"""The fast path of ``nn.MultiheadAttention``, which is not used here.

Mirrors: torch/backends/mha/__init__.py
Leaves out: everything but the questions.
"""

__all__ = ["get_fastpath_enabled", "set_fastpath_enabled"]

_is_fastpath_enabled = True


def get_fastpath_enabled() -> bool:
    """Return what :func:`set_fastpath_enabled` was given. There is no fast path here, so nothing depends on the answer.

    Mirrors torch/backends/mha/__init__.py, ``get_fastpath_enabled``.
    """
    return _is_fastpath_enabled


def set_fastpath_enabled(value: bool) -> None:
    """Remember whether attention may leave out what only gradients need.

    Mirrors torch/backends/mha/__init__.py, ``set_fastpath_enabled``.
    """
    global _is_fastpath_enabled
    _is_fastpath_enabled = value
