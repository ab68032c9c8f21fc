"""The picture of a loader with workers: what each worker has to do, and which batches wait, step by step as it went.

Mirrors: nothing in PyTorch: the course's pictures.
Leaves out: pin-memory threads, iterable datasets, workers that end.
"""

from __future__ import annotations

import multiprocessing
from collections.abc import Sequence
from typing import Any, NamedTuple

from course._tools.pictures import FLOORS
from reftorch.debug.common.svg import MUTED, Picture
from reftorch.utils.data import DataLoader, Dataset
from reftorch.utils.data.dataloader import _MultiProcessingDataLoaderIter

PATIENCE = 60  # seconds that a worker waits for its gate
TEXT, BOX, GAP, HEIGHT, TOP = 250, 32, 6, 28, 52
AT_WORK, LINED_UP, MADE = FLOORS["autograd"], FLOORS["dispatcher"], FLOORS["native"]


class Step(NamedTuple):
    """The state after one event: the tasks of each worker (the first is at work), what waits, and what was returned."""

    what: str
    tasks: list[list[int]]
    waiting: list[int]
    returned: list[int]


class _Gated(Dataset):
    """One sample for each task. A sample is made when the gate of its task is opened."""

    def __init__(self, gates: Sequence[Any]) -> None:
        self.gates = gates

    def __len__(self) -> int:
        return len(self.gates)

    def __getitem__(self, index: int) -> int:
        if not self.gates[index].wait(PATIENCE):
            raise TimeoutError(f"the gate of task {index} was not opened")
        return index


class _Recorded(_MultiProcessingDataLoaderIter):
    """A pass that opens one gate at a time, so that the workers finish in a given order, and writes down each event."""

    def __init__(self, loader: DataLoader, gates: Sequence[Any], finish: Sequence[int]) -> None:
        self.gates, self.finish = gates, iter(finish)
        self.tasks: list[list[int]] = [[] for _ in range(loader.num_workers)]
        self.steps: list[Step] = []
        self.returned: list[int] = []
        super().__init__(loader)
        self.note(f"start: {sum(map(len, self.tasks))} tasks are handed out")

    def note(self, what: str) -> None:
        waiting = [number for number, info in self._task_info.items() if len(info) == 2]
        self.steps.append(Step(what, [list(each) for each in self.tasks], waiting, list(self.returned)))

    def _put(self, worker_id: int, message: Any) -> None:
        self.tasks[worker_id].append(message[0])
        super()._put(worker_id, message)

    def _get_data(self) -> tuple[int, Any, Any]:
        number = next(self.finish)
        if not any(tasks[:1] == [number] for tasks in self.tasks):
            raise ValueError(f"no worker can finish task {number} now; the workers have {self.tasks}")
        self.gates[number].set()
        worker_id, number, data = super()._get_data()
        self.tasks[worker_id].remove(number)
        if number != self._rcvd_idx:
            self._task_info[number] = (worker_id, data)  # as the caller does next
            self.note(f"{number} comes, and {self._rcvd_idx} is due: {number} waits")
        return worker_id, number, data


def steps_of(finish: Sequence[int], *, num_workers: int = 2, prefetch_factor: int = 2) -> list[Step]:
    """Load one batch for each number in `finish`, and note each event.

    Args:
        finish: the numbers of the tasks in the order in which the workers finish them.
        num_workers, prefetch_factor: of the loader.

    Raises:
        ValueError: the workers cannot finish in this order.
    """
    context = multiprocessing.get_context("fork")
    gates = [context.Event() for _ in finish]
    loader: DataLoader = DataLoader(
        _Gated(gates),
        batch_size=None,
        num_workers=num_workers,
        prefetch_factor=prefetch_factor,
        multiprocessing_context=context,
    )
    batches = _Recorded(loader, gates, finish)
    try:
        for due in range(len(finish)):
            came_before = len(batches._task_info.get(due, ())) == 2
            batches.returned.append(next(batches))
            batches.note(f"{due} was waiting, and is returned" if came_before else f"{due} comes, and is returned")
    finally:
        for gate in gates:
            gate.set()
        batches._shutdown_workers()
    return batches.steps


def loader_steps(finish: Sequence[int], *, num_workers: int = 2, prefetch_factor: int = 2) -> Picture:
    """Draw a row for each event: the tasks of each worker, the batches that came before their turn, the returned ones.

    Args:
        finish: the numbers of the tasks in the order in which the workers finish them.
        num_workers, prefetch_factor: of the loader.
    """
    steps = steps_of(finish, num_workers=num_workers, prefetch_factor=prefetch_factor)
    columns = [(f"worker {worker}", [step.tasks[worker] for step in steps], LINED_UP) for worker in range(num_workers)]
    columns.append(("waiting", [step.waiting for step in steps], MADE))
    columns.append(("returned", [step.returned for step in steps], MADE))
    lefts, right = [], TEXT
    for title, rows, _ in columns:
        lefts.append(right)
        right += max(max(map(len, rows)) * (BOX + GAP), 8 * len(title)) + 26
    picture = Picture(
        right, TOP + len(steps) * (HEIGHT + GAP) + 26, f"the loader and its workers in {len(steps)} steps"
    )
    for (title, _, _), x in zip(columns, lefts, strict=True):
        picture.text(x, 24, title, size=12, fill=MUTED)
    for number, step in enumerate(steps):
        y = TOP - 14 + number * (HEIGHT + GAP)
        picture.text(12, y + 19, step.what, size=12)
        for (title, rows, colour), x in zip(columns, lefts, strict=True):
            for place, task in enumerate(rows[number]):
                fill, line = AT_WORK if title.startswith("worker") and place == 0 else colour
                picture.box(x + place * (BOX + GAP), y, BOX, HEIGHT, fill=fill, line=line)
                picture.text(x + place * (BOX + GAP) + BOX / 2, y + 19, str(task), size=12, mono=True, anchor="middle")
    _legend(picture, TOP + len(steps) * (HEIGHT + GAP))
    return picture


def _legend(picture: Picture, y: float) -> None:
    x = 12.0
    for (fill, line), what in (
        (AT_WORK, "a worker is at it"),
        (LINED_UP, "in the worker's channel"),
        (MADE, "the batch is made"),
    ):
        picture.box(x, y, 14, 12, fill=fill, line=line, r=2)
        picture.text(x + 20, y + 11, what, size=12, fill=MUTED)
        x += 180
