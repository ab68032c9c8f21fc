"""A model whose layers are divided among the ranks, one after the other; small parts of the batch keep all ranks busy.

Mirrors: torch/distributed/pipelining/__init__.py
Leaves out: dividing a model by tracing it, several stages on one rank and their schedules.
"""

from reftorch._api import getattr_of as _getattr_of
from reftorch.distributed.pipelining.schedules import Schedule1F1B, ScheduleGPipe
from reftorch.distributed.pipelining.stage import PipelineStage

__all__ = ["PipelineStage", "Schedule1F1B", "ScheduleGPipe"]

__getattr__ = _getattr_of(__name__)
