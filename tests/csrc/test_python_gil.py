"""What is long gives the GIL up: other threads make progress meanwhile. Note [GIL and kernels] has the policy.

Mirrors: nothing in PyTorch, which gives the GIL up in every binding

Another thread counts as fast as Python can. Nothing is timed: the counter must move between the beginning and the end
of one call. While a call holds the GIL, the counter stands still, however loaded the machine is: Python looks only
between bytecodes whether another thread waits, and a call has none.
"""

from __future__ import annotations

import operator
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

import numpy as np
import pytest

import reftorch as torch


@contextmanager
def counting() -> Iterator[list[int]]:
    """A thread that counts for as long as the block lasts."""
    count, done = [0], threading.Event()

    def work() -> None:
        while not done.is_set():
            count[0] += 1
            time.sleep(0)  # gives the GIL up: who wants it need not wait for the interval

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    try:
        yield count
    finally:
        done.set()
        thread.join()


def progress_during(call: Callable[[], Any], patience: float = 0.25) -> int:
    """How far the other thread counted while ``call`` ran, in the first try in which the thread counted at all.

    A call of two milliseconds can end before a loaded machine gives the other thread a core. The call is therefore
    repeated for as long as ``patience`` (in seconds) lasts; a call that holds the GIL shows 0 however often it runs.
    """
    interval = sys.getswitchinterval()
    deadline = time.monotonic() + patience
    sys.setswitchinterval(1000.0)  # from here on, this thread loses the GIL only where it gives it up itself
    try:
        progress = 0
        with counting() as count:
            while progress == 0 and time.monotonic() < deadline:
                time.sleep(0.01)  # gives the GIL up, so that the other thread waits for it when the call begins
                before = count[0]
                call()
                progress = count[0] - before
        return progress
    finally:
        sys.setswitchinterval(interval)


LARGE = 3_000_000
x = square = indices = mask = floats = nested = array = None


@pytest.fixture(scope="module", autouse=True)
def large_data():
    """Large values for the time of this module's tests alone: a test of memory may run in this process later."""
    global x, square, indices, mask, floats, nested, array
    x = torch.arange(float(LARGE))
    square = x[: 1000 * 1000].view(1000, 1000)
    indices = torch.arange(LARGE)
    mask = x > 5
    floats, nested = [0.5] * 2_000_000, [[1.5, 2.5]] * 300_000
    array = np.zeros(LARGE, dtype=np.float32)
    yield
    x = square = indices = mask = floats = nested = array = None


small = torch.arange(300.0)
matrix = torch.eye(120) * 2
generator = torch.Generator()

LONG: dict[str, Callable[[], Any]] = {
    # factories
    "randn": lambda: torch.randn(LARGE),
    "randn with a generator": lambda: torch.randn(LARGE, generator=generator),
    "rand, requires_grad": lambda: torch.rand(LARGE, requires_grad=True),
    "zeros": lambda: torch.zeros(LARGE * 4),
    "full": lambda: torch.full((LARGE,), 1.5),
    "arange": lambda: torch.arange(LARGE),
    "linspace": lambda: torch.linspace(0, 1, LARGE),
    "eye": lambda: torch.eye(2000),
    "randperm": lambda: torch.randperm(LARGE),
    "tril_indices": lambda: torch.tril_indices(2000, 2000),
    "normal_": lambda: x.clone().normal_(),
    # large out of small
    "combinations": lambda: torch.combinations(small[:150], 3),
    "outer": lambda: torch.outer(indices[:3000].float(), small.repeat(10)),
    "repeat": lambda: small.repeat(10_000),
    "cartesian_prod": lambda: torch.cartesian_prod(small, small, small[:20]),
    "cdist": lambda: torch.cdist(x[:8000].view(2000, 4), x[:8000].view(2000, 4)),
    "products of small matrices": lambda: torch.linalg.matrix_power(matrix / 2, 2**30),
    "svd of a small matrix": lambda: torch.linalg.svd(matrix),
    # reading and writing
    "x[indices]": lambda: x[indices],
    "x[mask]": lambda: x[mask],
    "x[indices] of rows": lambda: square[indices[:1000].repeat(4)],
    "x[:, None]": lambda: square[:, [0, 5, 7] * 200],
    "x[...] = 1": lambda: x.clone().__setitem__(..., 1.0),
    "x[:] = y": lambda: torch.empty(LARGE).__setitem__(slice(None), x),
    "x[indices] = y": lambda: torch.empty(LARGE).__setitem__(indices, x),
    "x[mask] = 1": lambda: x.clone().__setitem__(mask, 1.0),
    # to Python and back
    "tolist": lambda: x.tolist(),
    "tensor(array)": lambda: torch.tensor(array),
    "as_tensor with a cast": lambda: torch.as_tensor(array, dtype=torch.float64),
    # whole tensors
    "sum": lambda: x.sum(),
    "item of a sum": lambda: x.sum().item(),
    "bool": lambda: bool((x >= 0).all()),
    "equal": lambda: torch.equal(x, x.clone()),
    "allclose": lambda: torch.allclose(x, x.clone()),
    "sort": lambda: x.flip(0).sort(),
    "clone": lambda: x.clone(),
    "copy_": lambda: torch.empty(LARGE).copy_(x),
    "to": lambda: x.to(torch.float64),
    "cat": lambda: torch.cat([x, x]),
    "backward": lambda: (torch.ones(LARGE, requires_grad=True) * 2).sum().backward(),
    "unique": lambda: indices.unique(),
    "nonzero": lambda: mask.nonzero(),
}


@pytest.mark.parametrize("name", LONG)
def test_others_run_meanwhile(name):
    assert progress_during(LONG[name], patience=60.0) > 0


@pytest.mark.parametrize(
    "call", [lambda: (torch.tensor, floats), lambda: (torch.tensor, nested), lambda: (torch.Tensor, floats)]
)
def test_others_run_while_lists_are_read(call):
    """Reading Python's objects needs the GIL, so a long list is read with a short break after some elements.

    Another thread is sure to get the GIL in such a break only if it has waited for a switch interval before, so the
    interval is shorter here than the time between two breaks. ``map`` runs no line of Python between the two looks at
    the counter, so the other thread cannot count between lines.
    """
    function, data = call()
    interval = sys.getswitchinterval()
    sys.setswitchinterval(0.0002)
    try:
        with counting() as count:
            time.sleep(0.01)
            calls = (count.copy, partial(function, data), count.copy)
            before, _, after = map(operator.methodcaller("__call__"), calls)
    finally:
        sys.setswitchinterval(interval)
    assert after[0] > before[0]


def test_the_other_thread_stands_still_while_the_gil_is_held():
    """The measurement itself: a long call of Python's own that holds the GIL lets nobody count."""
    numbers = list(range(300_000))
    assert progress_during(lambda: sorted(numbers, key=None)) == 0


@pytest.mark.parametrize("call", [lambda t: t.add_(1), lambda t: t.sort(), lambda t: torch.cumsum(t, 0, out=t)])
def test_a_call_that_releases_the_gil_counts_its_tensors(call):
    """A tensor with one count is read by the garbage collector, on whatever thread that runs."""
    t, done = torch.arange(float(LARGE)), threading.Event()
    counts: set[int] = set()

    def watch() -> None:
        while not done.is_set():
            counts.add(t._use_count())
            time.sleep(0)

    thread = threading.Thread(target=watch, daemon=True)
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1000.0)  # the watcher runs only while the call has released the GIL
    try:
        thread.start()
        for _ in range(20):
            call(t)
            if max(counts, default=0) >= 2:
                break
    finally:
        done.set()
        sys.setswitchinterval(interval)
        thread.join()
    assert max(counts) >= 2 and t._use_count() == 1


def test_a_small_op_keeps_the_gil():
    a, b = torch.ones(4), torch.ones(4)
    assert progress_during(lambda: torch.add(a, b)) == 0
    assert progress_during(lambda: torch.zeros(4)) == 0
    assert progress_during(lambda: torch.cat([a, b])) == 0
    assert progress_during(lambda: a[[0, 1]]) == 0


def test_who_waits_for_a_generator_lets_others_run():
    """A small draw waited, with the GIL held, until another thread's large draw was done: everybody stood still."""
    moved = 0
    for _ in range(10):
        drawing = threading.Thread(target=lambda: torch.randn(20_000_000))
        drawing.start()
        time.sleep(0.02)
        moved = progress_during(lambda: torch.randn(1)) if drawing.is_alive() else 0
        drawing.join()
        if moved > 0:
            break
    assert moved > 0


def test_a_list_that_changes_while_it_is_read():
    """tensor(list) lets others run, who may shorten the list; its elements were read without looking again."""
    messages: list[str] = []
    numbers: list[float] = [0.5] * 100_000
    stop = threading.Event()

    def change() -> None:
        while not stop.is_set():
            numbers[:] = [0.5] * 10
            numbers[:] = [0.25] * 100_000

    thread = threading.Thread(target=change)
    thread.start()
    try:
        for _ in range(20):
            try:
                made = torch.tensor(numbers, dtype=torch.float32)
            except ValueError as error:
                messages.append(str(error))
            else:
                assert set(made.tolist()) <= {0.5, 0.25}
    finally:
        stop.set()
        thread.join()
    assert all("expected sequence of length" in message for message in messages)


def test_tolist_of_a_tensor_that_another_thread_resizes():
    t = torch.ones(200_000)
    stop = threading.Event()

    def change() -> None:
        while not stop.is_set():
            t.resize_(10)
            t.resize_(200_000).fill_(1.0)

    thread = threading.Thread(target=change)
    thread.start()
    try:
        for _ in range(10):
            assert len(t.tolist()) in (10, 200_000)
    finally:
        stop.set()
        thread.join()


# Python ends while daemon threads are inside an op, a formula, a hook, a __torch_dispatch__.
DAEMONS = {
    "op": "x @ x",
    "hook": "y = x * 2; y.register_hook(lambda grad: grad * 1); y.sum().backward()",
    "mode": "mode.__enter__(); x + 1; mode.__exit__(None, None, None)",
}
ENDING = """
import sys, threading, time, reftorch as torch
from reftorch.utils._python_dispatch import TorchDispatchMode

class Mode(TorchDispatchMode):
    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        return func(*args, **(kwargs or {}))

def forever():
    mode = Mode()
    x = torch.ones(300, 300, requires_grad=True)
    while True:
        exec(sys.argv[1])

for _ in range(3):
    threading.Thread(target=forever, daemon=True).start()
time.sleep(0.05)
sys.exit(3)
"""


@pytest.mark.parametrize("kind", DAEMONS)
def test_python_ends_while_daemon_threads_are_inside_the_library(kind: str) -> None:
    done = subprocess.run([sys.executable, "-c", ENDING, DAEMONS[kind]], capture_output=True, text=True, timeout=120)
    assert done.returncode == 3, done.stderr
