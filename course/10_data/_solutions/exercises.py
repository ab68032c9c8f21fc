"""The exercises of chapter 10, solved; `make course` makes the learner's notebook of it.

Mirrors: nothing in PyTorch: exercises.
Leaves out: what the lesson explains.

The file is some 690 lines long, because all exercises of a chapter are in one file.
"""

# %% [markdown]
# # Exercises 10: data
#
# Each exercise has a cell that raises until you have written it, and a check below that you run as often as you like.
# The check says what it tests, and when it passes, how PyTorch does the same. Stars say how difficult an exercise is,
# from one to three. Stuck? `course("hint 10.1")` in a cell of its own. Done? `course("check 10")` runs the notebook, as
# last saved, from top to bottom.

# %%
import multiprocessing
import os
import pickle
import signal
from collections import Counter, deque
from contextlib import suppress
from multiprocessing.connection import wait

import numpy as np

import reftorch as torch
from course._tools import check, course, rebuild, stops_in_torch, write_for_torch
from reftorch.utils.data import (
    BatchSampler,
    DataLoader,
    Dataset,
    IterableDataset,
    SequentialSampler,
    default_collate,
    get_worker_info,
)

multiprocessing.set_start_method("fork", force=True)  # as in the lesson

# %% [markdown] exercise="10.1" role="task" kind="read" title="what a loader does with its options"
# ## 10.1 Read: what a loader does with its options
#
# ★☆☆, 10 minutes. A loader has many options, and the code in `reftorch/utils/data/` computes from them how many
# batches, tasks and processes there are. If you know these numbers in advance, you notice a wrong option before an
# epoch is over.
#
# `dataset` has 20 samples, and `loader = DataLoader(dataset, batch_size=3, num_workers=2, prefetch_factor=3)`. Answer
# with whole numbers:
#
# - `"batches"`: how many batches has one pass?
# - `"batches, drop_last"`: how many has a pass of the same loader with `drop_last=True`?
# - `"samples in the last batch"`: how many samples has the last batch, without `drop_last`?
# - `"tasks before the first batch"`: how many tasks has the loader handed out before it returns the first batch?
# - `"worker of batch 5"`: which worker makes batch 5? Batches are counted from 0, and so are workers.
# - `"processes, two passes"`: how many worker processes do two passes over the loader start?
# - `"processes, persistent"`: how many with `persistent_workers=True`?
#
# The check counts how many of your seven answers are right.


# %% exercise="10.1" role="answer"
def numbers() -> dict[str, int]:
    """The seven answers, as `{"batches": ..., ...}`."""
    # BEGIN SOLUTION
    return {
        "batches": 7,
        "batches, drop_last": 6,
        "samples in the last batch": 2,
        "tasks before the first batch": 6,
        "worker of batch 5": 1,
        "processes, two passes": 4,
        "processes, persistent": 2,
    }
    # END SOLUTION


# %% exercise="10.1" role="check"
class WhoMadeIt(Dataset):
    def __len__(self):
        return 20

    def __getitem__(self, index):
        return get_worker_info().id, os.getpid()


def loader_of(**options):
    return DataLoader(WhoMadeIt(), batch_size=3, num_workers=2, prefetch_factor=3, **options)


def processes_of(loader):
    return len({pid for _ in range(2) for _, pids in loader for pid in pids.tolist()})


with check("10.1", "what a loader does with its options") as c:
    batches = iter(loader_of())
    handed_out = batches._send_idx
    made = list(batches)
    truth = {
        "batches": len(made),
        "batches, drop_last": len(loader_of(drop_last=True)),
        "samples in the last batch": len(made[-1][0]),
        "tasks before the first batch": handed_out,
        "worker of batch 5": made[5][0][0].item(),
        "processes, two passes": processes_of(loader_of()),
        "processes, persistent": processes_of(loader_of(persistent_workers=True)),
    }
    c.answers("the seven numbers", came=numbers(), truth=truth, look="`_try_put_index` hands out, `_prime` begins.")

# %% [markdown] exercise="10.1" role="debrief"
# **In PyTorch** the numbers are the same. `persistent_workers` saves the start of the processes in each epoch, which
# takes long with *spawn*, and where `__init__` of a dataset reads a big file. The price: the copies of the dataset live
# on from pass to pass, and so do all changes that a copy has made to itself.

# %% [markdown] exercise="10.1" role="hint"
# Seven lists of indices cover 20 samples. `BatchSampler.__iter__` says what happens to the last one.

# %% [markdown] exercise="10.1" role="hint"
# `_MultiProcessingDataLoaderIter._prime` runs before anything is returned. The worker of a task comes from
# `_worker_queue_idx_cycle`.


# %% [markdown] exercise="10.2" role="task" kind="build" title="a dataset that knows it was copied"
# ## 10.2 Build: a dataset that knows it was copied
#
# ★★☆, 20 minutes. `worker_init_fn` repairs the noise of the lesson, but everyone who uses your dataset must remember to
# pass it. Write a dataset that needs no such help.
#
# - `Augmented(length)` has `length` samples. Sample `index` is the tuple `(index, noise)`; `noise` is
#   `rng.random()` of a NumPy generator that belongs to the dataset. No global generator is used or seeded.
# - With two workers, all samples of a pass have different noise, and a second pass has other noise than the first.
# - This also holds if the dataset has drawn noise in the loader's process before the workers started.
# - Loaders whose `generator` has the same seed give the same noise.
# - Without workers the noise follows from `torch.initial_seed()`, the seed of the last `torch.manual_seed`: the same
#   seed gives the same noise, with a fresh dataset.


# %% exercise="10.2" role="answer"
class Augmented(Dataset):
    def __init__(self, length):
        # BEGIN SOLUTION
        self.length = length
        self.rng = self.seed = None
        # END SOLUTION

    def __len__(self):
        # BEGIN SOLUTION
        return self.length
        # END SOLUTION

    def __getitem__(self, index):
        # BEGIN SOLUTION
        info = get_worker_info()
        seed = torch.initial_seed() if info is None else info.seed
        if seed != self.seed:  # this process has not drawn yet: it is new, or a copy
            self.rng, self.seed = np.random.default_rng(seed), seed
        return index, self.rng.random()
        # END SOLUTION


# %% exercise="10.2" role="check"
def noise_of(loader):
    return [each for _, noise in loader for each in noise.tolist()]


def loader_with(seed, dataset):
    return DataLoader(dataset, batch_size=2, num_workers=2, generator=torch.Generator().manual_seed(seed))


with check("10.2", "a dataset that knows it was copied") as c:
    dataset = Augmented(8)
    c.equal("its length, and the first part of sample 3", came=(len(dataset), dataset[3][0]), expected=(8, 3))
    loader = loader_with(1, Augmented(8))
    first, second = noise_of(loader), noise_of(loader)
    c.equal("how many of 16 numbers in two passes differ", came=len({*first, *second}), expected=16)
    dataset[0]  # the dataset draws here, before there are workers
    c.equal("how many of 8 differ after a draw here", came=len(set(noise_of(loader_with(1, dataset)))), expected=8)
    again = noise_of(loader_with(1, Augmented(8)))
    c.true("equal seeds give equal noise", again == first, came="other noise", expected="the noise of the first pass")
    other = noise_of(loader_with(2, Augmented(8)))
    c.true("another seed gives other noise", other != first, came="the same noise", expected="other noise")
    here = []
    for seed in (5, 5, 6):
        torch.manual_seed(seed)
        here.append(noise_of(DataLoader(Augmented(8), batch_size=2)))
    c.equal("how many of 8 differ without workers", came=len(set(here[0])), expected=8)
    c.equal(
        "without workers: the same for seed 5 twice, another for 6",
        came=(here[0] == here[1], here[1] == here[2]),
        expected=(True, False),
    )
    np.random.seed(3)
    state = np.random.get_state()[1].tolist()
    noise_of(DataLoader(Augmented(2)))
    c.true(
        "the global generator is left alone",
        np.random.get_state()[1].tolist() == state,
        came="it was used or seeded",
        expected="its state of before",
    )

# %% [markdown] exercise="10.2" role="debrief"
# **In PyTorch** the same code works: `torch.utils.data.get_worker_info().seed` is made in the same way. Libraries for
# augmentation that draw from generators of their own do exactly this. The simpler way is to draw from `torch`, which
# the loader seeds. The price: the noise then depends on everything else that draws from this generator.

# %% [markdown] exercise="10.2" role="hint"
# When does a dataset know in which process it is? Not in `__init__`, which runs before there are workers.

# %% [markdown] exercise="10.2" role="hint"
# Make the generator in `__getitem__`, and remember the seed that it was made from. `get_worker_info()` is None in the
# process of the loader. In a worker it has a `seed`, which is another one in each worker and in each pass.


# %% [markdown] exercise="10.3" role="task" kind="fix" title="a stream that loses its end"
# ## 10.3 Fix: a stream that loses its end
#
# ★★☆, 15 minutes. `BrokenLines` gives each worker one stretch of the lines. With two workers and eight lines it works.
# With seven lines, one line is never returned, and without workers the dataset raises an error. Its users train without
# the ends of their files, and nobody notices. Write a dataset that loses nothing:
#
# - `Lines(lines)` yields every line exactly once in a pass, whatever the number of lines and of workers, also 0;
# - each worker has one stretch of consecutive lines, and the lengths of two stretches differ by 1 at most (a stretch
#   may be empty);
# - without workers, or with one, the lines come in their order.


# %% exercise="10.3" role="given"
class BrokenLines(IterableDataset):
    def __init__(self, lines):
        self.lines = lines

    def __iter__(self):
        info = get_worker_info()
        each = len(self.lines) // info.num_workers
        return iter(self.lines[info.id * each : (info.id + 1) * each])


# %% exercise="10.3" role="answer"
class Lines(IterableDataset):
    def __init__(self, lines):
        # BEGIN SOLUTION
        self.lines = lines
        # END SOLUTION

    def __iter__(self):
        # BEGIN SOLUTION
        info = get_worker_info()
        worker, workers = (0, 1) if info is None else (info.id, info.num_workers)
        total = len(self.lines)
        return iter(self.lines[total * worker // workers : total * (worker + 1) // workers])
        # END SOLUTION


# %% exercise="10.3" role="check"
class Marked(IterableDataset):
    """The lines of a dataset, each with the worker that yields it."""

    def __init__(self, dataset):
        self.dataset = dataset

    def __iter__(self):
        info = get_worker_info()
        for line in self.dataset:
            yield (info.id if info else 0), line


def stretches(count, num_workers):
    found = {worker: [] for worker in range(max(num_workers, 1))}
    for worker, line in DataLoader(Marked(Lines(list(range(count)))), batch_size=None, num_workers=num_workers):
        found[worker].append(line)
    return list(found.values())


with check("10.3", "a stream that loses its end") as c:
    for count, num_workers in ((7, 2), (8, 2), (9, 4), (2, 3), (0, 2), (7, 0), (0, 0), (7, 1)):
        case = c.case(f"{count} lines, {num_workers} workers")
        parts = stretches(count, num_workers)
        c.equal(
            f"{case}: all lines, sorted",
            came=sorted(line for part in parts for line in part),
            expected=list(range(count)),
        )
        consecutive = all(part == list(range(part[0], part[0] + len(part))) for part in parts if part)
        c.equal(f"{case}: each stretch is consecutive", came=consecutive, expected=True)
        uneven = max(map(len, parts)) - min(map(len, parts)) > 1
        c.equal(f"{case}: two stretches differ by more than 1", came=uneven, expected=False)

# %% [markdown] exercise="10.3" role="debrief"
# **In PyTorch** the documentation of `IterableDataset` shows such a split. Large streams are usually cut into files
# beforehand, and each worker takes some of the files. The price is that a worker with long files ends later than the
# others, and that shuffling happens within a file only.

# %% [markdown] exercise="10.3" role="hint"
# `get_worker_info()` is None without workers. What are the number of this worker and the number of workers then?

# %% [markdown] exercise="10.3" role="hint"
# Stretch `w` of `n` may begin at `total * w // n`. Where does it end, so that the next one begins there?


# %% [markdown] exercise="10.4" role="task" kind="build" title="the reorder buffer"
# ## 10.4 Build: the reorder buffer
#
# ★★☆, 20 minutes. Write the part of the loader that puts batches in order, as a generator. You will
# need it in the project, and it is useful wherever several workers answer.
#
# - `arrivals` is an iterable of pairs `(number, batch)`. Each number from 0 on comes once, in any order.
# - `in_order(arrivals)` yields the batches in the order of their numbers.
# - It yields a batch as soon as possible: after it has taken an arrival, it yields all batches whose turn has come,
#   before it takes the next arrival.
# - If the arrivals end and a batch is missing while later ones wait, it raises a `RuntimeError` whose message has the
#   number of the first missing batch. What could be yielded was yielded before.


# %% exercise="10.4" role="answer"
def in_order(arrivals):
    """Yield the batches of `(number, batch)` pairs in the order of their numbers, each as soon as possible."""
    # BEGIN SOLUTION
    waiting, due = {}, 0
    for number, batch in arrivals:
        waiting[number] = batch
        while due in waiting:
            yield waiting.pop(due)
            due += 1
    if waiting:
        raise RuntimeError(f"batch {due} is missing, and {len(waiting)} later ones wait for it")
    # END SOLUTION


# %% exercise="10.4" role="check"
def events(numbers):
    """What is taken and what is yielded, in order."""
    happened = []

    def arriving():
        for number in numbers:
            happened.append(f"take {number}")
            yield number, f"batch {number}"

    for batch in in_order(arriving()):
        happened.append(batch)
    return happened


with check("10.4", "the reorder buffer") as c:
    c.equal("arrivals 0, 1", came=events([0, 1]), expected=["take 0", "batch 0", "take 1", "batch 1"])
    c.equal(
        "arrivals 2, 0, 1, 3",
        came=events([2, 0, 1, 3]),
        expected=["take 2", "take 0", "batch 0", "take 1", "batch 1", "batch 2", "take 3", "batch 3"],
    )
    c.equal("no arrivals", came=events([]), expected=[])
    c.equal("a batch that is None", came=list(in_order([(1, None), (0, None)])), expected=[None, None])
    c.raises("arrivals 0, 2, 3", RuntimeError, "1", lambda: list(in_order([(0, "a"), (2, "c"), (3, "d")])))

# %% [markdown] exercise="10.4" role="debrief"
# **In PyTorch** the buffer is the dict `_task_info` of the loader's iterator, and the loop is `_next_data`. The price
# of order is waiting: one slow sample holds back everything behind it. `in_order=False` gives the order up.

# %% [markdown] exercise="10.4" role="hint"
# Keep two things: a dict of the batches that came early, and the number of the batch that is due.

# %% [markdown] exercise="10.4" role="hint"
# One arrival may set several batches free, so what follows an arrival is a loop, and not an `if`.


# %% [markdown] exercise="10.5" role="task" kind="fix" title="a broken library: twins"
# ## 10.5 Fix: a broken library, twins
#
# ★★☆, 30 minutes. Since the last pull, models that are trained with two workers are a little worse. The random changes
# to the images (their *augmentation*) vary less, but only in some projects. *One line of Python* of the library was
# changed. `PROGRAM` asks five questions, and `REPORT` holds what the broken library prints.
#
# Find the line. You have found it when you can break the library in the same way: return the file, and a patch as
# `%%rebuild` takes one, with `-` and `+` before the lines. Your own library stays as it is. The check runs `PROGRAM` in
# a scratch copy, and names the first line that differs from `REPORT`.

# %% exercise="10.5" role="given"
PROGRAM = """
import random

import numpy as np
import reftorch as torch
from reftorch.utils.data import DataLoader, Dataset, get_worker_info


class Draws(Dataset):
    def __len__(self):
        return 2

    def __getitem__(self, index):
        return torch.rand(()).item(), random.random(), np.random.rand(), get_worker_info().id


torch.manual_seed(0)
loader = DataLoader(Draws(), batch_size=None, num_workers=2)
(torch_0, python_0, numpy_0, id_0), (torch_1, python_1, numpy_1, id_1) = loader
print("both workers draw the same from torch:", torch_0 == torch_1)
print("both workers draw the same from random:", python_0 == python_1)
print("both workers draw the same from numpy:", numpy_0 == numpy_1)
print("both workers have the same number:", id_0 == id_1)
print("a second pass draws the same from torch:", next(iter(loader))[0] == torch_0)
"""
REPORT = [
    "both workers draw the same from torch: True",
    "both workers draw the same from random: True",
    "both workers draw the same from numpy: False",
    "both workers have the same number: False",
    "a second pass draws the same from torch: False",
]


# %% exercise="10.5" role="answer"
def change() -> tuple[str, str]:
    """The file, and the patch that breaks the library as in REPORT."""
    # BEGIN SOLUTION
    return (
        "reftorch/utils/data/_utils/worker.py",
        """
-    seed = base_seed + worker_id
+    seed = base_seed
""",
    )
    # END SOLUTION


# %% exercise="10.5" role="check"
with check("10.5", "a broken library: twins") as c:
    file, patch = change()
    c.case(f"the patch of {file}")
    broken = rebuild(file, patch)
    outcome = broken.run(PROGRAM)
    broken.close()
    c.equal("an error of the library with your patch", came=outcome.error, expected="")
    for came, expected in zip(outcome.printed.splitlines(), REPORT, strict=True):
        c.equal("a line that PROGRAM prints with your patch", came=came, expected=expected)

# %% [markdown] exercise="10.5" role="debrief"
# **In PyTorch** the line is in `_worker_loop` of `torch/utils/data/_utils/worker.py`. NumPy's seed was added there
# in version 1.9, after a survey had found that most public projects that draw from `np.random` in a dataset had this
# bug. A test that looks at the loss would hardly find this bug: each number of the noise is right, but workers repeat
# the numbers of other workers.

# %% [markdown] exercise="10.5" role="hint"
# The workers know their numbers, and the seeds change from pass to pass. Two generators of three are wrong. Where do
# these two get their seeds?

# %% [markdown] exercise="10.5" role="hint"
# `show_source("_seed_everything")`. Which line do the generators of torch and of Python depend on, and NumPy's does
# not?


# %% [markdown] exercise="10.6" role="task" kind="build" title="a loader that survives a killed worker"
# ## 10.6 Project: a loader that survives a killed worker
#
# ★★★, an evening. The loader of the library ends the epoch with an error when a worker dies. On a
# shared machine, where the memory killer strikes now and then, you may want to go on. Write a loader that does:
#
# - iterating over `SurvivingLoader(dataset, batch_size, num_workers)` yields the batches of
#   `DataLoader(dataset, batch_size)`, in the same order, each made in one of `num_workers` worker processes by
#   `default_collate`;
# - when a worker is killed, a new worker takes its place, and the task that it was at is done again: no batch is lost,
#   none comes twice, and the order is kept;
# - `replaced`, an attribute of the loader, is the number of workers that were replaced, over all passes;
# - a task that has killed three workers is given up: a `RuntimeError` whose message has its indices, as `[2, 3]`;
# - an exception of the dataset is raised in your process, with its own type;
# - when a pass has ended, was left early (`close()` of its iterator) or has raised, none of its processes is left.
#
# Start the workers by *fork*, as `multiprocessing.get_context("fork")` does. Send a batch as bytes, with
# `connection.send_bytes(pickle.dumps(...))`, and not with `connection.send`: that would put tensors into shared
# memory, which the receiver fetches from the worker, and a worker that has been killed answers nothing. `Dangerous`
# is a dataset to try it with.


# %% exercise="10.6" role="given"
class Dangerous(Dataset):
    """Sample `index` kills the process that makes it, `deadly[index]` times; the samples in `raising` raise."""

    def __init__(self, length, deadly=None, raising=()):
        self.length, self.raising = length, raising
        self.left = {index: multiprocessing.Value("i", times) for index, times in (deadly or {}).items()}

    def __len__(self):
        return self.length

    def __getitem__(self, index):
        if index in self.raising:
            raise KeyError(f"no sample {index}")
        if index in self.left and self.left[index].value > 0:
            self.left[index].value -= 1
            os.kill(os.getpid(), signal.SIGKILL)
        return index, os.getpid()


# %% exercise="10.6" role="answer"
class SurvivingLoader:
    def __init__(self, dataset, batch_size, num_workers):
        # BEGIN SOLUTION
        self.dataset = dataset
        self.batch_size = batch_size
        self.num_workers = num_workers
        self.replaced = 0
        # END SOLUTION

    def __iter__(self):
        # BEGIN SOLUTION
        context = multiprocessing.get_context("fork")
        tasks = list(BatchSampler(SequentialSampler(self.dataset), self.batch_size, False))
        todo = deque(range(len(tasks)))
        killed, made = Counter(), {}
        workers = {}  # our end of the pipe -> the process, and the number of its task or None

        def serve(connection):
            with suppress(EOFError, ConnectionError):
                while True:
                    number = connection.recv()
                    try:
                        answer = default_collate([self.dataset[index] for index in tasks[number]])
                    except Exception as error:
                        answer = error
                    connection.send_bytes(pickle.dumps((number, answer)))

        def start_worker():
            ours, theirs = context.Pipe()
            process = context.Process(target=serve, args=(theirs,), daemon=True)
            process.start()
            theirs.close()  # or the pipe would stay open when the worker is gone
            workers[ours] = process, None

        def bury(connection):
            process, number = workers.pop(connection)
            connection.close()
            process.join()
            self.replaced += 1
            killed[number] += 1
            if killed[number] == 3:
                raise RuntimeError(f"the samples {tasks[number]} have killed 3 workers")
            todo.appendleft(number)
            start_worker()

        try:
            for _ in range(self.num_workers):
                start_worker()
            due = 0
            while due < len(tasks):
                if due in made:
                    batch = made.pop(due)
                    due += 1
                    if isinstance(batch, Exception):
                        raise batch
                    yield batch
                    continue
                for connection, (process, number) in workers.items():
                    if number is None and todo:
                        workers[connection] = process, todo.popleft()
                        with suppress(ConnectionError):  # the worker is gone, and wait() will say so
                            connection.send(workers[connection][1])
                for connection in wait([each for each, (_, number) in workers.items() if number is not None]):
                    try:
                        number, batch = pickle.loads(connection.recv_bytes())
                    except (EOFError, ConnectionError):
                        bury(connection)
                    else:
                        made[number] = batch
                        workers[connection] = workers[connection][0], None
        finally:
            for connection, (process, _) in workers.items():
                process.kill()
                process.join()
                connection.close()
        # END SOLUTION


# %% exercise="10.6" role="check"
def passed(loader):
    batches = [(indices.tolist(), set(pids.tolist())) for indices, pids in loader]
    return [indices for indices, _ in batches], {pid for _, pids in batches for pid in pids}


def children():
    return len(multiprocessing.active_children())


with check("10.6", "a loader that survives a killed worker") as c:
    whole = [[0, 1], [2, 3], [4, 5], [6, 7], [8]]
    case = c.case("nothing happens")
    loader = SurvivingLoader(Dangerous(9), 2, 2)
    order, pids = passed(loader)
    c.equal(f"{case}: the batches", came=order, expected=whole)
    c.equal(f"{case}: batches made in this process", came=os.getpid() in pids, expected=False)
    c.equal(f"{case}: workers replaced, processes left", came=(loader.replaced, children()), expected=(0, 0))
    case = c.case("sample 3 kills one worker, sample 8 kills two")
    loader = SurvivingLoader(Dangerous(9, {3: 1, 8: 2}), 2, 2)
    c.equal(f"{case}: the batches", came=passed(loader)[0], expected=whole)
    c.equal(f"{case}: workers replaced, processes left", came=(loader.replaced, children()), expected=(3, 0))
    c.equal(f"{case}: the batches of a second pass", came=passed(loader)[0], expected=whole)
    case = c.case("sample 3 kills every worker")
    loader = SurvivingLoader(Dangerous(9, {3: 100}), 2, 2)
    c.raises(case, RuntimeError, "[2, 3]", lambda: list(loader))
    c.equal(f"{case}: processes left", came=children(), expected=0)
    case = c.case("sample 5 raises a KeyError")
    c.raises(case, KeyError, "no sample 5", lambda: list(SurvivingLoader(Dangerous(9, raising=[5]), 2, 2)))
    c.equal(f"{case}: processes left", came=children(), expected=0)
    case = c.case("a pass is left after one batch")
    batches = iter(SurvivingLoader(Dangerous(9), 2, 2))
    next(batches)
    batches.close()
    c.equal(f"{case}: processes left", came=children(), expected=0)

# %% [markdown] exercise="10.6" role="debrief"
# **In PyTorch** a dead worker ends the pass: *DataLoader worker (pid(s) ...) exited unexpectedly*. This is a decision.
# When memory is short, a new worker will be killed too, and a loader that goes on in silence hides the problem.
#
# In your loader every worker has a pipe of its own, so the end of the pipe tells you at once that the worker has died.
# In a queue that all workers share, a worker may die while it holds the lock of the queue, and the other workers then
# wait for ever.

# %% [markdown] exercise="10.6" role="hint"
# One pipe for each worker: `ours, theirs = context.Pipe()`. Close `theirs` in your process after the start. When the
# worker dies, the last holder of that end is gone, and `ours.recv_bytes()` raises `EOFError`, or `ConnectionResetError`
# if a task was not read.

# %% [markdown] exercise="10.6" role="hint"
# `multiprocessing.connection.wait(list of connections)` returns those that can be read, and a dead one can be read.
# Remember for each connection which task its worker is at: that is the task to do again.

# %% [markdown] exercise="10.6" role="hint"
# Write `__iter__` as a generator with `try` and `finally`: the `finally` part runs when the pass ends, raises, or is
# closed. There, `kill()` and `join()` every process. The reorder buffer is that of 10.4.


# %% [markdown] exercise="10.7" role="task" kind="read" title="in PyTorch: what a pass draws"
# ## 10.7 Read, in PyTorch: what a pass draws
#
# ★★☆, 15 minutes. This question is answered in PyTorch itself: it needs PyTorch (`make torch`), and no other exercise
# of the chapter does. The next cell writes `IN_TORCH` to a file, and prints the command that runs the file under pdb.
#
# A loader seeds its workers. What does a loader do that has none? `IN_TORCH` makes three passes without workers: over
# 4 samples in order, over 6 samples shuffled, and over 8 samples shuffled by a generator of the loader's own. How
# many numbers does each pass draw from the *global* generator of PyTorch? Two places draw:
# `_BaseDataLoaderIter.__init__` in `torch/utils/data/dataloader.py`, which makes `self._base_seed`, and
# `RandomSampler.__iter__` in `torch/utils/data/sampler.py`, which makes `seed`. Stop in both, and look from which
# generator each draws. Return the counts of the three passes under `"in order"`, `"shuffled"` and `"own generator"`.


# %% exercise="10.7" role="given"
IN_TORCH = """\
import torch
from torch.utils.data import DataLoader, TensorDataset

own = torch.Generator()
for size, options in [(4, {}), (6, {"shuffle": True}), (8, {"shuffle": True, "generator": own})]:
    for (batch,) in DataLoader(TensorDataset(torch.arange(size)), batch_size=2, **options):
        pass
"""
print(write_for_torch(IN_TORCH, "in_torch_10_7.py"))


# %% exercise="10.7" role="answer"
def drawn() -> dict[str, int]:
    # BEGIN SOLUTION
    return {"in order": 1, "shuffled": 2, "own generator": 0}
    # END SOLUTION


# %% exercise="10.7" role="check"
with check("10.7", "what a pass draws") as c:
    answer = drawn()
    asked = ["len(loader.dataset)", "loader.generator is None"]
    file, function = "torch/utils/data/dataloader.py", "_BaseDataLoaderIter.__init__"
    seeds = stops_in_torch(IN_TORCH, file, function, "self._persistent_workers = ", asked)
    file, function = "torch/utils/data/sampler.py", "RandomSampler.__iter__"
    orders = stops_in_torch(IN_TORCH, file, function, "seed = int(", ["n"])
    drew = [stop["len(loader.dataset)"] for stop in seeds if stop["loader.generator is None"] == "True"]
    drew += [stop["n"] for stop in orders]
    truth = {"in order": drew.count("4"), "shuffled": drew.count("6"), "own generator": drew.count("8")}
    look = "`p loader.generator` at the first place, `p self.generator` at the second: None is the global generator."
    c.answers("what each pass draws from the global generator", came=answer, truth=truth, look=look)

# %% [markdown] exercise="10.7" role="debrief"
# **In PyTorch** every pass draws a base seed, also where there is no worker that needs one. So a pass over the
# validation set moves the global generator, and the dropout of the next training step is another one: a run with
# validation and a run without differ. A loader with a generator of its own leaves the global one alone.

# %% [markdown] exercise="10.7" role="hint"
# After `import torch`: `break torch.utils.data.sampler.RandomSampler.__iter__`, and `break
# torch/utils/data/dataloader.py:NUMBER` with the line after `self._base_seed`.

# %% [markdown] exercise="10.7" role="hint"
# `torch.equal` of `torch.get_rng_state()` before and after a pass says whether the pass drew anything.
