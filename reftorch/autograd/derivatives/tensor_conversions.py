"""Derivatives of copies, and conversions to another dtype or device.

Mirrors: tools/autograd/derivatives.yaml (clone, _to_copy)
Leaves out: complex numbers.
"""

from reftorch.autograd.derivatives import derivative

derivative("clone", self=lambda grad: grad, result="auto_linear")
# The gradient is copied to the device of the source. The engine casts the gradient to the dtype of the source.
derivative("_to_copy", self=lambda grad, self_device: grad.to(self_device), result="auto_linear")
