"""The program of the tests that stop on arithmetic: five ops, on so few elements that each line runs once.

Mirrors: nothing in PyTorch: tests of tools that it does not have.
Left out: everything else.
"""

import reftorch as torch

a, b, c = torch.tensor([3.0]), torch.tensor([4.5]), torch.tensor([0.5])
results = [
    torch.add(a, b, alpha=2),
    torch.mul(a, b),
    torch.addcmul(a, b, c, value=3),
    torch.nn.functional.smooth_l1_loss(a, b, reduction="none"),
    torch.cumsum(torch.tensor([3.0, 4.5]), 0)[1],
]
print([result.item() for result in results])
