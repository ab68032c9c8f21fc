"""The loader with worker processes.

Mirrors: test/test_dataloader.py
Leaves out: data pipes; how workers end (test_dataloader_lifecycle.py).
"""

import contextlib
import gc
import multiprocessing
import os
import random
import re
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Iterator
from types import ModuleType
from typing import Any

import pytest

import reftorch as torch
from reftorch.utils.data import DataLoader, Dataset, IterableDataset, get_worker_info

pytestmark = [
    pytest.mark.filterwarnings("ignore:This DataLoader will create"),
    pytest.mark.usefixtures("nothing_is_left"),
]

METHODS = ["fork", "spawn", "forkserver"]


class Squares(Dataset):
    def __init__(self, length: int = 20) -> None:
        self.length = length

    def __getitem__(self, index: int) -> Any:
        return torch.full((3,), float(index)), {"square": index * index, "name": str(index)}

    def __len__(self) -> int:
        return self.length


class Doing(Dataset):
    """Does something at an index."""

    def __init__(self, what: str, at: int = 3) -> None:
        self.what = what
        self.at = at

    def __getitem__(self, index: int) -> int:
        if index == self.at:
            if self.what == "raise":
                raise KeyError(f"no sample {index}")
            if self.what == "exit":
                os._exit(3)
            if self.what == "kill":
                os.kill(os.getpid(), signal.SIGKILL)
            if self.what == "sleep":
                time.sleep(30)
        return index

    def __len__(self) -> int:
        return 8


class Stream(IterableDataset):
    """Each worker yields its share, and the shares differ in length."""

    def __iter__(self) -> Iterator[int]:
        info = get_worker_info()
        first, step = (0, 1) if info is None else (info.id, info.num_workers)
        return iter(range(first, 11, step))


class Facts(Dataset):
    """What a worker knows, and what its generators give."""

    def __getitem__(self, index: int) -> Any:
        import numpy

        info = get_worker_info()
        assert info is not None and isinstance(info.dataset, Facts)
        numbers = torch.rand(1).item(), random.random(), float(numpy.random.rand())
        return info.id, info.num_workers, info.seed, torch.get_num_threads(), *numbers

    def __len__(self) -> int:
        return 4


def first_of(batch: list[Any]) -> Any:
    return batch[0]


def plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    return value.tolist() if hasattr(value, "tolist") else value


# ---- the same as without workers


@pytest.mark.parametrize("method", METHODS)
def test_batches_are_those_of_one_process(method: str) -> None:
    def batches(**options: Any) -> list[Any]:
        torch.manual_seed(5)
        loader = DataLoader(Squares(), batch_size=3, shuffle=True, **options)
        return [plain(list(loader)) for _ in range(2)]

    workers = batches(num_workers=2, multiprocessing_context=method)
    assert workers == batches()
    assert workers[0] != workers[1]


@pytest.mark.parametrize("num_workers", [1, 3])
@pytest.mark.parametrize(
    "options",
    [
        {"batch_size": 4, "drop_last": True},
        {"batch_size": None},
        {"batch_size": 7, "prefetch_factor": 1},
        {"batch_size": 1, "prefetch_factor": 8},
        {"batch_sampler": [[1, 2], [3], [7, 7, 7]]},
        {"sampler": [5, 3, 1]},
        {"batch_size": 3, "persistent_workers": True},
        {"batch_size": 3, "timeout": 20},
    ],
    ids=str,
)
def test_every_option_gives_the_batches_of_one_process(options: dict[str, Any], num_workers: int) -> None:
    only = ("prefetch_factor", "persistent_workers", "timeout")
    expected = list(DataLoader(Squares(), **{key: value for key, value in options.items() if key not in only}))
    loader = DataLoader(Squares(), num_workers=num_workers, multiprocessing_context="fork", **options)
    assert len(loader) == len(expected)
    for _ in range(2):
        assert plain(list(loader)) == plain(expected)


@pytest.mark.parametrize("batch_size", [None, 2, 3])
@pytest.mark.parametrize("num_workers", [1, 2, 3])
def test_streams_end_when_all_workers_have_ended(
    batch_size: int | None, num_workers: int, real_torch: ModuleType
) -> None:
    class TheirStream(real_torch.utils.data.IterableDataset):  # type: ignore[name-defined, misc]
        def __iter__(self) -> Iterator[int]:
            info = real_torch.utils.data.get_worker_info()
            return iter(range(info.id, 11, info.num_workers))

    options = {"batch_size": batch_size, "num_workers": num_workers, "multiprocessing_context": "fork"}
    theirs = plain(list(real_torch.utils.data.DataLoader(TheirStream(), **options)))
    loader = DataLoader(Stream(), persistent_workers=True, **options)  # type: ignore[arg-type]
    assert plain(list(loader)) == plain(list(loader)) == theirs
    loader._iterator._shutdown_workers()


def test_seeds_are_those_of_torch(real_torch: ModuleType) -> None:
    class TheirFacts(real_torch.utils.data.Dataset):  # type: ignore[name-defined, misc]
        def __getitem__(self, index: int) -> Any:
            import numpy

            info = real_torch.utils.data.get_worker_info()
            numbers = real_torch.rand(1).item(), random.random(), float(numpy.random.rand())
            return info.id, info.num_workers, info.seed, real_torch.get_num_threads(), *numbers

        def __len__(self) -> int:
            return 4

    def facts(lib: ModuleType, dataset: Any) -> list[Any]:
        lib.manual_seed(9)
        loader = lib.utils.data.DataLoader(
            dataset, batch_size=None, num_workers=2, multiprocessing_context="fork", shuffle=True
        )
        return list(loader)

    ours = facts(torch, Facts())
    assert ours == facts(real_torch, TheirFacts())
    assert [fact[:2] for fact in ours] == [[0, 2], [1, 2], [0, 2], [1, 2]] and all(fact[3] == 1 for fact in ours)
    assert get_worker_info() is None


def test_the_generator_decides_the_order_and_the_seeds() -> None:
    def facts() -> list[Any]:
        generator = torch.Generator().manual_seed(1)
        return list(DataLoader(Facts(), None, True, num_workers=2, generator=generator, multiprocessing_context="fork"))

    first = facts()
    torch.manual_seed(100)
    assert facts() == first


# ---- how batches come


def test_batches_lie_in_shared_memory() -> None:
    for x, y in DataLoader(Squares(), batch_size=5, num_workers=1, multiprocessing_context="fork"):
        assert x.is_shared() and y["square"].is_shared() and y["name"][0].isdigit()


def test_a_batch_outlives_the_loader() -> None:
    loader = DataLoader(Squares(), batch_size=20, num_workers=1, multiprocessing_context="fork")
    (batch,) = list(loader)
    del loader
    gc.collect()
    assert batch[0].sum() == 570


class Uneven(Dataset):
    """The samples of the first worker take longer."""

    def __getitem__(self, index: int) -> int:
        time.sleep(1 if index == 0 else 0)
        return index

    def __len__(self) -> int:
        return 6


def test_order_is_kept_unless_it_is_not_wanted() -> None:
    options: dict[str, Any] = {"batch_size": None, "num_workers": 2, "multiprocessing_context": "fork"}
    assert list(DataLoader(Uneven(), **options)) == [0, 1, 2, 3, 4, 5]
    free = list(DataLoader(Uneven(), in_order=False, **options))
    assert sorted(free) == [0, 1, 2, 3, 4, 5] and free[0] != 0


class Large(Dataset):
    """Samples that are no tensors, and large: the pipe to the loader is full while the loader hands out indices."""

    def __getitem__(self, index: Any) -> bytes:
        return bytes(1_000_000)

    def __len__(self) -> int:
        return 6


def test_large_samples_and_large_indices_do_not_block_each_other() -> None:
    sampler = [("index", i, "x" * 1_000_000) for i in range(6)]
    loader = DataLoader(
        Large(), batch_size=None, sampler=sampler, num_workers=2, prefetch_factor=3, multiprocessing_context="fork"
    )
    assert [len(sample) for sample in loader] == [1_000_000] * 6


def say_hello(worker_id: int) -> None:
    os.environ["HELLO"] = str(worker_id)


class Hello(Dataset):
    def __getitem__(self, index: int) -> str:
        return os.environ["HELLO"]

    def __len__(self) -> int:
        return 4


@pytest.mark.parametrize("method", METHODS)
def test_worker_init_fn_and_collate_fn(method: str) -> None:
    loader = DataLoader(
        Hello(), num_workers=2, worker_init_fn=say_hello, collate_fn=first_of, multiprocessing_context=method
    )
    assert list(loader) == ["0", "1", "0", "1"]


class Pids(Dataset):
    def __getitem__(self, index: int) -> int:
        return os.getpid()

    def __len__(self) -> int:
        return 4


def test_persistent_workers_live_on_and_others_do_not() -> None:
    def pids(persistent: bool) -> tuple[set[int], set[int], DataLoader]:
        loader = DataLoader(Pids(), None, num_workers=2, persistent_workers=persistent, multiprocessing_context="fork")
        return set(loader), set(loader), loader

    first, second, loader = pids(True)
    assert first == second and len(first) == 2
    iterator = iter(loader)
    next(iterator)
    assert set(loader) == first  # a pass that was left early: the rest of its batches is dropped
    del loader, iterator
    first, second, _ = pids(False)
    assert not first & second


# ---- what goes wrong


def test_an_exception_arrives_with_its_type_and_traceback() -> None:
    loader = DataLoader(Doing("raise"), batch_size=2, num_workers=2, multiprocessing_context="fork")
    iterator = iter(loader)
    assert next(iterator).tolist() == [0, 1]
    with pytest.raises(KeyError) as failure:
        next(iterator)
    text = str(failure.value)
    assert text.startswith(
        "Caught KeyError in DataLoader worker process 1.\nOriginal Traceback (most recent call last)"
    )
    assert "in __getitem__" in text and "no sample 3" in text
    assert next(iterator).tolist() == [4, 5]  # as in torch, the loader goes on


def test_an_exception_leaves_no_worker() -> None:
    """When the exception is handled, nothing owns the pass any more: no garbage collector is needed to end it."""
    gc.disable()
    try:
        with contextlib.suppress(KeyError):
            list(DataLoader(Doing("raise"), num_workers=2, multiprocessing_context="fork"))
        assert multiprocessing.active_children() == []
    finally:
        gc.enable()


def fail_to_start(worker_id: int) -> None:
    raise OSError("no license")


def test_an_exception_in_worker_init_fn_arrives() -> None:
    loader = DataLoader(Squares(), num_workers=1, worker_init_fn=fail_to_start, multiprocessing_context="fork")
    with pytest.raises(OSError, match="Caught OSError in DataLoader worker process 0"):
        next(iter(loader))


class Unpicklable(Dataset):
    def __getitem__(self, index: int) -> Any:
        return lambda: index

    def __len__(self) -> int:
        return 2


def test_a_batch_that_cannot_be_sent_is_an_error() -> None:
    """In torch the loader waits for this batch for ever."""
    loader = DataLoader(Unpicklable(), batch_size=None, num_workers=1, multiprocessing_context="fork")
    with pytest.raises(Exception, match=r"(?s)in DataLoader worker process 0.*(pickle|local object)"):
        next(iter(loader))


def test_timeout() -> None:
    loader = DataLoader(Doing("sleep", at=0), num_workers=1, timeout=0.2, multiprocessing_context="fork")
    iterator = iter(loader)
    with pytest.raises(RuntimeError, match=r"DataLoader timed out after 0\.2 seconds"):
        next(iterator)
    for process in iterator._workers.processes:  # type: ignore[attr-defined]
        process.kill()  # otherwise its 5 seconds to finish the sample would be waited for


class Names(Dataset):
    def __getitem__(self, index: int) -> str:
        return torch.multiprocessing._get_thread_name()

    def __len__(self) -> int:
        return 2


@pytest.mark.parametrize("method", METHODS)
def test_a_worker_bears_the_name_by_which_tools_find_it(method: str) -> None:
    """The picker of VS Code looks for this name, which is PyTorch's."""
    loader = DataLoader(Names(), batch_size=None, num_workers=1, multiprocessing_context=method)
    assert list(loader) == ["pt_data_worker"] * 2
    assert torch.multiprocessing._get_thread_name() != "pt_data_worker"


# ---- pinned memory


@pytest.mark.skipif(not getattr(torch._C, "_cuda_is_simulated", False), reason="this build has no simulator")
def test_pinned_batches_come_from_the_thread() -> None:
    program = """
        import os
        import reftorch as torch
        from reftorch.utils.data import DataLoader, TensorDataset
        loader = DataLoader(TensorDataset(torch.arange(10.0)), batch_size=2, num_workers=2, pin_memory=True,
                            multiprocessing_context="fork")
        print([(x.is_pinned(), x.tolist()) for (x,) in loader])
        iterator = iter(loader)
        next(iterator)
        threads = [open(f"/proc/self/task/{task}/comm").read().strip() for task in os.listdir("/proc/self/task")]
        print(threads.count("pt_data_pin"))
    """
    command = [sys.executable, "-c", textwrap.dedent(program)]
    environment = {**os.environ, "REFTORCH_CUDA_SIM": "1"}
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, env=environment)
    batches = [(True, [2.0 * i, 2.0 * i + 1]) for i in range(5)]
    assert done.stdout.splitlines() == [f"{batches}", "1"], done.stderr


# ---- options


@pytest.mark.parametrize(
    "options",
    [
        {"num_workers": -1},
        {"timeout": -1},
        {"prefetch_factor": 2},
        {"prefetch_factor": -1, "num_workers": 1},
        {"persistent_workers": True},
        {"multiprocessing_context": "fork"},
        {"multiprocessing_context": "thread", "num_workers": 1},
        {"multiprocessing_context": 3, "num_workers": 1},
    ],
    ids=str,
)
def test_wrong_options_are_refused_as_torch_does(
    options: dict[str, Any], real_torch: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    methods = ["fork", "spawn", "forkserver"]  # Python 3.14 names them in another order
    for module in (multiprocessing, real_torch.multiprocessing):
        monkeypatch.setattr(module, "get_all_start_methods", lambda: methods)

    def error(lib: ModuleType) -> tuple[type, str]:
        with pytest.raises((ValueError, TypeError)) as failure:
            lib.utils.data.DataLoader(range(3), **options)
        return failure.type, str(failure.value)

    assert error(torch) == error(real_torch)


def test_a_worker_that_cannot_be_pickled_is_warned_of(real_torch: ModuleType) -> None:
    def warnings_of(lib: ModuleType) -> list[str]:
        loader = lib.utils.data.DataLoader([lambda: 0], num_workers=1, multiprocessing_context="spawn")
        with pytest.warns(UserWarning, match="Got pickle error") as caught, pytest.raises(Exception, match="pickle"):
            next(iter(loader))
        return [str(warning.message) for warning in caught]

    assert warnings_of(torch) == warnings_of(real_torch)


def test_a_forkserver_cannot_find_the_classes_of_a_notebook() -> None:
    """Lesson 10 says so. Like a notebook, a program of `python -c` has no file that another process could import."""
    program = textwrap.dedent(
        """
        from reftorch.utils.data import DataLoader, Dataset

        class Five(Dataset):
            def __len__(self): return 5
            def __getitem__(self, i): return i

        for method in ("fork", "forkserver"):
            print(len(list(DataLoader(Five(), num_workers=1, multiprocessing_context=method))))
        """
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60)
    assert done.stdout == "5\n"
    assert re.search("AttributeError.*'Five'", done.stderr)
    assert re.search("RuntimeError: DataLoader worker .* exited unexpectedly", done.stderr)


def test_more_workers_than_processors_are_warned_of() -> None:
    with pytest.warns(UserWarning, match=r"This DataLoader will create 1000 worker processes in total\."):
        DataLoader(range(3), num_workers=1000)


def test_an_iterator_cannot_be_pickled() -> None:
    iterator = iter(DataLoader(range(3), num_workers=1, multiprocessing_context="fork"))
    with pytest.raises(NotImplementedError, match="_MultiProcessingDataLoaderIter cannot be pickled"):
        multiprocessing.reduction.ForkingPickler.dumps(iterator)
