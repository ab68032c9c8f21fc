"""Wrong answers to the exercises of chapter 10: what each check must reject, and why somebody would write it.

Mirrors: nothing in PyTorch: exercises.
Leaves out: the tasks, the right answers and the checks, which are in exercises.py.
"""


# %% exercise="10.1" role="mutant" why="each worker has one task at a time, and a pass leaves its workers running"
def numbers() -> dict[str, int]:
    return {
        "batches": 7,
        "batches, drop_last": 6,
        "samples in the last batch": 2,
        "tasks before the first batch": 2,
        "worker of batch 5": 1,
        "processes, two passes": 2,
        "processes, persistent": 2,
    }


# %% exercise="10.1" role="mutant" why="prefetch_factor counts the batches of all workers together"
def numbers() -> dict[str, int]:
    return {
        "batches": 7,
        "batches, drop_last": 6,
        "samples in the last batch": 2,
        "tasks before the first batch": 3,
        "worker of batch 5": 1,
        "processes, two passes": 4,
        "processes, persistent": 2,
    }


# %% exercise="10.2" role="mutant" why="the generator of the lesson, made in __init__"
class Augmented(Dataset):
    def __init__(self, length):
        self.length, self.rng = length, np.random.default_rng()

    def __len__(self):
        return self.length

    def __getitem__(self, index):
        return index, self.rng.random()


# %% exercise="10.2" role="mutant" why="made at the first draw, and kept where the first draw was before the fork"
class Augmented(Dataset):
    def __init__(self, length):
        self.length, self.rng = length, None

    def __len__(self):
        return self.length

    def __getitem__(self, index):
        if self.rng is None:
            self.rng = np.random.default_rng(torch.initial_seed())
        return index, self.rng.random()


# %% exercise="10.2" role="mutant" why="a new generator for each sample, always with the same seed"
class Augmented(Dataset):
    def __init__(self, length):
        self.length = length

    def __len__(self):
        return self.length

    def __getitem__(self, index):
        return index, np.random.default_rng(torch.initial_seed()).random()


# %% exercise="10.2" role="mutant" why="draws from the global generator"
class Augmented(Dataset):
    def __init__(self, length):
        self.length = length

    def __len__(self):
        return self.length

    def __getitem__(self, index):
        if get_worker_info() is None:
            np.random.seed(torch.initial_seed() + index)
        return index, np.random.rand()


# %% exercise="10.3" role="mutant" why="works without workers now, and still loses the rest"
class Lines(IterableDataset):
    def __init__(self, lines):
        self.lines = lines

    def __iter__(self):
        info = get_worker_info()
        if info is None:
            return iter(self.lines)
        each = len(self.lines) // info.num_workers
        return iter(self.lines[info.id * each : (info.id + 1) * each])


# %% exercise="10.3" role="mutant" why="rounds the length of a stretch up: with four workers the last one idles"
class Lines(IterableDataset):
    def __init__(self, lines):
        self.lines = lines

    def __iter__(self):
        info = get_worker_info()
        worker, workers = (0, 1) if info is None else (info.id, info.num_workers)
        each = -(-len(self.lines) // workers)
        return iter(self.lines[worker * each : (worker + 1) * each])


# %% exercise="10.3" role="mutant" why="looks at the first line to know what a line is"
class Lines(IterableDataset):
    def __init__(self, lines):
        self.lines = lines

    def __iter__(self):
        info = get_worker_info()
        kind = type(self.lines[0])
        worker, workers = (0, 1) if info is None else (info.id, info.num_workers)
        total = len(self.lines)
        return map(kind, self.lines[total * worker // workers : total * (worker + 1) // workers])


# %% exercise="10.3" role="mutant" why="the share of the lesson: each worker takes every other line"
class Lines(IterableDataset):
    def __init__(self, lines):
        self.lines = lines

    def __iter__(self):
        info = get_worker_info()
        first, step = (0, 1) if info is None else (info.id, info.num_workers)
        return iter(self.lines[first::step])


# %% exercise="10.3" role="mutant" why="every worker yields all lines"
class Lines(IterableDataset):
    def __init__(self, lines):
        self.lines = lines

    def __iter__(self):
        return iter(self.lines)


# %% exercise="10.4" role="mutant" why="waits for all of them, and sorts"
def in_order(arrivals):
    for expected, (number, batch) in enumerate(sorted(arrivals, key=lambda pair: pair[0])):
        if number != expected:
            raise RuntimeError(f"batch {expected} is missing")
        yield batch


# %% exercise="10.4" role="mutant" why="an arrival sets one batch free at most"
def in_order(arrivals):
    waiting, due = {}, 0
    for number, batch in arrivals:
        waiting[number] = batch
        if due in waiting:
            yield waiting.pop(due)
            due += 1
    for due in sorted(waiting):
        yield waiting[due]


# %% exercise="10.4" role="mutant" why="says nothing about a batch that is missing"
def in_order(arrivals):
    waiting, due = {}, 0
    for number, batch in arrivals:
        waiting[number] = batch
        while due in waiting:
            yield waiting.pop(due)
            due += 1


# %% exercise="10.5" role="mutant" why="all workers seed as number 0, and NumPy's generators are twins too"
def change() -> tuple[str, str]:
    return (
        "reftorch/utils/data/_utils/worker.py",
        """
-        seed = _seed_everything(task.base_seed, worker_id)
+        seed = _seed_everything(task.base_seed, 0)
""",
    )


# %% exercise="10.5" role="mutant" why="torch's generator alone"
def change() -> tuple[str, str]:
    return (
        "reftorch/utils/data/_utils/worker.py",
        """
-    _C.default_generator.manual_seed(seed)
+    _C.default_generator.manual_seed(base_seed)
""",
    )


# %% exercise="10.6" role="mutant" why="the loader of the library, which does not survive"
class SurvivingLoader(DataLoader):
    def __init__(self, dataset, batch_size, num_workers):
        super().__init__(dataset, batch_size, num_workers=num_workers)
        object.__setattr__(self, "replaced", 0)


# %% exercise="10.6" role="mutant" why="begins again from the first batch"
class SurvivingLoader:
    def __init__(self, dataset, batch_size, num_workers):
        self.dataset, self.batch_size, self.num_workers, self.replaced = dataset, batch_size, num_workers, 0

    def __iter__(self):
        while self.replaced < 10:
            try:
                yield from DataLoader(self.dataset, self.batch_size, num_workers=self.num_workers)
                return
            except RuntimeError:
                self.replaced += 1


# %% exercise="10.6" role="mutant" why="begins again and leaves out what came; never says which samples kill"
class SurvivingLoader:
    def __init__(self, dataset, batch_size, num_workers):
        self.dataset, self.batch_size, self.num_workers, self.replaced = dataset, batch_size, num_workers, 0

    def __iter__(self):
        came = 0
        for _ in range(4):
            try:
                for number, batch in enumerate(DataLoader(self.dataset, self.batch_size, num_workers=self.num_workers)):
                    if number >= came:
                        came += 1
                        yield batch
                return
            except RuntimeError:
                self.replaced += 1
        raise RuntimeError("the workers are killed again and again")


# %% exercise="10.7" role="mutant" why="without workers nothing is seeded"
def drawn() -> dict[str, int]:
    return {"in order": 0, "shuffled": 1, "own generator": 0}


# %% exercise="10.7" role="mutant" why="a shuffle draws a number for each sample"
def drawn() -> dict[str, int]:
    return {"in order": 1, "shuffled": 7, "own generator": 0}


# %% exercise="10.7" role="mutant" why="the sampler shares the base seed"
def drawn() -> dict[str, int]:
    return {"in order": 1, "shuffled": 1, "own generator": 0}


# %% exercise="10.7" role="mutant" why="the base seed always comes from the global generator"
def drawn() -> dict[str, int]:
    return {"in order": 1, "shuffled": 2, "own generator": 1}
