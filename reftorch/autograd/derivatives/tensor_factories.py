"""Marks of ops that have no derivative: new tensors that are empty, or filled with one value.

A new tensor takes the shape of its input, but not its values.

Mirrors: tools/autograd/derivatives.yaml (empty_like, empty)
Leaves out: complex numbers.
"""

from reftorch.autograd.derivatives import non_differentiable

non_differentiable(
    "empty_like",
    "zeros_like",
    "ones_like",
    "full_like",
    "new_empty",
    "new_empty_strided",
    "new_zeros",
    "new_ones",
    "new_full",
)
non_differentiable("empty", "empty_strided", "zeros", "ones", "full", "scalar_tensor", "eye", "eye.m", "empty_permuted")
