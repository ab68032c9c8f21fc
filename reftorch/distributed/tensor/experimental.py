"""Scopes in which tensors in pieces meet whole ones. The name is there only.

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
    raise NotImplementedError(
        "implicit_replication: an op takes either plain tensors or DTensors here. Hint: DTensor.from_local makes a "
        "DTensor of a tensor that all ranks have"
    )


_places.adopt(__name__, __all__, globals())
