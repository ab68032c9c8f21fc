"""The derivative of packing sequences.

Mirrors: tools/autograd/derivatives.yaml (_pack_padded_sequence)
Leaves out: padding, which is made of copies that autograd records.
"""

from reftorch import _C
from reftorch.autograd.derivatives import derivative

derivative(
    "_pack_padded_sequence",
    input=lambda grad, input_sizes, result1, batch_first: _C._nn._pack_padded_sequence_backward(
        grad, input_sizes, result1, batch_first
    ),
)
