"""An event of a profile, and the average of events.

Mirrors: torch/autograd/profiler_util.py (FunctionEvent, FunctionEventAvg)
"""

from __future__ import annotations

import enum
from typing import Any, NamedTuple

from reftorch._warnings import warn
from reftorch.autograd.profiler_util.table import written_time

__all__ = ["DeviceType", "FunctionEvent", "FunctionEventAvg", "Interval", "Kernel"]


class DeviceType(enum.Enum):
    """The kind of device on which an event ran.

    Mirrors c10/core/DeviceType.h, ``DeviceType`` (``torch.autograd.DeviceType``).
    """

    CPU = 0
    CUDA = 1


class Interval:
    """A span of time: its start and its end, in microseconds.

    Mirrors torch/autograd/profiler_util.py, ``Interval``.
    """

    def __init__(self, start: float, end: float) -> None:
        self.start = start
        self.end = end

    def elapsed_us(self) -> float:
        return self.end - self.start


class Kernel(NamedTuple):
    """A kernel or a copy that an op started on a device: its name, the number of the device, and microseconds.

    Mirrors torch/autograd/profiler_util.py, ``Kernel``.
    """

    name: str
    device: int
    duration: float


def _renamed(old: str, new: str) -> Any:
    """Return a property with an old name, which warns and returns the attribute with the new name."""

    def get(self: Any) -> Any:
        warn(f"`{old}` is deprecated. Use `{new}` instead.", FutureWarning)
        return getattr(self, new)

    return property(get, doc=f"The old name of ``{new}``.")


def _written(name: str) -> Any:
    return property(lambda self: written_time(getattr(self, name)), doc=f"``{name}`` as a text.")


class _Times:
    """What events and averages share: their mean times, their times as texts, and the names that CUDA's times had."""

    count: int
    cpu_time_total: Any
    device_time_total: Any

    cpu_time_str = _written("cpu_time")
    cpu_time_total_str = _written("cpu_time_total")
    self_cpu_time_total_str = _written("self_cpu_time_total")
    device_time_str = _written("device_time")
    device_time_total_str = _written("device_time_total")
    self_device_time_total_str = _written("self_device_time_total")
    cuda_time = _renamed("cuda_time", "device_time")
    cuda_time_total = _renamed("cuda_time_total", "device_time_total")
    self_cuda_time_total = _renamed("self_cuda_time_total", "self_device_time_total")
    cuda_memory_usage = _renamed("cuda_memory_usage", "device_memory_usage")
    self_cuda_memory_usage = _renamed("self_cuda_memory_usage", "self_device_memory_usage")

    @property
    def cpu_time(self) -> float:
        """The mean time of one call."""
        return self.cpu_time_total / self.count if self.count else 0.0

    @property
    def device_time(self) -> float:
        """The mean time on devices of one call."""
        return self.device_time_total / self.count if self.count else 0.0


class FunctionEvent(_Times):
    """One call: of an op, of a node of the backward pass, of a function of CUDA's runtime, or of a ``record_function``
    block; or one kernel or copy on a device.

    Times are in microseconds. ``self_cpu_time_total`` is the time of the call without the time of its children.
    ``device_time_total`` is the time of the kernels that the call and its children started, and
    ``self_device_time_total`` that of the kernels which the call started itself.

    Args:
        id: the number of the event.
        name: the name of the op, the node, the block or the kernel.
        thread: the number of the calling thread; 0 is the first thread that recorded an event.
        start_us, end_us: the start and the end of the call.
        fwd_thread: for an event of a backward pass, the thread that recorded the node.
        input_shapes: the shapes of tensor arguments.
        stack: the lines of Python that called, the innermost first.
        scope: 0 for an ordinary call, 1 for a call in a backward pass.
        use_device: the device that is profiled beside the CPU: ``"cuda"`` or None.
        cpu_memory_usage: the bytes that the call allocated, minus the bytes that it freed.
        device_memory_usage: the same of all devices.
        is_async: whether the event ended on another thread; such an event has no parent and no children.
        sequence_nr: the sequence number of the node that the op recorded, or of the node that ran; -1 if there is no
            node.
        node_id: the number of the process, if several processes are profiled.
        device_type: where the event ran.
        device_index: the number of the device.
        device_resource_id: the number of the stream; by default ``thread``.
        flops: the floating point operations.
        trace_name: the name of the event in a trace, if it differs from ``name``.
        metadata: what else is known of a kernel or a copy: grid, block, bytes.

    Example:
        >>> from reftorch.autograd.profiler_util import FunctionEvent
        >>> event = FunctionEvent(id=0, name="step", thread=0, start_us=10, end_us=15)
        >>> event.cpu_time_total, event.time_range.end
        (5, 15)

    Mirrors torch/autograd/profiler_util.py, ``FunctionEvent``.
    """

    def __init__(
        self,
        id: int,
        name: str,
        thread: int,
        start_us: float,
        end_us: float,
        *,
        fwd_thread: int | None = None,
        input_shapes: list[list[int]] | None = None,
        stack: list[str] | None = None,
        scope: int = 0,
        use_device: str | None = None,
        cpu_memory_usage: int = 0,
        device_memory_usage: int = 0,
        is_async: bool = False,
        sequence_nr: int = -1,
        node_id: int = -1,
        device_type: DeviceType = DeviceType.CPU,
        device_index: int = 0,
        device_resource_id: int | None = None,
        flops: int = 0,
        trace_name: str | None = None,
        metadata: dict[str, Any] | None = None,
    ) -> None:
        self.id = id
        self.name = self.key = name
        self.trace_name = name if trace_name is None else trace_name
        self.time_range = Interval(start_us, end_us)
        self.thread = thread
        self.fwd_thread = fwd_thread
        self.input_shapes = [] if input_shapes is None else input_shapes
        self.stack = [] if stack is None else stack
        self.scope = scope
        self.use_device = use_device
        self.cpu_memory_usage = cpu_memory_usage
        self.device_memory_usage = device_memory_usage
        self.is_async = is_async
        self.sequence_nr = sequence_nr
        self.node_id = node_id
        self.device_type = device_type
        self.device_index = device_index
        self.device_resource_id = thread if device_resource_id is None else device_resource_id
        self.flops = flops
        self.metadata = {} if metadata is None else metadata
        self.count = 1
        self.kernels: list[Kernel] = []
        self.started_by: FunctionEvent | None = None  # of a kernel or a copy: the call that started it
        self.cpu_parent: FunctionEvent | None = None
        self.cpu_children: list[FunctionEvent] = []

    def append_cpu_child(self, child: FunctionEvent) -> None:
        self.cpu_children.append(child)
        child.cpu_parent = self

    def append_kernel(self, name: str, device: int, duration: float) -> None:
        """Add a kernel that the call started."""
        if self.device_type != DeviceType.CPU:
            raise AssertionError("Expected device_type to be CPU")
        self.kernels.append(Kernel(name, device, duration))

    @property
    def cpu_time_total(self) -> float:
        return self.time_range.elapsed_us() if self.device_type == DeviceType.CPU else 0

    @property
    def self_cpu_time_total(self) -> float:
        if self.is_async:  # its time passes beside that of the ops
            return 0
        return self.cpu_time_total - sum(child.cpu_time_total for child in self.cpu_children)

    @property
    def device_time_total(self) -> float:
        if self.is_async or self.use_device is None:
            return 0
        if self.device_type != DeviceType.CPU:
            return self.time_range.elapsed_us()
        return self._kernel_time() + sum(child.device_time_total for child in self.cpu_children)

    @property
    def self_device_time_total(self) -> float:
        if self.is_async or self.use_device is None:
            return 0
        return self.time_range.elapsed_us() if self.device_type != DeviceType.CPU else self._kernel_time()

    def _kernel_time(self) -> float:
        return sum(kernel.duration for kernel in self.kernels)

    @property
    def self_cpu_memory_usage(self) -> int:
        return self.cpu_memory_usage - sum(child.cpu_memory_usage for child in self.cpu_children)

    @property
    def self_device_memory_usage(self) -> int:
        return self.device_memory_usage - sum(child.device_memory_usage for child in self.cpu_children)

    def __repr__(self) -> str:
        times = f"cpu_time={self.cpu_time_total_str}"
        if self.use_device is not None:
            times += f" {self.use_device}_time={self.device_time_total_str}"
        return f"<FunctionEvent id={self.id} name={self.name} device_type={self.device_type} {times}>"


class FunctionEventAvg(_Times):
    """The average of all calls with one name (and, on request, with equal input shapes or equal stacks).

    Example:
        >>> from reftorch.autograd.profiler_util import FunctionEvent, FunctionEventAvg
        >>> average = FunctionEventAvg()
        >>> for start, end in ((10, 15), (20, 30)):
        ...     _ = average.add(FunctionEvent(id=start, name="step", thread=0, start_us=start, end_us=end))
        >>> average.key, average.count, average.cpu_time
        ('step', 2, 7.5)

    Mirrors torch/autograd/profiler_util.py, ``FunctionEventAvg``.
    """

    def __init__(self) -> None:
        self.key: str | None = None
        self.count = 0
        self.input_shapes: list[list[int]] | None = None
        self.stack: list[str] = []
        self.scope: int | None = None
        self.node_id = 0
        self.use_device: str | None = None
        self.device_type = DeviceType.CPU
        self.is_async = False
        self.cpu_parent: FunctionEvent | None = None
        self.cpu_time_total: float = 0
        self.self_cpu_time_total: float = 0
        self.device_time_total: float = 0
        self.self_device_time_total: float = 0
        self.cpu_memory_usage = self.self_cpu_memory_usage = 0
        self.device_memory_usage = self.self_device_memory_usage = 0
        self.flops = 0

    def add(self, other: FunctionEvent | FunctionEventAvg) -> FunctionEventAvg:
        """Add an event, or all events of another average, and return this average.

        Raises:
            AssertionError: the argument is neither, or has another name.
        """
        if not isinstance(other, (FunctionEvent, FunctionEventAvg)):
            raise AssertionError("Expected other to be a FunctionEvent or FunctionEventAvg")
        if self.key is None:
            for name in ("key", "input_shapes", "stack", "scope", "node_id", "use_device", "device_type", "is_async"):
                setattr(self, name, getattr(other, name))
            self.cpu_parent = other.cpu_parent
        if other.key != self.key:
            raise AssertionError(f"Expected keys to match, but got {other.key} vs {self.key}")
        self.cpu_time_total += other.cpu_time_total
        self.self_cpu_time_total += other.self_cpu_time_total
        self.device_time_total += other.device_time_total
        self.self_device_time_total += other.self_device_time_total
        self.cpu_memory_usage += other.cpu_memory_usage
        self.self_cpu_memory_usage += other.self_cpu_memory_usage
        self.device_memory_usage += other.device_memory_usage
        self.self_device_memory_usage += other.self_device_memory_usage
        self.flops += other.flops
        self.count += other.count
        return self

    __iadd__ = add

    def __repr__(self) -> str:
        return f"<FunctionEventAvg key={self.key} count={self.count} cpu_time={self.cpu_time_str}>"
