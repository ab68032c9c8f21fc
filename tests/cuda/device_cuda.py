"""torch.cuda on two simulated devices or on a GPU: run by test_devices.py, with and without CUDA_LAUNCH_BLOCKING.

Mirrors: test/test_cuda.py

The file is more than 500 lines long, because one process with devices runs all its tests.
"""

import io
import os
import pickle
import subprocess
import sys
import threading
import time
import warnings
from typing import Any

import pytest

import reftorch as torch
from reftorch.utils._python_dispatch import TorchDispatchMode

BLOCKING = os.environ.get("CUDA_LAUNCH_BLOCKING") == "1"
SIMULATED = getattr(torch._C, "_cuda_is_simulated", False)
COUNT = torch.cuda.device_count()
LAST = torch.device("cuda", max(COUNT - 1, 0))  # the second simulated device, or the only GPU
two_devices = pytest.mark.skipif(COUNT < 2, reason="needs two devices")


def test_a_simulator_that_is_awake_counts_as_built() -> None:
    assert torch.backends.cuda.is_built()
    assert (torch.version.cuda is None) == SIMULATED  # no toolkit has compiled the simulator


def test_the_device_says_whether_it_is_simulated() -> None:
    assert torch.cuda.is_available() and (COUNT == 2 or not SIMULATED)
    assert ("simulator" in torch.cuda.get_device_name(LAST)) == SIMULATED
    assert (torch.cuda.get_device_capability() == (0, 0)) == SIMULATED
    assert torch.cuda.get_device_properties(0).total_memory > 2**30
    assert torch.cuda.current_device() == 0
    torch.ones(1, device="cuda")
    assert torch.cuda.is_initialized()
    with pytest.raises(AssertionError, match="Invalid device id"):
        torch.cuda.get_device_name(COUNT)
    with pytest.raises(RuntimeError, match="invalid device ordinal"):
        torch.ones(1, device=f"cuda:{COUNT + 5}")


@two_devices
def test_the_current_device() -> None:
    with torch.cuda.device(1):
        assert torch.cuda.current_device() == 1
        assert torch.empty(2, device="cuda").device == torch.device("cuda:1")
    torch.cuda.set_device("cuda:1")
    assert torch.ones(2).cuda().device == torch.device("cuda", 1)
    torch.cuda.set_device(0)


@two_devices
def test_simulated_devices_reach_each_other() -> None:
    assert torch.cuda.can_device_access_peer(0, 1) or not SIMULATED


def test_a_device_is_no_peer_of_itself() -> None:
    assert not torch.cuda.can_device_access_peer(0, 0)


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
    made = FACTORIES[number](LAST)
    assert made.device == LAST
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


BETWEEN = [pytest.param(way, marks=two_devices) for way in ("cuda:0 cuda:1", "cuda:1 cuda:0")]


@pytest.mark.parametrize("way", ["cpu cuda:0", "cuda:0 cpu", "cuda:0 cuda:0", *BETWEEN])
@pytest.mark.parametrize("non_blocking", [False, True])
def test_copies(way: str, non_blocking: bool) -> None:
    source, target = way.split()
    x = torch.arange(60).reshape(3, 4, 5)
    for given in (x, x.transpose(0, 2), x[:, 1:3], x[:, :1].expand(3, 4, 5), x.to(torch.float16), x[0, 0, 0], x[:0]):
        there = given.to(source)
        for dtype in (given.dtype, torch.float32, torch.uint8):
            moved = there.to(target, dtype, non_blocking=non_blocking)
            torch.cuda.synchronize(0)
            torch.cuda.synchronize(LAST)
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


@pytest.mark.filterwarnings("ignore:TypedStorage is deprecated")
def test_storages() -> None:
    x = torch.arange(3, dtype=torch.uint8, device=LAST)
    storage = x.untyped_storage()
    assert storage.is_cuda and x.storage().is_cuda and not storage.is_pinned()
    assert not storage.cpu().is_cuda and storage.cpu().tolist() == [0, 1, 2]
    assert x.storage().cpu().tolist() == [0, 1, 2] and not x.storage().cpu().is_cuda
    again = pickle.loads(pickle.dumps(storage))
    assert again.device == LAST and again.tolist() == [0, 1, 2]
    here = torch.ones(2)
    assert here.pin_memory().untyped_storage().is_pinned() and not here.untyped_storage().is_pinned()


@pytest.mark.parametrize("zipped", [True, False])
def test_save(zipped: bool) -> None:
    file = io.BytesIO()
    torch.save(torch.arange(5.0, device=LAST)[1:], file, _use_new_zipfile_serialization=zipped)
    file.seek(0)
    assert torch.load(file, map_location="cpu").tolist() == [1, 2, 3, 4]


PINNED: list[Any] = [
    lambda t, **k: t.empty(4, **k),
    lambda t, **k: t.empty((4, 2, 3, 3), memory_format=t.channels_last, **k),
    lambda t, **k: t.empty_strided((2, 3), (1, 2), **k),
    lambda t, **k: t.empty_permuted((2, 3), (1, 0), **k),
    lambda t, **k: t.zeros(4, **k),
    lambda t, **k: t.ones(4, **k),
    lambda t, **k: t.full((4,), 3, **k),
    lambda t, **k: t.scalar_tensor(3, **k),
    lambda t, **k: t.eye(3, **k),
    lambda t, **k: t.rand(4, **k),
    lambda t, **k: t.randn(4, **k),
    lambda t, **k: t.randint(5, (4,), **k),
    lambda t, **k: t.randperm(4, **k),
    lambda t, **k: t.normal(0.0, 1.0, (4,), **k),
    lambda t, **k: t.tensor([[1.0, 2.0], [3.0, 4.0]], **k),
    lambda t, **k: t.arange(4, **k),
    lambda t, **k: t.arange(0, 1, 0.25, **k),
    lambda t, **k: t.linspace(0, 1, 5, **k),
    lambda t, **k: t.logspace(0, 1, 5, **k),
    lambda t, **k: t.hann_window(5, **k),
    lambda t, **k: t.hann_window(1, **k),
    lambda t, **k: t.tril_indices(3, 3, **k),
    lambda t, **k: t.empty_like(t.ones(2, 3).t(), **k),
    lambda t, **k: t.zeros_like(t.ones(2), **k),
    lambda t, **k: t.ones_like(t.ones(2), dtype=t.int64, **k),
    lambda t, **k: t.full_like(t.ones(2), 3, **k),
    lambda t, **k: t.rand_like(t.ones(2), **k),
    lambda t, **k: t.randn_like(t.ones(2), **k),
    lambda t, **k: t.randint_like(t.ones(2), 5, **k),
    lambda t, **k: t.ones(2).new_empty(3, **k),
    lambda t, **k: t.ones(2).new_empty_strided((2, 3), (1, 2), **k),
    lambda t, **k: t.ones(2).new_zeros(3, **k),
    lambda t, **k: t.ones(2).new_ones(3, **k),
    lambda t, **k: t.ones(2).new_full((3,), 4, **k),
]


@pytest.mark.parametrize("number", range(len(PINNED)))
def test_factories_pin(number: int) -> None:
    make = PINNED[number]
    torch.manual_seed(0)
    plain = make(torch)
    torch.manual_seed(0)
    pinned = make(torch, pin_memory=True)
    assert pinned.is_pinned() and not plain.is_pinned() and not make(torch, pin_memory=False).is_pinned()
    assert (pinned.shape, pinned.stride(), pinned.dtype) == (plain.shape, plain.stride(), plain.dtype)
    assert number in (0, 1, 2, 3, 22, 29, 30) or torch.equal(pinned, plain)  # the numbers: without elements


@pytest.mark.parametrize("number", [0, 1, 2, 4, 6, 9, 14, 15, 22, 23, 26])
def test_no_factory_pins_memory_of_a_device(number: int) -> None:
    with pytest.raises(RuntimeError, match="Only dense CPU tensors can be pinned"), torch.device("cuda"):
        PINNED[number](torch, pin_memory=True)


def test_only_the_cpu_pins() -> None:
    assert torch.zeros(2, device="meta", pin_memory=True).is_meta
    assert torch.tensor([1.0], device="meta", pin_memory=True).is_meta
    with pytest.raises(RuntimeError, match="Only dense CPU tensors can be pinned"):
        torch.ones(2, device="cuda").new_zeros(2, pin_memory=True)
    grown = torch.arange(4, pin_memory=True).resize_(1000)
    assert grown.is_pinned() and grown[:4].tolist() == [0, 1, 2, 3]
    # Nobody waits for such a copy, so its result has to be pinned.
    x = torch.ones(3, device="cuda")
    assert x.to("cpu", non_blocking=True).is_pinned() and not x.to("cpu").is_pinned()
    torch.cuda.synchronize()


def test_printing_and_item() -> None:
    x = torch.tensor([1.0, 2.0], device=LAST)
    assert repr(x) == f"tensor([1., 2.], device='{LAST}')"
    assert x.sum().item() == 3 and x.tolist() == [1, 2] and bool(x[0] == 1)
    with pytest.raises(TypeError, match=f"can't convert {LAST} device type tensor to numpy"):
        x.numpy()


def test_item_is_an_op() -> None:
    seen = []

    class Record(TorchDispatchMode):
        def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            seen.append(str(func))
            return func(*args, **(kwargs or {}))

    with Record():
        assert torch.ones(1, device="cuda").item() == 1
    assert seen[-1] == "aten._local_scalar_dense.default"
    rows = torch._C._dispatch_dump_table("aten::_local_scalar_dense")
    assert "local_scalar_dense_kernel_cuda" in rows and "local_scalar_dense_kernel registered" in rows


def test_numbers_beside_tensors() -> None:
    x = torch.ones(3, device="cuda")
    assert (x * 2 + torch.tensor(1.0) - 0.5).tolist() == [2.5, 2.5, 2.5]
    assert (3 / x).device == torch.device("cuda:0")
    with pytest.raises(RuntimeError, match="Expected all tensors to be on the same device, but found at least two"):
        x + torch.ones(3)


@two_devices
def test_a_sum_of_two_devices() -> None:
    with pytest.raises(RuntimeError, match="Expected all tensors to be on the same device, but found at least two"):
        torch.ones(3, device="cuda:0") + torch.ones(3, device="cuda:1")


@two_devices
def test_backward_over_two_devices() -> None:
    x = torch.ones(2, device="cuda:0", requires_grad=True)
    ((x * 2).to("cuda:1") * 3).sum().backward()
    assert x.grad is not None and x.grad.device == torch.device("cuda:0") and x.grad.tolist() == [6, 6]


@two_devices
def test_the_first_backward_of_a_process_may_be_over_two_devices() -> None:
    program = (
        "import reftorch as torch\n"
        "x = torch.ones(2, device='cuda:0', requires_grad=True)\n"
        "((x * 2).to('cuda:1') * 3).sum().backward()\n"
        "print(x.grad.tolist())"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60)
    assert done.stdout.strip() == "[6.0, 6.0]", done.stderr


def test_products_on_two_devices() -> None:
    here, host = torch.ones(2, 2, device="cuda:0"), torch.ones(2, 2)
    there = torch.ones(2, 2, device=LAST if COUNT > 1 else "cpu")
    with pytest.raises(RuntimeError) as error:
        torch.mm(here, host)
    assert str(error.value) == (
        "Expected all tensors to be on the same device, but got mat2 is on cpu, different from other tensors on cuda:0 "
        "(when checking argument in method wrapper_CUDA_mm)"
    )
    for call in (
        lambda: host @ here,
        lambda: here @ there,
        lambda: torch.mm(here, here, out=there),
        lambda: torch.mm(host, host, out=here),
        lambda: torch.addmm(host, here, here),
        lambda: there.addmm_(here, here),
        lambda: torch.bmm(here[None], there[None]),
        lambda: torch.nn.functional.linear(here, here, there[0]),
    ):
        with pytest.raises(RuntimeError, match="Expected all tensors to be on the same device, but got"):
            call()
    assert (here @ here).cpu().tolist() == [[2, 2], [2, 2]]


def test_missing_kernel() -> None:
    with pytest.raises(NotImplementedError, match=r"Could not run 'aten::.*' with arguments from the 'CUDA' backend"):
        torch._scaled_dot_product_flash_attention_for_cpu(*[torch.ones(1, 1, 2, 2, device="cuda")] * 3)


def message_of(function: Any, *args: torch.Tensor) -> str:
    with pytest.raises((RuntimeError, torch.linalg.LinAlgError)) as error:
        function(*args)
    return f"{error.type.__name__}: {error.value}"


@pytest.mark.parametrize("device", sorted({"cuda:0", str(LAST)}))
def test_linear_algebra(device: str) -> None:
    """What the op table does not see: errors, infos, results in the caller's memory, matrices without elements."""
    linalg, batch = torch.linalg, torch.stack([torch.eye(3), torch.zeros(3, 3), -torch.eye(3)])
    there = batch.to(device)
    assert [linalg.inv_ex(there)[1].tolist(), linalg.cholesky_ex(there)[1].tolist()] == [[0, 1, 0], [0, 1, 1]]
    pivots = torch.zeros(3, 3, dtype=torch.int32)
    wrong: list[tuple[Any, ...]] = [
        (linalg.inv,), (linalg.cholesky,), (linalg.lu_factor,), (linalg.svd,), (lambda x: linalg.solve(x, x),),
        (linalg.ldl_factor,), (lambda x, p: linalg.lu_solve(x, p, x), pivots), (torch.lu_unpack, pivots),
        (lambda x, p: linalg.ldl_solve(x, p, x), pivots), (lambda x: linalg.lu(x, pivot=False),),
    ]  # fmt: skip
    for function, *more in wrong:
        x = batch * float("nan") if function == linalg.svd else batch
        expected = message_of(function, x, *more)
        assert message_of(function, x.to(device), *[y.to(device) for y in more]) == expected
    Q, R = torch.empty(3, 3, 3, device=device), torch.empty(3, 3, 3, device=device)
    address = Q.data_ptr()
    assert linalg.qr(there + 1, out=(Q, R)).Q is Q and Q.data_ptr() == address
    assert torch.allclose(Q @ R, there + 1, atol=1e-6) and Q.device == torch.device(device)
    assert linalg.det(there[:, :0, :0]).tolist() == [1, 1, 1]
    assert linalg.solve(there[:0], there[:0, :, :1]).shape == (0, 3, 1)
    stream = torch.cuda.Stream(device)
    stream.wait_stream(torch.cuda.current_stream(device))
    with torch.cuda.stream(stream):  # the host's copy waits for the stream that is current
        for _ in range(20):
            there = there + torch.eye(3, device=device)
        assert linalg.det(there).tolist() == pytest.approx([21**3, 20**3, 19**3])


def test_long_slices_are_shared_by_a_block() -> None:
    x = torch.randn(5, 1000, 3, dtype=torch.float64)
    for dim in (0, 1, 2):
        for name in ("softmax", "log_softmax"):
            outputs = []
            for device in ("cpu", LAST):
                leaf = x.detach().to(device).requires_grad_()
                y = getattr(torch, name)(leaf, dim)
                (y * torch.arange(x.numel(), device=device).reshape(x.shape)).sum().backward()
                assert leaf.grad is not None
                outputs.append((y.detach().cpu(), leaf.grad.cpu()))
            for expected, got in zip(*outputs, strict=True):
                assert torch.allclose(got, expected, 1e-9, 1e-9), (name, dim)
    wide = torch.full((300,), 1000.0, device="cuda")
    assert wide.softmax(0).sum().item() == pytest.approx(1)
    assert torch.cat([wide, torch.full((1,), float("nan"), device="cuda")]).softmax(0).isnan().all().item()


def test_long_reductions_are_shared_by_blocks() -> None:
    x = torch.randn(2, 30000, 3, dtype=torch.float64)
    x[1, 7] = 5.5
    there = x.to(LAST)
    for dims in ((0, 1, 2), (1,), (0, 1), (1, 2)):
        for name in ("sum", "mean", "amax", "amin", "var", "nansum"):
            got, expected = getattr(there, name)(dim=dims).cpu(), getattr(x, name)(dim=dims)
            assert torch.allclose(got, expected, 1e-12, 1e-12), (name, dims)
    assert there.max().item() == x.max().item()
    assert (there > 9).any().item() is False and (there < 9).all().item() is True
    assert torch.ones(70001, dtype=torch.int8, device=LAST).sum().item() == 70001


@pytest.mark.parametrize("n", [7, 8, 33, 257])
@pytest.mark.parametrize("outputs", [1, 3, 33, 130])
def test_each_layout_of_threads_reduces_each_element_once(n: int, outputs: int) -> None:
    x = torch.randint(-9, 9, (2, n, outputs))
    there = x.to(LAST)
    for reduced in (
        lambda t: t.sum(1),
        lambda t: t.mT.contiguous().sum(2),
        lambda t: t.mT.amax(2),
        lambda t: t.mT.contiguous().amin((0, 2)),
        lambda t: t.sum((0, 1)),
        lambda t: t[:, ::2, ::3].sum(1),
        lambda t: t.double().var(1),
    ):
        assert torch.allclose(reduced(there).cpu(), reduced(x), equal_nan=True)


def test_cat_and_index() -> None:
    x = torch.arange(24.0).reshape(2, 3, 4)
    there = x.cuda()
    pieces = [there, there[:, :1], there[:, 1:], there.int()[:, :2]]
    assert torch.equal(torch.cat(pieces, 1).cpu(), torch.cat([p.cpu() for p in pieces], 1))
    pairs = [(there[..., :2].contiguous(), there[..., 2:].contiguous())]
    assert torch.equal(torch.cat(pairs[0], -1), there)
    first, second = torch.tensor([1, 0, -1]), torch.tensor([[2], [0]])
    for index in [(first,), (slice(None), second), (first, slice(None), first), (None, first), (first, second, first)]:
        expected = x[index]
        assert torch.equal(there[index].cpu(), expected)  # indices on the CPU serve a CUDA tensor
        moved = tuple(i.cuda() if isinstance(i, torch.Tensor) else i for i in index)
        assert torch.equal(there[moved].cpu(), expected)
    assert torch.equal(there[torch.tensor([True, False])].cpu(), x[:1])
    with pytest.raises(RuntimeError, match=r"indices should be either on cpu or on the same device .*\(cpu\)"):
        x[first.cuda()]
    assert torch.equal(there[torch.tensor([True, False]).cuda()].cpu(), x[:1])
    places = torch.tensor([[[2, 1, 0, 3]]])
    assert torch.equal(there.gather(2, places.cuda()).cpu(), x.gather(2, places))


# After the failure, memory that another stream uses, and pinned memory that a copy uses, are freed.
OUT_OF_RANGE = """
import reftorch as torch
x, host = torch.ones(3, device="cuda"), torch.ones(3).pin_memory()
x.record_stream(torch.cuda.Stream())
torch.empty(3, device="cuda").copy_(host, non_blocking=True)
try:
    rows = x[torch.tensor([3], device="cuda")]
    print("launched")
    print(rows.cpu())
except RuntimeError as error:
    print(error)
del x, host
print("still there")
"""


def test_an_index_out_of_range_fails_on_the_device() -> None:
    done = subprocess.run([sys.executable, "-c", OUT_OF_RANGE], text=True, capture_output=True, timeout=120)
    assert "device-side assert triggered" in done.stdout, done.stdout + done.stderr
    assert ("launched" in done.stdout) == (not BLOCKING), "only a blocking launch reports the error of its own kernel"
    assert "still there" in done.stdout and done.returncode == 0, done.stdout + done.stderr


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


@pytest.mark.parametrize("device", ["cuda:0", pytest.param("cuda:1", marks=two_devices)])
def test_training_equals_the_cpus(device: str) -> None:
    for got, expected in zip(train(device), train("cpu"), strict=True):
        assert torch.allclose(got, expected, 1e-4, 1e-5)


class Thread(torch.autograd.Function):
    """Notes the thread of its backward."""

    seen: list[Any] = []

    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        return x * 2

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:
        Thread.seen.append((threading.get_ident(), torch.cuda.current_device(), torch.cuda.current_stream(grad.device)))
        return grad * 2


def threads_of_backward() -> list[Any]:
    Thread.seen = []
    x = torch.ones(4, requires_grad=True)
    side = torch.cuda.Stream(1)
    y = Thread.apply(x.cuda(0))
    side.wait_stream(torch.cuda.current_stream(1))
    with torch.cuda.stream(side):
        z = Thread.apply(y.to("cuda:1"))
    torch.cuda.current_stream(1).wait_stream(side)
    z.sum().backward()
    assert x.grad is not None and x.grad.tolist() == [4, 4, 4, 4]
    assert [device for _, device, _ in Thread.seen] == [1, 0] and Thread.seen[0][2] == side
    assert torch.cuda.current_device() == 0
    return [thread for thread, _, _ in Thread.seen]


@two_devices
def test_the_calling_thread_runs_a_pass_without_multithreading() -> None:
    here = threading.get_ident()
    assert here not in threads_of_backward() and len(set(threads_of_backward())) == 2
    with torch.autograd.set_multithreading_enabled(False):
        assert threads_of_backward() == [here, here]
    assert here not in threads_of_backward()


def test_an_error_ends_a_pass_without_multithreading() -> None:
    x = torch.ones(4, device="cuda", requires_grad=True)
    y = x * 2
    y.register_hook(lambda grad: 1 / 0)
    with torch.autograd.set_multithreading_enabled(False):
        with pytest.raises(ZeroDivisionError):
            y.sum().backward()
        (x * 3).sum().backward()
    assert x.grad is not None and x.grad.tolist() == [3, 3, 3, 3]


@two_devices
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
    other = torch.cuda.Stream(device=LAST)
    with other:
        assert torch.cuda.current_device() == LAST.index and torch.cuda.current_stream() == other
        assert torch.ones(3, device="cuda").device == LAST
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
    # In the build with sanitizers, the address sanitizer would take the signal and end the process in its own way.
    without_sanitizer = os.environ | {"ASAN_OPTIONS": os.environ.get("ASAN_OPTIONS", "") + ":handle_segv=0"}
    done = subprocess.run(
        [sys.executable, "-c", HOST_READ], text=True, capture_output=True, timeout=120, env=without_sanitizer
    )
    assert done.returncode == -11
    if SIMULATED:  # which says what the address is; a GPU's driver says nothing
        assert "host code used a device pointer" in done.stderr and "is byte 8 of 2097152" in done.stderr


# Products are on their way when the process ends: in the main thread, and in a thread that nobody waits for.
ENDING = """
import os, sys, threading, reftorch as torch
x = torch.ones(500, 500, device="cuda")

def products():
    y = x
    for _ in range(50):
        y = y @ x

kind = sys.argv[1]
if kind == "thread":
    threading.Thread(target=products, daemon=True).start()
if kind == "stream":
    torch.cuda.set_stream(torch.cuda.Stream())
products()
if kind == "at exit":
    import atexit
    atexit.register(products)
if kind == "forked":
    if os.fork() == 0:
        sys.exit(0)
    assert os.wait()[1] == 0
sys.exit(3)
"""


@pytest.mark.parametrize("kind", ["main", "thread", "stream", "at exit", "forked"])
def test_a_process_ends_with_work_in_flight(kind: str) -> None:
    done = subprocess.run([sys.executable, "-c", ENDING, kind], text=True, capture_output=True, timeout=120)
    assert done.returncode == 3, done.stderr


def test_a_fork_while_a_stream_waits() -> None:
    x, side = torch.zeros(3, device="cuda"), torch.cuda.Stream()
    with torch.cuda.stream(torch.cuda.Stream()):
        torch.cuda._sleep(20_000_000)
        torch.cuda._sleep(20_000_000)
        side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        x.add_(1)
    time.sleep(0.005)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # the process has threads
        child = os.fork()
    if child == 0:
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
    side.synchronize()
    assert x.tolist() == [1, 1, 1]


def test_the_states_of_the_generators() -> None:
    first = torch.cuda.get_rng_state_all()
    assert len(first) == COUNT and torch.equal(first[-1], torch.cuda.get_rng_state(LAST))
    drawn = [torch.rand(5, device=f"cuda:{i}").cpu() for i in range(COUNT)]
    torch.cuda.set_rng_state_all(first)
    assert all(torch.equal(torch.rand(5, device=f"cuda:{i}").cpu(), drawn[i]) for i in range(COUNT))
    torch.cuda.set_rng_state(first[-1], LAST)
    assert torch.equal(torch.rand(5, device=LAST).cpu(), drawn[-1])
    torch.cuda.seed()
    torch.cuda.seed_all()
    assert len({torch.cuda.get_rng_state(i).tolist()[0] for i in range(COUNT)}) == 1
    for bad in (first[0].to(LAST), first[0][:-1], torch.empty_like(first[0], device="meta")):
        with pytest.raises((TypeError, RuntimeError)):
            torch.cuda.set_rng_state(bad)


DEVICE_NUMBERS = [
    "set_device",
    "current_stream",
    "default_stream",
    "Stream",
    "get_device_properties",
    "memory_stats",
    "reset_peak_memory_stats",
    "mem_get_info",
    "synchronize",
    "get_rng_state",
]


@pytest.mark.parametrize("name", DEVICE_NUMBERS)
def test_a_device_number_does_not_wrap_around(name: str) -> None:
    before = torch.cuda.current_device()
    for number in (257, 256, 128, 2**32, 2**32 + 1):
        with pytest.raises((RuntimeError, AssertionError, IndexError, TypeError, ValueError)):
            getattr(torch.cuda, name)(number)
    assert torch.cuda.current_device() == before
    for function in ("_cuda_setDevice", "_cuda_exchangeDevice", "_cuda_getCurrentStream", "_cuda_getDefaultGenerator"):
        with pytest.raises(RuntimeError):
            getattr(torch._C, function)(257)


@pytest.mark.parametrize("stream_id", [33, 10**9, -1, 2**62])
def test_a_stream_number_stays_in_the_pool(stream_id: int) -> None:
    with pytest.raises(RuntimeError, match="there is no stream with id"):
        torch._C._cuda_setStream(stream_id, 0)
    with pytest.raises(RuntimeError, match="there is no stream with id"):
        torch.Stream(stream_id=stream_id, device_index=0, device_type=1).synchronize()
    assert torch.cuda.current_stream(0) == torch.cuda.default_stream(0)


def test_dlpack_names_the_device() -> None:
    import numpy

    x = torch.arange(6.0, device=LAST).view(2, 3).t()
    assert x.__dlpack_device__() == (2, LAST.index)
    same = torch.from_dlpack(x)
    assert same.device == LAST and same.data_ptr() == x.data_ptr() and torch.equal(same.cpu(), x.cpu())
    copied = torch.from_dlpack(x, copy=True)
    assert copied.device == LAST and copied.data_ptr() != x.data_ptr() and torch.equal(copied.cpu(), x.cpu())
    there = torch.from_dlpack(torch.arange(3), device=LAST)
    assert there.device == LAST and there.tolist() == [0, 1, 2]
    assert torch.from_dlpack(x, device="cpu").tolist() == x.tolist()
    with pytest.raises(ValueError, match="cannot move"):
        torch.from_dlpack(x, device="cpu", copy=False)
    with pytest.raises((BufferError, RuntimeError)):
        numpy.from_dlpack(x)
