"""Marks of ops that have no derivative: questions about numbers and tensors: nan, infinite, close, equal.

Mirrors: tools/autograd/derivatives.yaml (isposinf)
Leaves out: complex numbers.
"""

from reftorch.autograd.derivatives import non_differentiable

non_differentiable("isposinf", "isneginf", "isreal", "conj_physical.out")
