"""What torch.cuda and torch.accelerator tell about a device, and what works on a device as on the CPU.

Run by test_devices.py.

Mirrors: test/test_cuda.py, test/test_accelerator.py
"""

import io
import os
import subprocess
import sys
import time
import warnings
from typing import Any

import pytest

import reftorch as torch
from reftorch import cuda

SIMULATED = getattr(torch._C, "_cuda_is_simulated", False)
two_devices = pytest.mark.skipif(cuda.device_count() < 2, reason="needs two devices")


@pytest.mark.skipif(os.environ.get("CUDA_LAUNCH_BLOCKING") == "1", reason="each launch waits")
def test_a_stream_that_sleeps_lets_the_program_go_on() -> None:
    cuda.synchronize()
    event = cuda.Event()
    cuda._sleep(300_000_000)
    event.record()
    started = time.monotonic()
    assert not event.query()
    event.synchronize()
    assert event.query() and (time.monotonic() - started > 0.05 or not SIMULATED)


def test_the_program_is_told_where_it_waits() -> None:
    x = torch.ones(3, device="cuda")
    cuda.set_sync_debug_mode("warn")
    try:
        with pytest.warns(UserWarning, match="called a synchronizing CUDA operation"):
            x.sum().item()
        cuda.set_sync_debug_mode(2)
        assert cuda.get_sync_debug_mode() == 2
        for waits in (x.cpu, x.nonzero, x.tolist, lambda: bool(x[0])):
            with pytest.raises(RuntimeError, match="called a synchronizing CUDA operation"):
                waits()
        x.add_(1).relu()
    finally:
        cuda.set_sync_debug_mode("default")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert x.tolist() == [2, 2, 2]
    with pytest.raises(RuntimeError, match="expected one of `default`, `warn`, `error`"):
        cuda.set_sync_debug_mode("loud")


def test_generators_of_all_devices() -> None:
    assert len(cuda.default_generators) == cuda.device_count()
    last = cuda.default_generators[-1]
    assert last.device == torch.device("cuda", cuda.device_count() - 1)
    cuda.manual_seed_all(7)
    assert [generator.initial_seed() for generator in cuda.default_generators] == [7] * cuda.device_count()
    with pytest.raises(IndexError, match="expected the number of one of"):
        cuda.default_generators[cuda.device_count()]


def test_the_accelerators_memory_is_cudas() -> None:
    x = torch.ones(1000, device="cuda")
    here = torch.accelerator
    assert here.memory_allocated() == cuda.memory_allocated() >= 4096
    assert here.memory_stats("cuda:0") == cuda.memory_stats(0)
    assert here.get_memory_info(0) == cuda.mem_get_info(0) and x.is_cuda
    here.reset_peak_memory_stats()
    assert here.max_memory_allocated() == here.memory_allocated()
    with pytest.raises(ValueError, match="doesn't match the current accelerator"):
        here.memory_reserved("cpu")
    with pytest.warns(FutureWarning, match="Use `current_device_index` instead"):
        assert here.current_device_idx() == here.current_device_index()


def test_errors_of_the_runtime_have_a_text() -> None:
    cuda.check_error(0)
    with pytest.raises(cuda.CudaError, match=r"out of memory \(2\)"):
        cuda.check_error(2)
    with pytest.raises(ModuleNotFoundError, match="nvidia-ml-py"):
        cuda.utilization()
    free, total = cuda.mem_get_info()
    assert cuda.device_memory_used() == total - free


def test_marks_are_counted() -> None:
    with cuda.nvtx.range("step {}", 3):
        assert cuda.nvtx.range_push("inner") == 1 and cuda.nvtx.range_pop() == 1
    assert cuda.nvtx.range_pop() < 0
    with cuda.profiler.profile():
        cuda.nvtx.mark("here")


def test_a_type_names_the_device() -> None:
    x = torch.ones(2, device="cuda")
    assert x.type() == "torch.cuda.FloatTensor" == torch.typename(x)
    assert x.half().type() == "torch.cuda.HalfTensor" and x.cpu().type() == "torch.FloatTensor"
    assert x.type("torch.DoubleTensor").device.type == "cpu"


@pytest.mark.parametrize("function", [torch.sin, torch.linalg.vector_norm, lambda x: (x[0] * x).cumsum(0)])
def test_gradients_of_two_orders_are_checked_on_the_device(function: Any) -> None:
    x = torch.tensor([0.5, 2.0, 1.5], dtype=torch.float64, device="cuda", requires_grad=True)
    assert torch.autograd.gradcheck(function, (x,), check_forward_ad=True)
    assert torch.autograd.gradgradcheck(function, (x,))


@two_devices
def test_storages_move_and_files_are_mapped_by_functions() -> None:
    storage = torch.ones(2).untyped_storage()
    assert storage.cuda(1).device == torch.device("cuda:1") and storage.cuda().cpu().tolist() == storage.tolist()
    file = io.BytesIO()
    torch.save(torch.arange(3, device="cuda"), file)
    for where, device in (
        (lambda storage, location: storage, "cpu"),
        (lambda storage, location: storage.cuda(1), "cuda:1"),
        ({"cuda:0": "cuda:1"}, "cuda:1"),
        (None, "cuda:0"),
    ):
        file.seek(0)
        loaded = torch.load(file, map_location=where)
        assert loaded.device == torch.device(device) and loaded.tolist() == [0, 1, 2]


OUT_OF_RANGE = """
import reftorch as torch
target = torch.tensor([0, 7], device="cuda")
torch.nn.functional.nll_loss(torch.randn(2, 3, device="cuda"), target).item()
"""


@pytest.mark.skipif(not SIMULATED, reason="a GPU's driver prints the assertion")
def test_a_report_names_the_kernel() -> None:
    done = subprocess.run([sys.executable, "-c", OUT_OF_RANGE], text=True, capture_output=True, timeout=120)
    assert done.returncode == 1 and "device-side assert triggered" in done.stderr
    assert "in kernel void reftorch::at::native::(anonymous namespace)::nll_loss_of_all_kernel<float>(" in done.stderr
    assert "block (0,0,0), thread (1,0,0)" in done.stderr
