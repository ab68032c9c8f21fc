"""Training in several processes, which reftorch does not have: ``is_available()`` says so.

Libraries ask here before they use the rest, because PyTorch too can be built without it (``USE_DISTRIBUTED=0``).

Mirrors: torch/distributed/__init__.py
Leaves out: all but the question; training in several processes is not written yet.
"""

from reftorch import _api

__all__ = ["is_available"]

__getattr__ = _api.getattr_of(__name__)


def is_available() -> bool:
    """Return False: the communication between processes of one training is not here.

    Example:
        >>> import reftorch as torch
        >>> torch.distributed.is_available()
        False

    Mirrors torch/distributed/__init__.py, ``is_available``.
    """
    return False
