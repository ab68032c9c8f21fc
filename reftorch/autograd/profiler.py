"""A profiler: measures the time that the ops of a program take.

Mirrors: torch/autograd/profiler.py
Leaves out: the events of Python functions, modules of TorchScript, the kernels of real GPUs, ITT marks.
"""

from __future__ import annotations

import functools
import importlib
from collections.abc import Callable
from typing import Any

from reftorch import _C
from reftorch._warnings import warn
from reftorch.autograd.profiler_util import DeviceType, EventList, FunctionEvent, FunctionEventAvg

__all__ = ["EventList", "FunctionEvent", "emit_nvtx", "profile", "record_function"]


class profile:
    """Measure every op that this thread calls inside, including the ops of backward passes.

    The Dispatcher reports the calls, so a program that does not profile pays nothing. A collective or message of
    ``torch.distributed`` is an event such as ``gloo:all_reduce``, from its call to its end, beside the ops.

    With ``use_device="cuda"``, each kernel and each copy is an event of its own on its device and stream, the calls of
    CUDA's runtime (``cudaLaunchKernel``, ``cudaMemcpyAsync``, ``cudaStreamSynchronize`` and others) are events inside
    the ops, and an op knows the time of the kernels that it started. Simulated devices run their kernels on the
    processor: their times show what overlaps and who waits for whom, and not how fast a GPU is.

    Args:
        enabled: if False, measure nothing.
        use_cuda: the old form of ``use_device="cuda"``.
        use_device: ``"cuda"`` to measure the kernels of simulated devices, too. Without CUDA, a warning says that the
            option has no effect, as in PyTorch.
        record_shapes: record the shapes of tensor arguments.
        with_flops: count the floating point operations of products, of ``conv2d``, and of ``add`` and ``mul``.
        profile_memory: record the number of bytes that each call allocated, minus the bytes that it freed.
        with_stack: record the lines of Python from which each op was called. An op of a backward pass gets those of
            the op that recorded its node.
        with_modules: has no effect; PyTorch records the modules of TorchScript.
        use_kineto: has no effect.
        use_cpu: if False, the events are those of devices only.
        left_out: other options of PyTorch.

    Raises:
        RuntimeError: a profiler runs already, or the ``profile`` is entered a second time.
        AssertionError: nothing is to be measured.
        NotImplementedError: an option is not supported, or the devices are real GPUs, whose kernels reftorch cannot
            measure; NVIDIA's ``nsys`` can.

    Example:
        >>> x = torch.ones(2, requires_grad=True)
        >>> with torch.autograd.profiler.profile() as prof:
        ...     (x * 2).sum().backward()
        >>> [event.name for event in prof.function_events[:2]]
        ['aten::mul', 'aten::sum']
        >>> print(prof.key_averages().table(sort_by="cpu_time_total", row_limit=3))
        -...
        Name    Self CPU %    Self CPU ...

    Mirrors torch/autograd/profiler.py, ``profile``.
    """

    def __init__(
        self,
        enabled: bool = True,
        *,
        use_cuda: bool = False,
        use_device: str | None = None,
        record_shapes: bool = False,
        with_flops: bool = False,
        profile_memory: bool = False,
        with_stack: bool = False,
        with_modules: bool = False,
        use_kineto: bool = False,
        use_cpu: bool = True,
        **left_out: Any,
    ) -> None:
        asked_for = [name for name, value in left_out.items() if value]
        if asked_for:
            raise NotImplementedError(f"profile(): {', '.join(asked_for)} is not supported")
        self.enabled = enabled
        self.use_device = _checked_device("cuda" if use_cuda else use_device) if enabled else None
        if enabled and not use_cpu and self.use_device is None:
            raise AssertionError("No activities specified for the profiler")
        self.use_cpu = use_cpu
        self.record_shapes = record_shapes or with_flops
        self.with_flops = with_flops
        self.profile_memory = profile_memory
        self.with_stack = with_stack
        self.with_modules = with_modules
        self.entered = False
        self.function_events: EventList | None = None
        self._began_ns = 0

    def __enter__(self) -> profile:
        if not self.enabled:
            return self
        if self.entered:
            raise RuntimeError("Profiler context manager is not reentrant")
        self._began_ns = _C._autograd._enable_profiler(
            self.record_shapes, self.profile_memory, self.with_stack, self.with_flops
        )
        if self.use_device is not None:
            _C._cuda_start_activities()
        self.entered = True
        return self

    def __exit__(self, *exc_info: object) -> None:
        if not self.enabled:
            return
        activities = []
        try:
            if self.use_device is not None:
                activities = _C._cuda_stop_activities()
        finally:
            records = _C._autograd._disable_profiler()
        events = EventList.from_records(
            records,
            activities,
            self._began_ns,
            use_device=self.use_device,
            profile_memory=self.profile_memory,
            with_shapes=self.record_shapes,
            with_flops=self.with_flops,
        )
        on_cpu = DeviceType.CPU
        self.function_events = events if self.use_cpu else events._like(e for e in events if e.device_type != on_cpu)

    def _events(self) -> EventList:
        if self.function_events is None:
            raise RuntimeError("Profiler didn't finish running")
        return self.function_events

    def key_averages(
        self, group_by_input_shape: bool = False, group_by_stack_n: int = 0, group_by_overload_name: bool = False
    ) -> EventList:
        """Sum the events by name; see ``EventList.key_averages``."""
        return self._events().key_averages(group_by_input_shape, group_by_stack_n, group_by_overload_name)

    def table(self, **options: Any) -> str:
        """Return a table of all events; see ``EventList.table``."""
        return self._events().table(**options)

    def export_chrome_trace(self, path: str) -> None:
        """Write the events for ``chrome://tracing``."""
        self._events().export_chrome_trace(path)

    def export_stacks(self, path: str, metric: str = "self_cpu_time_total") -> None:
        """Write the stack of each event with its time; see ``EventList.export_stacks``."""
        events = self._events()
        if not self.with_stack:
            raise AssertionError("export_stacks() requires with_stack=True")
        events.export_stacks(path, metric)

    def total_average(self) -> FunctionEventAvg:
        """Return the average of all events."""
        return self._events().total_average()

    @property
    def self_cpu_time_total(self) -> float:
        """The time of all events in microseconds; nested events count once."""
        return self._events().self_cpu_time_total

    def __repr__(self) -> str:
        return "<unfinished torch.autograd.profile>" if self.function_events is None else repr(self.function_events)

    def __str__(self) -> str:
        return repr(self) if self.function_events is None else str(self.function_events)


def _checked_device(device: str | None) -> str | None:
    """Return the device to profile beside the CPU, or None with a warning where there is no such device."""
    if device is None:
        return None
    if device != "cuda":
        warn(f"The {device} is not a valid device option.")
        return None
    if not _has_cuda_devices():
        warn("CUDA is not available, disabling CUDA profiling")
        return None
    if not _C._cuda_is_simulated:
        raise NotImplementedError(
            "profile(): the kernels of a real GPU are not measured; only simulated devices (REFTORCH_CUDA_SIM) record "
            "theirs. Hint: NVIDIA's nsys shows the kernels of any program."
        )
    return device


def _has_cuda_devices() -> bool:
    count = getattr(_C, "_cuda_getDeviceCount", None)
    return count is not None and count() > 0


class record_function:
    """Give a part of the program a name in the profile: a ``with`` block, or a decorated function.

    Args:
        name: the name.
        args: a text about this run of the part. PyTorch has it among the inputs of the event; here no profile shows it.

    Example:
        >>> with torch.autograd.profiler.profile() as prof:
        ...     with torch.autograd.profiler.record_function("forward"):
        ...         _ = torch.ones(2) + 1
        >>> forward = prof.function_events[0]
        >>> forward.name, [child.name for child in forward.cpu_children]
        ('forward', ['aten::ones', 'aten::add'])

    Mirrors torch/autograd/profiler.py, ``record_function``.
    """

    def __init__(self, name: str, args: str | None = None) -> None:
        self.name = name
        self.args = args
        self.record: Any = None

    def __enter__(self) -> record_function:
        if _C._autograd._profiler_enabled():  # asked first, because an event that nobody measures takes longer to make
            self.record = _C._autograd._RecordFunction(self.name)
        return self

    def __exit__(self, *exc_info: object) -> None:
        self.record = None

    def __call__(self, function: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(function)
        def recorded(*args: Any, **kwargs: Any) -> Any:
            with record_function(self.name, self.args):
                return function(*args, **kwargs)

        return recorded


class emit_nvtx:
    """Make each op of a ``with`` block a range of NVTX, which the profilers of NVIDIA show beside their kernels.

    Args:
        enabled: False makes the block do nothing.
        record_shapes: accepted for compatibility: a range has the name of its op only.

    Raises:
        AssertionError: this build has no CUDA.

    Example:
        >>> with torch.autograd.profiler.emit_nvtx(enabled=False):
        ...     _ = torch.ones(2) + 1

    Mirrors torch/autograd/profiler.py, ``emit_nvtx``.
    """

    def __init__(self, enabled: bool = True, record_shapes: bool = False) -> None:
        self.enabled = enabled
        self.record_shapes = record_shapes
        self._mode: Any = None

    def __enter__(self) -> emit_nvtx | None:
        if not self.enabled:
            return None
        cuda = importlib.import_module("reftorch.cuda")  # here, because it imports this module
        modes = importlib.import_module("reftorch.utils._python_dispatch")

        class Ranges(modes.TorchDispatchMode):  # type: ignore[name-defined]
            def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
                with cuda.nvtx.range(str(func)):
                    return func(*args, **(kwargs or {}))

        cuda.synchronize()
        self._mode = Ranges()
        self._mode.__enter__()
        return self

    def __exit__(self, *exc: object) -> None:
        if self.enabled:
            importlib.import_module("reftorch.cuda").synchronize()
            self._mode.__exit__(*exc)
