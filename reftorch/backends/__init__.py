"""The libraries and devices that tensors can use, and the switches that programs set for them.

Mirrors: torch/backends/__init__.py
Leaves out: switches that no op here reads: those of NNPACK, Xeon, quantized engines and attention.
"""

from reftorch.backends import cuda, cudnn, mha, mkl, mkldnn, mps, openmp, opt_einsum

__all__ = ["cuda", "cudnn", "mha", "mkl", "mkldnn", "mps", "openmp", "opt_einsum"]
