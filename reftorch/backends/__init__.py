"""Which libraries and devices the tensors can use, and the switches that programs set for them.

Mirrors: torch/backends/__init__.py
Leaves out: what no op here reads: flags of NNPACK, Xeon, quantized engines and attention.
"""

from reftorch.backends import cuda, cudnn, mkl, mkldnn, mps, openmp

__all__ = ["cuda", "cudnn", "mkl", "mkldnn", "mps", "openmp"]
