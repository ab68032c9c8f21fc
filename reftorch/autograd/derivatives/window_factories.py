"""Marks of ops that have no derivative: window functions: weights for the samples of a signal.

Mirrors: tools/autograd/derivatives.yaml (bartlett_window)
Leaves out: complex numbers.
"""

from reftorch.autograd.derivatives import non_differentiable

non_differentiable("bartlett_window", "blackman_window", "hann_window", "hamming_window", "kaiser_window")
