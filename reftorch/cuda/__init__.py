"""CUDA devices, the current device, streams, events, memory and random numbers.

The devices are GPUs, in a build with ``-DUSE_CUDA=on``, or those of a simulator that the Debug build contains. The
simulator has no devices unless the environment variable ``REFTORCH_CUDA_SIM`` is set when Python starts;
``REFTORCH_CUDA_SIM=2`` gives two devices.
``reftorch/debug/README.md`` says how to step into its kernels. Without a device, programs that check
``torch.cuda.is_available()`` run unchanged, and functions that need a device raise the error of a torch without CUDA.

Mirrors: torch/cuda/__init__.py
Leaves out: jiterator, green contexts, sparse tensors, tunable ops.
"""

from __future__ import annotations

from typing import Any

from reftorch import _C, _places
from reftorch._C import AcceleratorError, OutOfMemoryError
from reftorch._tensor.types import CUDA_TYPES as _CUDA_TYPES
from reftorch.cuda import amp, nccl, nvtx, profiler, sparse
from reftorch.cuda._device import (
    _is_in_bad_fork,  # noqa: F401
    _lazy_call,  # noqa: F401
    can_device_access_peer,
    current_device,
    device,
    device_count,
    device_of,
    get_arch_list,
    get_device_capability,
    get_device_name,
    get_device_properties,
    init,
    is_available,
    is_bf16_supported,
    is_initialized,
    set_device,
    synchronize,
)
from reftorch.cuda._device import init as _lazy_init  # noqa: F401
from reftorch.cuda._monitor import (
    _HAS_PYNVML,  # noqa: F401
    CudaError,
    DeferredCudaCallError,
    _sleep,  # noqa: F401
    check_error,
    clock_rate,
    cudart,
    cudaStatus,
    current_blas_handle,
    current_solver_handle,
    device_memory_used,
    get_gencode_flags,
    get_sync_debug_mode,
    has_half,
    has_magma,
    ipc_collect,
    is_tf32_supported,
    memory_usage,
    power_draw,
    set_sync_debug_mode,
    temperature,
    utilization,
)
from reftorch.cuda.graphs import (
    CUDAGraph,
    graph,
    graph_pool_handle,
    is_current_stream_capturing,
    make_graphed_callables,
)
from reftorch.cuda.memory import (
    CUDAPluggableAllocator,
    MemPool,
    caching_allocator_alloc,
    caching_allocator_delete,
    caching_allocator_disabled,
    caching_allocator_enable,
    change_current_allocator,
    empty_cache,
    get_allocator_backend,
    get_per_process_memory_fraction,
    host_memory_stats,
    host_memory_stats_as_nested_dict,
    list_gpu_processes,
    max_memory_allocated,
    max_memory_cached,
    max_memory_reserved,
    mem_get_info,
    memory_allocated,
    memory_cached,
    memory_reserved,
    memory_snapshot,
    memory_stats,
    memory_stats_as_nested_dict,
    memory_summary,
    reset_accumulated_host_memory_stats,
    reset_accumulated_memory_stats,
    reset_max_memory_allocated,
    reset_max_memory_cached,
    reset_peak_host_memory_stats,
    reset_peak_memory_stats,
    set_per_process_memory_fraction,
    use_mem_pool,
)
from reftorch.cuda.random import (
    _get_rng_state_offset,  # noqa: F401
    _set_rng_state_offset,  # noqa: F401
    default_generators,
    get_rng_state,
    get_rng_state_all,
    initial_seed,
    manual_seed,
    manual_seed_all,
    seed,
    seed_all,
    set_rng_state,
    set_rng_state_all,
)
from reftorch.cuda.streams import (
    Event,
    ExternalStream,
    Stream,
    StreamContext,
    current_stream,
    default_stream,
    get_stream_from_external,
    set_stream,
    stream,
)
from reftorch.storage import _CUDA_CLASSES

__all__ = [
    "AcceleratorError",
    "CUDAGraph",
    "CUDAPluggableAllocator",
    "CudaError",
    "DeferredCudaCallError",
    "Event",
    "ExternalStream",
    "MemPool",
    "OutOfMemoryError",
    "Stream",
    "StreamContext",
    "amp",
    "caching_allocator_alloc",
    "caching_allocator_delete",
    "caching_allocator_disabled",
    "caching_allocator_enable",
    "can_device_access_peer",
    "change_current_allocator",
    "check_error",
    "clock_rate",
    "cudaStatus",
    "cudart",
    "current_blas_handle",
    "current_device",
    "current_solver_handle",
    "current_stream",
    "default_generators",
    "default_stream",
    "device",
    "device_count",
    "device_memory_used",
    "device_of",
    "empty_cache",
    "get_allocator_backend",
    "get_arch_list",
    "get_device_capability",
    "get_device_name",
    "get_device_properties",
    "get_gencode_flags",
    "get_per_process_memory_fraction",
    "get_rng_state",
    "get_rng_state_all",
    "get_stream_from_external",
    "get_sync_debug_mode",
    "graph",
    "graph_pool_handle",
    "has_half",
    "has_magma",
    "host_memory_stats",
    "host_memory_stats_as_nested_dict",
    "init",
    "initial_seed",
    "ipc_collect",
    "is_available",
    "is_bf16_supported",
    "is_current_stream_capturing",
    "is_initialized",
    "is_tf32_supported",
    "list_gpu_processes",
    "make_graphed_callables",
    "manual_seed",
    "manual_seed_all",
    "max_memory_allocated",
    "max_memory_cached",
    "max_memory_reserved",
    "mem_get_info",
    "memory_allocated",
    "memory_cached",
    "memory_reserved",
    "memory_snapshot",
    "memory_stats",
    "memory_stats_as_nested_dict",
    "memory_summary",
    "memory_usage",
    "nccl",
    "nvtx",
    "power_draw",
    "profiler",
    "reset_accumulated_host_memory_stats",
    "reset_accumulated_memory_stats",
    "reset_max_memory_allocated",
    "reset_max_memory_cached",
    "reset_peak_host_memory_stats",
    "reset_peak_memory_stats",
    "seed",
    "seed_all",
    "set_device",
    "set_per_process_memory_fraction",
    "set_rng_state",
    "set_rng_state_all",
    "set_stream",
    "set_sync_debug_mode",
    "sparse",
    "stream",
    "synchronize",
    "temperature",
    "use_mem_pool",
    "utilization",
]


def _compile_kernel(
    kernel_source: str,
    kernel_name: str,
    compute_capability: str | None = None,
    cuda_include_dirs: list[str] | None = None,
    nvcc_options: list[str] | None = None,
) -> Any:
    """Compile a kernel from the text of CUDA C++ and return a function that launches it.

    For simulated devices, g++ compiles the text; for GPUs, nvcc. Equal texts are compiled once, see
    ``reftorch.utils.cpp_extension`` for the folder. Besides what the text includes, a kernel may use the functions of
    ``<cuda_runtime.h>``, ``<cuda_fp16.h>`` and ``<cuda_bf16.h>``, ``printf`` and ``assert``. On a simulated device, a
    block of ``reftorch.debug.watch_kernels`` finds the races of the kernel, and its accesses outside of arrays.

    Args:
        kernel_source: CUDA C++ that contains the kernel.
        kernel_name: the kernel's name; of a template with its arguments, ``"scale<float>"``.
        compute_capability: the GPU to compile for, such as ``"90"``; None means the GPU of this machine. Simulated
            devices have none.
        cuda_include_dirs: folders in which the compiler looks for headers.
        nvcc_options: more options for nvcc. For simulated devices, only those that begin with ``-D``, ``-U`` or ``-I``
            count.

    Returns:
        A function ``kernel(grid=, block=, args=, shared_mem=, stream=)``. The call returns before the kernel has run.

    Raises:
        RuntimeError: the text does not compile; the message has the compiler's errors with the lines of the text.
        AssertionError: there is no CUDA device.

    Example::

        >>> source = "__global__ void fill(float* x, float value) { x[threadIdx.x] = value; }"
        >>> if torch.cuda.is_available():
        ...     fill = torch.cuda._compile_kernel(source, "fill")
        ...     x = torch.empty(32, device="cuda")
        ...     fill(grid=1, block=32, args=[x, 0.5])

    Mirrors torch/cuda/__init__.py, ``_compile_kernel``.
    """
    from reftorch.cuda._kernel_compiler import CompiledKernels, flags_of
    from reftorch.cuda._kernels import _CudaKernel

    init()
    options = [*(f"-I{folder}" for folder in cuda_include_dirs or ()), *(nvcc_options or ())]
    flags = flags_of(options, _C._cuda_is_simulated)
    file = f"{kernel_name.partition('<')[0].split('::')[-1].strip() or 'kernel'}.cu"
    return _CudaKernel(kernel_name, CompiledKernels(kernel_source, [kernel_name], file, flags, compute_capability))


globals().update(_CUDA_TYPES)  # torch.cuda.FloatTensor and its kin
globals().update(_CUDA_CLASSES)  # torch.cuda.FloatStorage and its kin
_places.adopt(
    __name__,
    [
        name
        for name in __all__
        if getattr(globals()[name], "__module__", "") in ("reftorch.cuda._device", "reftorch.cuda._monitor")
    ],
    globals(),
)
_places.adopt(
    __name__,
    ("StreamContext", "current_stream", "default_stream", "get_stream_from_external", "set_stream", "stream"),
    globals(),
)
