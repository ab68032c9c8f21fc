"""How long operations wait by default.

Mirrors: torch/distributed/constants.py
"""

from datetime import timedelta

from reftorch._C import _distributed_c10d

__all__ = ["default_pg_nccl_timeout", "default_pg_timeout"]

default_pg_timeout: timedelta = _distributed_c10d._DEFAULT_PG_TIMEOUT
# None in a build without NCCL, as in PyTorch.
_HAS_NCCL = hasattr(_distributed_c10d, "ProcessGroupNCCL")
default_pg_nccl_timeout: timedelta | None = timedelta(minutes=10) if _HAS_NCCL else None
