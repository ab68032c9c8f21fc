"""The program under the debugger in these tests: one product, forward and backward.

Mirrors: nothing in PyTorch: tests of tools that it does not have.
Left out: everything else.
"""

import reftorch as torch


def product(a, b):
    return a * b


a = torch.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
b = torch.tensor([[2.0, 2.0], [2.0, 2.0]], requires_grad=True)
c = product(a, b)
c.sum().backward()
print(a.grad.tolist())
