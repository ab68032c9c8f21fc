"""Tensors that are sent to another process share their memory with it.

Mirrors: test/test_multiprocessing.py
Leaves out: CUDA, sparse tensors.
"""

import gc
import multiprocessing
import os
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from typing import Any

import pytest

import reftorch as torch
import reftorch.multiprocessing as mp
from reftorch import nn
from reftorch._shared_memory import family
from tests.answers.watched import asked

METHODS = ["fork", "spawn"]


@pytest.fixture(params=["file_descriptor", "file_system"])
def strategy(request: pytest.FixtureRequest) -> Iterator[str]:
    mp.set_sharing_strategy(request.param)
    yield request.param
    mp.set_sharing_strategy("file_descriptor")


def names() -> list[str]:
    """The names of this program; other programs of tests may run at the same time."""
    return [name for name in os.listdir("/dev/shm") if name.startswith(family()[1:])]


def descriptors() -> int:
    return len(os.listdir("/proc/self/fd"))


def write_into(queue: Any, done: Any) -> None:
    x = queue.get()
    x[0] = 7
    y = torch.arange(3.0)
    done.put((y, x))
    queue.get()  # stay until the parent has the tensors


@pytest.mark.parametrize("method", METHODS)
def test_a_tensor_in_a_queue_is_the_same_memory(method: str, strategy: str) -> None:
    context = multiprocessing.get_context(method)
    queue, done = context.Queue(), context.Queue()
    process = context.Process(target=write_into, args=(queue, done))
    process.start()
    x = torch.zeros(2, 2)
    queue.put(x[1])
    y, back = done.get(timeout=60)
    assert x.tolist() == [[0, 0], [7, 0]]
    assert x.is_shared() and y.tolist() == [0, 1, 2]
    # What comes back is the storage that was sent, not a second mapping of it.
    assert back.untyped_storage()._cdata == x.untyped_storage()._cdata
    assert back.storage_offset() == 2
    back[1] = 5
    assert x[1, 1] == 5
    queue.put(None)
    process.join()
    del x, back
    assert y.sum() == 3  # a tensor outlives the process that made it
    del y
    gc.collect()
    assert names() == []


def test_two_views_of_one_storage_arrive_as_such(strategy: str) -> None:
    context = multiprocessing.get_context("fork")
    receiver, sender = context.Pipe(duplex=False)
    base = torch.arange(6.0)
    sender.send((base[:4], base[2:], base.view(2, 3).t()))
    first, second, turned = receiver.recv()
    first[3] = -1
    assert second.tolist() == [2, -1, 4, 5] and turned.tolist() == [[0, -1], [1, 4], [2, 5]]
    assert base[3] == -1
    version = first._version
    second.add_(0)
    assert turned.untyped_storage()._cdata == base.untyped_storage()._cdata
    assert first._version == version  # each message makes tensors of its own; only the memory is one


@pytest.mark.parametrize("dtype", [torch.float64, torch.float16, torch.bfloat16, torch.int64, torch.uint8, torch.bool])
@pytest.mark.parametrize("shape", [(), (0,), (3, 2), (2, 0, 4)])
def test_every_kind_of_tensor_comes_through(dtype: Any, shape: tuple[int, ...], strategy: str) -> None:
    receiver, sender = multiprocessing.Pipe(duplex=False)
    x = torch.ones(shape, dtype=dtype)
    sender.send(x)
    y = receiver.recv()
    assert (y.dtype, y.shape, y.stride(), y.tolist()) == (x.dtype, x.shape, x.stride(), x.tolist())


def test_parameters_storages_and_meta_tensors() -> None:
    receiver, sender = multiprocessing.Pipe(duplex=False)
    weight = nn.Parameter(torch.ones(2), requires_grad=False)
    leaf = torch.ones(2, requires_grad=True)
    sender.send([weight, leaf, weight.untyped_storage(), leaf.detach()._typed_storage(), torch.empty(2, device="meta")])
    got_weight, got_leaf, untyped, typed, meta = receiver.recv()
    assert type(got_weight) is nn.Parameter and not got_weight.requires_grad
    assert type(got_leaf) is torch.Tensor and got_leaf.requires_grad and got_leaf.is_leaf
    assert untyped._cdata == got_weight.untyped_storage()._cdata and typed._tensor().tolist() == [1, 1]
    assert meta.is_meta and meta.shape == (2,)


def test_a_tensor_with_history_is_refused(real_torch: Any) -> None:
    real_torch.multiprocessing.get_sharing_strategy()  # torch has registered its functions

    def message(lib: Any) -> str:
        _, sender = multiprocessing.Pipe(duplex=False)
        x = lib.ones(2, requires_grad=True) * 2
        with pytest.raises(RuntimeError) as failure:
            sender.send(x)
        return str(failure.value)

    assert message(torch) == asked(real_torch, message)


def test_sharing_leaves_no_descriptor_and_no_memory_behind(strategy: str) -> None:
    receiver, sender = multiprocessing.Pipe(duplex=False)

    def send_many() -> None:
        for _ in range(50):
            sender.send(torch.ones(1000))
            receiver.recv()

    send_many()
    gc.collect()
    before = descriptors()
    send_many()
    gc.collect()
    assert descriptors() <= before
    assert names() == []


def test_a_message_that_nobody_receives_leaves_no_name_after_the_program() -> None:
    program = """
        import multiprocessing, os
        import reftorch as torch, reftorch.multiprocessing as mp
        from reftorch._shared_memory import family
        mp.set_sharing_strategy("file_system")
        receiver, sender = multiprocessing.Pipe(duplex=False)
        sender.send(torch.ones(10))
        print([n for n in os.listdir("/dev/shm") if n.startswith(family()[1:])])
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(program)], capture_output=True, text=True, check=True, timeout=60
    )
    (name,) = eval(done.stdout)
    assert name not in os.listdir("/dev/shm")


def test_shared_storages_cannot_be_resized_and_say_so() -> None:
    x = torch.ones(3).share_memory_()
    with pytest.raises(RuntimeError, match="not resizable"):
        x.untyped_storage().resize_(100)
    with pytest.raises(RuntimeError, match="only the memory of CPU tensors can be shared"):
        torch.empty(2, device="meta").untyped_storage()._storage._share_fd_cpu_()


def test_wrong_descriptors_names_and_sizes_are_refused() -> None:
    new = torch._C.StorageBase
    with pytest.raises(RuntimeError, match=r"unable to open shared memory by its file descriptor: Bad file descriptor"):
        new._new_shared_fd_cpu(10**6, 4)
    with pytest.raises(RuntimeError, match="unable to open shared memory /torch_none: No such file or directory"):
        new._new_shared_filename_cpu("/torch_none", 4)
    fd, _ = torch.ones(2).untyped_storage()._storage._share_fd_cpu_()
    with pytest.raises(RuntimeError, match="expected a size of at least 0 bytes, got -1"):
        new._new_shared_fd_cpu(fd, -1)
    shared = torch.ones(2).share_memory_()
    fd, nbytes = shared.untyped_storage()._storage._share_fd_cpu_()
    assert nbytes == 8
    with pytest.raises(RuntimeError, match=r"unable to map 100000 bytes of shared memory: the file has 8 bytes"):
        new._new_shared_fd_cpu(fd, 100_000)


def test_too_much_memory_is_an_error_and_not_a_signal() -> None:
    for name in ("", "/torch_test_too_large"):
        with pytest.raises(RuntimeError, match=r"unable to allocate \d+ bytes of shared memory: .*Hint: the machine"):
            torch._C.StorageBase._new_shared(2**50, name)
    assert "torch_test_too_large" not in os.listdir("/dev/shm")


def add_many(i: int, x: Any) -> None:
    for _ in range(100):
        x[i] += 1


@pytest.mark.parametrize("method", METHODS)
def test_processes_write_into_one_tensor(method: str) -> None:
    x = torch.zeros(2).share_memory_()
    mp.start_processes(add_many, (x,), nprocs=2, start_method=method)
    assert x.tolist() == [100, 100]


def train(i: int, model: Any) -> None:
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    for _ in range(40):
        x = torch.randn(8, 2)
        loss = ((model(x) - x.sum(1, keepdim=True)) ** 2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def test_hogwild_trains_one_model_in_two_processes() -> None:
    """Both processes write into the same parameters without a lock."""
    torch.manual_seed(0)
    model = nn.Linear(2, 1)
    for parameter in model.parameters():
        parameter.data.share_memory_()
    mp.start_processes(train, (model,), nprocs=2, start_method="spawn")
    assert torch.allclose(model.weight, torch.ones(1, 2), atol=0.1)


def test_all_names_of_multiprocessing_are_there(real_torch: Any, noted: Any) -> None:
    assert sorted(set(mp.__all__)) == noted(sorted(set(real_torch.multiprocessing.__all__)))
    assert all(hasattr(mp, name) for name in mp.__all__)
    with pytest.raises(AssertionError, match="invalid sharing strategy 'none', expected one of"):
        mp.set_sharing_strategy("none")
