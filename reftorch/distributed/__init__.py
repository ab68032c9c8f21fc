"""Training in several processes: groups of processes, collectives on their tensors, stores, and a launcher.

Mirrors: torch/distributed/__init__.py
Leaves out: UCC, RPC, checkpoints of several processes; ``reftorch/_api/names.csv`` has each name.

A job consists of ``world_size`` processes, its *ranks*. They find each other through a *store*, a small dictionary, and
then talk to each other directly: in *collectives*, which all ranks call, and in messages from one rank to another.

    import reftorch as torch
    import reftorch.distributed as dist

    dist.init_process_group("gloo")
    tensor = torch.ones(3) * dist.get_rank()
    dist.all_reduce(tensor)  # the sum, on all ranks
    dist.destroy_process_group()

    python -m reftorch.distributed.run --standalone --nproc-per-node 2 train.py
"""

from reftorch import _api, _places
from reftorch._C import _DistBackendError as DistBackendError
from reftorch._C import _DistError as DistError
from reftorch._C import _DistNetworkError as DistNetworkError
from reftorch._C import _DistQueueEmptyError as QueueEmptyError
from reftorch._C import _DistStoreError as DistStoreError
from reftorch._C._distributed_c10d import (
    DebugLevel,
    FileStore,
    HashStore,
    TCPStore,
    get_debug_level,
    set_debug_level,
    set_debug_level_from_env,
)
from reftorch.distributed import distributed_c10d
from reftorch.distributed._breakpoint import breakpoint
from reftorch.distributed._grad_bucket import BuiltinCommHookType, GradBucket
from reftorch.distributed._logger import Logger
from reftorch.distributed._reducer import _DEFAULT_FIRST_BUCKET_BYTES as _DEFAULT_FIRST_BUCKET_BYTES
from reftorch.distributed._reducer import Reducer
from reftorch.distributed._reducer import _broadcast_coalesced as _broadcast_coalesced
from reftorch.distributed._reducer import _compute_bucket_assignment_by_size as _compute_bucket_assignment_by_size
from reftorch.distributed.device_mesh import DeviceMesh, init_device_mesh
from reftorch.distributed.distributed_c10d import *  # noqa: F403
from reftorch.distributed.distributed_c10d import _all_gather_base, _reduce_scatter_base
from reftorch.distributed.distributed_c10d import _rank_not_in_group as _rank_not_in_group
from reftorch.distributed.rendezvous import register_rendezvous_handler, rendezvous

__all__ = [
    "BuiltinCommHookType",
    "DebugLevel",
    "DeviceMesh",
    "DistBackendError",
    "DistError",
    "DistNetworkError",
    "DistStoreError",
    "FileStore",
    "GradBucket",
    "HashStore",
    "Logger",
    "QueueEmptyError",
    "Reducer",
    "TCPStore",
    "_all_gather_base",
    "_reduce_scatter_base",
    "breakpoint",
    *(name for name in distributed_c10d.__all__ if name not in ("DebugLevel", "get_debug_level")),
    "get_debug_level",
    "init_device_mesh",
    "is_available",
    "register_rendezvous_handler",
    "rendezvous",
    "set_debug_level",
    "set_debug_level_from_env",
]

__getattr__ = _api.getattr_of(
    __name__,
    (
        "algorithms",
        "argparse_util",
        "collective_utils",
        "constants",
        "elastic",
        "launch",
        "nn",
        "optim",
        "run",
        "utils",
    ),
)

_places.adopt(__name__, ["breakpoint"], globals())
set_debug_level_from_env()


def is_available() -> bool:
    """Return True: training in several processes is built in. PyTorch can be built without it.

    Example:
        >>> torch.distributed.is_available()
        True

    Mirrors torch/distributed/__init__.py, ``is_available``.
    """
    return True
