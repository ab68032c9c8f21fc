"""Marks of ops that have no derivative: repetitions of elements.

Mirrors: tools/autograd/derivatives.yaml (repeat_interleave)
Leaves out: complex numbers.
"""

from reftorch.autograd.derivatives import non_differentiable

non_differentiable("repeat_interleave.Tensor")
