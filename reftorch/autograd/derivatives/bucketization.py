"""Marks of ops that have no derivative: searches in sorted sequences.

Mirrors: tools/autograd/derivatives.yaml (searchsorted)
Leaves out: complex numbers.
"""

from reftorch.autograd.derivatives import non_differentiable

non_differentiable("searchsorted.Tensor", "searchsorted.Scalar", "bucketize.Tensor", "bucketize.Scalar")
