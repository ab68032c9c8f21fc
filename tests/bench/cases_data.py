"""The loader, saving and loading: what a user waits for around the training.

Mirrors: torch/utils/benchmark/examples/end_to_end.py
Left out: data that is downloaded.
"""

import os
import tempfile
import time
from collections.abc import Callable
from typing import Any

from cases import Library, function

SAMPLES, BATCH = 60_000, 64
BATCHES = -(-SAMPLES // BATCH)
DECODED, SECONDS_OF_AN_ITEM = 1000, 0.002
GIGABYTE = 1 << 30


def loader(workers: int) -> Callable[[Library], Callable[[], object]]:
    """One pass over a set of digit-sized samples, per batch."""

    def make(lib: Library) -> Callable[[], object]:
        images, labels = lib.T.rand(SAMPLES, 784), lib.T.randint(0, 10, (SAMPLES,))
        dataset = lib.data.TensorDataset(images, labels)
        batches = lib.data.DataLoader(dataset, batch_size=BATCH, shuffle=True, num_workers=workers)

        def run() -> None:
            for _ in batches:
                pass

        return run

    return make


class Decoded:
    """Images that take 2 ms of the processor each, as the decoding of a small JPEG does."""

    def __init__(self, lib: Library) -> None:
        self.image = lib.T.rand(3, 64, 64)

    def __len__(self) -> int:
        return DECODED

    def __getitem__(self, index: int) -> Any:
        end = time.thread_time() + SECONDS_OF_AN_ITEM
        while time.thread_time() < end:
            pass
        return self.image, index


def decode(workers: int) -> Callable[[Library], Callable[[], object]]:
    """One pass over images that are decoded, per item."""

    def make(lib: Library) -> Callable[[], object]:
        batches = lib.data.DataLoader(Decoded(lib), batch_size=16, num_workers=workers)

        def run() -> None:
            for _ in batches:
                pass

        return run

    return make


def save(lib: Library) -> Callable[[], object]:
    """A state of 1 GB in 16 tensors, onto a path that has a file already, as a training does at each checkpoint."""
    folder = tempfile.TemporaryDirectory(prefix="reftorch-bench-")
    state = {f"weight{i}": lib.T.rand(GIGABYTE // 64) for i in range(16)}
    path = os.path.join(folder.name, "state.pt")

    def run() -> None:
        lib.T.save(state, path)

    run.folder = folder  # type: ignore[attr-defined]  # it is removed with the function
    return run


def load(**options: Any) -> Callable[[Library], Callable[[], object]]:
    """The state of 1 GB from a file that is in the cache of the system."""

    def make(lib: Library) -> Callable[[], object]:
        saving: Any = save(lib)
        saving()
        path = os.path.join(saving.folder.name, "state.pt")

        def run() -> None:
            lib.T.load(path, **options)

        run.folder = saving.folder  # type: ignore[attr-defined]
        return run

    return make


for count in (0, 2):
    function("data", f"loader_tensor_{count}_workers", loader(count), per=BATCHES)
    function("data", f"loader_decode_{count}_workers", decode(count), per=DECODED)
function("data", "save_1gb", save)
function("data", "load_1gb", load())
function("data", "load_mmap_1gb", load(mmap=True))
