"""The average of parameters over the ranks.

Mirrors: torch/distributed/algorithms/model_averaging/utils.py
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from reftorch import _VF
from reftorch._tensor import Tensor
from reftorch.autograd.grad_mode import no_grad
from reftorch.distributed import distributed_c10d as c10d

__all__ = ["average_parameters", "average_parameters_or_parameter_groups", "get_params_to_average"]


def average_parameters(params: Iterable[Any], process_group: Any) -> None:
    """Replace parameters by their averages over the ranks. They travel as one tensor.

    Args:
        params: the parameters, the same on all ranks.
        process_group: the ranks; the default group if None. A process outside of the group does nothing.

    Mirrors torch/distributed/algorithms/model_averaging/utils.py, ``average_parameters``.
    """
    group = c10d._get_default_group() if process_group is None else process_group
    params = list(params)
    if c10d._rank_not_in_group(group) or not params:
        return
    with no_grad():
        flat = _VF.cat([p.detach().reshape(-1) for p in params])
        flat /= c10d.get_world_size(group)
        c10d.all_reduce(flat, group=group)
        for p, part in zip(params, flat.split([p.numel() for p in params]), strict=True):
            p.copy_(part.view_as(p))


def get_params_to_average(params: Iterable[Any]) -> list[Any]:
    """Return the parameters that have a gradient.

    Args:
        params: parameters, or the groups of an optimizer.

    Raises:
        NotImplementedError: an element is neither a tensor nor a dict.

    Mirrors torch/distributed/algorithms/model_averaging/utils.py, ``get_params_to_average``.
    """
    found: list[Any] = []
    for each in params:
        if not isinstance(each, (Tensor, dict)):
            raise NotImplementedError(f"Parameter input of type {type(each)} is not supported")
        found += each["params"] if isinstance(each, dict) else [each]
    return [p for p in found if p.grad is not None]


def average_parameters_or_parameter_groups(params: Iterable[Any], process_group: Any) -> None:
    """Replace the parameters that have a gradient by their averages over the ranks.

    Args:
        params: parameters, or the groups of an optimizer.
        process_group: see :func:`average_parameters`.

    Mirrors torch/distributed/algorithms/model_averaging/utils.py, ``average_parameters_or_parameter_groups``.
    """
    average_parameters(get_params_to_average(params), process_group)
