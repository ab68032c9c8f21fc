"""Collectives of Python objects that check that all ranks are at the same place, and that an error reaches all of them.

Mirrors: torch/distributed/collective_utils.py
Leaves out: the checks that generators have the same state on all ranks.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from reftorch.distributed.distributed_c10d import (
    ProcessGroup,
    all_gather_object,
    broadcast_object_list,
    get_world_size,
)

__all__ = ["SyncPayload", "all_gather", "all_gather_object_enforce_type", "broadcast"]

T = TypeVar("T")


@dataclass
class SyncPayload(Generic[T]):
    """What a rank sends: its value, or the exception that took the place of the value.

    Mirrors torch/distributed/collective_utils.py, ``SyncPayload``.
    """

    stage_name: str | None
    success: bool
    payload: T
    exception: Exception | None = None


def _made(data_or_fn: Any, stage_name: str | None) -> SyncPayload[Any]:
    if not callable(data_or_fn):
        return SyncPayload(stage_name, True, data_or_fn)
    try:
        return SyncPayload(stage_name, True, data_or_fn())
    except Exception as error:
        return SyncPayload(stage_name, False, None, error)


def broadcast(
    data_or_fn: T | Callable[[], T],
    *,
    success: bool = True,
    stage_name: str | None = None,
    rank: int = 0,
    pg: ProcessGroup | None = None,
) -> T:
    """Return the value of one rank on all ranks.

    Args:
        data_or_fn: the value, or a function that returns the value and is called on ``rank`` alone.
        success: False tells all ranks to stop; then there is no value.
        stage_name: the name of this step in the message of an error.
        rank: the rank that has the value.
        pg: the group; None means one process alone.

    Raises:
        RuntimeError: (on all ranks) the function raised an exception, or ``success`` is False.
        AssertionError: there is a value although ``success`` is False.

    Example:
        >>> from reftorch.distributed.collective_utils import broadcast
        >>> broadcast(lambda: 1 + 1)
        2

    Mirrors torch/distributed/collective_utils.py, ``broadcast``.
    """
    if not success and data_or_fn is not None:
        raise AssertionError("Data or Function is expected to be None if not successful")
    here = rank == 0 if pg is None else pg.rank() == rank
    sent: SyncPayload[Any] = _made(data_or_fn, stage_name) if here else SyncPayload(stage_name, success, None)
    sent.success = sent.success and success
    if pg is not None:
        carried = [sent]
        broadcast_object_list(carried, src=rank, group=pg)
        sent = carried[0]
    if not sent.success:
        message = f"Rank {rank} failed"
        if stage_name is not None:
            message += f": stage {sent.stage_name}"
        if sent.exception is not None:
            message += f": exception {sent.exception}"
        raise RuntimeError(message) from sent.exception
    return sent.payload


def all_gather(
    data_or_fn: T | Callable[[], T], stage_name: str | None = None, pg: ProcessGroup | None = None
) -> list[T]:
    """Return the values of all ranks, in the order of the ranks.

    Args:
        data_or_fn: the value of this rank, or a function that returns the value.
        stage_name: the name of this step; ranks with different names are at different places of the program.
        pg: the group; None means one process alone.

    Raises:
        RuntimeError: (on all ranks) the function of a rank raised an exception, or the names differ.

    Example:
        >>> from reftorch.distributed.collective_utils import all_gather
        >>> all_gather(3)
        [3]

    Mirrors torch/distributed/collective_utils.py, ``all_gather``.
    """
    sent = _made(data_or_fn, stage_name)
    if pg is None:
        if not sent.success:
            raise RuntimeError(f"all_gather failed with exception {sent.exception}") from sent.exception
        return [sent.payload]
    gathered: list[Any] = [None] * get_world_size(pg)
    all_gather_object_enforce_type(pg, gathered, sent)
    message, failures = "", []
    for i, each in enumerate(gathered):
        if each.stage_name != gathered[0].stage_name:
            message += f"Unexpected stage name received from rank {i}: {each.stage_name} "
        elif each.exception is not None:
            failures.append((i, each.exception))
    # PyTorch raises for exceptions alone, and returns the values of the other ranks where only a name differs.
    if failures or message:
        raise RuntimeError(message, failures) from (failures[0][1] if failures else None)
    return [each.payload for each in gathered]


def all_gather_object_enforce_type(
    pg: ProcessGroup,
    object_list: list[Any],
    obj: Any,
    type_checker: Callable[[Any, Any], bool] = lambda x, y: type(x) is type(y),
) -> None:
    """Gather an object of each rank, and check that all are of one type.

    Args:
        pg: the group.
        object_list: takes the objects; its length is the number of ranks.
        obj: the object of this rank.
        type_checker: is called with the first object and each other one, and says whether they fit.

    Raises:
        TypeError: (on all ranks) two objects do not fit.

    Mirrors torch/distributed/collective_utils.py, ``all_gather_object_enforce_type``.
    """
    all_gather_object(object_list, obj, group=pg)
    for i, other in enumerate(object_list[1:], 1):
        if not type_checker(object_list[0], other):
            raise TypeError(
                f"Object type at index {i} is {type(other)}, while first object type is {type(object_list[0])}"
            )
