"""Several threads, and the child of a fork: see Note [Fork] in cpp/c10/util/Mutex.h.

Mirrors: test/test_multiprocessing.py, aten/src/ATen/test/test_parallel.cpp

Each program runs in a process of its own and forks there. A child that hangs is killed by its alarm, and the program by
the time limit of the test.
"""

from __future__ import annotations

import subprocess
import sys
import textwrap

import pytest

BEGINNING = """
import os, signal, threading, time
import reftorch as torch

torch.set_num_threads(4)

def in_child(work):
    pid = os.fork()
    if pid == 0:
        signal.alarm(30)  # a child that hangs dies of it
        code = 1
        try:
            work()
            code = 0
        except BaseException:
            import traceback
            traceback.print_exc()
        finally:
            os._exit(code)
    _, status = os.waitpid(pid, 0)
    assert status == 0, f"the child ended with status {status}: 14 says that it hung"

def everything():
    x = torch.ones(300_000)
    assert (x + x).sum().item() == 600_000
    a = torch.ones(200, 200)
    assert (a @ a)[0, 0].item() == 200
    assert torch.linalg.solve(torch.eye(50) * 2, torch.ones(50)).sum().item() == 25
    w = torch.ones(100_000, requires_grad=True)
    with torch.enable_grad():
        (w * w).sum().backward()
    assert w.grad[0].item() == 2
    assert 0 <= torch.rand(100_000).max().item() <= 1
    torch.randn(1000, generator=torch.Generator())
    assert torch.arange(100_000).flip(0).sort().values[5].item() == 5

def parallel():
    everything()
    torch.ones(3_000_000).exp_()
"""


def run(program: str, timeout: float = 240) -> None:
    code = BEGINNING + textwrap.dedent(program)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=timeout, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_a_child_of_a_process_that_has_used_threads():
    run("""
        parallel()
        for _ in range(5):
            in_child(everything)
            parallel()
    """)


def test_a_child_begins_with_one_thread_and_may_ask_for_more():
    run("""
        parallel()
        def work():
            assert torch.get_num_threads() == 1, torch.get_num_threads()
            everything()
            torch.set_num_threads(3)
            for _ in range(20):
                parallel()
            threads = [threading.Thread(target=parallel) for _ in range(3)]
            for t in threads: t.start()
            for t in threads: t.join()
            in_child(parallel)  # a grandchild
        in_child(work)
        assert torch.get_num_threads() == 4
    """)


OTHERS = {
    "allocates": "torch.empty(100_000).fill_(1)",
    "allocates little": "[torch.empty(n) for n in range(1, 200)]",
    "computes": "(torch.ones(200_000) * 2).sum()",
    "multiplies": "torch.ones(300, 300) @ torch.ones(300, 300)",
    "draws": "torch.randn(200_000)",
    "runs backward": "(shared * shared).sum().backward()",
    "makes leaves": "torch.ones(20_000, requires_grad=True).mul(2).sum().backward()",
    "computes tangents": "torch.func.jvp(lambda t: t * t, (torch.ones(9),), (torch.ones(9),))",
}


@pytest.mark.parametrize("name", OTHERS)
def test_a_fork_while_other_threads(name):
    run(f"""
        shared = torch.ones(50_000, requires_grad=True)
        done = False
        def busy():
            while not done:
                {OTHERS[name]}
        threads = [threading.Thread(target=busy) for _ in range(3)]
        for t in threads: t.start()
        def work():
            everything()
            shared.grad = None
            (shared * 3).sum().backward()  # on a leaf whose lock another thread may have held
            torch.randn(10)
        try:
            parallel()
            for i in range(25):
                time.sleep(0.001 * (i % 5))
                in_child(work)
        finally:
            done = True
            for t in threads: t.join()
        everything()
    """)


def test_workers_of_a_pool():
    run("""
        import multiprocessing
        parallel()
        data = torch.arange(60_000.0).view(60, 1000)
        def batch(i):
            return (data[i] * 2).sum().item() + (data @ data.t())[i, 0].item() * 0 + torch.rand(1).item() * 0
        with multiprocessing.get_context("fork").Pool(3) as pool:
            rows = pool.map_async(batch, range(60)).get(timeout=100)
        assert rows == [(data[i] * 2).sum().item() for i in range(60)]
        parallel()
    """)


def test_a_fork_inside_of_a_backward_pass():
    run("""
        def hook(grad):
            in_child(everything)
            return grad
        x = torch.ones(50_000, requires_grad=True)
        y = x * 2
        y.register_hook(hook)
        y.sum().backward()
        assert x.grad[0].item() == 2
    """)


def test_threads_that_write_a_cat_begin_and_end_inside_its_tensors():
    run("""
        parts = [torch.arange(n).to(torch.uint8) for n in (100_003, 0, 77_777, 5)]
        assert torch.cat(parts).tolist() == sum((part.tolist() for part in parts), [])
        rows = [torch.randn(300, n) for n in (1, 170, 90)]
        assert all(map(torch.equal, torch.cat(rows, 1).split((1, 170, 90), 1), rows))
    """)
