"""Marks of ops that have no derivative: Bessel functions and Airy's function.

Mirrors: tools/autograd/derivatives.yaml (special_airy_ai)
Leaves out: complex numbers.
"""

from reftorch.autograd.derivatives import non_differentiable

# The functions that only torch.special has have no derivative in PyTorch either.
non_differentiable(
    "special_airy_ai",
    "special_bessel_j0",
    "special_bessel_j1",
    "special_bessel_y0",
    "special_bessel_y1",
    "special_modified_bessel_i0",
    "special_modified_bessel_i1",
    "special_modified_bessel_k0",
    "special_modified_bessel_k1",
    "special_scaled_modified_bessel_k0",
    "special_scaled_modified_bessel_k1",
    "special_spherical_bessel_j0",
)
