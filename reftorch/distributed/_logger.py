"""What DistributedDataParallel knows about itself and its passes: settings, buckets, times, the last error.

Mirrors: torch/csrc/distributed/c10d/logger.cpp, torch/csrc/distributed/c10d/logger.hpp
Leaves out: sending the data to a log, settings of NCCL, events on CUDA streams: all times are the host's.

Note [Samples of run time]
Problem: how long a pass computes, how long it communicates, and how much of this happens at the same time, is what
decides about bucket sizes, but clocks cost time too. Trick: the Reducer takes times in the first ten passes, and then
in each hundredth one (``_set_ddp_runtime_logging_sample_rate``). Such a pass has a dictionary of five times, all other
passes have none:

    forward_compute_start   backward_compute_start       backward_comm_start          backward_compute_end   comm_end
    |------- forward -------|-- backward computation ----|---------- overlap ---------|                          |
                                                         |-------------- communication -------------------------|

The forward of the next pass calls :meth:`Logger.set_runtime_stats_and_log`, which turns the five times into durations
and averages, in nanoseconds.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from typing import Any

from reftorch import _C
from reftorch.distributed import distributed_c10d as c10d

__all__ = ["Logger"]

_DURATIONS = {
    "forward_compute_time": ("forward_compute_start", "backward_compute_start"),
    "backward_compute_time": ("backward_compute_start", "backward_compute_end"),
    "backward_comm_time": ("backward_comm_start", "backward_comm_end"),
    "backward_compute_comm_overlap_time": ("backward_comm_start", "backward_compute_end"),
}
_MOMENTS = (
    "forward_compute_start",
    "backward_compute_start",
    "backward_comm_start",
    "backward_compute_end",
    "backward_comm_end",
)
_C_NAMES = {
    _C.float32: "float",
    _C.float64: "double",
    _C.float16: "c10::Half",
    _C.bfloat16: "c10::BFloat16",
}


def _joined(numbers: Iterable[Any], separator: str = ", ") -> str:
    return separator.join(map(str, numbers))


def _moment_name(event: str) -> str:
    head, _, tail = event.rpartition("_")
    return f"{head}_time_{tail}"


class Logger:
    """The data about one DistributedDataParallel module. See Note [Samples of run time].

    Programs call ``model._get_ddp_logging_data()``, which returns them as a dictionary.

    Args:
        reducer: the Reducer of the module. It gets a weak reference to the logger.

    Example:
        >>> import reftorch.distributed as dist
        >>> dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
        >>> model = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(2, 1))
        >>> for _ in range(2):
        ...     model(torch.ones(3, 2)).mean().backward()
        >>> data = model._get_ddp_logging_data()
        >>> data["module_name"], data["bucket_sizes"], data["prev_iteration_grad_ready_order_indices"]
        ('Linear', '12', '1, 0')
        >>> 0 <= data["avg_backward_compute_comm_overlap_time"] <= data["avg_backward_comm_time"]
        True
        >>> dist.destroy_process_group()

    Mirrors torch/csrc/distributed/c10d/logger.hpp, ``Logger``.
    """

    def __init__(self, reducer: Any) -> None:
        self.reducer = reducer
        self.data: dict[str, Any] = {}
        self.num_iterations_stats_recorded = 0
        reducer._set_logger(self)

    def set_construction_data_and_log(
        self,
        module_name: str,
        device_ids: Sequence[int],
        output_device: int,
        broadcast_buffers: bool,
        has_sync_bn: bool,
        static_graph: bool,
    ) -> None:
        """Note what the constructor of the module knows.

        Args:
            module_name: the name of the class of the module that is trained.
            device_ids: the device of the module, or nothing.
            output_device: the device of the outputs, or -1.
            broadcast_buffers: whether each forward sends the buffers of rank 0.
            has_sync_bn: whether there are SyncBatchNorm layers.
            static_graph: whether the graph is static.

        Mirrors torch/csrc/distributed/c10d/logger.cpp, the method of this name.
        """
        reducer, group = self.reducer, self.reducer.process_group
        parameters = reducer.params
        self.data |= {
            "module_name": module_name,
            "world_size": group.size(),
            "rank": group.rank(),
            "iteration": 0,
            "backend_name": str(c10d.get_backend(group)) if group in c10d._world.pg_map else group.name(),
            "device_ids": _joined(device_ids),
            "output_device": output_device,
            "is_multi_device_module": int(len({p.device for p in parameters}) > 1),
            "broadcast_buffers": int(broadcast_buffers),
            "has_sync_bn": int(has_sync_bn),
            "find_unused_parameters": int(reducer.find_unused_parameters),
            "gradient_as_bucket_view": int(reducer.gradient_as_bucket_view),
            "bucket_cap_bytes": reducer.bucket_bytes_cap,
            "bucket_sizes": self._bucket_sizes(),
            "num_parameter_tensors": len(parameters),
            "total_parameter_size_bytes": self._bytes_of(range(len(parameters))),
            "dtypes": _joined(sorted({_C_NAMES.get(p.dtype, str(p.dtype)) for p in parameters})),
        }
        if static_graph:
            self.set_static_graph()
        self._set_environment()

    def _set_environment(self) -> None:
        names = ["MASTER_ADDR", "MASTER_PORT", "TORCH_DISTRIBUTED_DEBUG", "CUDA_VISIBLE_DEVICES"]
        if self.data["backend_name"] == "gloo":
            names += ["GLOO_SOCKET_IFNAME", "GLOO_DEVICE_TRANSPORT"]
            # `pg_gloo` moves bytes; `pg_stack` runs when another rank asks for a stack.
            self.data["gloo_num_threads"] = 2
        self.data |= {name.lower(): os.environ.get(name, "N/A") for name in names}

    def _bytes_of(self, indices: Iterable[int]) -> int:
        parameters = [self.reducer.params[i] for i in indices]
        return sum(p.numel() * p.element_size() for p in parameters)

    def _bucket_sizes(self) -> str:
        return _joined(self._bytes_of(bucket.variable_indices) for bucket in self.reducer.buckets)

    def set_static_graph(self) -> None:
        """Note that the graph is static."""
        self.data["static_graph"] = 1

    def set_comm_hook(self, name: str) -> None:
        """Note the name of the function that reduces the buckets."""
        self.data["comm_hook"] = name

    def _set_uneven_input_join(self) -> None:
        """Note that :meth:`DistributedDataParallel.join` is in use."""
        self.data["join_uneven_inputs"] = True

    def set_error_and_log(self, message: str) -> None:
        """Note the last error."""
        self.data |= {"has_error": 1, "error": message, "iteration": self.reducer.num_iterations}

    def set_runtime_stats_and_log(self) -> None:
        """Note what the last pass did, if it was sampled.

        A duration whose end is missing, because no backward ran, counts as 0.

        Mirrors torch/csrc/distributed/c10d/logger.cpp, the method of this name.
        """
        reducer, data = self.reducer, self.data
        times = reducer.times
        if times is None:
            return
        self.num_iterations_stats_recorded += 1
        count = self.num_iterations_stats_recorded
        for name, (start, end) in _DURATIONS.items():
            duration = max(0, times[end] - times[start]) if start in times and end in times else 0
            data[name] = duration
            data[f"avg_{name}"] = (data.get(f"avg_{name}", 0) * (count - 1) + duration) // count
        data |= {_moment_name(event): times.get(event, 0) for event in _MOMENTS}
        data |= {
            "iteration": reducer.num_iterations,
            "unused_parameter_size": self._bytes_of(reducer.unused_parameters),
            "has_rebuilt_buckets": int(reducer.has_rebuilt_buckets),
            "num_buckets_reduced": reducer.num_buckets_reduced,
        }
        if reducer.grad_ready_order:
            data["prev_iteration_grad_ready_order_indices"] = _joined(reducer.grad_ready_order)
        if reducer.has_rebuilt_buckets:
            data["rebuilt_bucket_sizes"] = self._bucket_sizes()
            data["rebuilt_per_bucket_param_indices"] = _joined(
                _joined(bucket.variable_indices, " ") for bucket in reducer.buckets
            )
        if not reducer.static_graph:
            data["can_set_static_graph"] = int(reducer._ddp_graph_static())

    def _get_ddp_logging_data(self) -> dict[str, Any]:
        """Return a copy of the data."""
        return dict(self.data)
