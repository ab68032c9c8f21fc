"""Collectives of Python objects: a pickle is sent as a tensor of bytes, after its length.

Mirrors: torch/distributed/distributed_c10d.py (the functions whose names end in ``_object`` and ``_object_list``)
Leaves out: other devices for the tensors of bytes than that of the group.

A pickle can run any code when it is read. So these functions are for processes of one job that trust each other.
"""

from __future__ import annotations

import pickle
from typing import Any

from reftorch import _C, _VF
from reftorch._C._distributed_c10d import ProcessGroup
from reftorch._tensor import Tensor
from reftorch.distributed.distributed_c10d.collectives import broadcast
from reftorch.distributed.distributed_c10d.devices import _get_object_coll_device
from reftorch.distributed.distributed_c10d.gathers import all_gather, gather, scatter
from reftorch.distributed.distributed_c10d.point_to_point import recv, send
from reftorch.distributed.distributed_c10d.world import (
    _canonicalize_group_rank,
    _group_or_default_group,
    _is_outside,
    get_global_rank,
)
from reftorch.functional.construction import frombuffer

__all__ = [
    "all_gather_object",
    "broadcast_object_list",
    "gather_object",
    "recv_object_list",
    "scatter_object_list",
    "send_object_list",
]


def _object_to_tensor(obj: Any, pg: ProcessGroup) -> Tensor:
    return frombuffer(bytearray(pickle.dumps(obj)), dtype=_C.uint8).to(_get_object_coll_device(pg))


def _tensor_to_object(tensor: Tensor, size: int) -> Any:
    return pickle.loads(tensor[:size].cpu().numpy().tobytes())


def _number(value: int, pg: ProcessGroup) -> Tensor:
    return _C.tensor([value], dtype=_C.int64, device=_get_object_coll_device(pg))


def _bytes(size: int, pg: ProcessGroup) -> Tensor:
    return _VF.empty(size, dtype=_C.uint8, device=_get_object_coll_device(pg))


def _numbers(count: int, pg: ProcessGroup) -> Tensor:
    return _VF.zeros(count, dtype=_C.int64, device=_get_object_coll_device(pg))


def _padded(tensor: Tensor, size: int) -> Tensor:
    padded = _VF.zeros(size, dtype=_C.uint8, device=tensor.device)
    padded[: tensor.numel()] = tensor
    return padded


def _sizes_of_all(own: Tensor, pg: ProcessGroup) -> list[int]:
    sizes = [_number(0, pg) for _ in range(pg.size())]
    all_gather(sizes, _number(own.numel(), pg), pg)
    return [int(size) for size in sizes]


def all_gather_object(object_list: list[Any], obj: Any, group: ProcessGroup | None = None) -> None:
    """Put the objects of all ranks into a list on each rank.

    Args:
        object_list: a list with one place for each rank.
        obj: that of this rank; anything that ``pickle`` takes.
        group: the default group if None.

    Example:
        >>> import reftorch.distributed as dist
        >>> from reftorch.testing._internal.common_distributed import spawn_threads_and_init_comms
        >>> @spawn_threads_and_init_comms(world_size=2)
        ... def program():
        ...     objects = [None, None]
        ...     dist.all_gather_object(objects, {"rank": dist.get_rank()})
        ...     return objects
        >>> program()[0]
        [{'rank': 0}, {'rank': 1}]

    Mirrors torch/distributed/distributed_c10d.py, ``all_gather_object``.
    """
    if _is_outside(group, "all_gather_object"):
        return
    pg = _group_or_default_group(group)
    own = _object_to_tensor(obj, pg)
    sizes = _sizes_of_all(own, pg)
    parts = [_bytes(max(sizes), pg) for _ in sizes]
    all_gather(parts, _padded(own, max(sizes)), pg)
    for i, (part, size) in enumerate(zip(parts, sizes, strict=True)):
        object_list[i] = _tensor_to_object(part, size)


def gather_object(
    obj: Any,
    object_gather_list: list[Any] | None = None,
    dst: int | None = None,
    group: ProcessGroup | None = None,
    group_dst: int | None = None,
) -> None:
    """Put the objects of all ranks into a list on one rank.

    Args:
        obj: that of this rank.
        object_gather_list: on the rank that receives, a list with one place for each rank; None on all others.
        dst: the global rank that receives; 0 if neither this nor ``group_dst`` is given.
        group: the default group if None.
        group_dst: in place of ``dst``, the rank in the group.

    Mirrors torch/distributed/distributed_c10d.py, ``gather_object``.
    """
    if _is_outside(group, "gather_object"):
        return
    pg = _group_or_default_group(group)
    root = _canonicalize_group_rank(pg, 0 if dst is None and group_dst is None else dst, group_dst)
    if root == pg.rank() and not object_gather_list:
        raise ValueError("Argument ``gather_list`` must be specified on destination rank.")
    if root != pg.rank() and object_gather_list:
        raise ValueError("Argument ``gather_list`` must NOT be specified on non-destination ranks.")
    own = _object_to_tensor(obj, pg)
    sizes = _sizes_of_all(own, pg)
    is_root = root == pg.rank()
    parts = [_bytes(max(sizes), pg) for _ in sizes] if is_root else None
    gather(_padded(own, max(sizes)), parts, group=pg, group_dst=root)
    if parts is not None and object_gather_list is not None:
        for i, (part, size) in enumerate(zip(parts, sizes, strict=True)):
            object_gather_list[i] = _tensor_to_object(part, size)


def _pack(object_list: list[Any], pg: ProcessGroup) -> tuple[Tensor, Tensor]:
    """Return the sizes of the pickles of a list, and the pickles one after the other."""
    tensors = [_object_to_tensor(obj, pg) for obj in object_list]
    sizes = _C.tensor([tensor.numel() for tensor in tensors], dtype=_C.int64, device=tensors[0].device)
    return sizes, _VF.cat(tensors) if len(tensors) > 1 else tensors[0]


def _unpack(object_list: list[Any], sizes: Tensor, data: Tensor) -> None:
    begin = 0
    for i, size in enumerate(sizes.tolist()):
        object_list[i] = _tensor_to_object(data[begin : begin + size], size)
        begin += size


def broadcast_object_list(
    object_list: list[Any],
    src: int | None = None,
    group: ProcessGroup | None = None,
    device: Any = None,
    group_src: int | None = None,
) -> None:
    """Copy the objects of one rank's list into the lists of all others.

    Args:
        object_list: the objects, or a list of the same length, whose elements are replaced.
        src: the global rank that sends; 0 if neither this nor ``group_src`` is given.
        group: the default group if None.
        device: has no effect: the bytes are sent from the CPU, or from the device of a group for devices alone.
        group_src: in place of ``src``, the rank in the group.

    Example:
        >>> import reftorch.distributed as dist
        >>> from reftorch.testing._internal.common_distributed import spawn_threads_and_init_comms
        >>> @spawn_threads_and_init_comms(world_size=2)
        ... def program():
        ...     objects = ["a", 1] if dist.get_rank() == 0 else [None, None]
        ...     dist.broadcast_object_list(objects)
        ...     return objects
        >>> program()[1]
        ['a', 1]

    Mirrors torch/distributed/distributed_c10d.py, ``broadcast_object_list``.
    """
    if _is_outside(group, "broadcast_object_list"):
        return
    pg = _group_or_default_group(group)
    root = _canonicalize_group_rank(pg, 0 if src is None and group_src is None else src, group_src)
    if pg.rank() == root:
        sizes, data = _pack(object_list, pg)
        broadcast(sizes, group=pg, group_src=root)
    else:
        sizes = _numbers(len(object_list), pg)
        broadcast(sizes, group=pg, group_src=root)
        data = _bytes(int(sizes.sum()), pg)
    broadcast(data, group=pg, group_src=root)
    if pg.rank() != root:
        _unpack(object_list, sizes, data)


def scatter_object_list(
    scatter_object_output_list: list[Any],
    scatter_object_input_list: list[Any] | None = None,
    src: int | None = None,
    group: ProcessGroup | None = None,
    group_src: int | None = None,
) -> None:
    """Give each rank one object of a list that one rank has.

    Args:
        scatter_object_output_list: a list whose first element is replaced by the object.
        scatter_object_input_list: on the rank that sends, one object for each rank.
        src: the global rank that sends; 0 if neither this nor ``group_src`` is given.
        group: the default group if None.
        group_src: in place of ``src``, the rank in the group.

    Raises:
        ValueError: the output list is empty, or the input list has a wrong length.

    Mirrors torch/distributed/distributed_c10d.py, ``scatter_object_list``.
    """
    if _is_outside(group, "scatter_object_list"):
        return
    if not isinstance(scatter_object_output_list, list) or len(scatter_object_output_list) < 1:
        raise ValueError("Expected argument scatter_object_output_list to be a list of size at least 1.")
    pg = _group_or_default_group(group)
    root = _canonicalize_group_rank(pg, 0 if src is None and group_src is None else src, group_src)
    if pg.rank() == root:
        if scatter_object_input_list is None or len(scatter_object_input_list) != pg.size():
            raise ValueError(
                "source rank must provide non-None scatter_object_input_list with one object for each rank"
            )
        tensors = [_object_to_tensor(obj, pg) for obj in scatter_object_input_list]
        sizes = [_number(tensor.numel(), pg) for tensor in tensors]
        longest = _number(max(tensor.numel() for tensor in tensors), pg)
    else:
        tensors, sizes, longest = [], None, _number(0, pg)
    broadcast(longest, group=pg, group_src=root)
    size, part = _number(0, pg), _bytes(int(longest), pg)
    scatter(part, [_padded(tensor, int(longest)) for tensor in tensors] or None, group=pg, group_src=root)
    scatter(size, sizes, group=pg, group_src=root)
    scatter_object_output_list[0] = _tensor_to_object(part, int(size))


def send_object_list(
    object_list: list[Any],
    dst: int | None = None,
    group: ProcessGroup | None = None,
    device: Any = None,
    group_dst: int | None = None,
    use_batch: bool = False,
) -> None:
    """Send the objects of a list to a rank, which calls :func:`recv_object_list`.

    Args:
        object_list: at least one object.
        dst: the global rank that receives.
        group: the default group if None.
        device: has no effect.
        group_dst: in place of ``dst``, the rank in the group.
        use_batch: has no effect.

    Mirrors torch/distributed/distributed_c10d.py, ``send_object_list``.
    """
    if _is_outside(group, "send_object_list"):
        return
    pg = _group_or_default_group(group)
    root = _canonicalize_group_rank(pg, dst, group_dst)
    sizes, data = _pack(object_list, pg)
    send(sizes, group=pg, group_dst=root)
    send(data, group=pg, group_dst=root)


def recv_object_list(
    object_list: list[Any],
    src: int | None = None,
    group: ProcessGroup | None = None,
    device: Any = None,
    group_src: int | None = None,
    use_batch: bool = False,
) -> int:
    """Receive the objects that a rank sends by :func:`send_object_list`, and return the global rank of the sender.

    Args:
        object_list: a list of the same length, whose elements are replaced.
        src: the global rank that sends; None stands for any rank.
        group: the default group if None.
        device: has no effect.
        group_src: in place of ``src``, the rank in the group.
        use_batch: has no effect.

    Returns:
        The sender, or -1 if this process is not a member of the group.

    Mirrors torch/distributed/distributed_c10d.py, ``recv_object_list``.
    """
    if _is_outside(group, "recv_object_list"):
        return -1
    pg = _group_or_default_group(group)
    sizes = _numbers(len(object_list), pg)
    source = recv(sizes, src, pg, group_src=group_src)
    if src is None and group_src is not None:
        source = get_global_rank(pg, group_src)
    data = _bytes(int(sizes.sum()), pg)
    recv(data, source, pg)
    _unpack(object_list, sizes, data)
    return source
