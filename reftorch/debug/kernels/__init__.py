"""For a reader or writer of CUDA kernels: what each thread of a kernel does, on the simulated device.

Mirrors: nothing in PyTorch, whose users run NVIDIA's compute-sanitizer and Nsight Compute.
"""

from reftorch.debug.kernels.instrument import instrument_flags
from reftorch.debug.kernels.watch import watch_kernels

__all__ = ["instrument_flags", "watch_kernels"]
