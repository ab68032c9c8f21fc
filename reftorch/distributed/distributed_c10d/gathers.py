"""Collectives of one tensor for each rank: they gather and scatter.

Mirrors: torch/distributed/distributed_c10d.py (``all_gather``, ``gather``, ``scatter`` and their kin)
Leaves out: coalescing, complex tensors.
"""

from __future__ import annotations

from typing import Any

from reftorch._C._distributed_c10d import (
    AllgatherOptions,
    GatherOptions,
    ProcessGroup,
    ReduceOp,
    ReduceScatterOptions,
    ScatterOptions,
    Work,
)
from reftorch._tensor import Tensor
from reftorch._warnings import warn
from reftorch.distributed.distributed_c10d.collectives import _ended, _options
from reftorch.distributed.distributed_c10d.point_to_point import _check_single_tensor
from reftorch.distributed.distributed_c10d.world import (
    _canonicalize_group_rank,
    _group_or_default_group,
    _is_outside,
)

__all__ = [
    "all_gather",
    "all_gather_coalesced",
    "all_gather_into_tensor",
    "all_gather_single",
    "gather",
    "reduce_scatter",
    "reduce_scatter_single",
    "reduce_scatter_tensor",
    "scatter",
]


def _check_tensor_list(param: Any, param_name: str) -> None:
    """Check that an argument is a list of tensors.

    Raises:
        TypeError: it is not.
    """
    if not isinstance(param, list):
        raise TypeError(
            f"Invalid function argument. Expected parameter `{param_name}` of type List[torch.Tensor] but got "
            f"{type(param)} instead."
        )
    if not all(isinstance(p, Tensor) for p in param):
        raise TypeError(
            f"Invalid function argument. Expected parameter `{param_name}` of type List[torch.Tensor] but got "
            f"{type(param)} with elements of type {[type(p) for p in param]}."
        )


def _ensure_all_tensors_same_dtype(*tensors: Tensor | list[Tensor]) -> None:
    """Check that all tensors, and all tensors of the lists, have one dtype.

    Raises:
        ValueError: they do not.
    """
    dtypes = [t.dtype for each in tensors for t in (each if isinstance(each, list) else [each])]
    for dtype in dtypes:
        if dtype != dtypes[0]:
            raise ValueError(f"Invalid usage of tensors with different dtypes: Found {dtypes[0]} and {dtype}")


def _root_with_list(
    pg: ProcessGroup, rank: int | None, group_rank: int | None, tensors: list[Tensor] | None, name: str, role: str
) -> int:
    """Return the root's rank in the group; without a rank, the root is global rank 0.

    Raises:
        ValueError: the root has no list of tensors, or another rank has one.
    """
    root = _canonicalize_group_rank(pg, 0 if rank is None and group_rank is None else rank, group_rank)
    if root == pg.rank() and not tensors:
        raise ValueError(f"Argument ``{name}`` must be specified on {role} rank.")
    if root != pg.rank() and tensors:
        raise ValueError(f"Argument ``{name}`` must NOT be specified on non-{role} ranks.")
    return root


def all_gather(
    tensor_list: list[Tensor], tensor: Tensor, group: ProcessGroup | None = None, async_op: bool = False
) -> Work | None:
    """Copy the tensors of all ranks into a list on each rank.

    Args:
        tensor_list: one tensor for each rank, which are overwritten.
        tensor: that of this rank, of the same size and dtype.
        group: the default group if None.
        async_op: whether to return at once.

    Returns:
        See :func:`all_reduce`.

    Raises:
        ValueError: the tensors differ in size or dtype.
        DistBackendError: see :func:`all_reduce`.

    Example:
        >>> import reftorch.distributed as dist
        >>> from reftorch.testing._internal.common_distributed import spawn_threads_and_init_comms
        >>> @spawn_threads_and_init_comms(world_size=2)
        ... def program():
        ...     tensors = [torch.zeros(1), torch.zeros(1)]
        ...     dist.all_gather(tensors, torch.tensor([1.0 + dist.get_rank()]))
        ...     return tensors
        >>> program()
        [[tensor([1.]), tensor([2.])], [tensor([1.]), tensor([2.])]]

    Mirrors torch/distributed/distributed_c10d.py, ``all_gather``.
    """
    _check_tensor_list(tensor_list, "tensor_list")
    _check_single_tensor(tensor, "tensor")
    _ensure_all_tensors_same_dtype(tensor_list, tensor)
    if _is_outside(group, "all_gather"):
        return None
    return _ended(_group_or_default_group(group).allgather([tensor_list], [tensor]), async_op)


def all_gather_into_tensor(
    output_tensor: Tensor, input_tensor: Tensor, group: ProcessGroup | None = None, async_op: bool = False
) -> Work | None:
    """Copy the tensors of all ranks, one after the other, into one tensor on each rank.

    Args:
        output_tensor: has as many elements as all inputs together; the shape does not matter.
        input_tensor: that of this rank.
        group: the default group if None.
        async_op: whether to return at once.

    Returns:
        See :func:`all_reduce`.

    Raises:
        ValueError: the sizes do not fit.
        TypeError: the dtypes differ.

    Example:
        >>> import reftorch.distributed as dist
        >>> from reftorch.testing._internal.common_distributed import spawn_threads_and_init_comms
        >>> @spawn_threads_and_init_comms(world_size=2)
        ... def program():
        ...     output = torch.zeros(2, 2)
        ...     dist.all_gather_into_tensor(output, torch.full((2,), float(dist.get_rank())))
        ...     return output.tolist()
        >>> program()[0]
        [[0.0, 0.0], [1.0, 1.0]]

    Mirrors torch/distributed/distributed_c10d.py, ``all_gather_into_tensor``.
    """
    _check_single_tensor(input_tensor, "input_tensor")
    _check_single_tensor(output_tensor, "output_tensor")
    if _is_outside(group, "all_gather_into_tensor"):
        return None
    return _ended(_group_or_default_group(group)._allgather_base(output_tensor, input_tensor), async_op)


def all_gather_single(
    output_tensor: Tensor, input_tensor: Tensor, group: ProcessGroup | None = None, async_op: bool = False
) -> Work | None:
    """Do :func:`all_gather_into_tensor`, of which this is a second name.

    Mirrors torch/distributed/distributed_c10d.py, ``all_gather_single``.
    """
    return all_gather_into_tensor(output_tensor, input_tensor, group, async_op)


_all_gather_base = all_gather_into_tensor


def all_gather_coalesced(
    output_tensor_lists: list[list[Tensor]],
    input_tensor_list: list[Tensor],
    group: ProcessGroup | None = None,
    async_op: bool = False,
) -> Work | None:
    """Do :func:`all_gather` for each tensor of a list, in one call. PyTorch deprecates the function.

    Args:
        output_tensor_lists: for each rank, a list of tensors.
        input_tensor_list: the tensors of this rank.
        group: the default group if None.
        async_op: whether to return at once.

    Mirrors torch/distributed/distributed_c10d.py, ``all_gather_coalesced``.
    """
    warn(
        "`torch.distributed.all_gather_coalesced` will be deprecated. If you must use it, please revisit our "
        "documentation later at https://pytorch.org/docs/main/distributed.html#collective-functions",
        FutureWarning,
    )
    if not isinstance(output_tensor_lists, list):
        raise TypeError("Invalid function argument: output_tensor_lists should be a list")
    for tensors in output_tensor_lists:
        _check_tensor_list(tensors, "output_tensor_lists")
    _check_tensor_list(input_tensor_list, "input_tensor_list")
    _ensure_all_tensors_same_dtype(input_tensor_list, *output_tensor_lists)
    if _is_outside(group, "all_gather_coalesced"):
        return None
    opts = _options(AllgatherOptions, asyncOp=async_op)
    work = _group_or_default_group(group).allgather_coalesced(output_tensor_lists, input_tensor_list, opts)
    return _ended(work, async_op)


def gather(
    tensor: Tensor,
    gather_list: list[Tensor] | None = None,
    dst: int | None = None,
    group: ProcessGroup | None = None,
    async_op: bool = False,
    group_dst: int | None = None,
) -> Work | None:
    """Copy the tensors of all ranks into a list on one rank.

    Args:
        tensor: that of this rank.
        gather_list: on the rank that receives, one tensor for each rank; None on all others.
        dst: the global rank that receives; 0 if neither this nor ``group_dst`` is given.
        group: the default group if None.
        async_op: whether to return at once.
        group_dst: in place of ``dst``, the rank in the group.

    Returns:
        See :func:`all_reduce`.

    Raises:
        ValueError: ``gather_list`` is missing where it is needed, or is given where it is not.

    Example:
        >>> import reftorch.distributed as dist
        >>> from reftorch.testing._internal.common_distributed import spawn_threads_and_init_comms
        >>> @spawn_threads_and_init_comms(world_size=2)
        ... def program():
        ...     tensors = [torch.zeros(1), torch.zeros(1)] if dist.get_rank() == 0 else None
        ...     dist.gather(torch.tensor([1.0 + dist.get_rank()]), tensors, dst=0)
        ...     return tensors
        >>> program()
        [[tensor([1.]), tensor([2.])], None]

    Mirrors torch/distributed/distributed_c10d.py, ``gather``.
    """
    _check_single_tensor(tensor, "tensor")
    _check_tensor_list(gather_list or [], "gather_list")
    _ensure_all_tensors_same_dtype(tensor, gather_list or [])
    if _is_outside(group, "gather"):
        return None
    pg = _group_or_default_group(group)
    opts = _options(
        GatherOptions,
        asyncOp=async_op,
        rootRank=_root_with_list(pg, dst, group_dst, gather_list, "gather_list", "destination"),
    )
    return _ended(pg.gather([gather_list] if gather_list else [], [tensor], opts), async_op)


def scatter(
    tensor: Tensor,
    scatter_list: list[Tensor] | None = None,
    src: int | None = None,
    group: ProcessGroup | None = None,
    async_op: bool = False,
    group_src: int | None = None,
) -> Work | None:
    """Give each rank one tensor of a list that one rank has.

    Args:
        tensor: is overwritten.
        scatter_list: on the rank that sends, one tensor for each rank; None on all others.
        src: the global rank that sends; 0 if neither this nor ``group_src`` is given.
        group: the default group if None.
        async_op: whether to return at once.
        group_src: in place of ``src``, the rank in the group.

    Returns:
        See :func:`all_reduce`.

    Raises:
        ValueError: ``scatter_list`` is missing where it is needed, or is given where it is not.

    Example:
        >>> import reftorch.distributed as dist
        >>> from reftorch.testing._internal.common_distributed import spawn_threads_and_init_comms
        >>> @spawn_threads_and_init_comms(world_size=2)
        ... def program():
        ...     tensor = torch.zeros(1)
        ...     tensors = [torch.tensor([5.0]), torch.tensor([7.0])] if dist.get_rank() == 0 else None
        ...     dist.scatter(tensor, tensors, src=0)
        ...     return tensor.item()
        >>> program()
        [5.0, 7.0]

    Mirrors torch/distributed/distributed_c10d.py, ``scatter``.
    """
    _check_single_tensor(tensor, "tensor")
    _check_tensor_list(scatter_list or [], "scatter_list")
    _ensure_all_tensors_same_dtype(tensor, scatter_list or [])
    if _is_outside(group, "scatter"):
        return None
    pg = _group_or_default_group(group)
    opts = _options(
        ScatterOptions,
        asyncOp=async_op,
        rootRank=_root_with_list(pg, src, group_src, scatter_list, "scatter_list", "source"),
    )
    return _ended(pg.scatter([tensor], [scatter_list] if scatter_list else [], opts), async_op)


def reduce_scatter(
    output: Tensor,
    input_list: list[Tensor],
    op: ReduceOp = ReduceOp.SUM,
    group: ProcessGroup | None = None,
    async_op: bool = False,
) -> Work | None:
    """Combine the lists of all ranks, tensor by tensor, and give rank r the result number r.

    Args:
        output: is overwritten by this rank's result.
        input_list: one tensor for each rank.
        op: see :func:`all_reduce`.
        group: the default group if None.
        async_op: whether to return at once.

    Returns:
        See :func:`all_reduce`.

    Raises:
        ValueError: the tensors differ in size or dtype.

    Example:
        >>> import reftorch.distributed as dist
        >>> from reftorch.testing._internal.common_distributed import spawn_threads_and_init_comms
        >>> @spawn_threads_and_init_comms(world_size=2)
        ... def program():
        ...     output = torch.zeros(1)
        ...     dist.reduce_scatter(output, [torch.tensor([1.0]), torch.tensor([10.0])])
        ...     return output.item()
        >>> program()
        [2.0, 20.0]

    Mirrors torch/distributed/distributed_c10d.py, ``reduce_scatter``.
    """
    _check_single_tensor(output, "output")
    _check_tensor_list(input_list, "input_list")
    _ensure_all_tensors_same_dtype(output, input_list)
    if _is_outside(group, "reduce_scatter"):
        return None
    opts = _options(ReduceScatterOptions, asyncOp=async_op, reduceOp=op)
    return _ended(_group_or_default_group(group).reduce_scatter([output], [input_list], opts), async_op)


def reduce_scatter_tensor(
    output: Tensor,
    input: Tensor,
    op: ReduceOp = ReduceOp.SUM,
    group: ProcessGroup | None = None,
    async_op: bool = False,
) -> Work | None:
    """Combine the tensors of all ranks, and give rank r the part number r of the result.

    Args:
        output: is overwritten by this rank's part.
        input: has as many elements as all outputs together.
        op: see :func:`all_reduce`.
        group: the default group if None.
        async_op: whether to return at once.

    Returns:
        See :func:`all_reduce`.

    Raises:
        ValueError: the sizes do not fit.
        TypeError: the dtypes differ.

    Example:
        >>> import reftorch.distributed as dist
        >>> from reftorch.testing._internal.common_distributed import spawn_threads_and_init_comms
        >>> @spawn_threads_and_init_comms(world_size=2)
        ... def program():
        ...     output = torch.zeros(2)
        ...     dist.reduce_scatter_tensor(output, torch.tensor([1.0, 2.0, 3.0, 4.0]))
        ...     return output.tolist()
        >>> program()
        [[2.0, 4.0], [6.0, 8.0]]

    Mirrors torch/distributed/distributed_c10d.py, ``reduce_scatter_tensor``.
    """
    _check_single_tensor(output, "output")
    _check_single_tensor(input, "input")
    if _is_outside(group, "reduce_scatter_tensor"):
        return None
    opts = _options(ReduceScatterOptions, asyncOp=async_op, reduceOp=op)
    return _ended(_group_or_default_group(group)._reduce_scatter_base(output, input, opts), async_op)


def reduce_scatter_single(
    output: Tensor,
    input: Tensor,
    op: ReduceOp = ReduceOp.SUM,
    group: ProcessGroup | None = None,
    async_op: bool = False,
) -> Work | None:
    """Do :func:`reduce_scatter_tensor`, of which this is a second name.

    Mirrors torch/distributed/distributed_c10d.py, ``reduce_scatter_single``.
    """
    return reduce_scatter_tensor(output, input, op, group, async_op)


_reduce_scatter_base = reduce_scatter_tensor
