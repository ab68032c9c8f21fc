"""Modules that train on several devices at once, or in several processes.

Mirrors: torch/nn/parallel/__init__.py
"""

from typing import TYPE_CHECKING

from reftorch._api import getattr_of as _getattr_of
from reftorch.nn.parallel.parallel_apply import parallel_apply
from reftorch.nn.parallel.replicate import replicate
from reftorch.nn.parallel.scatter_gather import gather, scatter

from reftorch.nn.parallel.data_parallel import DataParallel, data_parallel  # isort: skip

__all__ = [
    "DataParallel",
    "DistributedDataParallel",
    "data_parallel",
    "gather",
    "parallel_apply",
    "replicate",
    "scatter",
]

# A program of one process needs neither this class nor reftorch.distributed: both are imported at their first use.
if TYPE_CHECKING:
    from reftorch.nn.parallel.distributed import DistributedDataParallel
else:  # type checkers would accept any name if they saw this function
    _OF_LAZY = {"DistributedDataParallel": "reftorch.nn.parallel.distributed"}
    __getattr__ = _getattr_of("reftorch.nn.parallel", ("distributed",), _OF_LAZY)


def __dir__() -> list[str]:
    return [*globals(), "DistributedDataParallel", "distributed"]
