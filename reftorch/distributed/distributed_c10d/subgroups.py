"""Dividing a group.

Mirrors: torch/distributed/distributed_c10d.py (``new_subgroups``, ``split_group``)
Leaves out: shrinking of groups.
"""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from reftorch._C._distributed_c10d import ProcessGroup
from reftorch.distributed.distributed_c10d.backends import Backend, BackendConfig
from reftorch.distributed.distributed_c10d.groups import _make_group, new_group
from reftorch.distributed.distributed_c10d.world import (
    GroupMember,
    _get_default_group,
    _world,
    get_process_group_ranks,
    get_world_size,
)

__all__ = ["new_subgroups", "new_subgroups_by_enumeration", "split_group"]


def new_subgroups(
    group_size: int | None = None,
    group: ProcessGroup | None = None,
    timeout: timedelta | None = None,
    backend: str | None = None,
    pg_options: Any = None,
    group_desc: str | None = None,
) -> tuple[ProcessGroup | int | None, list[ProcessGroup | int]]:
    """Divide a group into groups of ``group_size`` neighbours.

    Args:
        group_size: the size of each new group; the number of devices of this machine if None.
        group: what is divided: the default group if None.
        timeout: see :func:`new_group`.
        backend: see :func:`new_group`.
        pg_options: must be None.
        group_desc: see :func:`new_group`.

    Returns:
        The new group of this process, and the list of all new groups.

    Raises:
        ValueError: the size is not positive, is larger than the group, or does not divide it.

    Mirrors torch/distributed/distributed_c10d.py, ``new_subgroups``.
    """
    if group_size is None:
        from reftorch import cuda

        if not cuda.is_available():
            raise ValueError("Default group size only takes effect when CUDA is available. Hint: pass group_size")
        group_size = cuda.device_count()
    if group_size <= 0:
        raise ValueError(f"The arg 'group_size' ({group_size}) must be positive")
    world_size = get_world_size(group)
    if world_size < group_size:
        raise ValueError(f"The arg 'group_size' ({group_size}) must not exceed the world size ({world_size})")
    if world_size % group_size != 0:
        raise ValueError(f"The world size ({world_size}) must be divisible by 'group_size={group_size}'")
    ranks = get_process_group_ranks(group)
    parts = [ranks[begin : begin + group_size] for begin in range(0, world_size, group_size)]
    return new_subgroups_by_enumeration(parts, timeout, backend, pg_options, group_desc)


def new_subgroups_by_enumeration(
    ranks_per_subgroup_list: list[list[int]],
    timeout: timedelta | None = None,
    backend: str | None = None,
    pg_options: Any = None,
    group_desc: str | None = None,
) -> tuple[ProcessGroup | int | None, list[ProcessGroup | int]]:
    """Make a group of each list of global ranks.

    Args:
        ranks_per_subgroup_list: the members of each group; no rank is a member of two.
        timeout: see :func:`new_group`.
        backend: see :func:`new_group`.
        pg_options: must be None.
        group_desc: see :func:`new_group`.

    Returns:
        The new group of this process, or None, and the list of all new groups.

    Raises:
        ValueError: the list is empty, or a rank is a member of two groups.

    Mirrors torch/distributed/distributed_c10d.py, ``new_subgroups_by_enumeration``.
    """
    if not ranks_per_subgroup_list:
        raise ValueError("The arg 'ranks_per_subgroup_list' cannot be empty")
    seen: dict[int, list[int]] = {}
    for ranks in ranks_per_subgroup_list:
        for rank in ranks:
            if rank in seen:
                raise ValueError(f"Rank {rank} has appeared in both subgroup {seen[rank]} and {ranks}")
            seen[rank] = ranks
    own, groups = None, []
    for ranks in ranks_per_subgroup_list:
        made = new_group(ranks, timeout, backend, pg_options, group_desc=group_desc)
        groups.append(made)
        if made != GroupMember.NON_GROUP_MEMBER:
            own = made
    return own, groups


def split_group(
    parent_pg: ProcessGroup | None = None,
    split_ranks: list[list[int]] | None = None,
    timeout: timedelta | None = None,
    pg_options: Any = None,
    group_desc: str | None = None,
    backend: str | None = None,
) -> ProcessGroup | None:
    """Divide a group of the backend ``nccl`` into groups. All its ranks call the function, and no other rank needs to.

    Args:
        parent_pg: the group; the default group if None.
        split_ranks: the members of each new group, as ranks of ``parent_pg``. A rank is a member of one group at most.
        timeout: see :func:`new_group`.
        pg_options: the options of nccl.
        group_desc: a description; by default that of the parent with the number of the split.
        backend: the backend of the new groups, which must be that of the parent; the same if None.

    Returns:
        The new group of this process, or None if no list names its rank.

    Raises:
        ValueError: there is no list, a list is empty or names a rank twice, or this process is not in the parent.
        RuntimeError: the default group was made without ``device_id``, or the backend of the parent is not nccl.

    Mirrors torch/distributed/distributed_c10d.py, ``split_group``.
    """
    if not split_ranks:
        raise ValueError("split_ranks cannot be None or empty")
    default = _get_default_group()
    if default not in _world.bound_devices:
        raise RuntimeError(
            "No device associated with the default pg, not safe to split any process groups. Hint: pass device_id to "
            "init_process_group"
        )
    parent = parent_pg or default
    if parent not in _world.pg_group_ranks:
        raise ValueError(f"Group {parent} is not registered")
    global_ranks = get_process_group_ranks(parent)
    if default.rank() not in global_ranks:
        raise ValueError(f"Global rank {default.rank()} is not part of the parent group {parent}")
    kinds = BackendConfig(Backend(_world.pg_map[parent][0])).get_device_backend_map()
    if kinds.get("cuda") != Backend.NCCL:
        raise RuntimeError(
            "No backend for the parent process group or its backend does not support splitting. Hint: only nccl does; "
            "new_group makes groups of any backend"
        )
    for device, asked in BackendConfig(Backend(backend)).get_device_backend_map().items() if backend else ():
        if kinds.get(device) != asked:
            raise ValueError(
                f"Backend mismatch for device '{device}': parent has '{kinds.get(device)}', requested '{asked}'. "
                "Backend names must match exactly when filtering split_group backends."
            )
    for ranks in split_ranks:
        if not ranks:
            raise ValueError("the split group cannot be empty")
        if len(ranks) != len(set(ranks)):
            raise ValueError("the split group cannot have duplicate ranks")
        if not all(0 <= rank < len(global_ranks) for rank in ranks):
            raise ValueError(f"the split group {ranks} has ranks that the parent group of {len(global_ranks)} lacks")
    own = parent.rank()
    number = _world.split_counts[parent] = _world.split_counts.get(parent, 0) + 1
    for ranks in split_ranks:
        if own in ranks:
            # All members count the splits of their parent alike, so the name is the same on each of them.
            name = f"{_world.pg_names[parent]}:split{number}:{sorted(ranks)}"
            members = [global_ranks[rank] for rank in ranks]
            kind = Backend(backend) if backend else Backend(_world.pg_map[parent][0])
            described = group_desc or f"{parent.group_desc}:split:{number - 1}"
            return _make_group(kind, _world.store, members, ranks.index(own), timeout, name, described, pg_options)
    return None
