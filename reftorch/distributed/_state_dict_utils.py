"""State dicts whose tensors lie in pieces on the ranks: from pieces to whole tensors, and back.

Mirrors: torch/distributed/_state_dict_utils.py
Leaves out: ``ShardedTensor``, pinned and shared memory.
"""

from __future__ import annotations

import io
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from reftorch import _VF
from reftorch._tensor import Tensor
from reftorch.distributed import distributed_c10d as c10d
from reftorch.distributed.tensor import DTensor, distribute_tensor

__all__: list[str] = []


def _map_tensors(function: Callable[[Any], Any], tree: Any, other: Callable[[Any], Any] = lambda value: value) -> Any:
    """Return a copy of nested dicts, lists and tuples in which a function has been called for each tensor.

    Args:
        function: what is called.
        tree: the dicts, lists and tuples.
        other: what is called for values that are not tensors.
    """
    if isinstance(tree, Tensor):
        return function(tree)
    if isinstance(tree, dict):
        return {key: _map_tensors(function, value, other) for key, value in tree.items()}
    if isinstance(tree, (list, tuple)):
        return type(tree)([_map_tensors(function, value, other) for value in tree])
    return other(tree)


def _checked(value: Any) -> Any:
    if value is not None and not isinstance(value, (int, float, str, bytes, io.BytesIO)):
        raise ValueError(f"Unexpected value type {type(value)}")
    return value


def _gather_state_dict(
    state_dict: dict[str, Any], *, cpu_offload: bool = False, ranks_only: tuple[int, ...] = ()
) -> dict[str, Any]:
    """Return a state dict with whole tensors in place of DTensors. All ranks call this.

    Args:
        state_dict: the state dict.
        cpu_offload: whether the tensors are copied to the CPU.
        ranks_only: the ranks that get the result; all others get an empty dict. All ranks get it if there are none.

    Raises:
        ValueError: a value is neither a tensor nor a number, a text, bytes, None, or a dict or list of these.

    Mirrors torch/distributed/_state_dict_utils.py, ``_gather_state_dict``.
    """
    wanted = not ranks_only or c10d.get_rank() in ranks_only

    def whole(tensor: Any) -> Any:
        tensor = tensor.full_tensor() if isinstance(tensor, DTensor) else tensor
        return tensor.cpu() if cpu_offload and wanted else tensor

    gathered = _map_tensors(whole, state_dict, _checked)
    return gathered if wanted else {}


def _offload_state_dict_to_cpu(state_dict: dict[str, Any]) -> dict[str, Any]:
    """Return a state dict whose tensors are on the CPU. See :func:`_gather_state_dict` for errors.

    Mirrors torch/distributed/_state_dict_utils.py, ``_offload_state_dict_to_cpu``.
    """
    return _map_tensors(lambda tensor: tensor.cpu(), state_dict, _checked)


@dataclass
class _TensorInfo:
    """A tensor that rank 0 will send."""

    size: Any
    dtype: Any


def _distribute_state_dict(whole: Any, local: Any, device: Any) -> Any:
    """Return a state dict of whole tensors with pieces in place of the tensors that ``local`` has as DTensors.

    Args:
        whole: nested dicts and lists, equal on all ranks.
        local: what the result shall look like. Keys that ``whole`` lacks are taken from here.
        device: the device of the result. Numbers without a dimension stay on the CPU.

    Mirrors torch/distributed/_state_dict_utils.py, ``_distribute_state_dict``.
    """
    if isinstance(whole, dict):
        companions = local if isinstance(local, dict) else {}
        given = {key: _distribute_state_dict(value, companions.get(key), device) for key, value in whole.items()}
        return {**companions, **given}
    if isinstance(whole, (list, tuple)):
        others = local if isinstance(local, (list, tuple)) and len(local) == len(whole) else [None] * len(whole)
        pairs = zip(whole, others, strict=True)
        return type(whole)([_distribute_state_dict(value, other, device) for value, other in pairs])
    if not isinstance(whole, Tensor):
        return whole
    if whole.dim() == 0:
        return whole.cpu()
    whole = whole.detach().to(device)
    return distribute_tensor(whole, local.device_mesh, local.placements) if isinstance(local, DTensor) else whole


def _broadcast_state_dict(whole: Any, device: Any) -> Any:
    """Return the state dict that rank 0 has. All ranks call this; the tensors travel one by one.

    Args:
        whole: the state dict of rank 0; other ranks may give anything.
        device: the device of the tensors that travel. Numbers without a dimension are on the CPU.

    Mirrors torch/distributed/_state_dict_utils.py, ``_broadcast_state_dict``.
    """
    sent: list[Any] = []

    def announce(tensor: Any) -> Any:
        if tensor.dim() == 0:
            return tensor.cpu()
        sent.append(tensor)
        return _TensorInfo(tensor.shape, tensor.dtype)

    is_first = c10d.get_rank() == 0
    announced = [_map_tensors(announce, whole) if is_first else None]
    c10d.broadcast_object_list(announced, src=0)
    remaining = iter(sent)

    def receive(value: Any) -> Any:
        if not isinstance(value, _TensorInfo):
            return value
        tensor = _VF.empty(value.size, dtype=value.dtype, device=device)
        if is_first:
            tensor.copy_(next(remaining).detach())
        c10d.broadcast(tensor, src=0)
        return tensor

    return _map_tensors(lambda tensor: tensor, announced[0], receive)
