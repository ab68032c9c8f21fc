"""How the workers of a loader end, and that nothing of them is left: no process, no descriptor, no shared memory.

Mirrors: test/test_dataloader.py
Leaves out: stops in a debugger (tests/debug/test_workers.py).
"""

import gc
import multiprocessing
import os
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Iterator
from multiprocessing import synchronize
from typing import Any

import pytest

import reftorch as torch
from reftorch.utils.data import DataLoader
from tests.utils.data.endure import children, kill_at_random, levels, shared_names
from tests.utils.data.test_dataloader_workers import METHODS, Doing, Squares

pytestmark = [
    pytest.mark.filterwarnings("ignore:This DataLoader will create"),
    pytest.mark.usefixtures("nothing_is_left"),
]


@pytest.mark.parametrize(
    ("what", "message"),
    [
        ("exit", r"DataLoader worker \(pid \d+\) exited unexpectedly with exit code 3\."),
        ("kill", r"DataLoader worker \(pid \d+\) is killed by signal: Killed\. Hint: .*memory"),
    ],
)
@pytest.mark.parametrize("method", METHODS)
def test_a_dead_worker_is_an_error_at_once(what: str, message: str, method: str) -> None:
    loader = DataLoader(Doing(what), batch_size=2, num_workers=2, multiprocessing_context=method)
    with pytest.raises(RuntimeError, match=message):
        list(loader)


@pytest.fixture(params=["file_descriptor", "file_system"])
def strategy(request: pytest.FixtureRequest) -> Iterator[str]:
    torch.multiprocessing.set_sharing_strategy(request.param)
    yield request.param
    torch.multiprocessing.set_sharing_strategy("file_descriptor")


def test_kills_at_random_moments(strategy: str) -> None:
    """Whatever the worker is doing, the error comes within 5 seconds, and neither process nor memory is left.

    ``python -m tests.utils.data.endure`` kills 200 workers.
    """
    assert kill_at_random(20, seed=3) < 5


@pytest.mark.parametrize("persistent", [False, True])
def test_a_loop_that_is_left_early_leaves_nothing(strategy: str, persistent: bool) -> None:
    """The batches that were on their way go, and the batch that was returned stays."""
    loader = DataLoader(Squares(500), num_workers=3, multiprocessing_context="fork", persistent_workers=persistent)
    for number, batch in enumerate(loader):  # noqa: B007
        if number == 2:
            break
    del loader
    gc.collect()
    assert children() == [] and batch[0].tolist() == [[2.0, 2.0, 2.0]]
    assert len(shared_names()) == 2 * (strategy == "file_system")
    receiver, sender = multiprocessing.Pipe(duplex=False)
    sender.send(batch[0])  # its name is still there, so it can be sent on
    assert receiver.recv().sum() == 6
    del batch
    assert shared_names() == []


@pytest.mark.parametrize("method", METHODS)
def test_a_loader_makes_no_semaphore(method: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A semaphore has a name, and would be left by a program that is killed."""

    def refuse(*args: Any, **options: Any) -> None:
        raise AssertionError("a semaphore is made")

    monkeypatch.setattr(synchronize.SemLock, "__init__", refuse)
    with pytest.raises(AssertionError, match="a semaphore is made"):
        multiprocessing.Queue()
    assert len(list(DataLoader(Squares(), num_workers=2, multiprocessing_context=method))) == 20


def test_many_batches_keep_the_process_level() -> None:
    """``python -m tests.utils.data.endure`` loads as many batches through more workers."""
    _, (descriptors, files, pages), *later = levels(10_000, workers=2)
    assert [(now, left) for now, left, _ in later] == [(descriptors, files)] * 2
    if os.environ.get("REFTORCH_BUILD") != "sanitize":  # the sanitizer keeps freed memory, to find later uses of it
        assert later[-1][2] - pages < 2500  # 10 MB; one page lost with each batch would be 5,000


FULL = """
    import os, sys
    import reftorch as torch
    from reftorch.utils.data import DataLoader

    class Large(torch.utils.data.Dataset):
        def __len__(self):
            return 4

        def __getitem__(self, index):
            return torch.full((1_000_000,), float(index))

    for strategy in ("file_system", "file_descriptor"):
        torch.multiprocessing.set_sharing_strategy(strategy)
        loader = DataLoader(Large(), batch_size=None, num_workers=1, multiprocessing_context="fork")
        try:
            print(strategy, [batch[0].item() for batch in loader])
        except RuntimeError as error:
            print(strategy, *str(error).splitlines()[:: len(str(error).splitlines()) - 1], sep=": ")
        print("left:", os.listdir("/dev/shm"))
"""


def test_a_full_dev_shm_is_an_error_that_says_what_to_do() -> None:
    """Here /dev/shm has room for 1 MB. Memory that goes by its descriptor needs no room there."""
    own = ["unshare", "--user", "--map-root-user", "--mount", "sh", "-c"]
    mount = 'mount -t tmpfs -o size=1m none /dev/shm && exec "$0" "$@"'
    command = [*own, mount, sys.executable, "-c", textwrap.dedent(FULL)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    if "unshare" in done.stderr or "mount:" in done.stderr:
        pytest.skip(f"this system lends no /dev/shm of its own: {done.stderr}")
    error, left, batches, left_again = done.stdout.splitlines()
    assert error.startswith(
        "file_system: Caught RuntimeError in DataLoader worker process 0.: RuntimeError: unable to "
    )
    assert "bytes of shared memory: No space left on device (28). Hint: /dev/shm is full (df -h /dev/shm)" in error
    assert "docker run --shm-size" in error and "set_sharing_strategy('file_descriptor')" in error
    assert batches == "file_descriptor [0.0, 1.0, 2.0, 3.0]"
    assert left == left_again == "left: []"


def run(program: str, *arguments: str, **options: Any) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", textwrap.dedent(program), *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, **options)


@pytest.mark.parametrize("method", METHODS)
def test_an_interpreter_that_exits_in_the_middle_leaves_nothing(method: str) -> None:
    """Standard error would tell of names that were left: of semaphores, and of memory that the system knows by name."""
    program = """
        import os, sys
        import reftorch.multiprocessing
        from reftorch._shared_memory import family
        from reftorch.utils.data import DataLoader
        reftorch.multiprocessing.set_sharing_strategy("file_system")
        loader = DataLoader(range(100), num_workers=2, multiprocessing_context=sys.argv[1], persistent_workers=True)
        iterator = iter(loader)
        next(iterator)
        print(family()[1:], *[process.pid for process in iterator._workers.processes])
    """
    done = run(program, method)
    assert done.returncode == 0 and done.stderr == ""
    front, *pids = done.stdout.split()
    assert not any(os.path.exists(f"/proc/{pid}") for pid in pids) and len(pids) == 2
    assert not any(name.startswith(front) for name in os.listdir("/dev/shm"))


@pytest.mark.parametrize("method", METHODS)
def test_workers_end_when_the_process_of_the_loader_is_killed(method: str) -> None:
    program = """
        import os, signal, sys
        from reftorch.utils.data import DataLoader
        iterator = iter(DataLoader(range(100), num_workers=2, multiprocessing_context=sys.argv[1]))
        next(iterator)
        print(*[process.pid for process in iterator._workers.processes], flush=True)
        os.kill(os.getpid(), signal.SIGKILL)
    """
    done = run(program, method)
    assert done.returncode == -signal.SIGKILL
    deadline = time.monotonic() + 15
    while any(os.path.exists(f"/proc/{pid}") for pid in done.stdout.split()):
        assert time.monotonic() < deadline
        time.sleep(0.1)


@pytest.mark.parametrize("method", METHODS)
def test_ctrl_c_ends_the_workers_quietly(method: str) -> None:
    program = """
        import multiprocessing, sys
        from reftorch.utils.data import DataLoader
        try:
            for number, _ in enumerate(DataLoader(range(10**6), num_workers=2, multiprocessing_context=sys.argv[1])):
                if number == 3:
                    print("running", flush=True)
        except KeyboardInterrupt:
            print("interrupted")
        print(multiprocessing.active_children())
    """
    process = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(program), method],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # a background shell starts us with it ignored
    )  # fmt: skip
    try:
        assert process.stdout is not None and process.stdout.readline() == "running\n"
        os.killpg(process.pid, signal.SIGINT)  # as a terminal does: to all processes of the group
        out, errors = process.communicate(timeout=30)
    finally:
        if process.poll() is None:  # so that this failure does not become one of the next test too
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
    assert (out, errors, process.returncode) == ("interrupted\n[]\n", "", 0)
