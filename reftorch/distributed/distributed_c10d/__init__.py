"""Groups of processes and their collectives.

Mirrors: torch/distributed/distributed_c10d.py
Leaves out: shrinking of groups, the flight recorder, coalescing; see the headers of the parts.

One file of PyTorch with some 6,900 lines is this package. Its parts are, from the bottom: the names of backends, the
groups of this process (``world``), making and ending groups, messages between two ranks, collectives of one tensor for
each rank, those of lists, and those of Python objects.
"""

from __future__ import annotations

from reftorch import _api, _places
from reftorch._C import _distributed_c10d
from reftorch._C._distributed_c10d import (
    AllreduceCoalescedOptions,
    AllreduceOptions,
    AllToAllOptions,
    BarrierOptions,
    BroadcastOptions,
    DebugLevel,
    GatherOptions,
    PrefixStore,
    ProcessGroup,
    ProcessGroupGloo,
    ReduceOp,
    ReduceOptions,
    ReduceScatterOptions,
    ScatterOptions,
    Store,
    Work,
    get_debug_level,
)
from reftorch.distributed._backends.mpi import ProcessGroupMPI
from reftorch.distributed.constants import default_pg_timeout
from reftorch.distributed.distributed_c10d import (
    backends,
    collectives,
    devices,
    exchanges,
    gathers,
    groups,
    objects,
    point_to_point,
    subgroups,
    world,
)
from reftorch.distributed.distributed_c10d.backends import *  # noqa: F403
from reftorch.distributed.distributed_c10d.collectives import *  # noqa: F403
from reftorch.distributed.distributed_c10d.devices import _get_object_coll_device as _get_object_coll_device
from reftorch.distributed.distributed_c10d.exchanges import *  # noqa: F403
from reftorch.distributed.distributed_c10d.gathers import *  # noqa: F403
from reftorch.distributed.distributed_c10d.groups import *  # noqa: F403
from reftorch.distributed.distributed_c10d.objects import *  # noqa: F403
from reftorch.distributed.distributed_c10d.point_to_point import *  # noqa: F403
from reftorch.distributed.distributed_c10d.subgroups import *  # noqa: F403
from reftorch.distributed.distributed_c10d.world import *  # noqa: F403

__all__ = [
    "AllToAllOptions",
    "AllreduceCoalescedOptions",
    "AllreduceOptions",
    "BarrierOptions",
    "BroadcastOptions",
    "DebugLevel",
    "GatherOptions",
    "PrefixStore",
    "ProcessGroup",
    "ProcessGroupGloo",
    "ReduceOp",
    "ReduceOptions",
    "ReduceScatterOptions",
    "ScatterOptions",
    "Store",
    "Work",
    *backends.__all__,
    *collectives.__all__,
    *devices.__all__,
    "default_pg_timeout",
    *exchanges.__all__,
    *gathers.__all__,
    "get_debug_level",
    *groups.__all__,
    *objects.__all__,
    *point_to_point.__all__,
    *subgroups.__all__,
    *world.__all__,
]

ProcessGroupMPI.__module__ = __name__  # the place of the class, which PyTorch has only in a build with MPI
if hasattr(_distributed_c10d, "ProcessGroupNCCL"):
    ProcessGroupNCCL = _distributed_c10d.ProcessGroupNCCL
    ProcessGroupNCCL.__module__ = __name__
    __all__ += ["ProcessGroupNCCL"]

for _type in (Store, PrefixStore, ProcessGroup, ProcessGroupGloo, ReduceOp, Work, DebugLevel, AllToAllOptions,
              AllreduceCoalescedOptions, AllreduceOptions, BarrierOptions, BroadcastOptions, GatherOptions,
              ReduceOptions, ReduceScatterOptions, ScatterOptions):  # fmt: skip
    _type.__module__ = __name__  # PyTorch's place for the classes of the binding

__getattr__ = _api.getattr_of(__name__)
_places.split(__name__)
