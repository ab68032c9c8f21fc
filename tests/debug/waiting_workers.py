"""A program whose workers wait for a debugger: it goes on when a line comes.

Mirrors: nothing in PyTorch: tests of tools that it does not have.
Left out: other contexts than forkserver, whose processes no debugger follows; debuggers attach to them.
"""

import sys

import reftorch as torch
from reftorch.utils.data import DataLoader, Dataset


class Squares(Dataset):
    """Six items. The product of an item is where Python's debugger and gdb stop in a worker."""

    def __len__(self):
        return 6

    def __getitem__(self, index):
        a = torch.full((2,), index + 2.0)
        return a * a


if __name__ == "__main__":
    loader = DataLoader(
        Squares(), batch_size=None, num_workers=2, prefetch_factor=1, multiprocessing_context="forkserver"
    )
    items = iter(loader)
    first = [next(items), next(items)]  # one of each worker: both run and have their names now
    print(*[process.pid for process in items._workers.processes], flush=True)
    sys.stdin.readline()
    print([item[0].item() for item in [*first, *items]])
