"""Marks of ops that have no derivative: resizing a tensor's memory.

Mirrors: tools/autograd/derivatives.yaml (resize_)
Leaves out: complex numbers.
"""

from reftorch.autograd.derivatives import non_differentiable

non_differentiable("resize_", "resize_as_")  # these ops raise for a tensor that requires a gradient
