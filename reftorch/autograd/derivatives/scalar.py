"""Marks of ops that have no derivative: reading the value of a tensor as a number.

Mirrors: tools/autograd/derivatives.yaml (_local_scalar_dense)
Leaves out: complex numbers.
"""

from reftorch.autograd.derivatives import non_differentiable

non_differentiable("_local_scalar_dense")
