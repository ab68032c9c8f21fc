"""The groups of this process, and questions about them.

Mirrors: torch/distributed/distributed_c10d.py (``_World``, ``group``, ``GroupMember``, the questions about groups)
Leaves out: tags of groups.
"""

from __future__ import annotations

import os
from typing import Any, NewType

from reftorch._C._distributed_c10d import ProcessGroup, Store
from reftorch._warnings import warn
from reftorch.distributed.distributed_c10d.backends import Backend, BackendConfig

__all__ = [
    "GroupMember",
    "GroupName",
    "get_backend",
    "get_backend_config",
    "get_global_rank",
    "get_group_rank",
    "get_node_local_rank",
    "get_pg_count",
    "get_process_group_ranks",
    "get_rank",
    "get_world_size",
    "group",
    "is_initialized",
]


GroupName = NewType("GroupName", str)  # for annotations: the name of a group


class _World:
    """The groups that a process, or a thread that plays a rank, belongs to."""

    def __init__(self) -> None:
        self.default_pg: ProcessGroup | None = None
        self.store: Store | None = None  # of the default group
        self.group_count = 0  # of new_group() calls: names of groups are the same on all ranks
        # By group: its backend and store, its name, and the ranks of its members: global rank to group rank.
        self.pg_map: dict[ProcessGroup, tuple[str, Store]] = {}
        self.pg_names: dict[ProcessGroup, str] = {}
        self.pg_group_ranks: dict[ProcessGroup, dict[int, int]] = {}
        self.bound_devices: dict[ProcessGroup, int] = {}  # the device that init_process_group was given
        self.split_counts: dict[ProcessGroup, int] = {}  # of split_group() calls


_world: Any = _World()


class _WorldMeta(type):
    """Lets ``group.WORLD`` be the default group, or None before there is one."""

    @property
    def WORLD(cls) -> ProcessGroup | None:
        return _world.default_pg

    @WORLD.setter
    def WORLD(cls, pg: ProcessGroup | None) -> None:
        _world.default_pg = pg


class group(metaclass=_WorldMeta):
    """The place of ``group.WORLD``, the default group.

    Mirrors torch/distributed/distributed_c10d.py, ``group``.
    """


class GroupMember(metaclass=_WorldMeta):
    """The place of ``GroupMember.NON_GROUP_MEMBER``, which :func:`new_group` returns to processes outside the group.

    Mirrors torch/distributed/distributed_c10d.py, ``GroupMember``.
    """

    NON_GROUP_MEMBER = -100


def is_initialized() -> bool:
    """Return whether there is a default group.

    Example:
        >>> import reftorch.distributed as dist
        >>> dist.is_initialized()
        False

    Mirrors torch/distributed/distributed_c10d.py, ``is_initialized``.
    """
    return _world.default_pg is not None


def _get_default_group() -> ProcessGroup:
    """Return the default group.

    Raises:
        ValueError: there is none.
    """
    if _world.default_pg is None:
        raise ValueError("Default process group has not been initialized, please make sure to call init_process_group.")
    return _world.default_pg


def _get_default_store() -> Store:
    """Return the store of the default group."""
    _get_default_group()
    return _world.store


def _group_or_default_group(group: ProcessGroup | None = None) -> ProcessGroup:
    return _get_default_group() if group is None else group


def _rank_not_in_group(group: Any) -> bool:
    return group is not None and group == GroupMember.NON_GROUP_MEMBER


def _warn_not_in_group(op_name: str) -> None:
    rank = -1 if _world.default_pg is None else _world.default_pg.rank()
    warn(f"Running {op_name} on global rank {rank} which does not belong to the given group.")


def _is_outside(group: Any, op_name: str) -> bool:
    """Return whether this process is not a member of the group, and warn if so: it has nothing to do in the op."""
    if not _rank_not_in_group(group):
        return False
    _warn_not_in_group(op_name)
    return True


def get_rank(group: ProcessGroup | None = None) -> int:
    """Return the rank of this process in the group, or -1 if it is not a member.

    Args:
        group: the default group if None.

    Raises:
        ValueError: there is no default group.

    Mirrors torch/distributed/distributed_c10d.py, ``get_rank``.
    """
    return -1 if _rank_not_in_group(group) else _group_or_default_group(group).rank()


def get_world_size(group: ProcessGroup | None = None) -> int:
    """Return the number of processes in the group, or -1 if this process is not a member.

    Args:
        group: the default group if None.

    Raises:
        ValueError: there is no default group.

    Mirrors torch/distributed/distributed_c10d.py, ``get_world_size``.
    """
    return -1 if _rank_not_in_group(group) else _group_or_default_group(group).size()


def _registered(group: ProcessGroup) -> dict[int, int]:
    """Return the group rank of each global rank of a group.

    Raises:
        ValueError: the group is unknown, or was destroyed.
    """
    try:
        return _world.pg_group_ranks[group]
    except (KeyError, TypeError):
        raise ValueError(
            f"Group {group} is not registered, please create group with torch.distributed.new_group API"
        ) from None


def get_group_rank(group: ProcessGroup, global_rank: int) -> int:
    """Return the rank in ``group`` of the process whose rank in the default group is ``global_rank``.

    Raises:
        ValueError: the group is unknown, or the process is not a member.

    Mirrors torch/distributed/distributed_c10d.py, ``get_group_rank``.
    """
    ranks = _registered(group)
    if global_rank not in ranks:
        raise ValueError(f"Global rank {global_rank} is not part of group {group}")
    return ranks[global_rank]


def get_global_rank(group: ProcessGroup, group_rank: int) -> int:
    """Return the rank in the default group of the process whose rank in ``group`` is ``group_rank``.

    Raises:
        ValueError: the group is unknown, or has no such rank.

    Mirrors torch/distributed/distributed_c10d.py, ``get_global_rank``.
    """
    for global_rank, rank in _registered(group).items():
        if rank == group_rank:
            return global_rank
    raise ValueError(f"Group rank {group_rank} is not part of group {group}")


def get_process_group_ranks(group: ProcessGroup | None) -> list[int]:
    """Return the global ranks of the members, in the order of their group ranks.

    Mirrors torch/distributed/distributed_c10d.py, ``get_process_group_ranks``.
    """
    return list(_registered(_group_or_default_group(group)))


def get_pg_count() -> int:
    """Return how many groups there are, the default group included.

    Mirrors torch/distributed/distributed_c10d.py, ``get_pg_count``.
    """
    return _world.group_count + (1 if _world.default_pg is not None else 0)


def get_backend(group: ProcessGroup | None = None) -> Backend:
    """Return the name of the group's backend.

    Raises:
        ValueError: this process is not a member of the group, or the group is unknown.

    Mirrors torch/distributed/distributed_c10d.py, ``get_backend``.
    """
    pg = _group_or_default_group(group)
    if _rank_not_in_group(pg) or pg not in _world.pg_map:
        raise ValueError("Invalid process group specified")
    return Backend(_world.pg_map[pg][0])


def get_backend_config(group: ProcessGroup | None = None) -> str:
    """Return the backend of each type of device in the group: ``"cpu:gloo"``.

    Raises:
        ValueError: this process is not a member of the group.

    Mirrors torch/distributed/distributed_c10d.py, ``get_backend_config``.
    """
    return str(BackendConfig(get_backend(group)))


def _get_pg_config(group: ProcessGroup | None = None) -> dict[str, Any]:
    """Return the name, description, backends, size and global ranks of a group.

    Mirrors torch/distributed/distributed_c10d.py, ``_get_pg_config``.
    """
    pg = _group_or_default_group(group)
    return {
        "pg_name": _world.pg_names[pg],
        "pg_desc": pg.group_desc,
        "backend_config": get_backend_config(pg),
        "pg_size": pg.size(),
        "ranks": get_process_group_ranks(pg),
    }


def get_node_local_rank(fallback_rank: int | None = None) -> int:
    """Return the rank of this process among those of its machine, as the launcher says it in ``LOCAL_RANK``.

    Args:
        fallback_rank: what to return if there is no such variable.

    Raises:
        RuntimeError: there is neither the variable nor a fallback.

    Mirrors torch/distributed/distributed_c10d.py, ``get_node_local_rank``.
    """
    if "LOCAL_RANK" in os.environ:
        return int(os.environ["LOCAL_RANK"])
    if fallback_rank is not None:
        return int(fallback_rank)
    raise RuntimeError(
        "LOCAL_RANK is not in the environment. Consider passing fallback_rank to allow `get_node_local_rank` to work, "
        "assuming you are not running in a multi-device context and want the code to run locally instead."
    )


def _canonicalize_group_rank(group: ProcessGroup, global_rank: int | None = None, group_rank: int | None = None) -> int:
    """Return a rank of the group, given a global rank or a rank of the group.

    Raises:
        ValueError: both are given, or neither.
    """
    if group_rank is not None:
        if global_rank is not None:
            raise ValueError("Can't specify both group_rank and global_rank")
        return group_rank
    if global_rank is None:
        raise ValueError("Must specify global_rank or group_rank")
    return get_group_rank(group, global_rank)
