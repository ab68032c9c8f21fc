"""Marks of ops that have no derivative: counts.

Mirrors: tools/autograd/derivatives.yaml (bincount)
Leaves out: complex numbers.
"""

from reftorch.autograd.derivatives import non_differentiable

non_differentiable("bincount", "histc")
