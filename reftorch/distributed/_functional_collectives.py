"""Collectives that return a new tensor. They exist by their names only, besides the wait for such a tensor.

Mirrors: torch/distributed/_functional_collectives.py
Leaves out: the collectives, whose place is torch.distributed here.
"""

from __future__ import annotations

from typing import Any, NoReturn

from reftorch._tensor import Tensor


def wait_tensor(tensor: Tensor) -> Tensor:
    """Return the tensor. No collective here returns one that is not ready; ``async_op=True`` gives a Work to wait for.

    Mirrors torch/distributed/_functional_collectives.py, ``wait_tensor``.
    """
    return tensor


def all_to_all_single_autograd(*args: Any, **kwargs: Any) -> NoReturn:
    """Raise an error.

    Raises:
        NotImplementedError: always.

    Mirrors torch/distributed/_functional_collectives.py, ``all_to_all_single_autograd``.
    """
    raise NotImplementedError("all_to_all_single_autograd: no gradient passes through the collectives here.")
