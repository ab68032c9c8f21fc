"""Marks of ops that have no derivative: membership, and classes as unit vectors.

Mirrors: tools/autograd/derivatives.yaml (isin)
Leaves out: complex numbers.
"""

from reftorch.autograd.derivatives import non_differentiable

non_differentiable("isin.Tensor_Tensor", "isin.Tensor_Scalar", "isin.Scalar_Tensor")
