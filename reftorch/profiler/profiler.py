"""``profile``: :class:`autograd.profiler.profile <reftorch.autograd.profiler.profile>` on chosen steps of a loop.

Mirrors: torch/profiler/profiler.py
Leaves out: the kernels of real GPUs, the events of Python functions, memory timelines, execution traces.
"""

from __future__ import annotations

import enum
import json
import os
import socket
import time
from collections.abc import Callable, Iterable
from typing import Any

from reftorch._warnings import warn
from reftorch.autograd import profiler
from reftorch.autograd.profiler_util import EventList

__all__ = [
    "ProfilerAction",
    "ProfilerActivity",
    "profile",
    "schedule",
    "supported_activities",
    "tensorboard_trace_handler",
]


class ProfilerActivity(enum.Enum):
    """The devices whose work can be measured.

    Mirrors torch/csrc/profiler/orchestration/observer.h, ``ActivityType``.
    """

    CPU = 0
    XPU = 1
    MTIA = 2
    CUDA = 3
    HPU = 4
    PrivateUse1 = 5


class ProfilerAction(enum.Enum):
    """The action in a step: nothing, warm up, record, or record and then hand over the trace.

    Mirrors torch/profiler/profiler.py, ``ProfilerAction``.
    """

    NONE = 0
    WARMUP = 1
    RECORD = 2
    RECORD_AND_SAVE = 3


_RECORDING = (ProfilerAction.RECORD, ProfilerAction.RECORD_AND_SAVE)


def supported_activities() -> set[ProfilerActivity]:
    """Return the activities that can be measured here: those of the CPU, and those of simulated CUDA devices.

    Mirrors torch/profiler/profiler.py, ``supported_activities``.
    """
    from reftorch import _C, cuda

    simulated = cuda.is_available() and _C._cuda_is_simulated
    return {ProfilerActivity.CPU, ProfilerActivity.CUDA} if simulated else {ProfilerActivity.CPU}


def schedule(
    *, wait: int, warmup: int, active: int, repeat: int = 0, skip_first: int = 0, skip_first_wait: int = 0
) -> Callable[[int], ProfilerAction]:
    """Return a function from the number of a step to the action of :class:`profile` in that step.

    After ``skip_first`` steps a cycle begins: ``wait`` steps without action, ``warmup`` steps, and ``active`` steps
    that are recorded; the last of them hands over the trace.

    Args:
        wait, warmup, active: the parts of a cycle.
        repeat: the number of cycles; 0 means no end.
        skip_first: the number of steps before the first cycle.
        skip_first_wait: a nonzero number omits the ``wait`` of the first cycle.

    Raises:
        AssertionError: a number is negative, or ``active`` is 0.

    Example:
        >>> when = torch.profiler.schedule(wait=1, warmup=1, active=2, repeat=1)
        >>> [when(step).name for step in range(5)]
        ['NONE', 'WARMUP', 'RECORD', 'RECORD_AND_SAVE', 'NONE']

    Mirrors torch/profiler/profiler.py, ``schedule``.
    """
    if wait < 0 or warmup < 0 or active <= 0 or repeat < 0 or skip_first < 0:
        raise AssertionError(
            f"Invalid profiler schedule arguments. Got wait={wait} (need >= 0), warmup={warmup} (need >= 0), "
            f"active={active} (need > 0), repeat={repeat} (need >= 0), skip_first={skip_first} (need >= 0)."
        )
    if warmup == 0:
        warn("Profiler won't be using warmup, this can skew profiler results")

    def action_of(step: int) -> ProfilerAction:
        if step < 0:
            raise AssertionError(f"Step must be non-negative. Got {step}.")
        if step < skip_first:
            return ProfilerAction.NONE
        step += (wait if skip_first_wait else 0) - skip_first
        cycle, step = divmod(step, wait + warmup + active)
        if (repeat > 0 and cycle >= repeat) or step < wait:
            return ProfilerAction.NONE
        if step < wait + warmup:
            return ProfilerAction.WARMUP
        return ProfilerAction.RECORD if step < wait + warmup + active - 1 else ProfilerAction.RECORD_AND_SAVE

    return action_of


def tensorboard_trace_handler(
    dir_name: str, worker_name: str | None = None, use_gzip: bool = False
) -> Callable[[profile], None]:
    """Return an ``on_trace_ready`` that writes each trace to a file of its own, in the place that TensorBoard reads.

    Args:
        dir_name: the folder; it is created if it does not exist.
        worker_name: the beginning of the files' names; by default the names of the machine and the process.
        use_gzip: must be False, because compressed files are not supported.

    Raises:
        NotImplementedError: ``use_gzip`` is true.
        RuntimeError: (when called) the folder cannot be created.

    Example:
        >>> import os, tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     with torch.profiler.profile(on_trace_ready=torch.profiler.tensorboard_trace_handler(folder, "me")):
        ...         _ = torch.ones(2) + 1
        ...     [file] = os.listdir(folder)
        >>> file.startswith("me."), file.endswith(".pt.trace.json")
        (True, True)

    Mirrors torch/profiler/profiler.py, ``tensorboard_trace_handler``.
    """
    if use_gzip:
        raise NotImplementedError(
            "tensorboard_trace_handler(): use_gzip=True is not supported; compress the file afterwards"
        )

    def handle(prof: profile) -> None:
        try:
            os.makedirs(dir_name, exist_ok=True)
        except OSError as error:
            raise RuntimeError(f"Can't create directory: {dir_name}") from error
        worker = worker_name or f"{socket.gethostname()}_{os.getpid()}"
        prof.export_chrome_trace(os.path.join(dir_name, f"{worker}.{time.time_ns()}.pt.trace.json"))

    return handle


class profile:
    """Measure the ops of a loop, or of chosen steps of the loop.

    Args:
        activities: the activities to measure; the default is all that :func:`supported_activities` returns.
            ``ProfilerActivity.CUDA`` measures the kernels of simulated devices; where there are none, a warning says
            that it has no effect.
        schedule: a function that returns the action of each step, such as :func:`schedule` makes; without it,
            everything inside the block is recorded.
        on_trace_ready: a function that is called with this object whenever a trace is complete.
        record_shapes: record the shapes of tensor arguments.
        profile_memory: record the number of bytes that each call allocated, minus those that it freed.
        with_stack: record the lines of Python from which each op was called.
        with_flops: count the floating point operations of products, of ``conv2d``, and of ``add`` and ``mul``.
        with_modules: has no effect; PyTorch records the modules of TorchScript.
        acc_events: keep the events of previous cycles.

    Raises:
        NotImplementedError: an option or an activity is not supported.
        ValueError: an activity is given twice.
        TypeError: an activity is not a ProfilerActivity.
        AssertionError: (from the methods) there is no trace yet.

    Example:
        >>> from reftorch.profiler import profile, ProfilerActivity
        >>> with profile(activities=[ProfilerActivity.CPU]) as prof:
        ...     _ = torch.ones(2) + 1
        >>> [event.key for event in prof.key_averages()]
        ['aten::ones', 'aten::add']

    Mirrors torch/profiler/profiler.py, ``profile``.
    """

    def __init__(
        self,
        *,
        activities: Iterable[ProfilerActivity] | None = None,
        schedule: Callable[[int], ProfilerAction] | None = None,
        on_trace_ready: Callable[[profile], Any] | None = None,
        record_shapes: bool = False,
        profile_memory: bool = False,
        with_stack: bool = False,
        with_flops: bool = False,
        with_modules: bool = False,
        acc_events: bool = False,
        **left_out: Any,
    ) -> None:
        self.activities = _checked_activities(activities)
        asked_for = [name for name, value in left_out.items() if value]
        if asked_for:
            raise NotImplementedError(f"profile(): {', '.join(asked_for)} is not supported")
        self.schedule = schedule
        self.on_trace_ready = on_trace_ready
        self.record_shapes = record_shapes
        self.profile_memory = profile_memory
        self.with_stack = with_stack
        self.with_flops = with_flops
        self.with_modules = with_modules
        self.acc_events = acc_events
        self.step_num = 0
        self.current_action = self._action()
        self.profiler: profiler.profile | None = None
        self._former: list[Any] = []
        self._step: profiler.record_function | None = None
        self._metadata: dict[str, Any] = {}

    def _action(self) -> ProfilerAction:
        return ProfilerAction.RECORD if self.schedule is None else self.schedule(self.step_num)

    def __enter__(self) -> profile:
        self.start()
        return self

    def __exit__(self, *exc_info: object) -> None:
        self.stop()

    def start(self) -> None:
        """Start with step 0."""
        self._enter(None)

    def stop(self) -> None:
        """Stop; a trace that is being recorded is handed over."""
        self._leave()
        if self.current_action in _RECORDING:
            self._finish(hand_on=True)

    def step(self) -> None:
        """Mark the beginning of the next step of the loop."""
        former = self.current_action
        self._leave()
        self.step_num += 1
        self.current_action = self._action()
        self._enter(former)

    def _enter(self, former: ProfilerAction | None) -> None:
        if former == ProfilerAction.RECORD_AND_SAVE:
            self._finish(hand_on=True)
        elif former == ProfilerAction.RECORD and self.current_action not in _RECORDING:
            warn(f"Incorrect schedule: RECORD followed by {self.current_action.name}")
            self._finish(hand_on=False)
        if self.current_action in _RECORDING and former != ProfilerAction.RECORD:
            self._keep_former()
            self.profiler = profiler.profile(
                use_cpu=ProfilerActivity.CPU in self.activities,
                use_device="cuda" if ProfilerActivity.CUDA in self.activities else None,
                record_shapes=self.record_shapes,
                profile_memory=self.profile_memory,
                with_stack=self.with_stack,
                with_flops=self.with_flops,
            )
            self.profiler.__enter__()
        if self.schedule is not None and self.current_action in _RECORDING:
            self._step = profiler.record_function(f"ProfilerStep#{self.step_num}")
            self._step.__enter__()

    def _leave(self) -> None:
        if self._step is not None:
            self._step.__exit__(None, None, None)
            self._step = None

    def _keep_former(self) -> None:
        if self.acc_events and self.profiler is not None:
            self._former.extend(self.profiler.function_events or ())

    def _finish(self, hand_on: bool) -> None:
        assert self.profiler is not None
        self.profiler.__exit__(None, None, None)
        if hand_on and self.on_trace_ready is not None:
            self.on_trace_ready(self)

    def events(self) -> EventList:
        """Return the events of the trace, in the order of the calls."""
        if self.profiler is None:
            raise AssertionError("Profiler must be initialized before accessing events")
        if self.profiler.function_events is None:
            raise AssertionError("Expected profiling results: the profiler did not finish running")
        events = self.profiler.function_events
        return events._like([*self._former, *events]) if self._former else events

    def key_averages(
        self, group_by_input_shape: bool = False, group_by_stack_n: int = 0, group_by_overload_name: bool = False
    ) -> EventList:
        """Sum the events by name; see ``EventList.key_averages``."""
        return self.events().key_averages(group_by_input_shape, group_by_stack_n, group_by_overload_name)

    def export_stacks(self, path: str, metric: str = "self_cpu_time_total") -> None:
        """Write the stack of each event with its time; see ``EventList.export_stacks``."""
        if not self.with_stack:
            raise AssertionError("export_stacks() requires with_stack=True")
        self.events().export_stacks(path, metric)

    def add_metadata(self, key: str, value: str) -> None:
        """Store a text that is written with the trace."""
        self._metadata[key] = value

    def add_metadata_json(self, key: str, value: str) -> None:
        """Store a value, given as JSON, that is written with the trace."""
        self._metadata[key] = json.loads(value)

    def export_chrome_trace(self, path: str) -> None:
        """Write the events, and the metadata of :meth:`add_metadata`, for ``chrome://tracing``."""
        events = self.events()
        events.export_chrome_trace(path)
        if self._metadata:
            with open(path) as file:
                trace = json.load(file)
            with open(path, "w") as file:
                json.dump({**self._metadata, **trace}, file)


def _checked_activities(activities: Iterable[ProfilerActivity] | None) -> set[ProfilerActivity]:
    seen: set[ProfilerActivity] = set()
    for activity in activities or supported_activities():
        if not isinstance(activity, ProfilerActivity):
            raise TypeError(f"Expected ProfilerActivity or dict, got {type(activity)}")
        if activity in seen:
            raise ValueError(f"Activity {activity} specified more than once")
        seen.add(activity)
    missing = sorted(activity.name for activity in seen - {ProfilerActivity.CPU, ProfilerActivity.CUDA})
    if missing:
        raise NotImplementedError(f"profile(): there is no {', '.join(missing)} to measure here")
    return seen
