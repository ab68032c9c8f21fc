"""The line between a loader and a worker.

Mirrors: nothing in PyTorch: it sends batches through multiprocessing.Queue
"""

import gc
import multiprocessing
import os
import resource
import threading
from typing import Any

import pytest

import reftorch as torch
from reftorch.utils.data._utils.channel import Channel


@pytest.fixture
def pair() -> Any:
    first, second = multiprocessing.Pipe()
    channels = Channel(first), Channel(second)
    yield channels
    for channel in channels:
        channel.close()


def test_messages_arrive_whole_and_in_order(pair: tuple[Channel, Channel]) -> None:
    ours, theirs = pair
    messages = [None, 1, "text", b"x" * 3_000_000, {"a": [torch.arange(3)]}, (torch.ones(2), torch.ones(2))]

    def send() -> None:
        for message in messages:
            ours.send(message)

    thread = threading.Thread(target=send)
    thread.start()
    got = [theirs.recv() for _ in messages]
    thread.join()
    assert got[:4] == messages[:4]
    assert got[4]["a"][0].tolist() == [0, 1, 2] and got[5][1].tolist() == [1, 1]


def test_put_never_waits(pair: tuple[Channel, Channel]) -> None:
    ours, theirs = pair
    large = b"x" * 3_000_000  # more than a socket takes at once
    ours.put(large)
    ours.put((torch.arange(4), "second"))
    assert not ours.flush()

    got: list[Any] = []
    thread = threading.Thread(target=lambda: got.extend([theirs.recv(), theirs.recv()]))
    thread.start()
    while not ours.flush():
        pass
    thread.join()
    assert got[0] == large and got[1][0].tolist() == [0, 1, 2, 3]


def test_more_descriptors_than_one_call_takes(pair: tuple[Channel, Channel]) -> None:
    ours, theirs = pair
    gc.collect()
    before = len(os.listdir("/proc/self/fd"))
    tensors = [torch.full((2,), float(i)) for i in range(300)]
    ours.put(tensors)
    got = theirs.recv()
    assert [t[0].item() for t in got] == list(range(300))
    del tensors, got
    gc.collect()
    assert len(os.listdir("/proc/self/fd")) <= before


def test_the_end_of_the_stream_is_an_error_also_in_the_middle(pair: tuple[Channel, Channel]) -> None:
    ours, theirs = pair
    ours._socket.send(b"12345")  # a part of a header
    ours.close()
    with pytest.raises(EOFError):
        theirs.recv()
    with pytest.raises(BrokenPipeError):
        theirs.send(1)


def test_too_many_open_files_are_an_error_that_says_what_to_do(pair: tuple[Channel, Channel]) -> None:
    ours, theirs = pair
    ours.put([torch.ones(1) for _ in range(40)])
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    taken = set(map(int, os.listdir("/proc/self/fd")))
    free = [number for number in range(1000) if number not in taken]  # below a high number that is taken, too
    resource.setrlimit(resource.RLIMIT_NOFILE, (free[10], hard))
    try:
        with pytest.raises(RuntimeError, match=r"Too many open files.*ulimit -n.*file_system"):
            theirs.recv()
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
