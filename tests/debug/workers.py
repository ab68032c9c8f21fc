"""A program whose data is made in worker processes, of each context that debuggers follow.

Mirrors: nothing in PyTorch: tests of tools that it does not have.
Left out: forkserver, whose server no debugger follows.
"""

import sys

import reftorch as torch
from reftorch.utils.data import DataLoader, Dataset


class Squares(Dataset):
    """Two items. The product of an item is where Python's debugger and gdb stop in the worker."""

    def __len__(self):
        return 2

    def __getitem__(self, index):
        a = torch.full((2,), index + 2.0)
        return a * a


if __name__ == "__main__":
    contexts = sys.argv[1:] or ("fork", "spawn")
    for context in contexts:
        loader = DataLoader(Squares(), num_workers=1, multiprocessing_context=context)
        print(context, [batch.tolist() for batch in loader])
