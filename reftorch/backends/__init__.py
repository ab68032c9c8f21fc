"""The libraries and devices that tensors can use, and the switches that programs set for them.

Mirrors: torch/backends/__init__.py
Leaves out: switches that no op here reads: those of NNPACK, Xeon, quantized engines and attention.
"""

from reftorch.backends import cuda, cudnn, mkl, mkldnn, mps, openmp

__all__ = ["cuda", "cudnn", "mkl", "mkldnn", "mps", "openmp"]
