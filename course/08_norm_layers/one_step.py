"""One training step of one batch norm, with numbers that you can check by hand.

Mirrors: nothing in PyTorch: the program that chapter 08 follows with both debuggers
Leaves out: a model; the lesson has one.
"""

import reftorch as torch
from reftorch import nn

# Two examples (N) of two channels (C) with 1 by 2 pixels: the first channel has 1, 3, 5, 7, the second 10, 10, 20, 20.
x = torch.tensor([[[[1.0, 3.0]], [[10.0, 10.0]]], [[[5.0, 7.0]], [[20.0, 20.0]]]], requires_grad=True)
norm = nn.BatchNorm2d(2)

y = norm(x)
loss = (y * torch.arange(8.0).reshape(2, 2, 1, 2)).sum()
loss.backward()

print("running_mean  ", norm.running_mean.tolist())
print("running_var   ", [round(value, 4) for value in norm.running_var.tolist()])
print("x.grad, channel 0", [round(value, 4) for value in x.grad[:, 0].flatten().tolist()])
