"""Processes that are started together, and the error of the first that fails.

Mirrors: test/test_multiprocessing_spawn.py
Leaves out: the parallel start of processes.
"""

import os
import pickle
import signal
import sys
import time
from typing import Any

import pytest

import reftorch.multiprocessing as mp
from reftorch.multiprocessing.spawn import ProcessExitedException, ProcessRaisedException


def succeed(i: int, *args: Any) -> None:
    pass


def fail(i: int, which: int) -> None:
    if i == which:
        raise ValueError("legitimate exception from process fail")
    time.sleep(60)


def leave(i: int, code: int) -> None:
    sys.exit(code)


def be_killed(i: int, number: int) -> None:
    os.kill(os.getpid(), number)
    time.sleep(60)


def stubborn(i: int) -> None:
    if i == 0:
        raise ValueError("first")
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    time.sleep(60)


def join_all(context: mp.ProcessContext, **options: Any) -> None:
    while not context.join(**options):
        pass


@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
def test_success(method: str) -> None:
    assert mp.start_processes(succeed, nprocs=2, start_method=method) is None


def test_the_first_exception_arrives_with_its_traceback_and_ends_the_others() -> None:
    started = time.monotonic()
    context = mp.start_processes(fail, (1,), nprocs=2, join=False, start_method="fork")
    assert context is not None and len(context.pids()) == 2
    with pytest.raises(ProcessRaisedException, match="-- Process 1 terminated with the following error:") as failure:
        join_all(context)
    assert "ValueError: legitimate exception from process fail" in str(failure.value)
    assert "in fail" in str(failure.value)
    assert failure.value.error_index == 1 and failure.value.error_pid == context.pids()[1]
    assert time.monotonic() - started < 30
    assert not any(process.is_alive() for process in context.processes)


def test_exit_codes_and_signals() -> None:
    with pytest.raises(ProcessExitedException, match="process 0 terminated with exit code 12") as failure:
        mp.start_processes(leave, (12,), start_method="fork")
    assert failure.value.exit_code == 12
    with pytest.raises(ProcessExitedException, match="process 0 terminated with signal SIGUSR1") as failure:
        mp.start_processes(be_killed, (signal.SIGUSR1,), start_method="fork")
    assert (failure.value.exit_code, failure.value.signal_name) == (-signal.SIGUSR1, "SIGUSR1")
    copy = pickle.loads(pickle.dumps(failure.value))
    assert (str(copy), copy.error_index, copy.exit_code) == (str(failure.value), 0, -signal.SIGUSR1)


def test_a_process_that_does_not_end_is_killed() -> None:
    context = mp.start_processes(stubborn, nprocs=2, join=False, start_method="fork")
    assert context is not None
    with pytest.raises(ProcessRaisedException):
        join_all(context, grace_period=0.5)
    assert context.processes[1].exitcode == -signal.SIGKILL


def test_join_waits_no_longer_than_asked() -> None:
    context = mp.start_processes(time.sleep, nprocs=2, join=False, start_method="fork")  # sleep(0) and sleep(1)
    assert context is not None
    assert context.join(timeout=0.01) is False
    while not context.join(timeout=5):
        pass
    assert context.join() is True


def test_spawn_uses_spawn_only() -> None:
    with pytest.warns(UserWarning, match="only supports start_method=spawn"):
        mp.spawn(succeed, nprocs=1, start_method="fork")
