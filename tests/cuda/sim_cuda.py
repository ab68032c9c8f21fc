"""torch.cuda on two simulated devices: run by test_simulated.py, with and without CUDA_LAUNCH_BLOCKING.

Mirrors: test/test_cuda.py
"""

import os
import subprocess
import sys
from typing import Any

import pytest

import reftorch as torch

BLOCKING = os.environ.get("CUDA_LAUNCH_BLOCKING") == "1"


def test_devices() -> None:
    assert torch.cuda.is_available() and torch.cuda.device_count() == 2
    assert "simulator" in torch.cuda.get_device_name(1)
    assert torch.cuda.get_device_capability() == (0, 0)
    assert torch.cuda.get_device_properties(0).total_memory > 2**30
    assert torch.cuda.current_device() == 0
    with torch.cuda.device(1):
        assert torch.cuda.current_device() == 1
        assert torch.empty(2, device="cuda").device == torch.device("cuda:1")
    torch.cuda.set_device("cuda:1")
    assert torch.ones(2).cuda().device == torch.device("cuda", 1)
    torch.cuda.set_device(0)
    assert torch.cuda.is_initialized()
    with pytest.raises(AssertionError, match="Invalid device id"):
        torch.cuda.get_device_name(2)
    with pytest.raises(RuntimeError, match="invalid device ordinal"):
        torch.ones(1, device="cuda:7")


FACTORIES: list[Any] = [
    lambda d: torch.zeros(2, 3, device=d),
    lambda d: torch.ones(3, dtype=torch.int64, device=d),
    lambda d: torch.full((2,), 7, device=d),
    lambda d: torch.arange(10, device=d),
    lambda d: torch.arange(0, 1, 0.25, device=d),
    lambda d: torch.linspace(0, 1, 5, device=d),
    lambda d: torch.tensor([[1.5, 2], [3, 4]], device=d),
    lambda d: torch.zeros_like(torch.ones(2, device=d)),
    lambda d: torch.ones(3, device=d).new_full((2,), 3),
]


@pytest.mark.parametrize("number", range(len(FACTORIES)))
def test_factories(number: int) -> None:
    made = FACTORIES[number]("cuda:1")
    assert made.device == torch.device("cuda:1")
    assert torch.equal(made.cpu(), FACTORIES[number]("cpu"))


def test_random_numbers_follow_the_seed() -> None:
    torch.manual_seed(3)
    first = torch.rand(1000, device="cuda"), torch.randn(1000, device="cuda"), torch.randint(0, 5, (99,), device="cuda")
    torch.manual_seed(3)
    again = torch.rand(1000, device="cuda"), torch.randn(1000, device="cuda"), torch.randint(0, 5, (99,), device="cuda")
    assert all(torch.equal(a.cpu(), b.cpu()) for a, b in zip(first, again, strict=True))
    assert not torch.equal(torch.rand(1000, device="cuda").cpu(), first[0].cpu())
    uniform, normal, integers = (t.cpu() for t in first)
    assert uniform.min().item() >= 0 and uniform.max().item() < 1 and abs(uniform.mean().item() - 0.5) < 0.05
    assert abs(normal.mean().item()) < 0.15 and abs(normal.std().item() - 1) < 0.1
    assert sorted(set(integers.tolist())) == [0, 1, 2, 3, 4]


@pytest.mark.parametrize("way", ["cpu cuda:0", "cuda:0 cpu", "cuda:0 cuda:0", "cuda:0 cuda:1", "cuda:1 cuda:0"])
@pytest.mark.parametrize("non_blocking", [False, True])
def test_copies(way: str, non_blocking: bool) -> None:
    source, target = way.split()
    x = torch.arange(60).reshape(3, 4, 5)
    for given in (x, x.transpose(0, 2), x[:, 1:3], x[:, :1].expand(3, 4, 5), x.to(torch.float16), x[0, 0, 0], x[:0]):
        there = given.to(source)
        for dtype in (given.dtype, torch.float32, torch.uint8):
            moved = there.to(target, dtype, non_blocking=non_blocking)
            torch.cuda.synchronize(0)
            torch.cuda.synchronize(1)
            assert moved.device == torch.device(target)
            assert torch.equal(moved.cpu(), given.to(dtype)), (given.shape, given.stride(), dtype)
        out = torch.zeros(tuple(reversed(given.shape)), dtype=given.dtype, device=target).permute(
            tuple(reversed(range(given.dim())))
        )
        out.copy_(there)
        assert torch.equal(out.cpu(), given)


def test_pinned_memory() -> None:
    x = torch.arange(100000.0).pin_memory()
    assert x.is_pinned() and x.pin_memory() is x and not torch.ones(2).is_pinned()
    y = x.to("cuda", non_blocking=True)
    back = torch.empty(100000).pin_memory()
    back.copy_(y * 2, non_blocking=True)
    torch.cuda.synchronize()
    assert torch.equal(back, x * 2)


def test_printing_and_item() -> None:
    x = torch.tensor([1.0, 2.0], device="cuda:1")
    assert repr(x) == "tensor([1., 2.], device='cuda:1')"
    assert x.sum().item() == 3 and x.tolist() == [1, 2] and bool(x[0] == 1)
    with pytest.raises(TypeError, match="can't convert cuda:1 device type tensor to numpy"):
        x.numpy()


def test_numbers_beside_tensors() -> None:
    x = torch.ones(3, device="cuda")
    assert (x * 2 + torch.tensor(1.0) - 0.5).tolist() == [2.5, 2.5, 2.5]
    assert (3 / x).device == torch.device("cuda:0")
    with pytest.raises(RuntimeError, match="Expected all tensors to be on the same device, but found at least two"):
        x + torch.ones(3)
    with pytest.raises(RuntimeError, match="Expected all tensors to be on the same device, but found at least two"):
        x + torch.ones(3, device="cuda:1")


def test_missing_kernel() -> None:
    with pytest.raises(NotImplementedError, match=r"Could not run 'aten::.*' with arguments from the 'CUDA' backend"):
        torch.linalg.qr(torch.ones(2, 2, device="cuda"))


def train(device: str, steps: int = 3) -> list[Any]:
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(8, 32), torch.nn.ReLU(), torch.nn.Linear(32, 1)).to(device)
    x, y = torch.randn(64, 8), torch.randn(64, 1)
    x, y = x.to(device), y.to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    losses = []
    for _ in range(steps):
        optimizer.zero_grad()
        loss = torch.nn.functional.mse_loss(model(x), y)
        loss.backward()
        optimizer.step()
        losses.append(loss.detach())
    return [t.detach().cpu() for t in [*losses, *model.parameters(), *(p.grad for p in model.parameters())]]


@pytest.mark.parametrize("device", ["cuda:0", "cuda:1"])
def test_training_equals_the_cpus(device: str) -> None:
    for got, expected in zip(train(device), train("cpu"), strict=True):
        assert torch.allclose(got, expected, 1e-4, 1e-5)


def test_gradients_across_devices() -> None:
    x = torch.arange(4.0, requires_grad=True)
    y = (x.cuda(0) * 2).to("cuda:1") * 3
    y.sum().backward()
    assert x.grad is not None and x.grad.tolist() == [6, 6, 6, 6] and x.grad.device == torch.device("cpu")


def test_streams_and_events() -> None:
    default, side = torch.cuda.current_stream(), torch.cuda.Stream()
    assert default == torch.cuda.default_stream() and default.cuda_stream == 0 and side != default
    x = torch.ones(100000, device="cuda")
    start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    side.wait_stream(default)
    with torch.cuda.stream(side):
        assert torch.cuda.current_stream() == side
        start.record()
        y = x * 2
        end.record()
    x.record_stream(side)
    assert torch.cuda.current_stream() == default
    default.wait_event(end)
    assert (y + 1).sum().item() == 300000
    end.synchronize()
    assert end.query() and start.elapsed_time(end) > 0
    side.synchronize()
    assert side.query()
    other = torch.cuda.Stream(device=1)
    with other:
        assert torch.cuda.current_device() == 1 and torch.cuda.current_stream() == other
        assert torch.ones(3, device="cuda").device == torch.device("cuda:1")
    assert torch.cuda.current_device() == 0


def test_memory() -> None:
    torch.cuda.empty_cache()
    before = torch.cuda.memory_allocated()
    x = torch.empty(2**20, device="cuda")
    assert torch.cuda.memory_allocated() - before == 2**22 <= torch.cuda.memory_reserved()
    place = x.data_ptr()
    del x
    assert torch.cuda.memory_allocated() == before and torch.cuda.max_memory_allocated() >= before + 2**22
    y = torch.empty(2**20, device="cuda")
    assert y.data_ptr() == place  # the allocator kept the block
    del y
    reserved = torch.cuda.memory_reserved()
    torch.cuda.empty_cache()
    assert torch.cuda.memory_reserved() <= reserved - 2**22


def test_memory_of_another_stream_is_not_given_out_again() -> None:
    side = torch.cuda.Stream()
    x = torch.empty(2**20, device="cuda")
    place = x.data_ptr()
    with torch.cuda.stream(side):
        y = torch.empty(2**20, device="cuda")
        assert y.data_ptr() != place
        torch.mul(x, 2, out=y)
    x.record_stream(side)
    del x
    if not BLOCKING:
        side_is_busy = not side.query()
        z = torch.empty(2**20, device="cuda")
        assert not side_is_busy or side.query() or z.data_ptr() != place
    torch.cuda.synchronize()


def test_out_of_memory() -> None:
    with pytest.raises(
        torch.cuda.OutOfMemoryError, match=r"CUDA out of memory\. Tried to allocate 1024\.00 GiB\. GPU 0 has"
    ):
        torch.empty(2**38, device="cuda")
    assert issubclass(torch.cuda.OutOfMemoryError, RuntimeError) and torch.ones(2, device="cuda").sum().item() == 2


FORKED = """
import os, reftorch as torch
x = torch.ones(2, device="cuda")
torch.cuda.synchronize()
pid = os.fork()
if pid == 0:
    try:
        torch.ones(2, device="cuda")
    except RuntimeError as error:
        assert "Cannot re-initialize CUDA in forked subprocess" in str(error), error
        assert not torch.cuda.is_initialized() and torch.ones(2).sum().item() == 2
        os._exit(7)
    os._exit(1)
assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 7
assert x.sum().item() == 2
"""


def test_a_forked_child_is_refused() -> None:
    done = subprocess.run([sys.executable, "-c", FORKED], text=True, capture_output=True, timeout=120)
    assert done.returncode == 0, done.stderr


HOST_READ = """
import ctypes, reftorch as torch
x = torch.ones(4, device="cuda")
torch.cuda.synchronize()
ctypes.c_float.from_address(x.data_ptr() + 8).value
"""


def test_a_host_read_of_device_memory_faults() -> None:
    done = subprocess.run([sys.executable, "-c", HOST_READ], text=True, capture_output=True, timeout=120)
    assert done.returncode == -11
    assert "host code used a device pointer" in done.stderr and "is byte 8 of 512" in done.stderr
