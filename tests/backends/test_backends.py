"""Which libraries and devices the tensors can use.

Mirrors: nothing in PyTorch: its tests of these are about the libraries themselves.
"""

from types import ModuleType

import pytest

import reftorch
from reftorch import backends


def test_what_there_is() -> None:
    assert backends.openmp.is_available() == ("OpenMP: off" not in reftorch.__config__.show())
    assert not backends.mkl.is_available() and not backends.mkldnn.is_available()
    assert reftorch.has_lapack and reftorch.has_openmp == backends.openmp.is_available() and not reftorch.has_mkl


def answers(library: ModuleType) -> list:
    b = library.backends
    return [
        b.mps.is_available(), b.mps.is_built(), b.cudnn.is_available(), b.cudnn.version(), b.cudnn.enabled,
        b.cudnn.deterministic, b.cudnn.benchmark, b.cudnn.allow_tf32, b.cuda.is_built(), b.cuda.matmul.allow_tf32,
        library.version.cuda, library.version.hip, library.version.debug,
    ]  # fmt: skip


def test_answers_as_torch_without_a_gpu(real_torch_or_none: ModuleType | None) -> None:
    ours = answers(reftorch)
    assert ours == [False, False, False, None, True, False, False, True, False, False, None, None, False]
    if real_torch_or_none is not None and not real_torch_or_none.backends.cuda.is_built():
        assert ours == answers(real_torch_or_none)


def test_switches_are_kept() -> None:
    try:
        backends.cudnn.benchmark = True
        backends.cuda.matmul.allow_tf32 = True
        assert reftorch.backends.cudnn.benchmark and reftorch.backends.cuda.matmul.allow_tf32
    finally:
        backends.cudnn.benchmark = False
        backends.cuda.matmul.allow_tf32 = False


def test_a_context_restores_the_switches_of_cudnn() -> None:
    def switches() -> list[bool]:
        return [getattr(backends.cudnn, name) for name in ("enabled", "benchmark", "deterministic", "allow_tf32")]

    before = switches()
    try:
        with backends.cudnn.flags(benchmark=True, deterministic=True, allow_tf32=False):
            assert switches() == [False, True, True, False]
            raise KeyError
    except KeyError:
        pass
    assert switches() == before == [True, False, False, True]
    assert backends.cudnn.set_flags(_benchmark=True)[:5] == (True, False, None, False, True)
    assert backends.cudnn.set_flags(_benchmark=False)[1] is True and switches() == before


def test_switches_of_products() -> None:
    matmul, c = backends.cuda.matmul, reftorch._C
    try:
        for word in ("fp16", "bf16"):
            name, read = (
                f"allow_{word}_reduced_precision_reduction",
                getattr(c, f"_get_cublas_allow_{word}_reduced_precision_reduction"),
            )
            setattr(matmul, name, False)
            assert read() == (False, True) and not getattr(matmul, name)
            setattr(matmul, name, (False, False))
            assert read() == (False, False) and not getattr(matmul, f"{name}_split_k")
            with pytest.raises(RuntimeError, match="allow_splitk=False"):
                setattr(matmul, name, (True, False))
            with pytest.raises(RuntimeError, match="a pair of bools"):
                setattr(matmul, name, 3)
            setattr(matmul, name, True)
        matmul.allow_fp16_accumulation = True
        assert c._get_cublas_allow_fp16_accumulation()
        for word, is_allowed in (("high", True), ("medium", True), ("highest", False)):
            reftorch.set_float32_matmul_precision(word)
            assert matmul.allow_tf32 is c._get_cublas_allow_tf32() is is_allowed
            assert matmul.fp32_precision == ("tf32" if is_allowed else "ieee")
        matmul.fp32_precision = "tf32"
        for ask in (reftorch.get_float32_matmul_precision, lambda: matmul.allow_tf32):
            with pytest.raises(RuntimeError, match="mix of the legacy and new APIs"):
                ask()
        with pytest.raises(RuntimeError, match="Invalid precision"):
            matmul.fp32_precision = "half"
    finally:
        matmul.allow_fp16_accumulation = False
        matmul.allow_tf32 = False


def test_switches_of_convolutions() -> None:
    cudnn = backends.cudnn
    with cudnn.flags(allow_tf32=False):
        assert cudnn.conv.fp32_precision == cudnn.rnn.fp32_precision == "none" and not cudnn.allow_tf32
        cudnn.rnn.fp32_precision = "tf32"
        with pytest.raises(RuntimeError, match="mix of the legacy and new APIs"):
            print(cudnn.allow_tf32)
        cudnn.rnn.fp32_precision = "none"
    assert cudnn.conv.fp32_precision == "tf32" and cudnn.allow_tf32


def test_the_library_of_products() -> None:
    choose, names = backends.cuda.preferred_blas_library, reftorch._C._BlasBackend
    try:
        assert choose() is choose("default") is choose("hipblas") is names.Cublas
        assert choose("cublaslt") is choose() is names.Cublaslt and str(choose()) == "_BlasBackend.Cublaslt"
        with pytest.raises(RuntimeError, match="Choose from: default, cublas, hipblas, cublaslt, hipblaslt, ck"):
            choose("unknown")
        with pytest.raises(RuntimeError, match="Unknown input value type"):
            choose(1.0)
    finally:
        choose("default")
