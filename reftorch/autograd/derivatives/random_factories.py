"""Marks of ops that have no derivative: new tensors of random numbers.

A new tensor takes the shape of its input, but not its values.

Mirrors: tools/autograd/derivatives.yaml (rand_like, rand)
Leaves out: complex numbers.
"""

from reftorch.autograd.derivatives import non_differentiable

non_differentiable("rand_like", "randn_like", "randint_like", "randint_like.low_dtype")
non_differentiable("rand", "randn", "randint", "randint.low", "randperm")
