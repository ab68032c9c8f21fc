"""Reductions, broadcasts and barriers: every rank has one tensor.

Mirrors: torch/distributed/distributed_c10d.py (``all_reduce``, ``broadcast``, ``reduce``, ``barrier``)
Leaves out: coalescing, sparse and complex tensors.

All ranks of a group call the same collectives in the same order, with tensors of the same size and dtype. A call that
differs is named on all ranks, with the line of each (Note [Fingerprints of calls] in
``cpp/csrc/distributed/c10d/ProcessGroupGloo.h``).
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

from reftorch._C import _distributed_c10d
from reftorch._C._distributed_c10d import (
    AllreduceOptions,
    BarrierOptions,
    BroadcastOptions,
    ProcessGroup,
    ReduceOp,
    ReduceOptions,
    Work,
)
from reftorch._tensor import Tensor
from reftorch._warnings import warn
from reftorch.distributed.constants import default_pg_timeout
from reftorch.distributed.distributed_c10d.backends import BackendConfig
from reftorch.distributed.distributed_c10d.groups import _checked_timeout
from reftorch.distributed.distributed_c10d.point_to_point import _check_single_tensor
from reftorch.distributed.distributed_c10d.world import (
    _canonicalize_group_rank,
    _group_or_default_group,
    _is_outside,
    _rank_not_in_group,
    _warn_not_in_group,
    get_backend,
)

__all__ = [
    "all_reduce",
    "all_reduce_coalesced",
    "barrier",
    "broadcast",
    "monitored_barrier",
    "record_comm",
    "reduce",
    "reduce_op",
]


class _ReduceOp:
    """The former name of :class:`ReduceOp`: its members are those of ``ReduceOp``, with a warning.

    Mirrors torch/distributed/distributed_c10d.py, ``_reduce_op``.
    """

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):  # a question about the object, such as for its docstring, and not a member
            raise AttributeError(name)
        value = getattr(ReduceOp, name)
        warn(
            "`torch.distributed.reduce_op` is deprecated, please use `torch.distributed.ReduceOp` instead",
            FutureWarning,
        )
        return value


reduce_op = _ReduceOp()


def _ended(work: Work, async_op: bool) -> Work | None:
    """Return the work of an asynchronous call; wait for the others."""
    if async_op:
        return work
    work.wait()
    return None


def _options(kind: Any, **settings: Any) -> Any:
    """Return the options of a collective, of the class ``kind``, with some of them set."""
    opts = kind()
    for name, value in settings.items():
        setattr(opts, name, value)
    return opts


def all_reduce(
    tensor: Tensor, op: ReduceOp = ReduceOp.SUM, group: ProcessGroup | None = None, async_op: bool = False
) -> Work | None:
    """Combine the tensors of all ranks, and put the result into each of them.

    Args:
        tensor: this rank's numbers, which the result replaces.
        op: how to combine them, one of :class:`ReduceOp`.
        group: the default group if None.
        async_op: whether to return at once.

    Returns:
        The work if ``async_op``, else None; None too if this process is not a member of the group.

    Raises:
        DistBackendError: a rank calls something else, has ended, or does not come in time.
        RuntimeError: numbers of this dtype cannot be combined this way.

    Example:
        >>> import reftorch.distributed as dist
        >>> from reftorch.testing._internal.common_distributed import spawn_threads_and_init_comms
        >>> @spawn_threads_and_init_comms(world_size=3)
        ... def program():
        ...     tensor = torch.tensor([1.0, 10.0]) * dist.get_rank()
        ...     dist.all_reduce(tensor)
        ...     return tensor.tolist()
        >>> program()
        [[3.0, 30.0], [3.0, 30.0], [3.0, 30.0]]

    Mirrors torch/distributed/distributed_c10d.py, ``all_reduce``.
    """
    _check_single_tensor(tensor, "tensor")
    if _is_outside(group, "all_reduce"):
        return None
    opts = _options(AllreduceOptions, asyncOp=async_op, reduceOp=op)
    return _ended(_group_or_default_group(group).allreduce([tensor], opts), async_op)


def all_reduce_coalesced(
    tensors: Tensor | list[Tensor],
    op: ReduceOp = ReduceOp.SUM,
    group: ProcessGroup | None = None,
    async_op: bool = False,
) -> Work | None:
    """Do :func:`all_reduce` for each tensor of a list, in one call. PyTorch deprecates the function.

    Args:
        tensors: tensors of this rank, which the results replace.
        op: see :func:`all_reduce`.
        group: see :func:`all_reduce`.
        async_op: see :func:`all_reduce`.

    Mirrors torch/distributed/distributed_c10d.py, ``all_reduce_coalesced``.
    """
    warn(
        "`torch.distributed.all_reduce_coalesced` will be deprecated. If you must use it, please revisit our "
        "documentation later at https://pytorch.org/docs/main/distributed.html#collective-functions",
        FutureWarning,
    )
    if isinstance(tensors, Tensor):
        tensors = [tensors]
    for tensor in tensors:
        _check_single_tensor(tensor, "tensors")
    if _is_outside(group, "all_reduce_coalesced"):
        return None
    opts = _options(AllreduceOptions, asyncOp=async_op, reduceOp=op)
    return _ended(_group_or_default_group(group).allreduce_coalesced(tensors, opts), async_op)


def broadcast(
    tensor: Tensor,
    src: int | None = None,
    group: ProcessGroup | None = None,
    async_op: bool = False,
    group_src: int | None = None,
) -> Work | None:
    """Copy the tensor of one rank to all others.

    Args:
        tensor: what to send, or what to overwrite.
        src: the global rank that sends.
        group: the default group if None.
        async_op: whether to return at once.
        group_src: in place of ``src``, the rank in the group.

    Returns:
        See :func:`all_reduce`.

    Raises:
        DistBackendError: see :func:`all_reduce`.

    Example:
        >>> import reftorch.distributed as dist
        >>> from reftorch.testing._internal.common_distributed import spawn_threads_and_init_comms
        >>> @spawn_threads_and_init_comms(world_size=2)
        ... def program():
        ...     tensor = torch.full((2,), dist.get_rank())
        ...     dist.broadcast(tensor, src=1)
        ...     return tensor.tolist()
        >>> program()
        [[1, 1], [1, 1]]

    Mirrors torch/distributed/distributed_c10d.py, ``broadcast``.
    """
    _check_single_tensor(tensor, "tensor")
    if _is_outside(group, "broadcast"):
        return None
    pg = _group_or_default_group(group)
    opts = _options(BroadcastOptions, asyncOp=async_op, rootRank=_canonicalize_group_rank(pg, src, group_src))
    return _ended(pg.broadcast([tensor], opts), async_op)


def reduce(
    tensor: Tensor,
    dst: int | None = None,
    op: ReduceOp = ReduceOp.SUM,
    group: ProcessGroup | None = None,
    async_op: bool = False,
    group_dst: int | None = None,
) -> Work | None:
    """Combine the tensors of all ranks, and put the result into that of one rank.

    Args:
        tensor: this rank's numbers; those of ``dst`` are replaced by the result, and the others keep theirs.
        dst: the global rank that gets the result.
        op: see :func:`all_reduce`.
        group: the default group if None.
        async_op: whether to return at once.
        group_dst: in place of ``dst``, the rank in the group.

    Returns:
        See :func:`all_reduce`.

    Raises:
        DistBackendError: see :func:`all_reduce`.

    Mirrors torch/distributed/distributed_c10d.py, ``reduce``.
    """
    pg = _group_or_default_group(group) if not _rank_not_in_group(group) else None
    _check_single_tensor(tensor, "tensor")
    if pg is None:
        _warn_not_in_group("reduce")
        return None
    opts = _options(ReduceOptions, asyncOp=async_op, reduceOp=op, rootRank=_canonicalize_group_rank(pg, dst, group_dst))
    return _ended(pg.reduce([tensor], opts), async_op)


def barrier(
    group: ProcessGroup | None = None,
    async_op: bool = False,
    device_ids: list[int] | None = None,
    timeout: timedelta | None = None,
) -> Work | None:
    """Wait until all ranks have called this function.

    Args:
        group: the default group if None.
        async_op: whether to return at once.
        device_ids: the CUDA device on which a barrier of nccl runs, as a list of one.
        timeout: how long to wait; the group's timeout if None.

    Returns:
        See :func:`all_reduce`.

    Raises:
        DistBackendError: see :func:`all_reduce`.

    Mirrors torch/distributed/distributed_c10d.py, ``barrier``.
    """
    if _is_outside(group, "barrier"):
        return None
    if device_ids is not None and not isinstance(device_ids, list):
        raise TypeError("Invalid function argument: device_ids type should be List[int]")
    opts = _options(BarrierOptions, asyncOp=async_op)
    if device_ids:
        opts.device = int(device_ids[0])
    if timeout is not None:
        opts.timeout = _checked_timeout(timeout)
    return _ended(_group_or_default_group(group).barrier(opts), async_op)


def monitored_barrier(
    group: ProcessGroup | None = None, timeout: timedelta | None = None, wait_all_ranks: bool = False
) -> None:
    """Wait as :func:`barrier` does; if ranks do not come in time, name them.

    Args:
        group: the default group if None.
        timeout: how long to wait; half an hour if None.
        wait_all_ranks: whether to name all ranks that do not come, and not the first one alone.

    Raises:
        DistBackendError: a rank did not come. Rank 0 names the rank; the others say that rank 0 knows more.
        ValueError: the backend is not gloo.

    Mirrors torch/distributed/distributed_c10d.py, ``monitored_barrier``.
    """
    if _is_outside(group, "monitored_barrier"):
        return
    if "gloo" not in BackendConfig(get_backend(group)).get_device_backend_map().values():
        raise ValueError("monitored_barrier is only implemented for GLOO backend.")
    if isinstance(timeout, float):
        warn(
            "Please specify timeout arg as a timedelta. "
            f"Converting current value of {timeout} assuming it represents seconds"
        )
        timeout = timedelta(seconds=timeout)
    wait: Any = _checked_timeout(timeout, default_pg_timeout)
    _group_or_default_group(group).monitored_barrier(wait, wait_all_ranks)


@contextlib.contextmanager
def record_comm(name: str) -> Iterator[None]:
    """Name the collectives and messages of this thread inside the block in profiles: ``name``, not ``gloo:all_reduce``.

    The backend ``nccl`` records no such events here, so the name has no effect on its groups.

    Args:
        name: the name of the events.

    Example:
        >>> import reftorch.distributed as dist
        >>> dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
        >>> with torch.autograd.profiler.profile() as prof, dist.record_comm("the mean of the losses"):
        ...     dist.all_reduce(torch.ones(2))
        >>> prof.function_events[-1].name
        'the mean of the losses'
        >>> dist.destroy_process_group()

    Mirrors torch/distributed/distributed_c10d.py, ``record_comm``.
    """
    former = _distributed_c10d.exchange_comm_name(name)
    try:
        yield
    finally:
        _distributed_c10d.exchange_comm_name(former)
