"""Scopes in which tensors in pieces meet whole ones. They exist by their names only.

Mirrors: torch/distributed/tensor/experimental/__init__.py
Leaves out: everything but the error.
"""

from __future__ import annotations

from typing import Any, NoReturn

from reftorch import _places

__all__ = ["implicit_replication"]


def implicit_replication(*args: Any, **kwargs: Any) -> NoReturn:
    """Raise an error.

    Raises:
        NotImplementedError: always.

    Mirrors torch/distributed/tensor/experimental/__init__.py, ``implicit_replication``.
    """
    raise NotImplementedError("implicit_replication: tensors that lie in pieces on several ranks do not exist here.")


_places.adopt(__name__, __all__, globals())
