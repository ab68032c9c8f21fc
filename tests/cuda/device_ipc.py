"""Tensors of a device that another process uses, on a simulated device or on a GPU: run by test_devices.py.

All tests ask one process, because its start takes longer than they do.

Mirrors: test/test_multiprocessing.py
"""

import gc
import os
import pickle
from collections.abc import Callable, Iterator
from multiprocessing.reduction import ForkingPickler
from typing import Any

import pytest

import reftorch as torch
import reftorch.multiprocessing as mp
from reftorch import _C, cuda
from reftorch.nn import Parameter
from tests.cuda import receiver

Ask = Callable[..., Any]


@pytest.fixture(scope="module")
def other() -> Iterator[Any]:
    context = mp.get_context("spawn")
    questions, answers = context.Queue(), context.Queue()
    process = context.Process(target=receiver.serve, args=(questions, answers))
    process.start()
    process.questions, process.answers = questions, answers  # type: ignore[attr-defined]
    yield process
    questions.put(None)
    process.join(60)
    process.kill()
    questions.cancel_join_thread()


@pytest.fixture
def ask(other: Any) -> Ask:
    def ask(*question: Any) -> Any:
        other.questions.put(question)
        del question
        return other.answers.get(timeout=120)

    ask("total", [torch.ones(1, device=f"cuda:{i}") for i in range(cuda.device_count())])  # opens the files that stay
    free()
    return ask


def free() -> int:
    """Return the bytes of the tensors, after those that nobody needs have gone."""
    gc.collect()
    cuda.synchronize()  # what a worker has done may still be in its hands
    cuda.ipc_collect()
    return cuda.memory_allocated()


def descriptors() -> int:
    return len(os.listdir("/proc/self/fd"))


def test_what_arrives_is_what_was_sent(ask: Ask) -> None:
    base = torch.arange(12.0, device="cuda").view(3, 4)
    sent = [
        base,
        base[1:, ::2],
        base.t(),
        torch.arange(3, device="cuda"),  # of the same segment, but not of the same storage
        torch.tensor([True, False], device="cuda"),
        Parameter(torch.ones(2, device="cuda")),
        Parameter(torch.ones(2, device="cuda"), requires_grad=False),
        torch.ones(2, device="cuda", requires_grad=True),
        torch.tensor(5, device="cuda"),
        torch.empty(2, 0, device="cuda"),
        torch.ones(2, device=f"cuda:{cuda.device_count() - 1}"),
        torch.ones(2),
    ]
    assert ask("describe", sent) == receiver.describe(sent)


def test_both_processes_use_one_memory(ask: Ask) -> None:
    base, beside = torch.zeros(6, device="cuda"), torch.zeros(6, device="cuda")
    ask("add", base[2:4], 1)
    assert base.tolist() == [0, 0, 1, 1, 0, 0] and beside.sum() == 0
    ask("hold", "x", base)
    assert base.is_shared() and base.share_memory_() is base
    ask("hold", "y", base)  # a storage that has arrived is found again
    base.fill_(2)
    cuda.synchronize()
    ask("drop", "x")
    assert ask("describe", [base]) == receiver.describe([base])
    ask("drop", "y")


def test_the_receiver_waits_for_what_the_sender_had_queued(ask: Ask) -> None:
    x = torch.zeros(1000, device="cuda")
    cuda._sleep(200_000_000)
    x.add_(1)
    assert ask("total", [x]) == 1000


def test_memory_stays_until_both_have_dropped_it(ask: Ask) -> None:
    before = free()
    for collects in (True, False):
        x = torch.ones(1 << 20, device="cuda")
        for name in ("first", "second"):
            ask("hold", name, x)
        side = cuda.Stream()
        x.record_stream(side)  # also of a tensor that was sent
        del x
        assert free() - before == 4 << 20
        ask("drop", "first")  # the second message had a counter of its own
        assert free() - before == 4 << 20
        ask("drop", "second")
        if not collects:
            more = torch.empty(30 << 20, dtype=torch.uint8, device="cuda")  # the allocator looks first
            assert cuda.memory_allocated() - before == 30 << 20
            del more
        assert free() == before


def test_many_tensors_need_few_files(ask: Ask) -> None:
    before = descriptors()
    tensors = [torch.full((3,), float(i), device="cuda") for i in range(100)]
    assert ask("total", tensors) == 3 * sum(range(100))
    assert descriptors() - before <= 4
    del tensors
    free()
    assert descriptors() == before


def test_what_cannot_be_sent(ask: Ask) -> None:
    x = torch.ones(2, device="cuda", requires_grad=True)
    with pytest.raises(RuntimeError, match="Cowardly refusing to serialize non-leaf tensor"):
        ForkingPickler.dumps(x * 2)
    with pytest.raises(RuntimeError, match="Cannot pickle CUDA storage; try pickling a CUDA tensor instead"):
        ForkingPickler.dumps(x.untyped_storage())
    with pytest.raises(RuntimeError, match="invalid device context"):
        pickle.loads(ForkingPickler.dumps(x))  # a handle is for other processes
    ask("hold", "x", x)
    answer = ask("pickled", "x")
    ask("drop", "x")
    assert answer == (
        "Attempted to send CUDA tensor received from another process; this is not currently supported. Consider "
        "cloning before sending."
    )
    message = ask("message_of_freed_memory")
    with pytest.raises(RuntimeError, match="CUDA error"):
        torch.UntypedStorage._new_shared_cuda(*message[:-1], False)
    with pytest.raises(RuntimeError, match="expected the handle of memory of another process, got 3 bytes"):
        torch.UntypedStorage._new_shared_cuda(0, b"abc", *message[2:-1], False)


def try_to_receive(queue: Any, answers: Any) -> None:
    try:
        queue.get()
    except RuntimeError as error:
        answers.put(str(error))


def test_a_forked_process_cannot_receive_and_releases_nothing(ask: Ask) -> None:
    y = ask("make", "y", 3.0)
    before = ask("allocated")
    context = mp.get_context("fork")
    queue, answers = context.SimpleQueue(), context.SimpleQueue()

    def child() -> None:
        nonlocal y
        del y
        try_to_receive(queue, answers)

    process = context.Process(target=child)
    process.start()
    queue.put(torch.ones(2, device="cuda"))
    assert answers.get().startswith("Cannot re-initialize CUDA in forked subprocess")
    process.join(60)
    ask("drop", "y")
    assert ask("allocated") == before and y.sum() == 36
    del y
    assert ask("allocated") < before


@pytest.mark.skipif(not _C._cuda_is_simulated, reason="on a GPU, memory ends with its process")
def test_processes_that_are_killed(ask: Ask, other: Any) -> None:
    before, files = free(), descriptors()
    x, y = torch.ones(5, device="cuda"), ask("make", "y", 2.0)
    ask("hold", "x", x)
    ask("make", "z", 1.0)
    unread = ask("pickled", "z")
    other.kill()
    other.join(60)
    assert y.sum() == 24 and x.sum() == 5  # the memory stays
    del x, y
    assert free() > before  # nobody tells that the receiver does not need it
    with pytest.raises(RuntimeError, match="CUDA error: mapping of buffer object failed"):
        pickle.loads(unread)
    assert torch.ones(3, device="cuda").sum() == 3
    assert descriptors() - files <= 2  # of the counters and events of what the receiver had
