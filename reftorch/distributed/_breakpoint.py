"""A breakpoint on one rank, while all others wait.

Mirrors: torch/distributed/__init__.py (``breakpoint``)
"""

from __future__ import annotations

import sys
import traceback
from datetime import timedelta

from reftorch.distributed import distributed_c10d as c10d

__all__ = ["breakpoint"]

_calls: dict[str, int] = {}  # by stack: how often breakpoint() was skipped there


def breakpoint(rank: int = 0, skip: int = 0, timeout_s: float | None = 3600) -> None:
    """Stop on one rank. All other ranks wait in a barrier until it goes on. All ranks call this function.

    The debugger is pdb, or the one that ``sys.breakpointhook`` names, such as that of VS Code. It stops inside this
    function: type ``up`` to come to the line that has called it.

    Args:
        rank: the rank that stops.
        skip: how many calls from this line pass without a stop.
        timeout_s: how long the others wait, in seconds: the time limit of all groups from now on. None leaves it.

    Mirrors torch/distributed/__init__.py, ``breakpoint``.
    """
    if skip > 0:
        here = "".join(traceback.format_stack())
        _calls[here] = _calls.get(here, 0) + 1
        if _calls[here] <= skip:
            return
    if timeout_s is not None:
        for group in c10d._world.pg_map:
            group.set_timeout(timedelta(seconds=timeout_s))
    if c10d.get_rank() == rank:
        if sys.breakpointhook is sys.__breakpointhook__:
            import pdb  # not at the top: it imports eight modules

            print(f"\n!!! Type 'up' to get to the frame that called dist.breakpoint(rank={rank})\n", flush=True)
            pdb.Pdb().set_trace()
        else:
            sys.breakpointhook()
    c10d.barrier()
