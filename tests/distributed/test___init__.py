"""A program learns that there is training in several processes, and what of it is not here.

Mirrors: test/distributed/test_c10d_common.py
"""

import importlib
import importlib.util

import pytest

import reftorch
import reftorch.distributed as dist


def test_it_is_available() -> None:
    assert reftorch.distributed.is_available() is True
    assert dist.is_gloo_available() and dist.is_backend_available("gloo") and not dist.is_backend_available("nccl")
    assert not (dist.is_initialized() or dist.is_nccl_available() or dist.is_ucc_available())
    assert dist.is_mpi_available() == (importlib.util.find_spec("mpi4py") is not None)


def test_errors_are_classes_of_torchs_names() -> None:
    for error in (dist.DistBackendError, dist.DistStoreError, dist.DistNetworkError):
        assert issubclass(error, dist.DistError) and issubclass(error, RuntimeError)
        assert error.__module__ == "reftorch.distributed"
    assert issubclass(dist.QueueEmptyError, dist.DistStoreError)


def test_what_is_missing_is_named() -> None:
    with pytest.raises(AttributeError, match=r"not in reftorch: torch\.distributed\.shrink_group"):
        reftorch.distributed.shrink_group  # type: ignore[attr-defined]  # noqa: B018
    with pytest.raises(ImportError, match=r"not in reftorch: torch\.distributed\.rpc"):
        importlib.import_module("reftorch.distributed.rpc")


def test_former_names_say_so() -> None:
    with pytest.warns(FutureWarning, match=r"reduce_op` is deprecated, please use `torch.distributed.ReduceOp`"):
        assert dist.reduce_op.SUM == dist.ReduceOp.SUM
    assert dist.GroupName("0") == "0"


def test_the_debug_level_is_that_of_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TORCH_DISTRIBUTED_DEBUG", "DETAIL")
    dist.set_debug_level_from_env()
    assert dist.get_debug_level() == dist.DebugLevel.DETAIL
    monkeypatch.setenv("TORCH_DISTRIBUTED_DEBUG", "loud")
    with pytest.raises(RuntimeError, match="TORCH_DISTRIBUTED_DEBUG must be one of OFF, INFO or DETAIL, but is loud"):
        dist.set_debug_level_from_env()
    dist.set_debug_level(dist.DebugLevel.OFF)
    assert dist.get_debug_level() == dist.DebugLevel.OFF
