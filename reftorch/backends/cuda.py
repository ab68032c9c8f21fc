"""Switches of matrix products and of attention on CUDA; they have no effect, but programs set them.

Mirrors: torch/backends/cuda/__init__.py
Leaves out: plans of cuFFT, sizes of workspaces, and the questions which kernel of attention would be chosen.
"""

from __future__ import annotations

import enum
import os
from typing import Any

from reftorch import _C, _determinism
from reftorch.cuda._device import _is_compiled


class _Reduction:
    """A pair of switches: whether sums of products of a 16-bit dtype may be kept in this dtype, and made of parts."""

    def __init__(self) -> None:
        self.value = (True, True)

    def set(self, value: Any) -> None:
        if isinstance(value, bool):
            value = (value, True)
        if not (isinstance(value, tuple | list) and len(value) == 2 and all(isinstance(v, bool) for v in value)):
            raise RuntimeError(f"expected a bool or a pair of bools, got {value!r}")
        if value == (True, False) or list(value) == [True, False]:
            raise RuntimeError("allow_splitk=False is not supported when reduced precision reductions are enabled")
        self.value = (value[0], value[1])


class cuBLASModule:
    """The switches ``torch.backends.cuda.matmul``. Products are computed with all digits, whatever they say.

    Example:
        >>> torch.backends.cuda.matmul.allow_tf32
        False

    Mirrors torch/backends/cuda/__init__.py, ``cuBLASModule``.
    """

    def __init__(self) -> None:
        self._fp16, self._bf16 = _Reduction(), _Reduction()
        self._fp16_accumulation = False

    @property
    def allow_tf32(self) -> bool:
        """Whether products of float32 may be computed with TF32."""
        legacy = _determinism._matmul_precision != "highest"
        _determinism.check_one_api(self.fp32_precision == "tf32", legacy, "matmul")
        return legacy

    @allow_tf32.setter
    def allow_tf32(self, value: bool) -> None:
        _determinism._matmul_precision = "high" if value else "highest"
        self.fp32_precision = "tf32" if value else "ieee"

    @property
    def fp32_precision(self) -> str:
        """How exact products of float32 must be: ``"ieee"``, ``"tf32"`` or ``"none"``, which leaves the choice."""
        return _determinism.fp32_precision["cuda.matmul"]

    @fp32_precision.setter
    def fp32_precision(self, value: str) -> None:
        _determinism.set_fp32_precision("cuda.matmul", value)

    @property
    def allow_fp16_reduced_precision_reduction(self) -> bool:
        """Whether sums of products of float16 may be kept in float16."""
        return self._fp16.value[0]

    @allow_fp16_reduced_precision_reduction.setter
    def allow_fp16_reduced_precision_reduction(self, value: Any) -> None:
        self._fp16.set(value)

    @property
    def allow_fp16_reduced_precision_reduction_split_k(self) -> bool:
        """Whether such sums may be made of parts."""
        return self._fp16.value[1]

    @property
    def allow_bf16_reduced_precision_reduction(self) -> bool:
        """Whether sums of products of bfloat16 may be kept in bfloat16."""
        return self._bf16.value[0]

    @allow_bf16_reduced_precision_reduction.setter
    def allow_bf16_reduced_precision_reduction(self, value: Any) -> None:
        self._bf16.set(value)

    @property
    def allow_bf16_reduced_precision_reduction_split_k(self) -> bool:
        """Whether such sums may be made of parts."""
        return self._bf16.value[1]

    @property
    def allow_fp16_accumulation(self) -> bool:
        """Whether products of float16 may be added in float16."""
        return self._fp16_accumulation

    @allow_fp16_accumulation.setter
    def allow_fp16_accumulation(self, value: bool) -> None:
        self._fp16_accumulation = bool(value)


matmul = cuBLASModule()


class _BlasBackend(enum.Enum):
    """A library for matrix products."""

    Default = 0
    Cublas = 1
    Cublaslt = 2
    Ck = 3

    def __str__(self) -> str:
        return f"_BlasBackend.{self.name}"


_BLAS_NAMES = {
    "default": _BlasBackend.Default,
    "cublas": _BlasBackend.Cublas,
    "hipblas": _BlasBackend.Cublas,
    "cublaslt": _BlasBackend.Cublaslt,
    "hipblaslt": _BlasBackend.Cublaslt,
    "ck": _BlasBackend.Ck,
}
_prefers_lt = any(os.environ.get(f"TORCH_BLAS_PREFER_{name}") == "1" for name in ("CUBLASLT", "HIPBLASLT"))
_blas = _BlasBackend.Cublaslt if _prefers_lt else _BlasBackend.Cublas


def preferred_blas_library(backend: Any = None) -> Any:
    """Choose a library for matrix products, and return the one that is chosen. Here cuBLAS computes them all.

    Args:
        backend: ``"cublas"``, ``"cublaslt"``, ``"ck"``, or ``"default"``, which chooses cuBLAS; None changes nothing.

    Raises:
        RuntimeError: there is no such library.

    Example:
        >>> print(torch.backends.cuda.preferred_blas_library())
        _BlasBackend.Cublas

    Mirrors torch/backends/cuda/__init__.py, ``preferred_blas_library``.
    """
    global _blas
    if isinstance(backend, str):
        if backend not in _BLAS_NAMES:
            raise RuntimeError(f"Unknown input value. Choose from: {', '.join(_BLAS_NAMES)}.")
        backend = _BLAS_NAMES[backend]
    if isinstance(backend, _BlasBackend):
        _blas = _BlasBackend.Cublas if backend is _BlasBackend.Default else backend
    elif backend is not None:
        raise RuntimeError("Unknown input value type.")
    return _blas


def is_built() -> bool:
    """Return whether the library was built for CUDA.

    A build that contains the simulator of CUDA counts as built for CUDA while the simulator is awake: with
    ``REFTORCH_CUDA_SIM=2`` in the environment. While the simulator sleeps, the answer is False, and whatever needs a
    device raises *Torch not compiled with CUDA enabled*. ``torch.version.cuda`` is the version of the CUDA toolkit; the
    simulator is compiled without a toolkit, so there the version is None.

    Example:
        >>> torch.backends.cuda.is_built()
        False

    Mirrors torch/backends/cuda/__init__.py, ``is_built``.
    """
    return _is_compiled()


# The names under which PyTorch's own programs read the switches.
for _name, _value in {
    "_BlasBackend": _BlasBackend,
    "_get_cublas_allow_tf32": lambda: matmul.allow_tf32,
    "_get_cublas_allow_fp16_reduced_precision_reduction": lambda: matmul._fp16.value,
    "_get_cublas_allow_bf16_reduced_precision_reduction": lambda: matmul._bf16.value,
    "_get_cublas_allow_fp16_accumulation": lambda: matmul.allow_fp16_accumulation,
    "_cuda_clearCublasWorkspaces": lambda: None,  # cuBLAS keeps no memory of the allocator
}.items():
    setattr(_C, _name, _value)
