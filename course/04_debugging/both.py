"""A program to stop in, in both languages: a breakpoint on the line of `lerp`, one in its kernel.

Mirrors: nothing in PyTorch: a program for the debugger.
Leaves out: everything else.
"""

import reftorch as torch


def mixed(start, end, weight):
    blended = torch.lerp(start, end, weight)  # in Python: a breakpoint here; in C++: in lerp_scalar_kernel
    return blended.sum()


if __name__ == "__main__":
    start = torch.tensor([[1.0, 2.0], [3.0, 4.0]])
    end = torch.tensor([10.0, 20.0])
    print(mixed(start, end, 0.25))
