"""How long operations wait by default.

Mirrors: torch/distributed/constants.py
Leaves out: nothing.
"""

from datetime import timedelta

from reftorch._C._distributed_c10d import _DEFAULT_PG_TIMEOUT

__all__ = ["default_pg_nccl_timeout", "default_pg_timeout"]

default_pg_timeout: timedelta = _DEFAULT_PG_TIMEOUT
# NCCL is not built in, so it has no timeout.
default_pg_nccl_timeout: timedelta | None = None
