"""Collectives in which each rank sends something else to each rank.

Mirrors: torch/distributed/distributed_c10d.py (``all_to_all``, ``all_to_all_single``)
Leaves out: complex tensors.
"""

from __future__ import annotations

from reftorch._C._distributed_c10d import AllToAllOptions, ProcessGroup, Work
from reftorch._tensor import Tensor
from reftorch.distributed.distributed_c10d.collectives import _ended, _options
from reftorch.distributed.distributed_c10d.gathers import _check_tensor_list, _ensure_all_tensors_same_dtype
from reftorch.distributed.distributed_c10d.point_to_point import _check_single_tensor
from reftorch.distributed.distributed_c10d.world import (
    _group_or_default_group,
    _is_outside,
)

__all__ = ["all_to_all", "all_to_all_single"]


def all_to_all(
    output_tensor_list: list[Tensor],
    input_tensor_list: list[Tensor],
    group: ProcessGroup | None = None,
    async_op: bool = False,
) -> Work | None:
    """Send tensor number r of a list to rank r, and receive one tensor from each rank.

    Args:
        output_tensor_list: tensor number r receives what rank r sends. The sizes may differ from rank to rank.
        input_tensor_list: what to send.
        group: the default group if None.
        async_op: whether to return at once.

    Returns:
        See :func:`all_reduce`.

    Raises:
        DistBackendError: two ranks disagree about the size of what one sends to the other; see also
            :func:`all_reduce`.

    Example:
        >>> import reftorch.distributed as dist
        >>> from reftorch.testing._internal.common_distributed import spawn_threads_and_init_comms
        >>> @spawn_threads_and_init_comms(world_size=2)
        ... def program():
        ...     output = [torch.zeros(1), torch.zeros(1)]
        ...     dist.all_to_all(output, [torch.tensor([10.0 * dist.get_rank() + r]) for r in range(2)])
        ...     return [tensor.item() for tensor in output]
        >>> program()
        [[0.0, 10.0], [1.0, 11.0]]

    Mirrors torch/distributed/distributed_c10d.py, ``all_to_all``.
    """
    _check_tensor_list(output_tensor_list, "output_tensor_list")
    _check_tensor_list(input_tensor_list, "input_tensor_list")
    _ensure_all_tensors_same_dtype(output_tensor_list, input_tensor_list)
    if _is_outside(group, "all_to_all"):
        return None
    opts = _options(AllToAllOptions, asyncOp=async_op)
    return _ended(_group_or_default_group(group).alltoall(output_tensor_list, input_tensor_list, opts), async_op)


def all_to_all_single(
    output: Tensor,
    input: Tensor,
    output_split_sizes: list[int] | None = None,
    input_split_sizes: list[int] | None = None,
    group: ProcessGroup | None = None,
    async_op: bool = False,
) -> Work | None:
    """Send a part of a tensor to each rank, and receive a part from each.

    Args:
        output: receives the parts, in the order of the ranks that send them.
        input: the parts to send, in the order of the ranks that receive them.
        output_split_sizes: how many rows come from each rank; equal parts if None.
        input_split_sizes: how many rows each rank gets; equal parts if None.
        group: the default group if None.
        async_op: whether to return at once.

    Returns:
        See :func:`all_reduce`.

    Raises:
        ValueError: the sizes do not fit the tensors.
        DistBackendError: see :func:`all_to_all`.

    Example:
        >>> import reftorch.distributed as dist
        >>> from reftorch.testing._internal.common_distributed import spawn_threads_and_init_comms
        >>> @spawn_threads_and_init_comms(world_size=2)
        ... def program():
        ...     output = torch.zeros(2)
        ...     dist.all_to_all_single(output, torch.tensor([0.0, 1.0]) + 10 * dist.get_rank())
        ...     return output.tolist()
        >>> program()
        [[0.0, 10.0], [1.0, 11.0]]

    Mirrors torch/distributed/distributed_c10d.py, ``all_to_all_single``.
    """
    _check_single_tensor(output, "output")
    _check_single_tensor(input, "input")
    _ensure_all_tensors_same_dtype(output, input)
    if _is_outside(group, "all_to_all_single"):
        return None
    opts = _options(AllToAllOptions, asyncOp=async_op)
    work = _group_or_default_group(group).alltoall_base(
        output, input, output_split_sizes or [], input_split_sizes or [], opts
    )
    return _ended(work, async_op)
