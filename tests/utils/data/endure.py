"""A program that kills workers and loads many batches, and says what is left behind.

Mirrors: nothing in PyTorch: a program of the tests.

    python -m tests.utils.data.endure --kills 200 --batches 10000 --workers 4
"""

import argparse
import os
import random
import signal
import time
import warnings
from collections import deque

import reftorch as torch
from reftorch import multiprocessing
from reftorch._shared_memory import STRATEGIES, family
from reftorch.utils.data import DataLoader, TensorDataset


def children() -> list[int]:
    """The processes that this process has started and that are still there."""
    with open(f"/proc/self/task/{os.getpid()}/children") as file:
        found = [int(pid) for pid in file.read().split()]
    return [pid for pid in found if "forkserver" not in command(pid) and "resource_tracker" not in command(pid)]


def command(pid: int) -> str:
    try:
        with open(f"/proc/{pid}/cmdline") as file:
            return file.read()
    except FileNotFoundError:
        return ""


def shared_names() -> list[str]:
    """The shared memory of this program that has a name under /dev/shm."""
    return [name for name in os.listdir("/dev/shm") if name.startswith(family()[1:])]


def kill_at_random(times: int, seed: int) -> float:
    """Kill a worker at random moments, and return the longest time in seconds until the error.

    Raises:
        RuntimeError: there was no error, or a process or a name of shared memory is left.
    """
    choose = random.Random(seed)
    data = TensorDataset(torch.arange(4000.0))
    longest = 0.0
    for _ in range(times):
        iterator = iter(DataLoader(data, batch_size=8, num_workers=2, multiprocessing_context="fork"))
        for _ in range(choose.randrange(4)):
            next(iterator)
        victim = choose.choice(iterator._workers.processes)  # type: ignore[attr-defined]
        time.sleep(choose.random() * 0.01)
        os.kill(victim.pid, signal.SIGKILL)
        started = time.monotonic()
        try:
            deque(iterator, maxlen=0)
        except RuntimeError as error:
            if "is killed by signal: Killed" not in str(error):
                raise
        else:
            raise RuntimeError("a worker was killed, and the loop ended without an error")
        longest = max(longest, time.monotonic() - started)
        del iterator  # and the batches that waited for their turn
        if children() or shared_names():
            raise RuntimeError(f"processes or shared memory are left: {children()} {shared_names()}")
    return longest


def levels(batches: int, workers: int) -> list[tuple[int, int, int]]:
    """Load batches in four passes; after each, return descriptors, files under /dev/shm and resident pages."""
    data = TensorDataset(torch.arange(batches / 4))
    loader = DataLoader(
        data, batch_size=1, num_workers=workers, persistent_workers=True, multiprocessing_context="fork"
    )
    found = []
    for _ in range(4):
        for _ in loader:
            pass
        with open("/proc/self/statm") as file:
            pages = int(file.read().split()[1])
        found.append((len(os.listdir("/proc/self/fd")), len(shared_names()), pages))
    return found


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--batches", type=int, default=10_000)
    parser.add_argument("--workers", type=int, default=4)
    parser.add_argument("--strategy", default="file_descriptor", choices=sorted(STRATEGIES))
    options = parser.parse_args()
    multiprocessing.set_sharing_strategy(options.strategy)
    warnings.filterwarnings("ignore", "This DataLoader will create")  # there may be fewer processors than workers
    print(f"{options.kills} kills: the error came within {kill_at_random(options.kills, 3):.2f} s, nothing is left")
    print(f"{options.batches} batches through {options.workers} workers, after each quarter:")
    for descriptors, files, pages in levels(options.batches, options.workers):
        print(f"  {descriptors} descriptors, {files} files in /dev/shm, {pages * 4096 / 1e6:.1f} MB resident")
