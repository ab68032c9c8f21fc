"""A program of several ranks, each with other numbers, for debuggers to stop in.

Mirrors: nothing in PyTorch: tests of tools that it does not have.
Left out: a model; the debugger sees a tensor, a kernel and a collective.
"""

import sys

import reftorch as torch
import reftorch.distributed as dist


def scaled(rank):
    a = torch.full((2, 2), rank + 1.0)
    return a * 10


if __name__ == "__main__":
    dist.init_process_group("gloo")
    dist.barrier()
    if "wait" in sys.argv:  # until a debugger has come: rank 0 gets a line
        if dist.get_rank() == 0:
            print("both run", flush=True)
            sys.stdin.readline()
        dist.barrier()
    result = scaled(dist.get_rank())
    dist.all_reduce(result)
    sys.stdout.write(f"rank {dist.get_rank()}: {result.tolist()}\n")
    dist.destroy_process_group()
