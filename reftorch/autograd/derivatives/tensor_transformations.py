"""Derivatives of reversing, rolling and rotating.

Mirrors: tools/autograd/derivatives.yaml (flip, roll, rot90)
Leaves out: complex numbers.
"""

from reftorch.autograd.derivatives import derivative

derivative("flip", self=lambda grad, dims: grad.flip(dims), result="auto_linear")
derivative("roll", self=lambda grad, shifts, dims: grad.roll([-shift for shift in shifts], dims), result="auto_linear")
derivative("rot90", self=lambda grad, k, dims: grad.rot90(-k, dims), result="auto_linear")
