"""Tensors that lie in pieces on the ranks of a mesh. They exist by their names only, so that programs can ask for them.

A library asks ``isinstance(parameter, DTensor)`` of each parameter; here the answer is no.

Mirrors: torch/distributed/tensor/__init__.py
Leaves out: everything but the names and the placements: no function here divides a tensor.
"""

from __future__ import annotations

from typing import Any, NoReturn

from reftorch import _api, _places
from reftorch._tensor import Tensor
from reftorch.distributed.tensor.placement_types import Partial, Placement, Replicate, Shard

__all__ = ["DTensor", "Partial", "Placement", "Replicate", "Shard", "distribute_module", "distribute_tensor"]

_WHY = (
    "tensors that lie in pieces on several ranks do not exist here. Hint: DistributedDataParallel has whole parameters"
)


class DTensor(Tensor):
    """The class of tensors that lie in pieces on the ranks of a mesh. Nothing makes one here.

    Raises:
        NotImplementedError: always, when one is made.

    Example:
        >>> import reftorch as torch
        >>> from reftorch.distributed.tensor import DTensor
        >>> isinstance(torch.ones(2), DTensor)
        False

    Mirrors torch/distributed/tensor/_api.py, ``DTensor``.
    """

    def __new__(cls, *args: Any, **kwargs: Any) -> DTensor:
        raise NotImplementedError(f"DTensor: {_WHY}")


def distribute_tensor(*args: Any, **kwargs: Any) -> NoReturn:
    """Raise an error.

    Raises:
        NotImplementedError: always.

    Mirrors torch/distributed/tensor/_api.py, ``distribute_tensor``.
    """
    raise NotImplementedError(f"distribute_tensor: {_WHY}")


def distribute_module(*args: Any, **kwargs: Any) -> NoReturn:
    """Raise an error.

    Raises:
        NotImplementedError: always.

    Mirrors torch/distributed/tensor/_api.py, ``distribute_module``.
    """
    raise NotImplementedError(f"distribute_module: {_WHY}")


_places.adopt(__name__, __all__, globals())
__getattr__ = _api.getattr_of(__name__)
