"""Marks of ops that have no derivative: the indices of triangles.

Mirrors: tools/autograd/derivatives.yaml (tril_indices)
Leaves out: complex numbers.
"""

from reftorch.autograd.derivatives import non_differentiable

non_differentiable("tril_indices", "triu_indices")
