"""Messages from one rank to another.

Mirrors: torch/distributed/distributed_c10d.py (``send``, ``recv``, ``isend``, ``irecv``, ``batch_isend_irecv``)
Leaves out: the context managers of coalescing.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from reftorch._C._distributed_c10d import ProcessGroup, Work
from reftorch._tensor import Tensor
from reftorch.distributed.distributed_c10d.world import (
    _canonicalize_group_rank,
    _group_or_default_group,
    _is_outside,
    get_global_rank,
)

__all__ = ["P2POp", "batch_isend_irecv", "irecv", "isend", "recv", "send"]


def _check_single_tensor(param: Any, param_name: str) -> None:
    """Check that an argument is a tensor.

    Raises:
        TypeError: it is not.
    """
    if not isinstance(param, Tensor):
        raise TypeError(
            f"Invalid function argument. Expected parameter `{param_name}` of type torch.Tensor but got {type(param)} "
            "instead."
        )


def _check_not_self_rank(group: ProcessGroup, rank: int, rank_type: str) -> None:
    if group.rank() == rank:
        raise ValueError(
            f"Invalid {rank_type} rank: {rank_type} rank should not be the same as the rank of the current process."
        )


def isend(
    tensor: Tensor,
    dst: int | None = None,
    group: ProcessGroup | None = None,
    tag: int = 0,
    group_dst: int | None = None,
) -> Work | None:
    """Start sending a tensor to a rank.

    Args:
        tensor: what to send; it must not change before the work has ended.
        dst: the global rank that receives.
        group: the default group if None.
        tag: a number of 0 or more; :func:`recv` takes a message with the same tag.
        group_dst: in place of ``dst``, the rank in the group.

    Returns:
        The work, or None if this process is not a member of the group.

    Raises:
        ValueError: the rank is this process, or is not a member.

    Mirrors torch/distributed/distributed_c10d.py, ``isend``.
    """
    if _is_outside(group, "isend"):
        return None
    pg = _group_or_default_group(group)
    group_dst = _canonicalize_group_rank(pg, dst, group_dst)
    _check_single_tensor(tensor, "tensor")
    _check_not_self_rank(pg, group_dst, "destination")
    return pg.send([tensor], group_dst, tag)


def irecv(
    tensor: Tensor,
    src: int | None = None,
    group: ProcessGroup | None = None,
    tag: int = 0,
    group_src: int | None = None,
) -> Work | None:
    """Start receiving a tensor from a rank.

    Args:
        tensor: where to put the message, which must have the same number of bytes.
        src: the global rank that sends; None stands for any rank.
        group: the default group if None.
        tag: that of the message.
        group_src: in place of ``src``, the rank in the group.

    Returns:
        The work, or None if this process is not a member of the group.

    Raises:
        ValueError: the rank is this process, or is not a member.

    Mirrors torch/distributed/distributed_c10d.py, ``irecv``.
    """
    if _is_outside(group, "irecv"):
        return None
    _check_single_tensor(tensor, "tensor")
    pg = _group_or_default_group(group)
    if src is None and group_src is None:
        return pg.recv_anysource([tensor], tag)
    group_src = _canonicalize_group_rank(pg, src, group_src)
    _check_not_self_rank(pg, group_src, "source")
    return pg.recv([tensor], group_src, tag)


def send(
    tensor: Tensor,
    dst: int | None = None,
    group: ProcessGroup | None = None,
    tag: int = 0,
    group_dst: int | None = None,
) -> None:
    """Send a tensor to a rank. The message is on its way when the function returns; the rank may not have it yet.

    For the arguments see :func:`isend`.

    Mirrors torch/distributed/distributed_c10d.py, ``send``.
    """
    work = isend(tensor, dst, group, tag, group_dst)
    if work is not None:
        work.wait()


def recv(
    tensor: Tensor,
    src: int | None = None,
    group: ProcessGroup | None = None,
    tag: int = 0,
    group_src: int | None = None,
) -> int:
    """Receive a tensor, and return the global rank that sent it.

    For the arguments see :func:`irecv`.

    Returns:
        The sender, or -1 if this process is not a member of the group.

    Example:
        >>> import reftorch.distributed as dist
        >>> from reftorch.testing._internal.common_distributed import spawn_threads_and_init_comms
        >>> @spawn_threads_and_init_comms(world_size=2)
        ... def program():
        ...     message = torch.tensor([dist.get_rank()])
        ...     if dist.get_rank() == 0:
        ...         return dist.send(message, dst=1)
        ...     return dist.recv(message)
        >>> program()
        [None, 0]

    Mirrors torch/distributed/distributed_c10d.py, ``recv``.
    """
    work = irecv(tensor, src, group, tag, group_src)
    if work is None:
        return -1
    work.wait()
    if src is not None:
        return src
    return get_global_rank(_group_or_default_group(group), work.source_rank() if group_src is None else group_src)


class P2POp:
    """A send or a receive for :func:`batch_isend_irecv`.

    Args:
        op: :func:`isend` or :func:`irecv`.
        tensor: what to send, or where to receive.
        peer: the global rank of the other side.
        group: the default group if None.
        tag: see :func:`isend`.
        group_peer: in place of ``peer``, the rank in the group.

    Raises:
        ValueError: ``op`` is another function, or the peer is this process.

    Mirrors torch/distributed/distributed_c10d.py, ``P2POp``.
    """

    def __init__(
        self,
        op: Callable[..., Any],
        tensor: Tensor,
        peer: int | None = None,
        group: ProcessGroup | None = None,
        tag: int = 0,
        group_peer: int | None = None,
    ) -> None:
        if op not in (isend, irecv):
            raise ValueError(
                "Invalid ``op``. Expected ``op`` to be of type ``torch.distributed.isend`` or "
                "``torch.distributed.irecv``."
            )
        _check_single_tensor(tensor, "tensor")
        self.op = op
        self.tensor = tensor
        self.group = _group_or_default_group(group)
        self.group_peer = _canonicalize_group_rank(self.group, peer, group_peer)
        self.peer = get_global_rank(self.group, self.group_peer)
        self.tag = tag
        _check_not_self_rank(self.group, self.group_peer, "peer")

    def __repr__(self) -> str:
        rank = self.group.rank()
        source, target = (rank, self.group_peer) if self.op is isend else (self.group_peer, rank)
        what = f"{tuple(self.tensor.shape)}, {self.tensor.dtype}"
        return f"P2POp({self.op.__name__} pg={self.group.group_name}, {source=}, {target=}, {what})"


def batch_isend_irecv(p2p_op_list: list[P2POp]) -> list[Work]:
    """Start all sends and receives of a list, and return their works, which are one on CUDA devices.

    Args:
        p2p_op_list: operations of one group. Between two ranks, messages of one tag arrive in the order of the list.

    Raises:
        ValueError: the list is empty or has other elements, or the groups differ.

    Example:
        >>> import reftorch.distributed as dist
        >>> from reftorch.testing._internal.common_distributed import spawn_threads_and_init_comms
        >>> @spawn_threads_and_init_comms(world_size=3)
        ... def ring():
        ...     rank, received = dist.get_rank(), torch.zeros(1)
        ...     works = dist.batch_isend_irecv([
        ...         dist.P2POp(dist.isend, torch.tensor([10.0 * rank]), (rank + 1) % 3),
        ...         dist.P2POp(dist.irecv, received, (rank - 1) % 3),
        ...     ])
        ...     for work in works:
        ...         work.wait()
        ...     return received.item()
        >>> ring()
        [20.0, 0.0, 10.0]

    Mirrors torch/distributed/distributed_c10d.py, ``batch_isend_irecv``.
    """
    if not isinstance(p2p_op_list, list) or not p2p_op_list or not all(isinstance(op, P2POp) for op in p2p_op_list):
        raise ValueError(
            "Invalid ``p2p_op_list``. Each op is expected to to be of type ``torch.distributed.P2POp``, and the list "
            "not to be empty."
        )
    if any(op.group is not p2p_op_list[0].group for op in p2p_op_list):
        raise ValueError("All ops need to use the same group.")
    group, device = p2p_op_list[0].group, p2p_op_list[0].tensor.device
    # NCCL runs messages in their order, and two ranks that both send first would wait for each other. Between the two
    # calls, the order does not matter.
    at_once = device.type == "cuda"
    if at_once:
        group._start_coalescing(device)
    works = []
    for op in p2p_op_list:
        peer = {"group_dst" if op.op is isend else "group_src": op.group_peer}
        works.append(op.op(op.tensor, group=op.group, tag=op.tag, **peer))
    return [group._end_coalescing(device)] if at_once else works
