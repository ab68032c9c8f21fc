"""Which libraries and devices the tensors can use.

Mirrors: nothing in PyTorch: its tests of these are about the libraries themselves.
"""

from types import ModuleType

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
