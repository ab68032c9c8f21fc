"""Marks of ops that have no derivative: new tensors of evenly spaced numbers.

Mirrors: tools/autograd/derivatives.yaml (arange)
Leaves out: complex numbers.
"""

from reftorch.autograd.derivatives import non_differentiable

non_differentiable(
    "arange",
    "arange.start",
    "arange.start_step",
    "linspace",
    "linspace.Tensor_Tensor",
    "linspace.Tensor_Scalar",
    "linspace.Scalar_Tensor",
    "logspace.Tensor_Tensor",
    "logspace.Tensor_Scalar",
    "logspace.Scalar_Tensor",
    "logspace",
    "range.step",
)
