"""The profiler of a training loop: it measures chosen steps, and hands over each trace.

Mirrors: torch/profiler/__init__.py
Leaves out: ``ExecutionTraceObserver``, ``itt``.
"""

from reftorch.autograd import kineto_available
from reftorch.autograd.profiler import record_function
from reftorch.profiler.profiler import (
    ProfilerAction,
    ProfilerActivity,
    profile,
    schedule,
    supported_activities,
    tensorboard_trace_handler,
)

__all__ = [
    "ProfilerAction",
    "ProfilerActivity",
    "kineto_available",
    "profile",
    "record_function",
    "schedule",
    "supported_activities",
    "tensorboard_trace_handler",
]
